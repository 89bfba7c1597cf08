import type { Tool } from "../tool/tool.ts";

export interface EngineSettings {
  /** The timeout of one attempt, unless the call, the tool or its ensemble sets one. */
  readonly defaultTimeoutMs: number;
  /** The maximum number of attempts for a call that is safe to retry. */
  readonly maxRetries: number;
  /** The delay before the first retry. It doubles with each attempt, with jitter. */
  readonly retryBaseMs: number;
  /** The number of consecutive failed calls that open a tool's circuit. */
  readonly circuitBreakerThreshold: number;
  /** How long a circuit stays open before one call may probe it. */
  readonly circuitBreakerTimeoutMs: number;
  readonly maxConcurrent: number;
  /** The maximum number of concurrent calls in one ensemble, below `maxConcurrent`. Defaults to 32, or to less than half of `maxConcurrent`. */
  readonly maxConcurrentPerEnsemble?: number;
  /** The maximum number of retries per minute, as a share of the calls to one ensemble. */
  readonly retryBudget: number;
  /** The maximum size of a result, in bytes of JSON. */
  readonly maxResultBytes: number;
  /** Caches results of read-only tools. If omitted, every call runs its tool. */
  readonly resultCache?: ResultCacheSettings | undefined;
  /** Whether `execute` returns or throws results that are not successful. */
  readonly onFailure: "return" | "throw";
}

export interface ResultCacheSettings {
  readonly ttlMs: number;
  /** The maximum total size of all results and their keys, in bytes of JSON. */
  readonly maxBytes: number;
  readonly maxEntries: number;
  /** Returns whether results of the tool may be cached. Defaults to every tool that is confirmed read-only. */
  readonly covers?: (tool: Tool) => boolean;
}
