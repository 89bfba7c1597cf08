import { INTENTS, REFUSE_MODES } from "../../../retrieve/query.ts";
import { CAPABILITIES, TOOL_SOURCES } from "../../../tool/tool.ts";
import { TOOL } from "./tool.ts";
import {
  choice,
  entry,
  flag,
  list,
  number,
  refined,
  share,
  string,
  strings,
  whole,
} from "../../../tool/shape/shape.ts";

const capabilities = (description: string) => list(description, choice("A capability.", CAPABILITIES));

const message = entry(
  "One turn of the conversation, as model APIs write it.",
  {
    role: string("`user`, `assistant` or another."),
    content: {
      description: "Text, or the parts that the model's API uses instead.",
      anyOf: [{ type: "string" }, { type: "array", items: {} }, { type: "null" }],
    },
  },
  ["role"],
);

const conversation = {
  conversationSummary: string("What was said so far, in short."),
  recentMessages: list("The conversation, oldest first. At most 10 are read.", {
    ...message,
    additionalProperties: true,
  }),
  toolsAlreadyUsed: strings("Ids or names of tools that this conversation has used."),
  toolsFailed: strings("Ids or names of tools that failed in this conversation."),
  inferredIntent: choice("What the request is about, if you know.", INTENTS),
  userCapabilities: capabilities("What the user may do. Defaults to everything."),
  requireConfirmationFor: capabilities("Tools with one of these are marked as needing confirmation."),
} as const;

/** The filters of a search. */
const query = {
  limit: whole("At most this many tools. Defaults to 5.", 1, 50),
  scoreThreshold: share("Leaves out tools with a lower semantic score. Defaults to the configured one."),
  refuse: choice("When to return no tools because nothing fits. Defaults to the configured one.", REFUSE_MODES),
  namespaces: strings("Only tools of these namespaces."),
  requiredCapabilities: capabilities("Only tools that declare all of these."),
  excludedCapabilities: capabilities("No tool that declares any of these."),
  sources: list("Only tools from these sources.", choice("A source.", TOOL_SOURCES)),
  tags: strings("Only tools with one of these tags."),
  excludeDeprecated: flag("Leaves out deprecated tools. Defaults to true."),
  excludeUnhealthy: flag("Leaves out tools that keep failing. Defaults to true."),
  enableReranking: flag("Lets the configured reranker order the best candidates again. Defaults to false."),
  includeDependencies: flag("Adds tools that a chosen tool requires. Defaults to true."),
  diversityFactor: share("0: by score alone. 1: as different from each other as possible."),
  explain: flag("Explains every score, also of the best tools left out."),
  toolset: string("Looks only at the tools of this toolset."),
  traceId: string("Your trace id. Defaults to that of the header `traceparent`."),
} as const;

export const TOOL_QUERY = entry(
  "A request to find tools.",
  {
    context: entry(
      "The request and its conversation.",
      {
        query: string("What the user wants, in words: at most 16,384 characters."),
        ...conversation,
      },
      ["query"],
    ),
    ...query,
  },
  ["context"],
);

const DIALECT = string("The dialect of an API or framework: `openai`, `anthropic`, `gemini`, `mcp` and others.");

export const RETRIEVE_TOOLS = entry(
  "A request to find tools, and the dialect to write them in.",
  {
    query: string("What the user wants, in words."),
    dialect: refined(DIALECT, { description: `${DIALECT.description} Defaults to \`openai\`.` }),
    strict: flag("Asks for the provider's strict mode, as far as one request holds it."),
    context: entry("The conversation.", conversation),
    ...query,
  },
  ["query"],
);

const signal = (what: string) => share(`${what}.`);
const signals = entry(
  "The signals and penalties of the routing formula.",
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
  [
    ...(["semantic", "intent", "conversation", "health", "cost"] as const),
    ...(["alreadyUsedPenalty", "alreadyFailedPenalty", "deprecatedPenalty"] as const),
  ],
);

export const SCORED_TOOL = entry(
  "A tool that was found, and how well it fits.",
  {
    tool: TOOL,
    score: number("The outcome of the routing formula. Tools are ordered by it."),
    semanticScore: share("How well it fits the words of the request."),
    rerankScore: number("What the reranker says, if one ran."),
    signals,
    requiresConfirmation: flag("A person must approve the call."),
    requiredBy: string("The id of the tool that requires this one."),
  },
  ["tool", "score", "semanticScore", "signals", "requiresConfirmation"],
);

const explained = entry(
  "The numbers behind one tool's score.",
  {
    toolId: string("The tool's id."),
    score: number("Its score."),
    reason: choice("Why it was returned or left out.", [
      "chosen",
      "dependency",
      "limit",
      "threshold",
      "confidence",
      "diversity",
      "conflict",
    ]),
    because: string("The other tool, for a conflict or a dependency."),
    signals: list(
      "The signals.",
      entry(
        "One signal.",
        {
          name: string("Its name."),
          value: number("Its value."),
          weight: number("Its weight; -1 for a penalty."),
          contribution: number("Their product."),
        },
        ["name", "value", "weight", "contribution"],
      ),
    ),
    matchedTerms: list(
      "Words of the request found in the tool, heaviest first.",
      entry(
        "A word of the request that was found in the tool.",
        {
          term: string("The word."),
          fields: strings("Where it stands."),
          share: number("How much of the request it is."),
        },
        ["term", "fields", "share"],
      ),
    ),
  },
  ["toolId", "score", "reason", "signals", "matchedTerms"],
);

/** The durations of the steps of a search. */
export const RETRIEVAL_STEPS = entry(
  "How long each step took, in milliseconds. They follow each other in this order.",
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
  ["understandMs", "searchMs", "fuseMs", "fitMs"],
);

export const RETRIEVAL_RESULT = entry(
  "The tools found for a request, best first.",
  {
    tools: list("Best first. Empty if nothing fits.", SCORED_TOOL),
    confidence: share("How likely it is that these tools serve the request."),
    nothingFits: flag("No tool is likely to serve the request."),
    nearest: list("If nothing fits: the best three tools, for reference.", SCORED_TOOL),
    intent: choice("What the request is about.", INTENTS),
    tier: string("Which ranker answered."),
    candidateCount: whole("Tools that passed every filter."),
    filteredCount: whole("Tools that a filter left out."),
    queryEmbeddingTimeMs: number("Milliseconds."),
    searchTimeMs: number("Milliseconds."),
    rerankTimeMs: number("Milliseconds."),
    rerankError: string("Why reranking failed. The order is then the search's own."),
    totalTimeMs: number("Milliseconds."),
    steps: RETRIEVAL_STEPS,
    traceId: string("The search's trace id."),
    explanation: entry(
      "Why these tools and no others.",
      {
        chosen: list("The tools returned.", explained),
        leftOut: list("The best tools left out.", explained),
      },
      ["chosen", "leftOut"],
    ),
  },
  [
    ...(["tools", "confidence", "nothingFits", "intent", "tier", "candidateCount", "filteredCount"] as const),
    ...(["queryEmbeddingTimeMs", "searchTimeMs", "totalTimeMs", "steps", "traceId"] as const),
  ],
);

export { DIALECT };
