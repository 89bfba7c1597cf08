/**
 * The limits that every process must agree on: rates, places for calls that run at once, circuit breakers and retry budgets. A call asks for
 * everything in one round trip before it runs, and reports once after it. A store that is away rejects; its user decides what holds then. Times
 * are spans, measured by the store's clock: the clocks of processes differ.
 */
export interface Limits {
  /**
   * Takes everything the call needs, or nothing. If only a place is missing, it waits for one until `waitMs` are over or the signal fires, in the order
   * in which calls came; everything else refuses at once. An adapter in memory may answer without a promise.
   */
  admit(request: AdmitRequest, options?: { readonly signal?: AbortSignal | undefined }): Admission | Promise<Admission>;
  /** Gives back the places of a call and tells its breaker how it went. Safe to call twice: only the first report counts. */
  release(pass: Pass, outcome: CallOutcome): Released | Promise<Released>;
  /** Takes one repeated attempt from a retry budget. False if the last minute had its share. */
  retry(budget: RetryBudget): boolean | Promise<boolean>;
  /**
   * Calls back for every breaker that is open now, then whenever any process opens or closes one, within a second. A process that missed
   * changes, because the store was away, hears how things stand once it is back. Returns what ends it.
   */
  watchBreakers(listener: (change: BreakerChange) => void): () => void;
  /** Forgets a breaker, for a tool that was deleted or replaced. */
  forget(key: string): void | Promise<void>;
}

/** What one call needs. */
export interface AdmitRequest {
  readonly windows?: readonly RateWindow[];
  readonly places?: readonly Places[];
  readonly breaker?: BreakerSettings | undefined;
  /** The budget that this call counts towards. */
  readonly budget?: RetryBudget | undefined;
  /** Milliseconds that the call may wait for a place. Not at all if omitted. */
  readonly waitMs?: number;
  /** Milliseconds after it was admitted from which its places and probe are free again, even if its process never reports. */
  readonly holdMs: number;
}

/** So many calls, a whole number from 1, in a span of time, wherever it begins. */
export interface RateWindow {
  readonly key: string;
  readonly calls: number;
  readonly windowMs: number;
}

/** So many calls at once, a whole number from 1. */
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

/** Repeated attempts, as a share of the calls of the last minute. Three a minute are always allowed, unless the share is 0. */
export interface RetryBudget {
  readonly key: string;
  readonly share: number;
}

export type Admission = Admitted | Refused;

export interface Admitted {
  readonly admitted: true;
  readonly pass: Pass;
}

export interface Refused {
  readonly admitted: false;
  /** What refused. `aborted`: the signal fired, or the state was closed, while the call waited. */
  readonly because: "window" | "places" | "breaker" | "aborted";
  /** Which one refused: the window that must be waited for the longest, or the first place that is full. */
  readonly key: string;
  /** The span of the window that refused. */
  readonly windowMs?: number;
  /** After this many whole milliseconds the call can succeed; absent if that depends on other calls. */
  readonly retryAfterMs?: number;
}

/** Leave to run one call. Plain data, which any process may give back. */
export interface Pass {
  readonly id: string;
  /** True if the call is the one that probes an open breaker. */
  readonly probe: boolean;
  /** The places it holds. */
  readonly places: readonly Places[];
  readonly breaker?: BreakerSettings | undefined;
  /** A report about an earlier era of the breaker is not counted: each opening and closing begins a new one. */
  readonly era: number;
}

/** `neutral` counts as neither, and frees the probe for the next caller. */
export type CallOutcome = "success" | "failure" | "neutral";

/** What the report changed. */
export interface Released {
  readonly breaker?: "opened" | "closed";
  /** Failures in a row, if the breaker opened. */
  readonly failures?: number;
}

/** A breaker opened or closed. */
export interface BreakerChange {
  readonly key: string;
  /** Milliseconds since the epoch, by this process's clock, from which a call may probe it; absent if it is closed. */
  readonly probeAt?: number;
}
