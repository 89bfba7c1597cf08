import type { RefuseMode } from "./query.ts";
import type { RoutingWeights } from "./result.ts";

/** How the retriever ranks. Checked by config/ before it gets here. */
export interface RetrieverSettings {
  /** `learned` counts only if the retriever has learned evidence. */
  readonly weights: RoutingWeights;
  readonly penalties: Penalties;
  readonly enableIntentClassification: boolean;
  /** Whether the injected classifier runs before the keywords. */
  readonly useLlmForIntent: boolean;
  readonly enableMmr: boolean;
  /** 1: by score alone; 0: as different as possible. */
  readonly mmrLambda: number;
  /** Leaves out tools with a lower semantic score if a query names no threshold. The default never leaves out every tool. */
  readonly scoreThreshold: number;
  /** When a request is answered with no tools, unless the query sets it. */
  readonly refuse: RefuseMode;
  /** How many of the best candidates a reranker orders again. */
  readonly rerankTopK: number;
  /** How long a retrieval waits for a reranker. */
  readonly rerankTimeoutMs: number;
}

/** The deductions from a tool's score. */
export interface Penalties {
  readonly alreadyUsed: number;
  readonly alreadyFailed: number;
  readonly deprecated: number;
}

/** The default settings. */
export const DEFAULT_SETTINGS: RetrieverSettings = {
  weights: { semantic: 0.6, intent: 0.15, conversation: 0.1, health: 0.1, cost: 0.05 },
  penalties: { alreadyUsed: 0.05, alreadyFailed: 0.3, deprecated: 0.2 },
  enableIntentClassification: true,
  useLlmForIntent: false,
  enableMmr: true,
  mmrLambda: 0.7,
  scoreThreshold: 0.5,
  refuse: "confident",
  rerankTopK: 10,
  rerankTimeoutMs: 5000,
};
