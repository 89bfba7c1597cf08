import type { QuotaUse } from "../../state/limits.port.ts";
import type { Tool } from "../../tool/tool.ts";
import type { Principal } from "../principal.ts";

/** Counts calls, tokens and cost against the quotas of tenants. A call takes from them in the same round trip as from its other limits. */
export interface Quotas {
  /** The quotas of a call; undefined if it has none. */
  of(tool: Tool, principal: Principal): readonly CallQuota[] | undefined;
  /** Returns true if the tokens of the caller's calls are counted. */
  measures(principal: Principal): boolean;
  /** Notes totals after they changed, in the order of the quotas, and alerts if a limit was reached. Never throws. */
  note(quotas: readonly CallQuota[], used: readonly number[]): void;
  /** Notes that a quota refused a call, and returns the reason and when the quota begins anew. Never throws. */
  refuse(quota: CallQuota): { readonly reason: string; readonly retryAfterMs: number };
}

/** One quota of one call. */
export interface CallQuota extends QuotaUse {
  /** `tokens` are known after the call, so its amount is 0 before. A `cost` is in millionths. */
  readonly unit: QuotaUnit;
}

export type QuotaUnit = "calls" | "tokens" | "cost";

/** Millionths of a cost. Whole numbers add up exactly. */
export const COST_UNITS = 1_000_000;
