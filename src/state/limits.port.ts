/**
 * The limits that all processes share: rates, slots for concurrent calls, circuit breakers and retry budgets. A call requests everything in one round
 * trip before it runs, and reports once afterwards. If the store is unavailable, methods reject; the caller decides on the fallback. Times are
 * durations on the store's clock, because the clocks of processes differ.
 */
export interface Limits {
  /**
   * Takes everything that the call needs, or nothing. If only a slot is missing, waits in order of arrival until `waitMs` have passed or the signal
   * fires; all other limits refuse immediately. In-memory adapters may be synchronous.
   */
  admit(request: AdmitRequest, options?: { readonly signal?: AbortSignal | undefined }): Admission | Promise<Admission>;
  /**
   * Releases the slots of a call, reports its outcome to the breaker, and adds consumption beyond the admitted amounts to quotas. No limit is checked
   * here, and amounts may be negative. Only the first report of a pass counts.
   */
  release(pass: Pass, outcome: CallOutcome, spent?: readonly QuotaUse[]): Released | Promise<Released>;
  /** Takes one retry from a budget. Returns false if the share of the last minute is used up. */
  retry(budget: RetryBudget): boolean | Promise<boolean>;
  /**
   * Calls `listener` for every open breaker, then within a second whenever any process opens or closes one. After an outage of the store, reports the
   * current state. Returns a function that unsubscribes.
   */
  watchBreakers(listener: (change: BreakerChange) => void): () => void;
  /** Deletes a breaker when its tool is deleted or replaced. */
  forget(key: string): void | Promise<void>;
}

/** The limits that one call needs. */
export interface AdmitRequest {
  readonly windows?: readonly RateWindow[];
  readonly places?: readonly Places[];
  readonly quotas?: readonly QuotaUse[] | undefined;
  readonly breaker?: BreakerSettings | undefined;
  /** The retry budget that this call adds to. */
  readonly budget?: RetryBudget | undefined;
  /** How long the call may wait for a slot, in milliseconds. Defaults to 0. */
  readonly waitMs?: number;
  /** When its slots and probe are freed even without a report, in milliseconds after admission. */
  readonly holdMs: number;
}

/** At most `calls` calls (a whole number from 1) in any window of this length. */
export interface RateWindow {
  readonly key: string;
  readonly calls: number;
  readonly windowMs: number;
}

/** At most `limit` concurrent calls (a whole number from 1). */
export interface Places {
  readonly key: string;
  readonly limit: number;
}

/** Adds an amount to a total. The key includes the period, so each period has its own total. */
export interface QuotaUse {
  readonly key: string;
  /** A whole number: 1 for a call, or a cost in millionths. */
  readonly amount: number;
  /** The maximum total, above which a call is refused. A call of amount 0 needs room for 1. If omitted, the total is only counted. */
  readonly limit?: number;
  /** When the store may drop the total, in milliseconds after its last use. */
  readonly keepMs: number;
}

/** Opens after `threshold` consecutive failures. After the cool-down, one call at a time probes. */
export interface BreakerSettings {
  readonly key: string;
  readonly threshold: number;
  readonly coolDownMs: number;
}

/** Retries as a share of the calls in the last minute. Three per minute are always allowed, unless the share is 0. */
export interface RetryBudget {
  readonly key: string;
  readonly share: number;
}

export type Admission = Admitted | Refused;

/** The call may run. */
export interface Admitted {
  readonly admitted: true;
  readonly pass: Pass;
  /** The quota totals after this call, in the order of the request. Omitted without quotas. */
  readonly used?: readonly number[];
}

/** The call may not run now. */
export interface Refused {
  readonly admitted: false;
  /** The limit that refused. `aborted` means that the signal fired, or the state was closed, while the call waited. */
  readonly because: "quota" | "window" | "places" | "breaker" | "aborted";
  /** The key of the limit: the first used-up quota, the window with the longest wait, or the first full slots. */
  readonly key: string;
  readonly windowMs?: number;
  /** When the call can succeed, in whole milliseconds from now. Omitted if that depends on other calls. */
  readonly retryAfterMs?: number;
}

/** Permission to run one call. Plain data, so any process can release it. */
export interface Pass {
  readonly id: string;
  /** True if this call probes an open breaker. */
  readonly probe: boolean;
  /** The slots that the call holds. */
  readonly places: readonly Places[];
  readonly breaker?: BreakerSettings | undefined;
  /** The breaker's era. Each opening and closing starts a new era, and reports about an earlier era are ignored. */
  readonly era: number;
}

/** The outcome for the breaker. `neutral` counts as neither success nor failure, and frees the probe for the next call. */
export type CallOutcome = "success" | "failure" | "neutral";

/** The effect of a report. */
export interface Released {
  readonly breaker?: "opened" | "closed";
  /** Consecutive failures, if the breaker opened. */
  readonly failures?: number;
  /** The quota totals after the report, in the order of `spent`. Omitted if nothing was added. */
  readonly used?: readonly number[];
}

/** A breaker opened or closed. */
export interface BreakerChange {
  readonly key: string;
  /** When the next probe may run, in milliseconds since the epoch on this process's clock. Omitted if the breaker is closed. */
  readonly probeAt?: number;
}
