import { remember } from "../../base/remember.ts";
import { isUnlisted, type Tool } from "../../tool/tool.ts";
import type { RateWindow } from "../../state/limits.port.ts";
import type { Obligations, PolicyRequest } from "../policy.port.ts";

/** A limit and its subject: `tool mail.send`, `tenant acme`. */
export interface NamedLimit extends RateWindow {
  readonly name: string;
}

/** Calls per minute. An omitted limit does not apply. */
export interface LimitSettings {
  /** The default for each tool, and the maximum for tools whose source sets a limit. */
  readonly maxRequestsPerMinute: number;
  readonly rates?: { readonly tenant?: number; readonly principal?: number; readonly toolset?: number } | undefined;
}

/** Every limit of a call: those of the tool, the tenant, the caller, the toolset and its policy rules. */
export type CallLimits = (
  request: Pick<PolicyRequest, "tool" | "principal" | "toolset">,
  obligations?: Obligations,
) => readonly NamedLimit[];

const MINUTE_MS = 60_000;

export function createCallLimits({ maxRequestsPerMinute, rates = {} }: LimitSettings): CallLimits {
  // A tool is the same object in every call.
  const toolLimit = remember((tool: Tool) => aMinute(`tool ${tool.id}`, toolRate(tool, maxRequestsPerMinute)));

  return ({ tool, principal: { id, tenant }, toolset }, obligations) => {
    const limits: NamedLimit[] = [];
    const own = toolLimit(tool);
    if (own.calls !== Number.POSITIVE_INFINITY) limits.push(own);
    if (rates.tenant !== undefined && tenant !== undefined) limits.push(aMinute(`tenant ${tenant}`, rates.tenant));
    if (rates.principal !== undefined) {
      // Two tenants may have principals with the same name.
      const key = `principal ${JSON.stringify([tenant, id])}`;
      limits.push({ ...aMinute(`principal ${id}`, rates.principal), key });
    }
    if (rates.toolset !== undefined && toolset !== undefined) limits.push(aMinute(`toolset ${toolset}`, rates.toolset));
    for (const { key, calls, windowMs, rule } of obligations?.rates ?? []) {
      const name = rule === undefined ? "a rule" : `rule ${rule}`;
      limits.push({ key: `rule ${key}`, calls: wholeCalls(calls), windowMs, name });
    }
    return limits;
  };
}

function aMinute(name: string, calls: number): NamedLimit {
  return { key: name, name, calls: wholeCalls(calls), windowMs: MINUTE_MS };
}

/** At least one call, so that a limit can be met. */
function wholeCalls(calls: number): number {
  return Math.max(1, Math.floor(calls));
}

/** The calls per minute of a tool. A limit declared for a function applies unchanged. */
function toolRate({ id, source, cost }: Tool, configured: number): number {
  // All reads of a server's resources share one such id; the limits of tenants and callers still apply.
  if (isUnlisted(id)) return Number.POSITIVE_INFINITY;
  const own = cost.rateLimit ?? 0;
  if (!(own > 0)) return configured;
  return source === "function" || source === "builtin" ? own : Math.min(own, configured);
}
