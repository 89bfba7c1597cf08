import { remember } from "../../base/remember.ts";
import { isUnlisted, type Tool } from "../../tool/tool.ts";
import type { RateWindow } from "../../state/limits.port.ts";
import type { Obligations, PolicyRequest } from "../policy.port.ts";

/** A limit and its subject: `tool mail.send`, `tenant acme`. */
export interface NamedLimit extends RateWindow {
  readonly name: string;
  /** The setting that the limit comes from. Omitted if `name` names a rule. */
  readonly setting?: string;
}

/** Calls per minute. An omitted limit does not apply. */
export interface LimitSettings {
  /** For each tool, over all callers; also the maximum for tools whose source sets a limit. Defaults to `RUNAWAY` per remote caller and tool. */
  readonly maxRequestsPerMinute?: number | undefined;
  readonly rates?: { readonly tenant?: number; readonly principal?: number; readonly toolset?: number } | undefined;
}

/** Every limit of a call: those of the tool, the tenant, the caller, the toolset and its policy rules. */
export type CallLimits = (
  request: Pick<PolicyRequest, "tool" | "principal" | "toolset">,
  obligations?: Obligations,
) => readonly NamedLimit[];

const MINUTE_MS = 60_000;

/** Calls per minute of one remote caller to one tool, unless a limit is configured. Only a runaway loop makes more. */
export const RUNAWAY = 1_200;

export function createCallLimits({ maxRequestsPerMinute, rates = {} }: LimitSettings): CallLimits {
  // The same tool is the same object in every call, so its limit can be cached by identity.
  const toolLimit = remember((tool: Tool) => toolRate(tool, maxRequestsPerMinute));

  return ({ tool, principal: { id, tenant, local }, toolset }, obligations) => {
    const limits: NamedLimit[] = [];
    const own = toolLimit(tool);
    if (own !== undefined) limits.push(own);
    else if (!local && maxRequestsPerMinute === undefined && !isUnlisted(tool.id)) {
      const key = `caller ${JSON.stringify([tenant, id])} tool ${tool.id}`;
      limits.push({ ...aMinute(`${id} for ${tool.id}`, RUNAWAY, "max_requests_per_minute"), key });
    }
    if (rates.tenant !== undefined && tenant !== undefined)
      limits.push(aMinute(`tenant ${tenant}`, rates.tenant, "rates.tenant"));
    if (rates.principal !== undefined) {
      // Two tenants may have principals with the same name.
      const key = `principal ${JSON.stringify([tenant, id])}`;
      limits.push({ ...aMinute(`principal ${id}`, rates.principal, "rates.principal"), key });
    }
    if (rates.toolset !== undefined && toolset !== undefined)
      limits.push(aMinute(`toolset ${toolset}`, rates.toolset, "rates.toolset"));
    for (const { key, calls, windowMs, rule } of obligations?.rates ?? []) {
      const name = rule === undefined ? "a rule" : `rule ${rule}`;
      limits.push({ key: `rule ${key}`, calls: wholeCalls(calls), windowMs, name });
    }
    return limits;
  };
}

function aMinute(name: string, calls: number, setting: string): NamedLimit {
  return { key: name, name, calls: wholeCalls(calls), windowMs: MINUTE_MS, setting: `security.${setting}` };
}

/** At least one call, so that the limit allows any call. */
function wholeCalls(calls: number): number {
  return Math.max(1, Math.floor(calls));
}

/** Returns the limit of a tool over all callers; undefined if it has none. A limit that a function's definition declares applies unchanged. */
function toolRate({ id, source, cost }: Tool, configured: number | undefined): NamedLimit | undefined {
  // All reads of a server's resources share one such id. The limits of tenants and callers still apply.
  if (isUnlisted(id)) return undefined;
  const own = cost.rateLimit ?? 0;
  const isOwn =
    own > 0 && (configured === undefined || own < configured || source === "function" || source === "builtin");
  if (isOwn) return { ...aMinute(`tool ${id}`, own, ""), setting: "cost.rateLimit of the tool" };
  return configured === undefined || configured === Number.POSITIVE_INFINITY
    ? undefined
    : aMinute(`tool ${id}`, configured, "max_requests_per_minute");
}
