import type { Refusal } from "../guard/policy.port.ts";
import type { RetrievalSteps } from "../observe/events.ts";
import type { Tool } from "../tool/tool.ts";
import type { Intent } from "./query.ts";

/** The tools found for a request, best first, and details of the search. */
export interface RetrievalResult {
  /** Empty if the request was refused (see `ToolQuery.refuse`) or no tool reaches the query's own `scoreThreshold`. */
  readonly tools: readonly ScoredTool[];
  /** The estimated probability that the found tools serve the request, in [0, 1]. */
  readonly confidence: number;
  /** True if probably no tool serves the request: the confidence is below the threshold of `refuse` (`never` uses that of `confident`). */
  readonly nothingFits: boolean;
  /** The best three tools, for reference. Present if `nothingFits` is true. */
  readonly nearest?: readonly ScoredTool[];
  readonly intent: Intent;
  /** The ranker that answered: `tuned`, `static`, `lexical`, the model of an embedder, or `tuned+static` while `tuned` is still embedding. */
  readonly tier: string;
  /** The number of tools that passed every filter. */
  readonly candidateCount: number;
  /** The number of tools that a filter removed. */
  readonly filteredCount: number;
  readonly queryEmbeddingTimeMs: number;
  readonly searchTimeMs: number;
  readonly rerankTimeMs?: number;
  /** The error if reranking was requested but failed. The order is then the search's own. */
  readonly rerankError?: string;
  readonly totalTimeMs: number;
  readonly steps: RetrievalSteps;
  readonly traceId: string;
  /** Present if the query sets `explain`. */
  readonly explanation?: Explanation;
  /** Skills of MCP servers, best first. Present if the query sets `includeSkills`. */
  readonly skills?: readonly FoundSkill[];
}

/** A skill of an MCP server that fits a request. */
export interface FoundSkill {
  /** The address at which clients of the gateway read the skill: `skill://shop/refunds/SKILL.md`. */
  readonly uri: string;
  readonly name: string;
  readonly description: string;
  /** The MCP server of the skill. */
  readonly server: string;
  /** How well the skill fits the words of the request, in [0, 1], on the scale of `ScoredTool.semanticScore`. */
  readonly score: number;
}

/** A found tool, and how well it fits. */
export interface ScoredTool {
  readonly tool: Tool;
  /** The result of the routing formula, which decides the order. In [0, 1] if the weights, including the learned one, sum to 1. */
  readonly score: number;
  /** How well the tool fits the words of the request, in [0, 1]. Absolute, so comparable between requests. */
  readonly semanticScore: number;
  /** Present if a reranker ran. It replaces the semantic score in the formula. */
  readonly rerankScore?: number;
  readonly signals: RoutingSignals;
  /** True if the caller's context or the tool requires confirmation. */
  readonly requiresConfirmation: boolean;
  /** Why the caller may not call the tool. Such tools are found only with `includeRefused`, or if the rule has `hide: false`. */
  readonly refused?: Refusal;
  /** The id of the tool that requires this one. Present for dependencies. */
  readonly requiredBy?: string;
}

/** The signals and three penalties of the routing formula. Each is in [0, 1]. */
export interface RoutingSignals {
  readonly semantic: number;
  readonly intent: number;
  readonly conversation: number;
  readonly health: number;
  readonly cost: number;
  /** How well the tool served similar requests. Present if the arsenal learns from use. */
  readonly learned?: number;
  readonly alreadyUsedPenalty: number;
  readonly alreadyFailedPenalty: number;
  readonly deprecatedPenalty: number;
  /** The penalty of a destructive tool in a near-tie with harmless ones. */
  readonly destructivePenalty?: number;
}

/** The weight of each signal in the routing formula. */
export interface RoutingWeights {
  readonly semantic: number;
  readonly intent: number;
  readonly conversation: number;
  readonly health: number;
  readonly cost: number;
  /** Defaults to 0. */
  readonly learned?: number;
}

/** Why the returned tools were chosen, and why the best of the others were left out. */
export interface Explanation {
  readonly chosen: readonly ExplainedTool[];
  /** The best tools that were left out, best first. */
  readonly leftOut: readonly ExplainedTool[];
}

/** The signals of one tool. */
export interface ExplainedTool {
  readonly toolId: string;
  readonly score: number;
  readonly reason: "chosen" | "dependency" | "limit" | "threshold" | "confidence" | "diversity" | "conflict";
  /** The id of the other tool, for a conflict or a dependency. */
  readonly because?: string;
  /** One entry per signal: value, weight and their product. Penalties have weight -1. */
  readonly signals: readonly {
    readonly name: keyof RoutingSignals;
    readonly value: number;
    readonly weight: number;
    readonly contribution: number;
  }[];
  /** Words of the request that occur in the tool, heaviest first, with their fields. */
  readonly matchedTerms: readonly {
    readonly term: string;
    readonly fields: readonly string[];
    readonly share: number;
  }[];
}
