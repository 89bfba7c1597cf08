import { createHash } from "node:crypto";
import { ArsenalError } from "../../../errors/arsenal-error.ts";
import type { CedarAnswer, CedarLibrary } from "./library.ts";

/** Policies that were read once, and are asked by the id they are kept under. */
export interface ReadPolicies {
  readonly setId: string;
  /** Their names in the order of the text: `@id("…")`, or `policy N`, counted from 1. */
  readonly names: readonly string[];
  /** Permissions that a person must approve, by name, each with what `@require_approval("…")` says. */
  readonly approvals: ReadonlyMap<string, string>;
}

/** Reads the text of policies. Throws CONFIG_INVALID with line and fix. `name` stands in messages. */
export function readPolicies(text: string, name: string, library: CedarLibrary): ReadPolicies {
  const lineOf = (policy: string): number => text.slice(0, text.indexOf(policy)).split("\n").length;
  const { policies, policy_templates: templates } = found(library.policySetTextToParts(text), text, name);
  const [template] = templates;
  if (template !== undefined)
    throw invalid(`${name}:${lineOf(template)}`, "is a template", "Write the principal and the resource out.");

  const read = new Map<string, string>();
  const approvals = new Map<string, string>();
  // The library orders them by numbers as texts: 10 before 2. The same text twice is one policy.
  const ordered = [...new Set(policies)].sort((one, other) => text.indexOf(one) - text.indexOf(other));
  for (const [index, policy] of ordered.entries()) {
    const { effect, annotations = {} } = found(library.policyToJson(policy), text, name).json;
    const at = `${name}:${lineOf(policy)}`;
    const id = annotations["id"] ?? `policy ${index + 1}`;
    if (read.has(id)) throw invalid(at, `has the id ${JSON.stringify(id)} of another policy`, "Give it its own @id.");
    const approval = annotations["require_approval"];
    if (approval !== undefined && effect === "forbid")
      throw invalid(at, "forbids, and nobody can approve that", "Write @require_approval on a permit.");
    if (approval !== undefined) approvals.set(id, approval);
    read.set(id, policy);
  }
  // By content, so that reading a file again takes no more memory.
  const setId = `toolarsenal-${createHash("sha256").update(text).digest("hex")}`;
  found(library.preparsePolicySet(setId, { staticPolicies: Object.fromEntries(read) }), text, name);
  return { setId, names: [...read.keys()], approvals };
}

function found<Found extends object>(answer: CedarAnswer<Found>, text: string, name: string): Found {
  if (answer.type === "success") return answer;
  const [error] = answer.errors;
  const start = error?.sourceLocations?.[0]?.start ?? 0;
  const line = Buffer.from(text).subarray(0, start).toString("utf8").split("\n").length;
  throw invalid(`${name}:${line}`, `is not a valid policy: ${error?.message ?? "it cannot be read"}`, "Fix it there.");
}

function invalid(at: string, problem: string, fix: string): ArsenalError {
  return new ArsenalError("CONFIG_INVALID", `${at} ${problem}. ${fix}`, { field: at, fix });
}
