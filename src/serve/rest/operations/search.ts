import type { RetrieveToolsOptions } from "../../../adapters/dialects/write-definitions.ts";
import { answer, type Operation, operationsOf } from "../operation.ts";
import { DIALECT, RETRIEVAL_RESULT, RETRIEVE_TOOLS, TOOL_QUERY } from "../schemas/search.ts";
import { anything, refined, entry, flag, list, string, strings } from "../../../tool/shape/shape.ts";

const operation = operationsOf({ tag: "Search" });

const EXPORTED = entry(
  "Definitions in the dialect.",
  {
    tools: list("The definitions, in the order of the ids.", anything("A definition.")),
    losses: list("The parts that the format cannot express.", anything("A part that the dialect cannot express.")),
    missing: strings("Ids for which there is no tool that you may call."),
  },
  ["tools", "losses", "missing"],
);

export const searchOperations: readonly Operation[] = [
  operation("search", "POST /search", {
    summary: "Find the tools that fit a request",
    description:
      "Returns the tools that you may call, best first, each with its scores. `explain` adds the reasons. `includeRefused` adds tools that you may not call, each with `refused`. `includeSkills` adds skills of MCP servers.",
    needsTools: true,
    body: TOOL_QUERY,
    examples: {
      request: { context: { query: "show me the invoice of an order" }, limit: 3 },
      explained: { context: { query: "show me the invoice of an order" }, explain: true },
    },
    answers: { 200: { description: "The tools found.", schema: RETRIEVAL_RESULT } },
    problems: ["QUERY_INVALID", "TOOLSET_NOT_FOUND", "RATE_LIMITED"],
    async run({ body, principal, signal, trace }, { arsenal }) {
      const place = body.traceId === undefined && trace;
      return { body: await arsenal.retrieve({ ...place, ...body, principal, signal }) };
    },
  }),
  operation("retrieveTools", "POST /tools/retrieve", {
    summary: "Find tools and write them in the format of a model's API",
    needsTools: true,
    body: RETRIEVE_TOOLS,
    examples: { openai: { query: "show me the invoice of an order", dialect: "openai", limit: 3 } },
    answers: {
      200: answer(
        "Definitions in the dialect, best first.",
        {
          tools: list("Best first.", anything("A definition.")),
        },
        ["tools"],
      ),
    },
    problems: ["QUERY_INVALID", "TOOLSET_NOT_FOUND", "RATE_LIMITED"],
    async run({ body: { query, ...options }, principal, signal, trace }, { arsenal }) {
      const traceId = trace && { traceId: trace.traceId };
      const asked = { ...traceId, ...options, principal, signal } as RetrieveToolsOptions;
      return { body: { tools: await arsenal.retrieveTools(query, asked) } };
    },
  }),
  operation("exportTools", "POST /export", {
    summary: "Write tools in the format of an API or framework",
    needsTools: true,
    body: entry(
      "The tools to write, and the format.",
      {
        format: DIALECT,
        ids: refined(strings("Ids of tools, at most 1000."), { maxItems: 1000 }),
        strict: flag("Uses the provider's strict mode, within the limits of one request."),
        toolset: string("Limits the request to the tools of this toolset."),
        includeRefused: flag("Also writes tools that you may not call."),
      },
      ["format", "ids"],
    ),
    examples: { anthropic: { format: "anthropic", ids: ["billing.get_invoice"] } },
    answers: { 200: { description: "The definitions.", schema: EXPORTED } },
    problems: ["QUERY_INVALID", "TOOLSET_NOT_FOUND"],
    async run({ body: { format, ids, ...options }, principal }, { arsenal }) {
      return { body: await arsenal.exportTools(format, ids, { ...options, principal }) };
    },
  }),
];
