import type { Refusal } from "../guard/policy.port.ts";
import type { RetrievalSteps } from "../observe/events.ts";
import type { Tool } from "../tool/tool.ts";
import type { Intent } from "./query.ts";

/** The tools found for a request, best first, and how the search went. */
export interface RetrievalResult {
  /** Empty if the request was refused (see `ToolQuery.refuse`) or no tool reaches the query's own `scoreThreshold`. */
  readonly tools: readonly ScoredTool[];
  /** How likely it is that the tools found serve the request, in [0, 1]. */
  readonly confidence: number;
  /** True if no tool is likely to serve the request: the confidence is below the threshold of the `refuse` setting in force (`never` uses that of `confident`). */
  readonly nothingFits: boolean;
  /** Present if nothing fits: the best three tools, for reference. */
  readonly nearest?: readonly ScoredTool[];
  readonly intent: Intent;
  /** Which ranker answered: `tuned`, `static`, `tuned+static` while the better one is still learning the tools, `lexical`, or an embedder's model. */
  readonly tier: string;
  /** Tools that passed every filter and were scored. */
  readonly candidateCount: number;
  /** Tools that a filter left out. */
  readonly filteredCount: number;
  readonly queryEmbeddingTimeMs: number;
  readonly searchTimeMs: number;
  readonly rerankTimeMs?: number;
  /** Present if reranking was requested and failed: the error. The order is then the search's own. */
  readonly rerankError?: string;
  readonly totalTimeMs: number;
  /** How long each step took. */
  readonly steps: RetrievalSteps;
  readonly traceId: string;
  /** Present if the query requested it. */
  readonly explanation?: Explanation;
  /** Skills of MCP servers, best first. Present if the query set `includeSkills`. */
  readonly skills?: readonly FoundSkill[];
}

/** A skill of an MCP server that fits a request. */
export interface FoundSkill {
  /** Clients of the gateway read it at this address: `skill://shop/refunds/SKILL.md`. */
  readonly uri: string;
  readonly name: string;
  readonly description: string;
  /** The server that serves it. */
  readonly server: string;
  /** How well it fits the words of the request, on the scale of `ScoredTool.semanticScore`. In [0, 1]. */
  readonly score: number;
}

/** One tool found, and how well it fits. */
export interface ScoredTool {
  readonly tool: Tool;
  /** The routing formula's outcome; tools are ordered by it. In [0, 1] with weights that sum to 1, the learned one among them. */
  readonly score: number;
  /** How well the tool fits the words of the request, absolute, comparable between requests. In [0, 1]. */
  readonly semanticScore: number;
  /** Present if a reranker ran; it then replaces the semantic score in the formula. */
  readonly rerankScore?: number;
  readonly signals: RoutingSignals;
  /** True if the caller's context or the tool requires confirmation. */
  readonly requiresConfirmation: boolean;
  /** Present if the caller may not call the tool. Found only with `includeRefused`, or if the rule says `hide: false`. */
  readonly refused?: Refusal;
  /** The id of the tool that requires this one, if it is a dependency. */
  readonly requiredBy?: string;
}

/** The signals and three penalties of the routing formula. Each is in [0, 1]. */
export interface RoutingSignals {
  readonly semantic: number;
  readonly intent: number;
  readonly conversation: number;
  readonly health: number;
  readonly cost: number;
  /** How well the tool served requests like this one. Present if the arsenal learns from use. */
  readonly learned?: number;
  readonly alreadyUsedPenalty: number;
  readonly alreadyFailedPenalty: number;
  readonly deprecatedPenalty: number;
  /** Given to a destructive tool that is nearly tied with harmless ones. */
  readonly destructivePenalty?: number;
}

/** How much each signal counts. */
export interface RoutingWeights {
  readonly semantic: number;
  readonly intent: number;
  readonly conversation: number;
  readonly health: number;
  readonly cost: number;
  /** Defaults to 0. */
  readonly learned?: number;
}

/** Why the tools returned were returned, and why the best of the others were not. */
export interface Explanation {
  readonly chosen: readonly ExplainedTool[];
  /** The best tools that were left out, best first. */
  readonly leftOut: readonly ExplainedTool[];
}

/** The number behind each signal of one tool. */
export interface ExplainedTool {
  readonly toolId: string;
  readonly score: number;
  readonly reason: "chosen" | "dependency" | "limit" | "threshold" | "confidence" | "diversity" | "conflict";
  /** For a conflict or dependency: the other tool. */
  readonly because?: string;
  /** One entry per signal: its value, its weight and their product. Penalties have weight -1. */
  readonly signals: readonly {
    readonly name: keyof RoutingSignals;
    readonly value: number;
    readonly weight: number;
    readonly contribution: number;
  }[];
  /** Words of the request found in the tool, heaviest first, with their field. */
  readonly matchedTerms: readonly {
    readonly term: string;
    readonly fields: readonly string[];
    readonly share: number;
  }[];
}
