import type { JsonObject } from "../../../../mcp/protocol.ts";
import { isArsenalError } from "../../../../errors/arsenal-error.ts";
import { showValue } from "../../../../errors/show-value.ts";
import type { RetrievalResult, ScoredTool } from "../../../../retrieve/result.ts";
import type { Tool } from "../../../../tool/tool.ts";
import type { Exchange } from "../../plane.ts";
import { sayConnecting, type Startup } from "../../../startup.ts";
import { toObject } from "./json-object.ts";
import { readMessages } from "./read-messages.ts";
import type { ServedArsenal } from "../../../served-arsenal.ts";
import { entryOf } from "./tool-entry.ts";

const DEFAULT_LIMIT = 5;
const MAX_LIMIT = 50;
/** The semantic score from which a match is worth showing, on the scale of every embedder. */
const WORTH_SHOWING = 0.5;

const PROBABLY_NONE =
  "Probably none of these tools fits. Use one only if its description says that it does what you need; otherwise search again in other words, or tell the user.";
const NO_TOOLS = "No tool was found. Search again in other words, or tell the user.";

/**
 * Answers `find_relevant_tools`: the nearest tools, ready to be called, and whether they fit. It is said once, as text: clients show models
 * the text of a tool without output schema, and some of them add structured content to it, which would then cost twice.
 */
export async function findTools(
  given: unknown,
  { peer, signal }: Pick<Exchange, "peer" | "signal">,
  { arsenal, startup }: { readonly arsenal: Pick<ServedArsenal, "retrieve">; readonly startup: Startup },
): Promise<JsonObject> {
  const { query, limit, context } = toObject(given) ?? {};
  if (typeof query !== "string" || query.trim() === "") {
    return refused(`query is ${showValue(query)}. Say in words what you are trying to accomplish.`);
  }
  const most = toLimit(limit);
  if (most === undefined) {
    return refused(`limit is ${showValue(limit)}. Give a whole number from 1 to ${MAX_LIMIT}, or leave it out.`);
  }
  const recentMessages = readMessages(context);
  if (recentMessages === undefined) {
    return refused(`context is ${showValue(context)}. Give the recent messages as text, or leave it out.`);
  }
  await startup.wait(signal);
  try {
    const { principal } = peer;
    const asked = { context: { query, recentMessages }, limit: most, principal, signal };
    const found = await arsenal.retrieve({ ...asked, refuse: "never" });
    return { content: [{ type: "text", text: JSON.stringify(toAnswer(found, most, startup.connecting())) }] };
  } catch (error) {
    if (isArsenalError(error) && error.code === "QUERY_INVALID") return refused(error.message);
    throw error;
  }
}

function toAnswer(found: RetrievalResult, most: number, connecting: readonly string[]): JsonObject {
  // A tool under the score threshold is still the nearest there is.
  const tools = found.tools.length > 0 ? found.tools : (found.nearest ?? []).slice(0, most);
  const isWeak = found.nothingFits || tools.every(({ semanticScore }) => semanticScore < WORTH_SHOWING);
  const match = tools.length === 0 ? "none" : isWeak ? "weak" : "good";
  const hints = [
    match === "weak" ? PROBABLY_NONE : match === "none" && connecting.length === 0 ? NO_TOOLS : "",
    sayConnecting(connecting, "Their tools are not found yet: try again in a few seconds."),
  ].filter((hint) => hint !== "");
  return {
    match,
    tools: tools.map(shownTool),
    ...(connecting.length === 0 ? {} : { connecting }),
    ...(hints.length === 0 ? {} : { hint: hints.join(" ") }),
  };
}

function shownTool({ tool, semanticScore }: ScoredTool): JsonObject {
  return { ...foundDefinition(tool), score: Math.round(semanticScore * 100) / 100 };
}

/** What a call needs to know of a tool. Programs read `$schema` in `tools/list`; a model pays for it and has no use for it. */
export function foundDefinition(tool: Tool): JsonObject {
  const { name, description, inputSchema: declared } = entryOf(tool);
  const { $schema: _, ...inputSchema } = declared;
  return { name, description, inputSchema };
}

/** A number within the limits; models also write numbers as text, or null for nothing. Undefined for anything else. */
function toLimit(given: unknown): number | undefined {
  if (given === undefined || given === null) return DEFAULT_LIMIT;
  const number = typeof given === "string" && given.trim() !== "" ? Number(given) : given;
  if (typeof number !== "number" || Number.isNaN(number)) return undefined;
  return Math.min(Math.max(Math.trunc(number), 1), MAX_LIMIT);
}

function refused(text: string): JsonObject {
  return { content: [{ type: "text", text }], isError: true };
}
