/**
 * The limits that every process must agree on: rates, places for concurrent calls, circuit breakers and retry budgets. A call requests
 * everything in one round trip before it runs, and reports once after it. An unavailable store rejects; the caller decides on the fallback. Times
 * are durations, measured by the store's clock, because the clocks of processes differ.
 */
export interface Limits {
  /**
   * Takes everything the call needs, or nothing. If only a place is missing, it waits for one until `waitMs` have passed or the signal fires, in the
   * order of arrival; everything else refuses at once. An in-memory adapter may return without a promise.
   */
  admit(request: AdmitRequest, options?: { readonly signal?: AbortSignal | undefined }): Admission | Promise<Admission>;
  /**
   * Releases the places of a call, reports its outcome to the breaker, and adds its consumption to quotas beyond the amounts that were taken when
   * it was admitted. Limits are not checked then, and an amount may be negative. Safe to call twice: only the first report counts.
   */
  release(pass: Pass, outcome: CallOutcome, spent?: readonly QuotaUse[]): Released | Promise<Released>;
  /** Takes one retry from a retry budget. Returns false if the last minute used its share. */
  retry(budget: RetryBudget): boolean | Promise<boolean>;
  /**
   * Calls back for every open breaker, then whenever any process opens or closes one, within a second. A process that missed
   * changes, because the store was unavailable, gets the current state afterwards. Returns a function that unsubscribes.
   */
  watchBreakers(listener: (change: BreakerChange) => void): () => void;
  /** Deletes a breaker, for a tool that was deleted or replaced. */
  forget(key: string): void | Promise<void>;
}

/** The limits that one call needs. */
export interface AdmitRequest {
  readonly windows?: readonly RateWindow[];
  readonly places?: readonly Places[];
  readonly quotas?: readonly QuotaUse[] | undefined;
  readonly breaker?: BreakerSettings | undefined;
  /** The budget that this call counts towards. */
  readonly budget?: RetryBudget | undefined;
  /** Milliseconds that the call may wait for a place. Defaults to 0. */
  readonly waitMs?: number;
  /** Milliseconds after admission until its places and probe are freed, even if its process never reports. */
  readonly holdMs: number;
}

/** At most `limit` calls, a whole number from 1, in any window of time. */
export interface RateWindow {
  readonly key: string;
  readonly calls: number;
  readonly windowMs: number;
}

/** At most `limit` concurrent calls, a whole number from 1. */
export interface Places {
  readonly key: string;
  readonly limit: number;
}

/** Adds an amount to a total that grows until its period ends. The period is part of the key. */
export interface QuotaUse {
  readonly key: string;
  /** A whole number: 1 call, or a cost in millionths. */
  readonly amount: number;
  /** Refuses a call that would bring the total above it. A call of amount 0 needs room for 1. Omitted: the total is only counted. */
  readonly limit?: number;
  /** Milliseconds after its last use until the store may drop the total. */
  readonly keepMs: number;
}

/** Opens after `failures` failures in a row; after the cool-down one call at a time probes. */
export interface BreakerSettings {
  readonly key: string;
  readonly threshold: number;
  readonly coolDownMs: number;
}

/** Retries, as a share of the calls of the last minute. Three per minute are always allowed, unless the share is 0. */
export interface RetryBudget {
  readonly key: string;
  readonly share: number;
}

export type Admission = Admitted | Refused;

/** The answer to a call that may run. */
export interface Admitted {
  readonly admitted: true;
  readonly pass: Pass;
  /** The totals of the quotas after this call, in the order of the request. Omitted without quotas. */
  readonly used?: readonly number[];
}

/** The answer to a call that may not run now, with the reason. */
export interface Refused {
  readonly admitted: false;
  /** The reason. `aborted`: the signal fired, or the state was closed, while the call waited. */
  readonly because: "quota" | "window" | "places" | "breaker" | "aborted";
  /** The limit that refused: the first used-up quota, the window with the longest wait, or the first full place. */
  readonly key: string;
  /** The length of the window that refused. */
  readonly windowMs?: number;
  /** Whole milliseconds until the call can succeed; omitted if that depends on other calls. */
  readonly retryAfterMs?: number;
}

/** Permission to run one call. Plain data that any process may release. */
export interface Pass {
  readonly id: string;
  /** True if the call is the one that probes an open breaker. */
  readonly probe: boolean;
  /** The places it holds. */
  readonly places: readonly Places[];
  readonly breaker?: BreakerSettings | undefined;
  /** Reports about an earlier era of the breaker are ignored: each opening and closing begins a new one. */
  readonly era: number;
}

/** `neutral` counts as neither, and frees the probe for the next caller. */
export type CallOutcome = "success" | "failure" | "neutral";

/** The effect of the report. */
export interface Released {
  readonly breaker?: "opened" | "closed";
  /** Failures in a row, if the breaker opened. */
  readonly failures?: number;
  /** The totals of the quotas after the report, in the order of `spent`. Omitted if nothing was added. */
  readonly used?: readonly number[];
}

/** A breaker opened or closed. */
export interface BreakerChange {
  readonly key: string;
  /** Milliseconds since the epoch, by this process's clock, of the next probe; omitted if it is closed. */
  readonly probeAt?: number;
}
