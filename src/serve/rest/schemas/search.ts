import { INTENTS, TOOL_QUERY as QUERY } from "../../../retrieve/query.ts";
import {
  bodyOf,
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
import { REFUSAL, TOOL } from "./tool.ts";

export const TOOL_QUERY = bodyOf(QUERY);

const DIALECT = string("The dialect of an API or framework: `openai`, `anthropic`, `gemini`, `mcp` and others.");

// Definitions for a model cannot be marked as refused, so they include only tools that the caller may call.
const { context, includeRefused: _, includeSkills: __, ...query } = TOOL_QUERY.properties;
const { query: words, ...conversation } = context.properties;

export const RETRIEVE_TOOLS = entry(
  "A request to find tools, and the dialect to write them in.",
  {
    query: words,
    dialect: refined(DIALECT, { description: `${DIALECT.description} Defaults to \`openai\`.` }),
    strict: flag("Uses the provider's strict mode, within the limits of one request."),
    providerSearch: flag(
      "Also writes every other tool that you may call, deferred, for the provider's own search. For `anthropic` and `openai-responses`.",
    ),
    context: entry("The conversation.", conversation),
    ...query,
  },
  ["query"],
);

const signal = (what: string) => share(`${what}.`);
const signals = entry(
  "The signals and penalties of the routing formula.",
  {
    semantic: signal("Similarity to the words of the request"),
    intent: signal("Match with the intent"),
    conversation: signal("Match with the conversation"),
    health: signal("Reliability"),
    cost: signal("Low cost"),
    learned: signal("Success with similar requests"),
    alreadyUsedPenalty: signal("Penalty for a tool that was already used"),
    alreadyFailedPenalty: signal("Penalty for a tool that already failed"),
    deprecatedPenalty: signal("Penalty for a deprecated tool"),
    destructivePenalty: signal("Penalty for a destructive tool nearly tied with harmless ones"),
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
    rerankScore: number("The reranker's score, if one ran."),
    signals,
    requiresConfirmation: flag("A person must approve the call."),
    refused: REFUSAL,
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
          fields: strings("The fields that contain the word."),
          share: number("The word's share of the request."),
        },
        ["term", "fields", "share"],
      ),
    ),
  },
  ["toolId", "score", "reason", "signals", "matchedTerms"],
);

export const RETRIEVAL_STEPS = entry(
  "How long each step took, in milliseconds. They follow each other in this order.",
  {
    understandMs: number("Reading the request and its conversation, and embedding it."),
    searchMs: number("Searching the catalog."),
    filterMs: number("The part of the search that filtered. Omitted if the engine does not report it."),
    lexicalMs: number("The part that searched by words."),
    denseMs: number("The part that searched by vectors."),
    fuseMs: number("Fusing the evidence and scoring the candidates."),
    rerankMs: number("Reranking."),
    fitMs: number("Deciding whether any tool fits, and cutting the list."),
  },
  ["understandMs", "searchMs", "fuseMs", "fitMs"],
);

const FOUND_SKILL = entry(
  "A skill that was found, and how well it fits.",
  {
    uri: string("The address at which MCP clients of the gateway read it."),
    name: string("Its name."),
    description: string("Its description."),
    server: string("The MCP server that serves it."),
    score: share("How well it fits the words of the request, on the scale of `semanticScore`."),
  },
  ["uri", "name", "description", "server", "score"],
);

export const RETRIEVAL_RESULT = entry(
  "The tools found for a request, best first.",
  {
    tools: list("Best first. Empty if nothing fits.", SCORED_TOOL),
    confidence: share("The probability that these tools fit the request."),
    nothingFits: flag("True if probably no tool fits the request."),
    nearest: list("If nothing fits: the best three tools, for reference.", SCORED_TOOL),
    intent: choice("The intent of the request.", INTENTS),
    tier: string("The ranker that answered."),
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
      "Why these tools were chosen and others were not.",
      {
        chosen: list("The tools returned.", explained),
        leftOut: list("The best tools left out.", explained),
      },
      ["chosen", "leftOut"],
    ),
    skills: list("Skills of MCP servers, best first, if you asked for them.", FOUND_SKILL),
  },
  [
    ...(["tools", "confidence", "nothingFits", "intent", "tier", "candidateCount", "filteredCount"] as const),
    ...(["queryEmbeddingTimeMs", "searchTimeMs", "totalTimeMs", "steps", "traceId"] as const),
  ],
);

export { DIALECT };
