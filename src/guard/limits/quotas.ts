import type { QuotaUse } from "../../state/limits.port.ts";
import type { Tool } from "../../tool/tool.ts";
import type { Principal } from "../principal.ts";

/** Counts calls, tokens and cost against the quotas of tenants. One round trip checks a call's quotas and its other limits. */
export interface Quotas {
  /** The quotas of a call; undefined if it has none. */
  of(tool: Tool, principal: Principal): readonly CallQuota[] | undefined;
  /** Returns true if the tokens of the caller's calls are counted. */
  measures(principal: Principal): boolean;
  /** Records the new totals, in the order of the quotas, and alerts if a limit was reached. Never throws. */
  note(quotas: readonly CallQuota[], used: readonly number[]): void;
  /** Records that a quota refused a call. Returns the reason, and the time until the quota resets. Never throws. */
  refuse(quota: CallQuota): { readonly reason: string; readonly retryAfterMs: number };
}

export interface CallQuota extends QuotaUse {
  /** The amount of `tokens` is 0 before the call, because it is known only afterwards. A `cost` is in millionths. */
  readonly unit: QuotaUnit;
}

export type QuotaUnit = "calls" | "tokens" | "cost";

/** Millionths of a cost, because whole numbers add up exactly. */
export const COST_UNITS = 1_000_000;
