import { isPlainObject } from "../tool/json-schema.ts";
import type { Capability, ToolSource } from "../tool/tool.ts";
import type { Principal } from "../guard/principal.ts";

/** The longest query, in characters. Longer queries are refused: a request for a tool is never that long. */
export const MAX_QUERY_LENGTH = 16_384;

/** The most characters of one message that are read. */
const MAX_MESSAGE_LENGTH = 20_000;

/** The conversation of a request. Routing uses all of it, not the last message alone. */
export interface ConversationContext {
  /** The immediate request, of at most 16,384 characters. */
  readonly query: string;
  /** At most 65,536 characters. */
  readonly conversationSummary?: string;
  /** The conversation so far, oldest first: the last 10 messages at most, of which the first 20,000 characters each are read. A request such as "do it again" is read with them. */
  readonly recentMessages?: readonly Message[];
  /** Ids or names of the tools this conversation has used. */
  readonly toolsAlreadyUsed?: readonly string[];
  /** Ids or names of the tools that failed in this conversation. */
  readonly toolsFailed?: readonly string[];
  /** The intent of the request, if the caller knows it; classified otherwise. */
  readonly inferredIntent?: Intent;
  /** The user's capabilities. Defaults to all capabilities. */
  readonly userCapabilities?: readonly Capability[];
  /** Calls that need one of these capabilities are marked as needing confirmation. */
  readonly requireConfirmationFor?: readonly Capability[];
}

/** One turn of a conversation. The messages of the usual model APIs fit as they are. */
export interface Message {
  readonly role: string;
  /** Text, or the parts that the model's API uses instead. Null or omitted when the model only called a tool. */
  readonly content?: string | readonly unknown[] | null | undefined;
}

/** The coarse subject of a request. */
export const INTENTS = [
  "data_query",
  "data_mutation",
  "analysis",
  "communication",
  "file_operations",
  "customer_support",
  "admin",
  "unknown",
] as const;
export type Intent = (typeof INTENTS)[number];

/** Classifies a request without the keywords, for example with a language model. */
export type IntentClassifier = (
  query: string,
  summary: string | undefined,
  options: { readonly signal?: AbortSignal },
) => Promise<Intent>;

/** When a request is answered with no tools: never, only if it is certain that nothing fits, or as soon as that is likely. */
export const REFUSE_MODES = ["never", "confident", "eager"] as const;
export type RefuseMode = (typeof REFUSE_MODES)[number];

/** A request to find tools. */
export interface ToolQuery {
  readonly context: ConversationContext;
  /** 1 to 50. Defaults to 5. */
  readonly limit?: number;
  /** Leaves out tools with a lower semantic score, even if none remain. In [0, 1]. Defaults to the configured one; 0 also means `refuse: "never"`. */
  readonly scoreThreshold?: number;
  /**
   * When to return no tools: `confident` refuses at most 2 % of the requests that a tool could serve, `eager` about 5 %, `never` always returns
   * the nearest tools. Defaults to the configured `routing.refuse`, which is `confident`.
   */
  readonly refuse?: RefuseMode;

  readonly namespaces?: readonly string[];
  /** Only tools that declare all of these. */
  readonly requiredCapabilities?: readonly Capability[];
  /** No tool that declares any of these. */
  readonly excludedCapabilities?: readonly Capability[];
  readonly sources?: readonly ToolSource[];
  /** Only tools that carry at least one of these. */
  readonly tags?: readonly string[];
  /** Defaults to true. */
  readonly excludeDeprecated?: boolean;
  /** Leaves out tools whose circuit is open. Defaults to true. */
  readonly excludeUnhealthy?: boolean;

  /** Whether the configured reranker orders the best candidates again. Defaults to false. */
  readonly enableReranking?: boolean;
  /** Adds the tools that a chosen tool requires. Defaults to true. */
  readonly includeDependencies?: boolean;
  /** 0: by score alone; 1: as different from each other as possible. Defaults to the configured MMR setting. */
  readonly diversityFactor?: number;
  /** Whether the result explains every score, also of the best tools left out. */
  readonly explain?: boolean;

  /** The caller: tools that the principal may not see are not found. */
  readonly principal?: Principal;
  /** Searches only the tools of this toolset. Defaults to the whole catalog. */
  readonly toolset?: string;
  /** The trace that the request belongs to: 32 hexadecimal digits for one that other programs can continue. Defaults to a new one. */
  readonly traceId?: string;
  /** The parent span: 16 hexadecimal digits. */
  readonly parentSpanId?: string;
  /** False if the caller does not record its trace: no span of it is exported. Defaults to true. */
  readonly sampled?: boolean;
  /** The header `tracestate` (W3C Trace Context) of the trace. An invalid one is ignored. */
  readonly tracestate?: string;
  readonly signal?: AbortSignal;
}

/** The options of a request that is given in words: any part of a query but the words. */
export interface RetrieveOptions extends Omit<ToolQuery, "context"> {
  /** The conversation that the request stands in. */
  readonly context?: Omit<ConversationContext, "query">;
}

/** Returns the text of a message, or of its parts, up to the length that is read. Calls and images have no text. */
export function messageText({ content }: Message): string {
  if (typeof content === "string") return content.slice(0, MAX_MESSAGE_LENGTH);
  const texts: string[] = [];
  let length = 0;
  for (const part of content ?? []) {
    if (!isPlainObject(part) || typeof part["text"] !== "string") continue;
    texts.push(part["text"]);
    length += part["text"].length + 1;
    if (length > MAX_MESSAGE_LENGTH) break;
  }
  return texts.join("\n").slice(0, MAX_MESSAGE_LENGTH);
}
