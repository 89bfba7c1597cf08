import type { CallQuota, Quotas } from "../../guard/limits/quotas.ts";
import { estimateTokens } from "../../tool/estimate-tokens.ts";
import type { Outcome } from "../outcome.ts";
import type { CheckedCall } from "../running-call.ts";
import type { CallBounds } from "./admission.ts";

/** The limits that count every call, even if its result is already known. */
export function ofEveryCall({ rates, quotas }: CallBounds): CallBounds {
  return { rates, quotas: quotas?.filter(({ unit }) => unit === "calls") };
}

/** The limits that count only calls that run. `ofEveryCall` was counted before. */
export function ofRunCalls({ quotas }: CallBounds): CallBounds {
  return { rates: [], quotas: quotas?.filter(({ unit }) => unit !== "calls") };
}

/** The limits of a call with a cached result: its tokens are known, and it costs nothing. */
export function ofCached({ rates, quotas }: CallBounds, { tokens = 0 }: Outcome): CallBounds {
  if (quotas === undefined) return { rates };
  const counted = quotas.filter(({ unit }) => unit !== "cost");
  return { rates, quotas: counted.map((quota) => (quota.unit === "tokens" ? { ...quota, amount: tokens } : quota)) };
}

/** Adds the tokens of the arguments and the result to an outcome, if the caller's tokens are counted. */
export function measured(outcome: Outcome, { principal, request }: CheckedCall, quotas: Quotas | undefined): Outcome {
  if (quotas?.measures(principal) !== true) return outcome;
  return { ...outcome, tokens: estimateTokens(jsonOf(request.arguments) + jsonOf(outcome.result)) };
}

/** Returns the amounts to add to quotas after a call, beyond the amounts taken before it; undefined if there are none. */
export function spentBy(
  quotas: readonly CallQuota[] | undefined,
  ended: Outcome | undefined,
): readonly CallQuota[] | undefined {
  if (quotas === undefined) return undefined;
  const spent = quotas.flatMap(({ limit: _limit, ...quota }) => {
    const amount = amountOf(quota, ended);
    return amount === 0 ? [] : [{ ...quota, amount }];
  });
  return spent.length === 0 ? undefined : spent;
}

function amountOf({ unit, amount }: CallQuota, ended: Outcome | undefined): number {
  switch (unit) {
    case "calls":
      return 0;
    case "tokens":
      return ended?.tokens ?? 0;
    case "cost":
      // The first attempt was counted on admission.
      return amount * ((ended?.attempts ?? 0) - 1);
  }
}

function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    return "";
  }
}
