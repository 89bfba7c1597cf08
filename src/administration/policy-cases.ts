import { readFile } from "node:fs/promises";
import { readDocument } from "../adapters/policies/rules/document/read-document.ts";
import { ArsenalError, fixable } from "../errors/arsenal-error.ts";
import { nearest, showValue } from "../errors/show-value.ts";
import type { Policy, PolicyDecision } from "../guard/policy.port.ts";
import type { Principal } from "../guard/principal.ts";
import { type Clock, systemClock } from "../observe/clock.ts";
import { defineTool } from "../tool/define-tool.ts";
import { createPauses } from "../base/turns/event-loop.ts";
import { isPlainObject } from "../tool/json-schema.ts";
import { present } from "../base/present.ts";
import { CAPABILITIES, type Tool, TOOL_SOURCES, type ToolSource } from "../tool/tool.ts";

/** The outcomes that a case may expect. `hidden`: the caller does not see the tool. */
const OUTCOMES = ["allow", "deny", "require_approval", "hidden"] as const;
type Outcome = (typeof OUTCOMES)[number];

export type PolicyCase = ReturnType<typeof readCase>;

export type JudgedCase = Awaited<ReturnType<typeof judgeCases>>[number];

const CASE_KEYS = ["name", "tool", "principal", "args", "toolset", "now", "expect", "rule"];

/** Reads a file of cases, in YAML or JSON, and the policy file it names, if any. */
export async function readCases(path: string) {
  const text = await readFile(path, "utf8").catch(() => {
    throw wrongInput("FILE", path, `Cannot read ${path}.`, "Check the path.");
  });
  const { value, locate } = readDocument(text, path);
  const { policy, cases } = isPlainObject(value) ? value : {};
  if (!Array.isArray(cases) || cases.length === 0) {
    const fix = "Add `cases:` with a list of { tool, principal, args, expect }.";
    throw wrongInput("cases", cases, `${path} has no cases.`, fix);
  }
  if (policy !== undefined && typeof policy !== "string") {
    const problem = `${path}: policy must be the path of a policy file, not ${showValue(policy)}.`;
    throw wrongInput("policy", policy, problem, "For example: policy: policy.yaml.");
  }
  const read = cases.map((entry: unknown, index) => {
    try {
      return readCase(entry, index);
    } catch (error) {
      if (!(error instanceof ArsenalError)) throw error;
      const at = locate(["cases", String(index)]);
      throw new ArsenalError("INPUT_INVALID", `${at}${error.message}`, { ...error.details, cause: error });
    }
  });
  return { policy, cases: read };
}

/** Evaluates each case with a policy, in order. `policyAt` creates the policy for a clock that returns the time of the case. */
export async function judgeCases(cases: readonly PolicyCase[], policyAt: (clock: Clock) => Policy | Promise<Policy>) {
  let now: number | undefined;
  const policy = await policyAt({ ...systemClock, now: () => now ?? systemClock.now() });
  const judged = [];
  const pause = createPauses();
  for (const { now: at, name, request, expect, rule } of cases) {
    const pausing = pause();
    if (pausing !== undefined) await pausing;
    now = at;
    const decision = await policy.decide(request);
    const actual = policy.sees(request.tool, request.principal, request) ? outcomeOf(decision.effect) : "hidden";
    const ok = actual === expect && (rule === undefined || rule === decision.rule);
    const reason = decision.effect === "allow" ? "" : decision.reason;
    judged.push({ ok, name, expected: sayOutcome(expect, rule), actual, rule: decision.rule, reason });
  }
  return judged;
}

export function outcomeOf(effect: PolicyDecision["effect"]): Outcome {
  return effect === "confirm" ? "require_approval" : effect;
}

/** Returns text such as `deny by no-payroll`. */
export function sayOutcome(outcome: string, rule: string | undefined): string {
  return rule === undefined ? outcome : `${outcome} by ${rule}`;
}

function wrongInput(field: string, value: unknown, problem: string, fix: string): ArsenalError {
  return fixable("INPUT_INVALID", problem, fix, { field, value });
}

