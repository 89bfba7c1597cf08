import type { Policy, PolicyDecision, PolicyRule, PolicyView, Refusal } from "../../../guard/policy.port.ts";
import type { Principal } from "../../../guard/principal.ts";
import type { Tool } from "../../../tool/tool.ts";
import { askedByTool, definitionRules } from "../patterns.ts";
import {
  type CedarAnswer,
  type CedarEntity,
  type CedarId,
  type CedarLibrary,
  type CedarValue,
  loadCedar,
} from "./library.ts";
import { isPlainObject } from "../../../tool/json-schema.ts";
import { toolView } from "../rules/tool-view.ts";
import { createHash } from "node:crypto";
import { type ArsenalError, fixable } from "../../../errors/arsenal-error.ts";
import { remember, setNewest } from "../../../base/remember.ts";

/** Options of Cedar policies. */
export interface CedarParts {
  /** The module `@cedar-policy/cedar-wasm/nodejs`. Defaults to the installed one. */
  readonly library?: CedarLibrary;
  /** The name of the text in messages, such as its path. Defaults to `policies`. */
  readonly name?: string;
  /** `strict` also requires confirmation if only a server calls its tool destructive. */
  readonly mode?: "standard" | "strict";
}

const MAX_CALLERS = 1_000;

/** Rules that apply if no policy in the text decides. */
const DEFAULT_RULES: readonly PolicyRule[] = [
  { rule: "see", effect: "deny", conditions: ["no policy lets the caller see the tool"] },
  { rule: "default-deny", effect: "deny", conditions: ["no policy permits the call"] },
];

type CedarVerdict =
  | { readonly said: "permitted" | "refused"; readonly by: readonly string[] }
  | { readonly said: "failed"; readonly rule: string; readonly problem: string };

/**
 * Creates a policy from Cedar policies with the actions `see` and `call`. A request is refused if no permit matches, or if a policy fails. With
 * `@require_approval("why")`, a permitted call runs only after a person has approved it. Throws LIBRARY_MISSING without the library, and
 * CONFIG_INVALID with the line of an invalid policy.
 *
 * @example
 * cedarPolicy('permit(principal in Role::"support", action, resource in Namespace::"crm");');
 */
export function cedarPolicy(text: string, parts: CedarParts = {}): Policy {
  const { library = loadCedar(), name = "policies", mode = "standard" } = parts;
  const { setId, approvals, rules } = readPolicies(text, name, library);
  const entityOf = remember(toolEntity);
  const views = new Map<string, (tool: Tool) => boolean>();

  function ask(
    action: "see" | "call",
    tool: Tool,
    principal: Principal,
    context: Record<string, CedarValue>,
  ): CedarVerdict {
    const [asking, asked] = [principalEntity(principal), entityOf(tool)];
    const answer = library.statefulIsAuthorized({
      principal: asking.uid,
      action: { type: "Action", id: action },
      resource: asked.uid,
      context,
      entities: [asking, asked],
      preparsedPolicySetId: setId,
    });
    if (answer.type === "failure")
      return { said: "failed", rule: "cedar", problem: answer.errors.map(({ message }) => message).join("; ") };
    const { decision, diagnostics } = answer.response;
    // Cedar skips a failing policy, but a failing `forbid` must not be skipped.
    const [failed] = diagnostics.errors;
    if (failed !== undefined) return { said: "failed", rule: failed.policyId, problem: failed.error.message };
    const by = rules.map(({ rule }) => rule).filter((each) => diagnostics.reason.includes(each));
    return { said: decision === "allow" ? "permitted" : "refused", by };
  }

  /** Depends only on tool, caller and view, which do not change. A search checks every tool. */
  function sees(tool: Tool, principal: Principal, view: PolicyView = {}): boolean {
    const { id, tenant, roles, capabilities, scopes, local } = principal;
    const key = JSON.stringify([id, tenant, roles, capabilities, scopes, local, view.toolset]);
    let known = views.get(key);
    if (known === undefined) {
      known = remember((each) => ask("see", each, principal, toolsetOf(view)).said === "permitted");
      setNewest(views, key, known, MAX_CALLERS);
    }
    return known(tool);
  }

  /** Refuses only tools that the caller may not see. Whether a call is permitted may depend on its arguments. */
  function refuses(tool: Tool, principal: Principal, view?: PolicyView): Refusal | undefined {
    if (sees(tool, principal, view)) return undefined;
    return { rule: "see", reason: `No policy lets "${principal.id}" see ${tool.id}.` };
  }

  function decide(tool: Tool, principal: Principal, context: Record<string, CedarValue>): PolicyDecision {
    const answer = ask("call", tool, principal, context);
    if (answer.said === "failed") return undecided(tool, answer.rule, answer.problem);
    const [first] = answer.by;
    if (answer.said === "refused") return refused(tool, principal, first);
    const approval = answer.by.find((each) => approvals.has(each));
    if (approval === undefined)
      return askedByTool(tool, mode) ?? { effect: "allow", ...(first === undefined ? {} : { rule: first }) };
    const reason = approvals.get(approval) || `A person must approve ${tool.id}: policy "${approval}" requires it.`;
    return { effect: "confirm", rule: approval, reason };
  }

  return {
    sees,
    rules: () => [...rules, ...DEFAULT_RULES, ...definitionRules(mode)],
    refuses,
    decide({ tool, principal, arguments: args, toolset }) {
      const view = toolset === undefined ? {} : { toolset };
      const refusal = refuses(tool, principal, view);
      if (refusal !== undefined) return { effect: "deny", ...refusal };
      let shown: Record<string, CedarValue>;
      try {
        shown = toRecord(args);
      } catch (error) {
        return undecided(tool, "cedar", `its arguments cannot be converted for a policy: ${(error as Error).message}`);
      }
      return decide(tool, principal, { args: shown, ...toolsetOf(view) });
    },
  };
}

