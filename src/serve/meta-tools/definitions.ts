/**
 * The tools that a client sees: `static` all tools, `dynamic` only the meta-tools, `hybrid` the meta-tools and common tools, `code` the meta-tools of
 * code mode.
 */
export type ServeMode = "static" | "dynamic" | "hybrid" | "code";

/** A tool as a model sees it. */
export interface ShownTool {
  readonly name: string;
  readonly description: string;
  /** A JSON Schema of type `object`. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

export const FIND_TOOL = "find_relevant_tools";

export const EXECUTE_TOOL = "execute_tool";

/** Names that a served tool never gets. */
export const META_TOOL_NAMES: ReadonlySet<string> = new Set([FIND_TOOL, EXECUTE_TOOL]);

/** The tools that a model sees instead of every tool: one finds tools, the other runs a found tool. */
export const META_TOOLS: readonly ShownTool[] = [
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

/** The parameter with which a model requests skills in a search. Listed if a server has any. */
export const SKILLS_PARAMETER = {
  include_skills: { type: "boolean", description: "Also return skills: instructions to read as resources" },
} as const;

/** Returns whether a model requested skills. Models also write booleans as text. */
export const wantsSkills = ({ include_skills: given }: Readonly<Record<string, unknown>>): boolean =>
  given === true || given === "true";

/** The meta-tools of a gateway whose servers have skills: a search can also return skills. */
export const META_TOOLS_WITH_SKILLS: readonly ShownTool[] = META_TOOLS.map((tool) => {
  if (tool.name !== FIND_TOOL) return tool;
  const properties = { ...(tool.inputSchema["properties"] as object), ...SKILLS_PARAMETER };
  return { ...tool, inputSchema: { ...tool.inputSchema, properties } };
});

const MAX_NAMES = 20;

/** Returns one sentence about the servers whose tools are offered. */
export function offerOf(upstreams: readonly string[]): string {
  const shown = upstreams.slice(0, MAX_NAMES).join(", ");
  const more = upstreams.length > MAX_NAMES ? ` and ${upstreams.length - MAX_NAMES} more` : "";
  return upstreams.length === 0 ? "This server offers tools." : `This server offers the tools of ${shown}${more}.`;
}

/** Returns the server's instructions for models: the offered tools, and how to use them. */
export function instructionsFor(mode: ServeMode, offer: string): string {
  const find = `call ${FIND_TOOL} with what you want to accomplish, then run a tool that it returns with ${EXECUTE_TOOL}`;
  switch (mode) {
    case "static":
      return offer;
    case "dynamic":
      return `${offer} They are not listed: first ${find}.`;
    case "code":
      return `${offer} They are not listed: call search with what you want to accomplish, then run a program that calls the tools that it returns.`;
    case "hybrid":
      return `${offer} Only the most common are listed: for anything else, ${find}.`;
  }
}
