import { readFile } from "node:fs/promises";
import { readDocument } from "../../../adapters/policies/rules/document/read-document.ts";
import { ArsenalError, fixable } from "../../../errors/arsenal-error.ts";
import { nearest, showValue } from "../../../errors/show-value.ts";
import type { Policy, PolicyDecision, PolicyRequest } from "../../../guard/policy.port.ts";
import type { Principal } from "../../../guard/principal.ts";
import { type Clock, systemClock } from "../../../observe/clock.ts";
import { defineTool } from "../../../tool/define-tool.ts";
import { isPlainObject } from "../../../tool/json-schema.ts";
import { CAPABILITIES, type Tool, TOOL_SOURCES, type ToolSource } from "../../../tool/tool.ts";

/** What a case may expect. `hidden`: the caller does not even see the tool. */
export const OUTCOMES = ["allow", "deny", "require_approval", "hidden"] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** One line of the table. */
export interface PolicyCase {
  readonly name: string;
  readonly request: PolicyRequest;
  /** Milliseconds since the epoch. Omitted if the time does not matter. */
  readonly now: number | undefined;
  readonly expect: Outcome;
  /** The rule that must decide. Omitted if that does not matter. */
  readonly rule: string | undefined;
}

const CASE_KEYS = ["name", "tool", "principal", "args", "toolset", "now", "expect", "rule"];

/** Reads a table of cases, as YAML or JSON, and the policy file it names, if any. */
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
  const readAt = (entry: unknown, index: number): PolicyCase => {
    try {
      return readCase(entry, index);
    } catch (error) {
      if (!(error instanceof ArsenalError)) throw error;
      const at = locate(["cases", String(index)]);
      throw new ArsenalError("INPUT_INVALID", `${at}${error.message}`, { ...error.details, cause: error });
    }
  };
  return { policy, cases: cases.map(readAt) };
}

/** How a policy stood to one case. */
export interface JudgedCase {
  readonly ok: boolean;
  readonly name: string;
  /** `deny by no-payroll` */
  readonly expected: string;
  readonly actual: Outcome;
  readonly rule: string | undefined;
  readonly reason: string;
}

/** Asks a policy about each case, one after the other. `policyAt` makes it for a clock, which tells the time of the case. */
export async function judgeCases(
  cases: readonly PolicyCase[],
  policyAt: (clock: Clock) => Policy | Promise<Policy>,
): Promise<readonly JudgedCase[]> {
  let now: number | undefined;
  const policy = await policyAt({ ...systemClock, now: () => now ?? systemClock.now() });
  const judged: JudgedCase[] = [];
  for (const { now: at, name, request, expect, rule } of cases) {
    now = at;
    const decision = await policy.decide(request);
    const actual = policy.sees(request.tool, request.principal, request) ? outcomeOf(decision.effect) : "hidden";
    const ok = actual === expect && (rule === undefined || rule === decision.rule);
    const reason = decision.effect === "allow" ? "" : decision.reason;
    judged.push({ ok, name, expected: sayOutcome(expect, rule), actual, rule: decision.rule, reason });
  }
  return judged;
}

/** A policy's effect as cases write it. */
export function outcomeOf(effect: PolicyDecision["effect"]): Outcome {
  return effect === "confirm" ? "require_approval" : effect;
}

/** `deny by no-payroll` */
export function sayOutcome(outcome: string, rule: string | undefined): string {
  return rule === undefined ? outcome : `${outcome} by ${rule}`;
}

function wrongInput(field: string, value: unknown, problem: string, fix: string): ArsenalError {
  return fixable("INPUT_INVALID", problem, fix, { field, value });
}

/** Reads one case. Throws INPUT_INVALID. */
export function readCase(entry: unknown, index: number): PolicyCase {
  if (!isPlainObject(entry)) {
    const problem = `A case must be a mapping, not ${showValue(entry)}.`;
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
  if (!isPlainObject(args)) throw mustBe("args", args, "a mapping", "For example: args: { amount: 5 }.");
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
    now: readTime(now),
    expect: wanted,
    rule,
  };
}

function cannotBe(field: string, value: unknown, fix: string): Error {
  return wrongInput(field, value, `${field} cannot be ${showValue(value)}.`, fix);
}

function mustBe(field: string, value: unknown, what: string, fix: string): Error {
  return wrongInput(field, value, `${field} must be ${what}, not ${showValue(value)}.`, fix);
}

/** A tool from its id, or from its id with what rules look at. */
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
    ...(sourceName !== undefined && { sourceName }),
    ...(riskLevel !== undefined && { riskLevel }),
    ...(requires_confirmation !== undefined && { requiresConfirmation: requires_confirmation }),
    ...rest,
    // As with a real one, what a server says of its own tool is not confirmed.
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

const PRINCIPAL_KEYS = ["id", "tenant", "roles", "capabilities", "scopes", "local"];

/** A caller from its id, or from `{ id, tenant, roles, capabilities, scopes, local }`. By default it has no roles, every capability and every scope. */
export function readPrincipal(given: unknown, field: string): Principal {
  const said = typeof given === "string" ? { id: given } : given;
  const refuse = (at: string, value: unknown, problem: string, fix: string): never => {
    throw wrongInput(at, value, `${at} ${problem}.`, fix);
  };
  if (!isPlainObject(said) || typeof said["id"] !== "string" || said["id"] === "")
    return refuse(field, given, `has no id: ${showValue(given)}`, "Write an id, or { id: ada, roles: [support] }.");
  for (const [key, value] of Object.entries(said)) {
    const at = `${field}.${key}`;
    if (!PRINCIPAL_KEYS.includes(key))
      refuse(at, value, "is an unknown key", `Known keys: ${PRINCIPAL_KEYS.join(", ")}.`);
    const isList = Array.isArray(value) && value.every((entry) => typeof entry === "string");
    if (["roles", "capabilities", "scopes"].includes(key) && !isList)
      refuse(at, value, `is ${showValue(value)}`, "Write a list of names.");
    if (key === "tenant" && typeof value !== "string") refuse(at, value, `is ${showValue(value)}`, "Write a text.");
    if (key === "local" && typeof value !== "boolean")
      refuse(at, value, `is ${showValue(value)}`, "Write true or false.");
  }
  const everything = { roles: [], capabilities: CAPABILITIES, scopes: ["*"], local: false };
  return { ...everything, ...(said as unknown as Pick<Principal, "id">) };
}
