import { INTENTS, REFUSE_MODES } from "../../../retrieve/query.ts";
import { CAPABILITIES, TOOL_SOURCES } from "../../../tool/tool.ts";
import { TOOL } from "./tool.ts";
import { choice, described, flag, integer, list, number, object, share, text, texts } from "./write.ts";

const capabilities = (description: string) => list(choice(CAPABILITIES, "A capability."), description);

const message = object("One turn of the conversation, as model APIs write it.", ["role"], {
  role: text("`user`, `assistant` or another."),
  content: {
    description: "Text, or the parts that the model's API uses instead.",
    anyOf: [{ type: "string" }, { type: "array", items: {} }, { type: "null" }],
  },
});

const conversation = {
  conversationSummary: text("What was said so far, in short."),
  recentMessages: list(
    { ...message, additionalProperties: true },
    "The conversation, oldest first. At most 10 are read.",
  ),
  toolsAlreadyUsed: texts("Ids or names of tools that this conversation has used."),
  toolsFailed: texts("Ids or names of tools that failed in this conversation."),
  inferredIntent: choice(INTENTS, "What the request is about, if you know."),
  userCapabilities: capabilities("What the user may do. Defaults to everything."),
  requireConfirmationFor: capabilities("Tools with one of these are marked as needing confirmation."),
} as const;

/** The filters of a search. */
const query = {
  limit: { type: "integer", minimum: 1, maximum: 50, description: "At most this many tools. Defaults to 5." },
  scoreThreshold: share("Leaves out tools with a lower semantic score. Defaults to the configured one."),
  refuse: choice(REFUSE_MODES, "When to return no tools because nothing fits. Defaults to the configured one."),
  namespaces: texts("Only tools of these namespaces."),
  requiredCapabilities: capabilities("Only tools that declare all of these."),
  excludedCapabilities: capabilities("No tool that declares any of these."),
  sources: list(choice(TOOL_SOURCES, "A source."), "Only tools from these sources."),
  tags: texts("Only tools with one of these tags."),
  excludeDeprecated: flag("Leaves out deprecated tools. Defaults to true."),
  excludeUnhealthy: flag("Leaves out tools that keep failing. Defaults to true."),
  enableReranking: flag("Lets the configured reranker order the best candidates again. Defaults to false."),
  includeDependencies: flag("Adds tools that a chosen tool requires. Defaults to true."),
  diversityFactor: share("0: by score alone. 1: as different from each other as possible."),
  explain: flag("Explains every score, also of the best tools left out."),
  toolset: text("Looks only at the tools of this toolset."),
  traceId: text("Your trace id. Defaults to that of the header `traceparent`."),
} as const;

export const TOOL_QUERY = object("A request to find tools.", ["context"], {
  context: object("The request and its conversation.", ["query"], {
    query: text("What the user wants, in words: at most 16,384 characters."),
    ...conversation,
  }),
  ...query,
});

const DIALECT = text("The dialect of an API or framework: `openai`, `anthropic`, `gemini`, `mcp` and others.");

export const RETRIEVE_TOOLS = object("A request to find tools, and the dialect to write them in.", ["query"], {
  query: text("What the user wants, in words."),
  dialect: described(DIALECT, `${DIALECT.description} Defaults to \`openai\`.`),
  strict: flag("Asks for the provider's strict mode, as far as one request holds it."),
  context: object("The conversation.", [], conversation),
  ...query,
});

const signal = (what: string) => share(`${what}.`);
const signals = object(
  "The signals and penalties of the routing formula.",
  [
    ...(["semantic", "intent", "conversation", "health", "cost"] as const),
    ...(["alreadyUsedPenalty", "alreadyFailedPenalty", "deprecatedPenalty"] as const),
  ],
  {
    semantic: signal("How well it fits the words"),
    intent: signal("How well it fits the intent"),
    conversation: signal("How well it fits the conversation"),
    health: signal("How reliable it is"),
    cost: signal("How cheap it is"),
    learned: signal("How well it served requests like this one"),
    alreadyUsedPenalty: signal("Penalty for a tool that was used already"),
    alreadyFailedPenalty: signal("Penalty for a tool that failed already"),
    deprecatedPenalty: signal("Penalty for a deprecated tool"),
  },
);