function toolsetOf({ toolset }: PolicyView): Record<string, CedarValue> {
  return toolset === undefined ? {} : { toolset };
}

function undecided(tool: Tool, rule: string, problem: string): PolicyDecision {
  const reason = `The policies could not decide on ${tool.id}, so the call is refused: ${problem}. Pass the values that "${rule}" uses, or fix the rule.`;
  return { effect: "deny", rule, reason };
}

function refused(tool: Tool, principal: Principal, by: string | undefined): PolicyDecision {
  if (by !== undefined)
    return { effect: "deny", rule: by, reason: `Policy "${by}" forbids ${tool.id} to "${principal.id}".` };
  const reason = `No policy permits ${tool.id} to "${principal.id}". Add a permit, or use another tool.`;
  return { effect: "deny", rule: "default-deny", reason };
}

/** Returns the entity of a caller: `Principal::"id"`, in `Role::"…"` for each role and in `Tenant::"…"`. */
function principalEntity({ id, tenant, roles, scopes, capabilities, local }: Principal): CedarEntity {
  return {
    uid: { type: "Principal", id },
    attrs: present({ id, tenant, roles, scopes, capabilities, local }),
    parents: [
      ...roles.map((role): CedarId => ({ type: "Role", id: role })),
      ...(tenant === undefined ? [] : [{ type: "Tenant", id: tenant }]),
    ],
  };
}

/** Returns the entity of a tool: `Tool::"namespace.name"`, in `Namespace::"namespace"`. */
function toolEntity(tool: Tool): CedarEntity {
  return {
    uid: { type: "Tool", id: tool.id },
    attrs: present(toolView(tool)),
    parents: [{ type: "Namespace", id: tool.namespace }],
  };
}

/** Omits missing values, because Cedar has no null. The library refuses values of unknown types. */
function present(attributes: object): Record<string, CedarValue> {
  const entries = Object.entries(attributes).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries.map(([name, value]) => [name, isPlainObject(value) ? present(value) : value]));
}

/** Deeper data is refused, because the library fails on some of it without a response. */
const MAX_DEPTH = 64;

/** With these keys, the library would treat data as an entity or an extension. */
const RESERVED: ReadonlySet<string> = new Set(["__entity", "__extn", "__expr"]);

/**
 * Converts JSON to Cedar values: lists become sets, nulls are dropped, and fractions become decimals up to four places and otherwise texts. Throws an
 * Error for anything else.
 */
