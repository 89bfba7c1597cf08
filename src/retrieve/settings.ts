import type { RefuseMode } from "./query.ts";
import type { RoutingWeights } from "./result.ts";

/** The settings for ranking, which config/ has already validated. */
export interface RetrieverSettings {
  /** The weight `learned` applies only if the retriever has learned evidence. */
  readonly weights: RoutingWeights;
  readonly penalties: Penalties;
  readonly enableIntentClassification: boolean;
  /** True runs the injected classifier before the keywords. */
  readonly useLlmForIntent: boolean;
  readonly enableMmr: boolean;
  /** 1 ranks by score alone, 0 as diversely as possible. */
  readonly mmrLambda: number;
  /** Omits tools with a lower semantic score, unless a query sets its own threshold. The default value never omits every tool. */
  readonly scoreThreshold: number;
  /** When to return no tools, unless the query sets it. */
  readonly refuse: RefuseMode;
  /** The number of best candidates that a reranker orders again. */
  readonly rerankTopK: number;
  readonly rerankTimeoutMs: number;
}

/** The amounts that are subtracted from a tool's score. */
export interface Penalties {
  readonly alreadyUsed: number;
  readonly alreadyFailed: number;
  readonly deprecated: number;
}

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
