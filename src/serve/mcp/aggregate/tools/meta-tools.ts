import type { JsonObject } from "../../../../mcp/protocol.ts";

/** The name of the tool that finds tools. */
export const FIND_TOOL = "find_relevant_tools";

/** The name of the tool that runs tools. */
export const EXECUTE_TOOL = "execute_tool";

/** Names that a served tool never gets. */
export const META_TOOL_NAMES: ReadonlySet<string> = new Set([FIND_TOOL, EXECUTE_TOOL]);

/** What a model sees instead of every tool: one tool to find tools, one to run what was found. */
export const META_TOOLS: readonly JsonObject[] = [
  {
    name: FIND_TOOL,
    description: "Search for tools relevant to your current task. Use this before calling other tools.",
    inputSchema: {
      type: "object",
      properties: {
        query: { type: "string", description: "What you're trying to accomplish" },
        limit: { type: "integer", description: "Max tools to return", default: 5 },
        context: { type: "string", description: "Recent messages, if the query refers to them" },
      },
      required: ["query"],
    },
  },
  {
    name: EXECUTE_TOOL,
    description: "Execute a tool by name. Use find_relevant_tools first to discover available tools and their schemas.",
    inputSchema: {
      type: "object",
      properties: { tool_name: { type: "string" }, arguments: { type: "object" } },
      required: ["tool_name", "arguments"],
    },
  },
];