function toCedarValue(value: unknown, depth = 0): CedarValue | undefined {
  if (depth > MAX_DEPTH) throw new Error(`they are nested deeper than ${MAX_DEPTH} levels`);
  switch (typeof value) {
    case "boolean":
    case "string":
      return value;
    case "number":
      return toNumber(value);
    case "object":
      if (value === null) return undefined;
      if (!Array.isArray(value)) return toRecord(value, depth);
      return value.map((member) => toCedarValue(member, depth + 1)).filter((member) => member !== undefined);
    case "undefined":
      return undefined;
    default:
      throw new Error(`they hold a ${typeof value}`);
  }
}

function toRecord(data: object, depth = 0): Record<string, CedarValue> {
  const members = Object.entries(data).map(([key, member]) => {
    if (RESERVED.has(key)) throw new Error(`they have the key ${key}`);
    return [key, toCedarValue(member, depth + 1)] as const;
  });
  return Object.fromEntries(members.filter((member): member is [string, CedarValue] => member[1] !== undefined));
}

function toNumber(value: number): CedarValue {
  if (Number.isSafeInteger(value)) return value;
  const text = String(value);
  return /^-?\d{1,14}\.\d{1,4}$/.test(text) ? { __extn: { fn: "decimal", arg: text } } : text;
}

/** Parses policies, which are then evaluated by `setId`. Throws CONFIG_INVALID with line and fix. `name` is for messages. */
function readPolicies(text: string, name: string, library: CedarLibrary) {
  const lineOf = (policy: string): number => text.slice(0, text.indexOf(policy)).split("\n").length;
  const { policies, policy_templates: templates } = found(library.policySetTextToParts(text), text, name);
  const [template] = templates;
  if (template !== undefined)
    throw invalid(`${name}:${lineOf(template)}`, "is a template", "Name the principal and the resource explicitly.");

  const read = new Map<string, string>();
  /** Permits that need approval, by name, with the text of `@require_approval("…")`. */
  const approvals = new Map<string, string>();
  /** In the order of the text. Each is named by `@id("…")`, or `policy N`, counted from 1. */
  const rules: PolicyRule[] = [];
  // The library sorts policies by number as text (10 before 2). Identical texts are one policy.
  const ordered = [...new Set(policies)].sort((one, other) => text.indexOf(one) - text.indexOf(other));
  for (const [index, policy] of ordered.entries()) {
    const { effect, annotations = {} } = found(library.policyToJson(policy), text, name).json;
    const at = `${name}:${lineOf(policy)}`;
    const id = annotations["id"] ?? `policy ${index + 1}`;
    if (read.has(id)) throw invalid(at, `has the id ${JSON.stringify(id)} of another policy`, "Give it its own @id.");
    const approval = annotations["require_approval"];
    if (approval !== undefined && effect === "forbid")
      throw invalid(at, "is a forbid, which cannot require approval", "Write @require_approval on a permit.");
    if (approval !== undefined) approvals.set(id, approval);
    read.set(id, policy);
    const permits = approval === undefined ? "allow" : "confirm";
    rules.push({ rule: id, effect: effect === "forbid" ? "deny" : permits, conditions: [policy] });
  }
  // Derived from the content, so reading a file again needs no more memory.
  const setId = `toolarsenal-${createHash("sha256").update(text).digest("hex")}`;
  found(library.preparsePolicySet(setId, { staticPolicies: Object.fromEntries(read) }), text, name);
  return { setId, approvals, rules };
}

function found<Found extends object>(answer: CedarAnswer<Found>, text: string, name: string): Found {
  if (answer.type === "success") return answer;
  const [error] = answer.errors;
  const start = error?.sourceLocations?.[0]?.start ?? 0;
  const line = Buffer.from(text).subarray(0, start).toString("utf8").split("\n").length;
  throw invalid(`${name}:${line}`, `is not a valid policy: ${error?.message ?? "it cannot be read"}`, "Fix it there.");
}

function invalid(at: string, problem: string, fix: string): ArsenalError {
  return fixable("CONFIG_INVALID", `${at} ${problem}.`, fix, { field: at });
}

/** The endings of files with Cedar policies. */
export const reads = [".cedar"];

export function create(text: string, { name, mode }: Required<Pick<CedarParts, "name" | "mode">>): Policy {
  return cedarPolicy(text, { name, mode });
}
