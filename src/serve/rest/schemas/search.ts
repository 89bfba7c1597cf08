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
  "A request to find tools, and the dialect in which to write them.",
  {
    query: words,
    dialect: refined(DIALECT, { description: `${DIALECT.description} Defaults to \`openai\`.` }),
    strict: flag("Uses the provider's strict mode, within the limits of one request."),
    providerSearch: flag(
      "Also writes every other tool that you may call, marked as deferred, so that the provider's own tool search can find it. Only for `anthropic` and `openai-responses`.",
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
  "A tool that was found, and how well it matches the request.",
  {
    tool: TOOL,
    score: number("The tool's score from the routing formula. Tools are ordered by this score."),
    semanticScore: share("How well the tool matches the text of the request."),
    rerankScore: number("The reranker's score, if one ran."),
    signals,
    requiresConfirmation: flag("Whether a person must approve the call."),
    refused: REFUSAL,
    requiredBy: string("The id of the tool that requires this one."),
  },
  ["tool", "score", "semanticScore", "signals", "requiresConfirmation"],
);

const explained = entry(
  "The numbers behind one tool's score.",
  {
    toolId: string("The tool's id."),
    score: number("The tool's score."),
    reason: choice("Why the tool was returned or left out.", [
      "chosen",
      "dependency",
      "limit",
      "threshold",
      "confidence",
      "diversity",
      "conflict",
    ]),
    because: string("The id of the other tool, for a conflict or a dependency."),
    signals: list(
      "The signals.",
      entry(
        "One signal.",
        {
          name: string("The signal's name."),
          value: number("The signal's value."),
          weight: number("The signal's weight; -1 for a penalty."),
          contribution: number("The product of value and weight."),
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
  "The duration of each step, in milliseconds, in the order in which the steps run.",
  {
    understandMs: number("Reading the request and its conversation, and embedding it."),
    searchMs: number("Searching the catalog."),
    filterMs: number("Filtering, as part of the search. Omitted if the engine does not report it."),
    lexicalMs: number("Searching by words, as part of the search."),
    denseMs: number("Searching by vectors, as part of the search."),
    fuseMs: number("Fusing the evidence and scoring the candidates."),
    rerankMs: number("Reranking."),
    fitMs: number("Deciding whether any tool fits, and shortening the list."),
  },
  ["understandMs", "searchMs", "fuseMs", "fitMs"],
);

const FOUND_SKILL = entry(
  "A skill that was found, and how well it matches the request.",
  {
    uri: string("The URI at which MCP clients of the gateway read the skill."),
    name: string("The skill's name."),
    description: string("The skill's description."),
    server: string("The MCP server that serves it."),
    score: share("How well the skill matches the text of the request, on the scale of `semanticScore`."),
  },
  ["uri", "name", "description", "server", "score"],
);

export const RETRIEVAL_RESULT = entry(
  "The tools found for a request, best first.",
  {
    tools: list("The tools, best first. Empty if no tool fits.", SCORED_TOOL),
    confidence: share("The probability that these tools fit the request."),
    nothingFits: flag("True if probably no tool fits the request."),
    nearest: list("The best three tools, for reference, if no tool fits.", SCORED_TOOL),
    intent: choice("The intent of the request.", INTENTS),
    tier: string("The ranker that answered."),
    candidateCount: whole("The number of tools that passed every filter."),
    filteredCount: whole("The number of tools that a filter left out."),
    queryEmbeddingTimeMs: number("Time for embedding the request, in milliseconds."),
    searchTimeMs: number("Time for searching the catalog, in milliseconds."),
    rerankTimeMs: number("Time for reranking, in milliseconds."),
    rerankError: string("Why reranking failed. The tools are then in the order of the search."),
    totalTimeMs: number("The duration of the search, in milliseconds."),
    steps: RETRIEVAL_STEPS,
    traceId: string("The search's trace id."),
    explanation: entry(
      "Why these tools were chosen and others were not.",
      {
        chosen: list("The returned tools.", explained),
        leftOut: list("The best tools that were left out.", explained),
      },
      ["chosen", "leftOut"],
    ),
    skills: list("Skills of MCP servers, best first, if `includeSkills` is set.", FOUND_SKILL),
  },
  [
    ...(["tools", "confidence", "nothingFits", "intent", "tier", "candidateCount", "filteredCount"] as const),
    ...(["queryEmbeddingTimeMs", "searchTimeMs", "totalTimeMs", "steps", "traceId"] as const),
  ],
);

export { DIALECT };
