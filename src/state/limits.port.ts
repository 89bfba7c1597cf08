/**
 * The limits that every process must agree on: rates, places for calls that run at once, circuit breakers and retry budgets. A call asks for
 * everything in one round trip before it runs, and reports once after it.
 */
export interface Limits {
  /**
   * Takes everything the call needs, or nothing. Waits for a place until the deadline or the signal; whatever else refuses does so at once. An
   * adapter in memory may answer without a promise.
   */
  admit(request: AdmitRequest, options?: { readonly signal?: AbortSignal }): Admission | Promise<Admission>;
  /** Gives back the places of a call and tells its breaker how it went. Safe to call twice. */
  release(pass: Pass, outcome: CallOutcome): Released | Promise<Released>;
  /** Takes one repeated attempt from a retry budget. False if the last minute had its share. */
  retry(budget: RetryBudget): boolean | Promise<boolean>;
  /** The breakers that are open now, so that retrieval can leave their tools out. */
  openBreakers(): readonly string[] | Promise<readonly string[]>;
  /** Forgets a breaker, for a tool that was deleted or replaced. */
  forget(key: string): void | Promise<void>;
}

/** What one call needs. */
export interface AdmitRequest {
  readonly windows?: readonly RateWindow[];
  /** Taken in this order. */
  readonly places?: readonly Places[];
  readonly breaker?: BreakerSettings;
  /** The budget that this call counts towards. */
  readonly budget?: RetryBudget;
  /** Milliseconds since the epoch until which the call may wait for a place. */
  readonly waitUntil?: number;
  /** Milliseconds since the epoch from which the call's places and probe are free again, even if its process never reports. */
  readonly heldUntil: number;
}

/** So many calls in a span of time, wherever it begins. */
export interface RateWindow {
  readonly key: string;
  readonly calls: number;
  readonly windowMs: number;
}

/** So many calls at once. */
export interface Places {
  readonly key: string;
  readonly limit: number;
}

/** Opens after so many failures in a row; after the cool-down one call at a time probes. */
export interface BreakerSettings {
  readonly key: string;
  readonly threshold: number;
  readonly coolDownMs: number;
}

/** Repeated attempts, as a share of the calls of the last minute. */
export interface RetryBudget {
  readonly key: string;
  readonly share: number;
}

export type Admission =
  | { readonly admitted: true; readonly pass: Pass }
  | {
      readonly admitted: false;
      /** What refused. For `window` and `places`, `key` names the one that must be waited for the longest. */
      readonly because: "window" | "places" | "breaker" | "aborted";
      readonly key: string;
      /** After this many whole milliseconds the call can succeed; absent if that depends on other calls. */
      readonly retryAfterMs?: number;
    };

/** Leave to run one call. Plain data. */
export interface Pass {
  readonly id: string;
  /** True if the call is the one that probes an open breaker. */
  readonly probe: boolean;
}

/** `neutral` counts as neither, and frees the probe for the next caller. */
export type CallOutcome = "success" | "failure" | "neutral";

/** What the report changed. */
export interface Released {
  readonly breaker?: "opened" | "closed";
  readonly failures?: number;
}
