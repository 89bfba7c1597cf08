import type { EngineSettings } from "../../src/execute/settings.ts";

/** How engines of tests run calls, unless a test says otherwise. */
export const DEFAULT_ENGINE_SETTINGS: EngineSettings = {
  defaultTimeoutMs: 30_000,
  maxRetries: 3,
  retryBaseMs: 200,
  circuitBreakerThreshold: 5,
  circuitBreakerTimeoutMs: 60_000,
  maxConcurrent: 256,
  retryBudget: 0.2,
  maxResultBytes: 16 * 1024 * 1024,
  onFailure: "return",
};
