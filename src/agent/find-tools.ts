import { fixable } from "../errors/arsenal-error.ts";
import { showValue } from "../errors/show-value.ts";
import { type Match, matchOf, PROBABLY_NONE } from "../retrieve/fit/match.ts";
import { MAX_QUERY_LENGTH } from "../retrieve/query.ts";
import { defineTool } from "../tool/define-tool.ts";
import { asRecord, asRecords } from "../tool/json-schema.ts";
import type { Tool } from "../tool/tool.ts";
import { fromAlias, isCutAlias, toAlias } from "../transcode/alias.ts";
import type { AgentArsenal, AskedBy } from "./offer-tools.ts";

/** The name of the tool with which a model searches again. */
export const FIND_TOOLS = "find_tools";

/**
 * The tool with which a model searches the catalog when no offered tool fits. It is not registered: the loop that runs the model's calls answers it
 * with `findTools`.
 */
export const FIND_TOOLS_TOOL: Tool = defineTool({
  name: FIND_TOOLS,
  description:
    "Searches for other tools. Call it if none of your tools does what the next step needs. You can call the tools that it finds in your next turn.",
  parameters: {
    type: "object",
    properties: { query: { type: "string", description: "What the tool must do, in a few words" } },
    required: ["query"],
    additionalProperties: false,
  },
});

/** The result of `find_tools`: the nearest tools, which are offered in the next turn, and whether they fit. */
export interface FoundTools {
  readonly match: Match;
  readonly tools: readonly {
    readonly name: string;
    readonly description: string;
    /** Present if the alias in `name` was shortened, so that the id cannot be read from it. */
    readonly id?: string;
  }[];
  /** The model's next step, if no tool fits. */
  readonly hint?: string;
}

export interface FindToolsOptions {
  /** The caller whose view of the catalog applies. */
  readonly by: AskedBy;
  /** The number of free places in the next turn. */
  readonly limit: number;
  readonly traceId?: string;
  readonly signal?: AbortSignal;
}

const MOST_FOUND = 5;
/** In characters. The result only helps the model to choose; the tool's definition has the whole description. */
const DESCRIPTION_LENGTH = 200;

/** Answers a call of `find_tools` by searching the caller's view of the catalog. Throws ARGUMENTS_INVALID without a query. */
export async function findTools(
  arsenal: Pick<AgentArsenal, "retrieve">,
  args: unknown,
  { by, limit, traceId, signal }: FindToolsOptions,
): Promise<FoundTools> {
  const { query } = asRecord(args);
  if (typeof query !== "string" || query.trim() === "") {
    const fix = 'Say what the tool must do: { "query": "send an email" }.';
    const problem = `${FIND_TOOLS} needs a query in words: query is ${showValue(query)}.`;
    throw fixable("ARGUMENTS_INVALID", problem, fix, { field: "query", value: query });
  }
  const { tools, nothingFits } = await arsenal.retrieve({
    context: { query: query.slice(0, MAX_QUERY_LENGTH) },
    limit: Math.min(limit, MOST_FOUND),
    scoreThreshold: 0,
    refuse: "never",
    ...by,
    ...(traceId !== undefined && { traceId }),
    ...(signal !== undefined && { signal }),
  });
  const match = matchOf(tools, nothingFits);
  return {
    match,
    tools: tools.slice(0, limit).map(({ tool }) => toFound(tool)),
    ...(match === "weak" && { hint: `${PROBABLY_NONE}, or tell the user.` }),
    ...(match === "none" && { hint: "No tool was found. Search again in other words, or tell the user." }),
  };
}

function toFound({ id, description }: Tool): FoundTools["tools"][number] {
  const name = toAlias(id);
  const short =
    description.length > DESCRIPTION_LENGTH
      ? `${description.slice(0, DESCRIPTION_LENGTH).toWellFormed()}…`
      : description;
  return { name, description: short, ...(isCutAlias(name) && { id }) };
}

/** Returns the ids in a result of `find_tools`, best first. Accepts the result as data or as JSON text; returns no ids for other values. */
export function foundIds(result: unknown): readonly string[] {
  return asRecords(asRecord(toData(result))["tools"]).flatMap(({ name, id }) => {
    const found = typeof id === "string" ? id : fromAlias(String(name));
    return found === undefined ? [] : [found];
  });
}

function toData(result: unknown): unknown {
  if (typeof result !== "string") return result;
  try {
    return JSON.parse(result) as unknown;
  } catch {
    return undefined;
  }
}
