import type { Capability, ToolSource } from "../tool/tool.ts";
import type { Principal } from "../guard/principal.ts";
import type { Intent } from "./intent.ts";

/** The conversation a request stands in. Routing uses all of it, not the last message alone. */
export interface ConversationContext {
  /** The immediate request. */
  readonly query: string;
  readonly conversationSummary?: string;
  /** The last messages, oldest first. At most 10. */
  readonly recentMessages?: readonly Message[];
  /** Ids or names of the tools this conversation has used. */
  readonly toolsAlreadyUsed?: readonly string[];
  /** Ids or names of the tools that failed in this conversation. */
  readonly toolsFailed?: readonly string[];
  /** What the request is about, where the caller knows; classified otherwise. */
  readonly inferredIntent?: Intent;
  /** What the user may do. All capabilities where absent. */
  readonly userCapabilities?: readonly Capability[];
  /** Calls that need one of these capabilities are marked as needing confirmation. */
  readonly requireConfirmationFor?: readonly Capability[];
}

/** One turn of a conversation. */
export interface Message {
  readonly role: string;
  /** Text, or the parts a model's API has in its place; null where the model only called a tool. */
  readonly content: string | readonly unknown[] | null;
}

/** A request to find tools. */
export interface ToolQuery {
  readonly context: ConversationContext;
  /** 1 to 50. 5 where absent. */
  readonly limit?: number;
  /** Tools whose semantic score is lower are left out. In [0, 1]; the configured default where absent. */
  readonly scoreThreshold?: number;
  /** Whether a request that nothing is likely to serve is answered with no tools. True where absent; a threshold of 0 says false too. */
  readonly refuse?: boolean;

  readonly namespaces?: readonly string[];
  /** Only tools that declare all of these. */
  readonly requiredCapabilities?: readonly Capability[];
  /** No tool that declares any of these. */
  readonly excludedCapabilities?: readonly Capability[];
  readonly sources?: readonly ToolSource[];
  /** Only tools that carry at least one of these. */
  readonly tags?: readonly string[];
  /** True where absent. */
  readonly excludeDeprecated?: boolean;
  /** True where absent: a tool whose circuit is open is left out. */
  readonly excludeUnhealthy?: boolean;

  /** Whether the configured reranker orders the best candidates again. False where absent. */
  readonly enableReranking?: boolean;
  /** True where absent: tools that a chosen tool requires come with it. */
  readonly includeDependencies?: boolean;
  /** 0: by score alone; 1: as different from each other as possible. The configured MMR setting where absent. */
  readonly diversityFactor?: number;
  /** Whether the result explains every score, also of the best tools left out. */
  readonly explain?: boolean;

  /** Who asks: what the principal may not see is not found. */
  readonly principal?: Principal;
  readonly traceId?: string;
  readonly signal?: AbortSignal;
}