/** Reads one case. Throws INPUT_INVALID. */
export function readCase(entry: unknown, index: number) {
  if (!isPlainObject(entry)) {
    const problem = `A case must be an object, not ${showValue(entry)}.`;
    throw wrongInput(`cases.${index}`, entry, problem, "Write { tool, principal, args, expect }.");
  }
  const unknown = Object.keys(entry).find((key) => !CASE_KEYS.includes(key));
  if (unknown !== undefined) {
    const near = nearest(unknown, CASE_KEYS);
    const fix = near === undefined ? `Known keys: ${CASE_KEYS.join(", ")}.` : `Did you mean "${near}"?`;
    throw wrongInput(unknown, entry[unknown], `Unknown key "${unknown}" in a case.`, fix);
  }
  const { tool, principal, args = {}, now, expect } = entry;
  const wanted = OUTCOMES.find((outcome) => outcome === expect);
  if (wanted === undefined) throw cannotBe("expect", expect, `Use one of ${OUTCOMES.join(", ")}.`);
  if (!isPlainObject(args)) throw mustBe("args", args, "an object", "For example: args: { amount: 5 }.");
  const text = (key: "name" | "toolset" | "rule"): string | undefined => {
    const given = entry[key];
    if (given === undefined || typeof given === "string") return given;
    throw mustBe(key, given, "text", "Put it in quotes.");
  };
  const [name, toolset, rule] = [text("name"), text("toolset"), text("rule")];
  const found = readTool(tool);
  return {
    name: name ?? `${index + 1}: ${found.id}`,
    request: {
      tool: found,
      arguments: args,
      principal: readPrincipal(principal ?? "nobody", "principal"),
      ...(toolset !== undefined && { toolset }),
    },
    /** Milliseconds since the epoch. Undefined if the time does not matter. */
    now: readTime(now),
    expect: wanted,
    /** The rule that must decide. Undefined if any rule may. */
    rule,
  };
}

function cannotBe(field: string, value: unknown, fix: string): Error {
  return wrongInput(field, value, `${field} cannot be ${showValue(value)}.`, fix);
}

function mustBe(field: string, value: unknown, what: string, fix: string): Error {
  return wrongInput(field, value, `${field} must be ${what}, not ${showValue(value)}.`, fix);
}

/** Creates a tool from its id, or from its id with the attributes that rules read. */
function readTool(given: unknown): Tool {
  const said = typeof given === "string" ? { id: given } : given;
  if (!isPlainObject(said) || typeof said["id"] !== "string" || !said["id"].includes("."))
    throw cannotBe("tool", given, "Write an id such as crm.find_customer, or { id, risk, … }.");
  const { id, source = "function", source_name: sourceName, risk: riskLevel, requires_confirmation, ...rest } = said;
  const { annotations } = rest;
  if (!TOOL_SOURCES.includes(source as ToolSource))
    throw cannotBe("tool.source", source, `Use one of ${TOOL_SOURCES.join(", ")}.`);
  const text = String(id);
  const dot = text.lastIndexOf(".");
  const draft = {
    name: text.slice(dot + 1),
    namespace: text.slice(0, dot),
    description: "Stands for a tool in a case of a policy.",
    parameters: { type: "object" },
    ...present({ sourceName, riskLevel, requiresConfirmation: requires_confirmation }),
    ...rest,
    // Like a real server's own annotations, these are not confirmed.
    ...(isPlainObject(annotations) && { annotations: { confirmed: source === "function", ...annotations } }),
  };
  return { ...defineTool(draft as Parameters<typeof defineTool>[0]), source: source as ToolSource };
}

function readTime(given: unknown): number | undefined {
  if (given === undefined) return undefined;
  const time = given instanceof Date ? given.getTime() : Date.parse(String(given));
  if (Number.isNaN(time))
    throw wrongInput("now", given, `now is not a time: ${showValue(given)}.`, "Write it as 2026-05-04T12:00:00Z.");
  return time;
}

const isText = (value: unknown): boolean => typeof value === "string";
const isList = (value: unknown): boolean => Array.isArray(value) && value.every(isText);
const LIST = [isList, "Write a list of names."] as const;

/** The check of each member of a caller, and the fix for an invalid value. */
const PRINCIPAL: Readonly<Record<string, readonly [fits: (value: unknown) => boolean, fix: string]>> = {
  id: [isText, "Write a string."],
  tenant: [isText, "Write a string."],
  roles: LIST,
  capabilities: LIST,
  scopes: LIST,
  local: [(value) => typeof value === "boolean", "Write true or false."],
};

/**
 * Creates a caller from its id, or from `{ id, tenant, roles, capabilities, scopes, local }`. By default the caller has no roles, but every
 * capability and scope.
 */
export function readPrincipal(given: unknown, field: string): Principal {
  const said = typeof given === "string" ? { id: given } : given;
  if (!isPlainObject(said) || typeof said["id"] !== "string" || said["id"] === "") {
    const fix = "Write an id, or { id: ada, roles: [support] }.";
    throw wrongInput(field, given, `${field} has no id: ${showValue(given)}.`, fix);
  }
  for (const [key, value] of Object.entries(said)) {
    const at = `${field}.${key}`;
    const known = Object.keys(PRINCIPAL).join(", ");
    if (!Object.hasOwn(PRINCIPAL, key))
      throw wrongInput(at, value, `${at} is an unknown key.`, `Known keys: ${known}.`);
    const [fits, fix] = PRINCIPAL[key] ?? LIST;
    if (!fits(value)) throw wrongInput(at, value, `${at} is ${showValue(value)}.`, fix);
  }
  const everything = { roles: [], capabilities: CAPABILITIES, scopes: ["*"], local: false };
  return { ...everything, ...(said as unknown as Pick<Principal, "id">) };
}