export const SCORED_TOOL = object(
  "A tool that was found, and how well it fits.",
  ["tool", "score", "semanticScore", "signals", "requiresConfirmation"],
  {
    tool: TOOL,
    score: number("The outcome of the routing formula. Tools are ordered by it."),
    semanticScore: share("How well it fits the words of the request."),
    rerankScore: number("What the reranker says, if one ran."),
    signals,
    requiresConfirmation: flag("A person must approve the call."),
    requiredBy: text("The id of the tool that requires this one."),
  },
);

const explained = object(
  "The numbers behind one tool's score.",
  ["toolId", "score", "reason", "signals", "matchedTerms"],
  {
    toolId: text("The tool's id."),
    score: number("Its score."),
    reason: choice(
      ["chosen", "dependency", "limit", "threshold", "confidence", "diversity", "conflict"],
      "Why it was returned or left out.",
    ),
    because: text("The other tool, for a conflict or a dependency."),
    signals: list(
      object("One signal.", ["name", "value", "weight", "contribution"], {
        name: text("Its name."),
        value: number("Its value."),
        weight: number("Its weight; -1 for a penalty."),
        contribution: number("Their product."),
      }),
      "The signals.",
    ),
    matchedTerms: list(
      object("A word of the request that was found in the tool.", ["term", "fields", "share"], {
        term: text("The word."),
        fields: texts("Where it stands."),
        share: number("How much of the request it is."),
      }),
      "Words of the request found in the tool, heaviest first.",
    ),
  },
);

/** The durations of the steps of a search. */
export const RETRIEVAL_STEPS = object(
  "How long each step took, in milliseconds. They follow each other in this order.",
  ["understandMs", "searchMs", "fuseMs", "fitMs"],
  {
    understandMs: number("Reading the request and its conversation, and embedding it."),
    searchMs: number("Searching the catalog."),
    filterMs: number("The part of the search that filtered. Omitted if the engine cannot tell."),
    lexicalMs: number("The part that searched by words."),
    denseMs: number("The part that searched by vectors."),
    fuseMs: number("Fusing the evidence and scoring the candidates."),
    rerankMs: number("Reranking."),
    fitMs: number("Judging whether anything fits, and cutting."),
  },
);

export const RETRIEVAL_RESULT = object(
  "The tools found for a request, best first.",
  [
    ...(["tools", "confidence", "nothingFits", "intent", "tier", "candidateCount", "filteredCount"] as const),
    ...(["queryEmbeddingTimeMs", "searchTimeMs", "totalTimeMs", "steps", "traceId"] as const),
  ],
  {
    tools: list(SCORED_TOOL, "Best first. Empty if nothing fits."),
    confidence: share("How likely it is that these tools serve the request."),
    nothingFits: flag("No tool is likely to serve the request."),
    nearest: list(SCORED_TOOL, "If nothing fits: the best three tools, for reference."),
    intent: choice(INTENTS, "What the request is about."),
    tier: text("Which ranker answered."),
    candidateCount: integer("Tools that passed every filter."),
    filteredCount: integer("Tools that a filter left out."),
    queryEmbeddingTimeMs: number("Milliseconds."),
    searchTimeMs: number("Milliseconds."),
    rerankTimeMs: number("Milliseconds."),
    rerankError: text("Why reranking failed. The order is then the search's own."),
    totalTimeMs: number("Milliseconds."),
    steps: RETRIEVAL_STEPS,
    traceId: text("The search's trace id."),
    explanation: object("Why these tools and no others.", ["chosen", "leftOut"], {
      chosen: list(explained, "The tools returned."),
      leftOut: list(explained, "The best tools left out."),
    }),
  },
);

export { DIALECT };
