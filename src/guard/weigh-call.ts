import { nextTurn } from "../base/turns/event-loop.ts";
import { messageOf, showValue } from "../errors/show-value.ts";
import { isPlainObject } from "../tool/json-schema.ts";
import type { Tool } from "../tool/tool.ts";
import type { Aegis, AegisDecision, AegisRequest } from "./aegis.ts";
import type { PinGuard } from "./pins/pins.ts";
import type { Obligations, Policy, PolicyDecision, PolicyRequest, Refusal } from "./policy.port.ts";
import { missingCapabilities, missingScopes, type Principal } from "./principal.ts";
import type { Inspection, InspectOptions } from "./scan/inspection.ts";

type Denied = Extract<AegisDecision, { readonly effect: "deny" }>;

/** A refusal, or the policy's decision on a call that passed all other checks. */
type Weighed = Denied | Exclude<PolicyDecision, { readonly effect: "deny" }>;

/** Creates the checks that run before an approval: the caller's grants, then the policy, then the tool and its arguments. Consumes nothing. */
export function createWeigh(parts: {
  readonly policy: Policy;
  readonly sees: Aegis["sees"];
  readonly pins: Pick<PinGuard, "refusal"> | undefined;
  readonly inspection: Inspection | undefined;
}) {
  const { policy, sees, pins, inspection } = parts;
  return async (request: AegisRequest, look: InspectOptions = {}): Promise<Weighed> => {
    const { tool, principal } = request;
    if (!sees(tool, principal, request)) return denied(`"${principal.id}" may not use this tool.`);
    const lacking = lacks(tool, principal);
    if (lacking !== undefined) return denied(lacking.reason);
    const decision = await askPolicy(policy, request);
    if (decision.effect === "deny") return denied(withRule(decision), decision.rule);
    const changed = pins === undefined ? undefined : await refusalOf(tool, pins);
    if (changed !== undefined) return denied(changed, "pin");
    let harmful: string | undefined;
    try {
      if (request.isLarge !== true) harmful = inspection?.arguments(tool, request.arguments, look);
      else if (inspection !== undefined) {
        await nextTurn();
        harmful = await inspection.inTurns.arguments(tool, request.arguments, look);
      }
    } catch (error) {
      harmful = notLookedAt(tool, "arguments", error);
    }
    if (harmful !== undefined) return denied(harmful, "scan");
    if (decision.obligations?.egress !== undefined && request.guardsEgress !== true)
      return denied(cannotBound(tool, decision.rule), decision.rule);
    return decision;
  };
}

/** Returns the policy's decision. A policy that throws or returns an invalid decision refuses the call. */
export async function askPolicy(policy: Policy, request: PolicyRequest): Promise<PolicyDecision> {
  const { tool, arguments: args, principal, toolset } = request;
  let problem: string;
  try {
    const through = toolset === undefined ? undefined : { toolset };
    const decision = await policy.decide({ tool, arguments: args, principal, ...through });
    const wrong = problemOf(decision);
    if (wrong === undefined) return decision;
    problem = wrong;
  } catch (error) {
    problem = messageOf(error);
  }
  return {
    effect: "deny",
    rule: "policy-failed",
    reason: `The policy failed to decide on ${tool.id}, so the call is refused: ${problem}. Fix the policy, then call again.`,
  };
}

function problemOf(decision: PolicyDecision): string | undefined {
  if (!["allow", "confirm", "deny"].includes(decision?.effect)) return `it answered ${showValue(decision)}`;
  return decision.effect === "deny" ? undefined : unkeepable(decision.obligations);
}

const CAN_BE_KEPT: { readonly [Name in keyof Obligations]-?: (demanded: unknown) => boolean } = {
  rates: (rates) => isListOf(rates, isRate),
  redact: (redactions) => isListOf(redactions, (each) => isPlainObject(each) && typeof each["apply"] === "function"),
  egress: (domains) => isListOf(domains, (each) => typeof each === "string"),
  maxResultBytes: (bytes) => typeof bytes === "number" && bytes >= 0,
};

/** Returns the first obligation that cannot be fulfilled: unknown, or without a valid number. A policy may be third-party code. */
function unkeepable(obligations: unknown): string | undefined {
  if (obligations === undefined) return undefined;
  if (!isPlainObject(obligations)) return `its obligations are ${showValue(obligations)}`;
  for (const [name, demanded] of Object.entries(obligations)) {
    if (demanded === undefined) continue;
    if (!Object.hasOwn(CAN_BE_KEPT, name)) return `it demands ${showValue(name)}, which is not supported`;
    if (!CAN_BE_KEPT[name as keyof Obligations](demanded)) return `its obligation ${name} is ${showValue(demanded)}`;
  }
  return undefined;
}

function isListOf(value: unknown, isMember: (member: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(isMember);
}

function isRate(rate: unknown): boolean {
  if (!isPlainObject(rate) || typeof rate["key"] !== "string") return false;
  return isPositive(rate["calls"]) && isPositive(rate["windowMs"]);
}

/** Returns true for a number above 0; false for NaN. */
export function isPositive(value: unknown): value is number {
  return typeof value === "number" && value > 0;
}

/** Returns why the tool differs from its accepted version, or undefined if it does not. Synchronous if possible. Refuses if the pins fail. */
export function refusalOf(tool: Tool, pins: Pick<PinGuard, "refusal">): Promise<string | undefined> | undefined {
  try {
    const refusal = pins.refusal(tool);
    if (refusal === undefined) return undefined;
    return Promise.resolve(refusal).catch((error: unknown) => notLookedAt(tool, "pin", error));
  } catch (error) {
    return Promise.resolve(notLookedAt(tool, "pin", error));
  }
}

export function notLookedAt(tool: Tool, what: "pin" | "arguments" | "result", error: unknown): string {
  return `The ${what} of ${tool.id} could not be checked, so the call is refused: ${messageOf(error)}.`;
}

/** Returns the refusal if a tool needs a capability or scope that the principal lacks. */
export function lacks(tool: Tool, principal: Principal): Refusal | undefined {
  const capabilities = missingCapabilities(tool, principal);
  const scopes = missingScopes(tool, principal);
  const parts = [...named("capability", "capabilities", capabilities), ...named("scope", "scopes", scopes)];
  if (parts.length === 0) return undefined;
  const reason = `"${principal.id}" lacks the ${parts.join(" and the ")} that ${tool.id} needs. Grant it, or use another tool.`;
  return { rule: capabilities.length > 0 ? "capabilities" : "scopes", reason };
}

function named(one: string, many: string, names: readonly string[]): readonly string[] {
  return names.length === 0 ? [] : [`${names.length === 1 ? one : many} ${names.join(", ")}`];
}

export function denied(reason: string, rule?: string): Denied {
  return { effect: "deny", code: "PERMISSION_DENIED", reason, ...(rule !== undefined && { rule }) };
}

function cannotBound(tool: Tool, rule = "A rule"): string {
  const fix = "Leave the tool out of the rule, or take egress out of its obligations.";
  return `${rule} restricts the domains that ${tool.id} may reach, and requests of the tool's source cannot be restricted. ${fix}`;
}

export function withRule({ reason, rule }: { readonly reason: string; readonly rule: string }): string {
  return `${reason} (rule ${rule})`;
}
