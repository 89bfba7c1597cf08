import type { Tool } from "../tool/tool.ts";

/** The settings for running calls, in milliseconds and counts. */
export interface EngineSettings {
  /** Time one attempt may take if neither the call, the tool nor its ensemble sets a timeout. */
  readonly defaultTimeoutMs: number;
  /** Attempts in total for a call that is safe to retry. */
  readonly maxRetries: number;
  /** The first wait between attempts, doubled each time, with jitter. */
  readonly retryBaseMs: number;
  /** Consecutive failed calls that open a tool's circuit. */
  readonly circuitBreakerThreshold: number;
  /** Time a circuit stays open before one call may probe it. */
  readonly circuitBreakerTimeoutMs: number;
  /** Calls that run at once. */
  readonly maxConcurrent: number;
  /** Calls that run at once in one ensemble, always fewer than `maxConcurrent`. Defaults to 32, or less than half of `maxConcurrent`. */
  readonly maxConcurrentPerEnsemble?: number;
  /** Retries per minute, as a share of the calls to one ensemble. */
  readonly retryBudget: number;
  /** The most a result may measure, in bytes of JSON. */
  readonly maxResultBytes: number;
  /** Keeps results of read-only tools. Omitted: every call runs its tool. */
  readonly resultCache?: ResultCacheSettings | undefined;
  /** Whether `execute` returns or throws a result that is not a success. */
  readonly onFailure: "return" | "throw";
}

/** Which results are kept, how many and for how long. */
export interface ResultCacheSettings {
  readonly ttlMs: number;
  /** Bytes of all results as JSON, with their keys. */
  readonly maxBytes: number;
  readonly maxEntries: number;
  /** Returns true if results of the tool may be cached. Defaults to every tool that is confirmed read-only. */
  readonly covers?: (tool: Tool) => boolean;
}
