import { isPlainObject } from "../tool/json-schema.ts";
import { isPrincipal } from "../tool/shape/check.ts";
import {
  choice,
  entry,
  flag,
  hinted,
  type InputOf,
  list,
  openEntry,
  refined,
  schema,
  share,
  type Shape,
  string,
  text,
  whole,
} from "../tool/shape/shape.ts";
import { CAPABILITIES, type Capability, TOOL_SOURCES } from "../tool/tool.ts";
import type { Principal } from "../guard/principal.ts";

/** The maximum length of a query, in characters. Real requests for a tool are shorter. */
export const MAX_QUERY_LENGTH = 16_384;

/** The number of characters that are read of each message. */
const MAX_MESSAGE_LENGTH = 20_000;

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

/** Classifies a request without keywords, for example with a language model. */
export type IntentClassifier = (
  query: string,
  summary: string | undefined,
  options: { readonly signal?: AbortSignal },
) => Promise<Intent>;

/** When to return no tools: never, only if it is certain that no tool fits, or if that is likely. */
export const REFUSE_MODES = ["never", "confident", "eager"] as const;
export type RefuseMode = (typeof REFUSE_MODES)[number];

/** The maximum number of names in a list, and the maximum length of a name, an id or a tag. */
const MOST_NAMES = 1_000;
const MAX_NAME_LENGTH = 1_000;
const MOST_TOOLS = 50;
const MOST_MESSAGES = 10;

const some = <Item>(description: string, item: Shape<Item>): Shape<readonly Item[], readonly Item[], false> =>
  refined(list(description, item), { maxItems: MOST_NAMES });
const name = (description: string): Shape<string, string, false> =>
  refined(text(description), { maxLength: MAX_NAME_LENGTH });
const tool = refined(string("A tool's id or name."), { maxLength: MAX_NAME_LENGTH });
const capabilities = (description: string): Shape<readonly Capability[], readonly Capability[], false> =>
  some(description, choice("A capability.", CAPABILITIES));

const messageFix = 'Give { role: "user", content: "…" } with plain text as content.';

/** A message may have other keys: callers pass messages of their model's API unchanged. */
const MESSAGE = hinted(
  openEntry(
    "One turn of the conversation, as model APIs write it.",
    {
      role: hinted(string("`user`, `assistant` or another."), { problem: "must be a string", fix: messageFix }),
      /** Text, or the parts that the model's API uses instead. Null or omitted if the model only called a tool. */
      content: hinted(
        schema<string | readonly unknown[] | null | undefined>({
          description: "The text, or a list of content parts as in the model's API.",
          anyOf: [{ type: "string" }, { type: "array", items: {} }, { type: "null" }],
        }),
        {
          fits: (value) => typeof value === "string" || value === null || Array.isArray(value),
          problem: "must be text, a list of parts, or null",
          fix: messageFix,
        },
      ),
    },
    ["role"],
  ),
  { problem: "must be a message", fix: messageFix },
);

/** One turn of a conversation. Messages of the common model APIs fit unchanged. */
export interface Message extends InputOf<typeof MESSAGE> {}

const example = 'Pass { context: { query: "what the user asks for" } }.';

const CONTEXT = hinted(
  entry(
    "The request and its conversation.",
    {
      query: hinted(
        refined(text("The user's request, as text, up to 16,384 characters."), { maxLength: MAX_QUERY_LENGTH }),
        { shorten: "Say in a few sentences what is wanted; put the rest into recentMessages." },
      ),
      conversationSummary: hinted(
        refined(string("A summary of the conversation so far, up to 65,536 characters."), { maxLength: 65_536 }),
        { shorten: "Summarise it." },
      ),
      /**
       * The conversation so far, oldest first. At most the last 10 messages are read, and at most 20,000 characters of each. A request such as "do it
       * again" is understood from them.
       */
      recentMessages: hinted(
        refined(list<Message>("The conversation, oldest first. At most 10 are read.", MESSAGE), {
          maxItems: MOST_MESSAGES,
        }),
        {
          items: "messages",
          shorten: `Keep the last ${MOST_MESSAGES}, as in messages.slice(-${MOST_MESSAGES}), and put the rest into conversationSummary.`,
        },
      ),
      toolsAlreadyUsed: some("Ids or names of tools that this conversation has used.", tool),
      toolsFailed: some("Ids or names of tools that failed in this conversation.", tool),
      /** The intent of the request, if the caller knows it. Defaults to a classification. */
      inferredIntent: choice("The intent of the request, if you know it.", INTENTS),
      userCapabilities: capabilities("The capabilities of the user. Defaults to all."),
      requireConfirmationFor: capabilities("Tools with one of these capabilities are marked as needing confirmation."),
    },
    ["query"],
  ),
  { fix: example },
);

/** The conversation of a request. The search uses all of it, not only the last message. */
export interface ConversationContext extends InputOf<typeof CONTEXT> {}

export const TOOL_QUERY = hinted(
  entry(
    "A request to find tools.",
    {
      context: CONTEXT,
      /** 1 to 50. Defaults to 5. */
      limit: hinted(whole("Maximum number of tools. Defaults to 5.", 1, MOST_TOOLS), {
        fix: `Ask for 1 to ${MOST_TOOLS} tools; a model chooses best among few.`,
      }),
      /** Omits tools with a lower semantic score, even if none remain. In [0, 1]. Defaults to the configured one; 0 also implies `refuse: "never"`. */
      scoreThreshold: share("Minimum semantic score of a tool. Defaults to `routing.score_threshold`."),
      /**
       * When to return no tools: `confident` refuses at most 2 % of the requests that a tool could serve, `eager` about 5 %, `never` always returns
       * the nearest tools. Defaults to the configured `routing.refuse`, which is `confident`.
       */
      refuse: choice("When to return no tools because no tool fits. Defaults to `routing.refuse`.", REFUSE_MODES),
      namespaces: some("Only tools of these namespaces.", name("A namespace.")),
      requiredCapabilities: capabilities("Only tools that declare all of these capabilities."),
      excludedCapabilities: capabilities("Leaves out tools that declare any of these capabilities."),
      sources: some("Only tools from these sources.", choice("A source.", TOOL_SOURCES)),
      tags: some("Only tools with one of these tags.", name("A tag.")),
      excludeDeprecated: flag("Leaves out deprecated tools. Defaults to true."),
      /** Omits tools whose circuit is open. Defaults to true. */
      excludeUnhealthy: flag("Leaves out tools that keep failing. Defaults to true."),
      enableReranking: flag("Reorders the best candidates with the configured reranker. Defaults to false."),
      includeDependencies: flag("Adds the tools that a returned tool requires. Defaults to true."),
      diversityFactor: share("Diversity of the results. 0: rank by score only; 1: rank as diversely as possible."),
      explain: flag("Explains the score of every returned tool, and of the best tools that were left out."),
      /** The caller. Tools that the principal may not see are not found. */
      principal: hinted(schema<Principal>({ description: "The caller. Defaults to the local operator." }), {
        fits: isPrincipal,
        problem: "must be a principal",
        fix: "Give { id, roles, capabilities, scopes, local }, or leave the field out.",
        onlyInCode: true,
      }),
      /**
       * Also finds tools that the caller may not call, each with `refused`. An operator without a tenant then finds every tool; other callers find
       * the tools that the policy lets them see. Defaults to false.
       */
      includeRefused: flag(
        "Also finds tools that you may not call. Each of them has a member `refused`. Defaults to false.",
      ),
      /** Also finds skills of MCP servers whose resources the caller may read, as `skills` of the result. Defaults to false. */
      includeSkills: flag("Also finds skills of MCP servers and returns them as `skills`. Defaults to false."),
      toolset: name("Limits the request to the tools of this toolset."),
      /** The trace of the request. Other programs can continue the trace if the id has 32 hexadecimal digits. Defaults to a new trace. */
      traceId: name("Your trace id. Defaults to the trace id in the header `traceparent`."),
      /** The parent span: 16 hexadecimal digits. */
      parentSpanId: name("Your span id. Defaults to the span id in the header `traceparent`."),
      /** False if the caller does not record its trace. Its spans are then not exported. Defaults to true. */
      sampled: hinted(flag("False if you do not record the trace. Defaults to true."), { onlyInCode: true }),
      /** The header `tracestate` (W3C Trace Context). An invalid value is ignored. */
      tracestate: hinted(string("The header `tracestate` of the trace."), { onlyInCode: true }),
      signal: hinted(schema<AbortSignal>({ description: "Cancels the search." }), {
        fits: (value) => value instanceof AbortSignal,
        problem: "must be an AbortSignal",
        fix: "Pass the `signal` of an AbortController.",
        onlyInCode: true,
      }),
    },
    ["context"],
  ),
  { fix: example },
);

/** A request to find tools. */
export interface ToolQuery extends InputOf<typeof TOOL_QUERY> {}

/** The options of a request that is given as text: everything in a query except the text. */
export interface RetrieveOptions extends Omit<ToolQuery, "context"> {
  /** The conversation before the request. */
  readonly context?: Omit<ConversationContext, "query">;
}

/** Returns the text of a message or of its parts, up to the maximum length. Calls and images have no text. */
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
