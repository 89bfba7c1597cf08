import type { JsonObject } from "../../../adapters/sources/mcp/protocol.ts";
import { isArsenalError } from "../../../errors/arsenal-error.ts";
import { showValue } from "../../../errors/show-value.ts";
import type { ScoredTool } from "../../../retrieve/result.ts";
import type { Exchange } from "../plane.ts";
import { sayConnecting, type Startup } from "../startup.ts";
import type { CatalogViews } from "./catalog-view.ts";
import { toObject } from "./json-object.ts";
import type { ServedArsenal } from "./served-arsenal.ts";
import { entryOf } from "./tool-entry.ts";

const DEFAULT_LIMIT = 5;
const MAX_LIMIT = 50;

/** Answers `find_relevant_tools`: the tools that fit a request, ready to be called, and how many tokens were saved by not listing all of them. */
export async function findTools(
  given: unknown,
  { peer, signal }: Pick<Exchange, "peer" | "signal">,
  parts: {
    readonly arsenal: Pick<ServedArsenal, "retrieve">;
    readonly views: CatalogViews;
    readonly startup: Startup;
  },
): Promise<JsonObject> {
  const { query, limit } = toObject(given) ?? {};
  if (typeof query !== "string" || query.trim() === "") {
    return refused(`query is ${showValue(query)}. Say in words what you are trying to accomplish.`);
  }
  const most = toLimit(limit);
  if (most === undefined) {
    return refused(`limit is ${showValue(limit)}. Give a whole number from 1 to ${MAX_LIMIT}, or leave it out.`);
  }
  const { arsenal, views, startup } = parts;
  const wait = startup.wait(signal);
  if (wait !== undefined) {
    await wait;
    views.clear();
  }
  try {
    const { principal } = peer;
    const [found, view] = await Promise.all([
      arsenal.retrieve({ context: { query }, limit: most, principal, signal }),
      views.of(principal),
    ]);
    const connecting = startup.connecting();
    const hint = sayConnecting(connecting, "Their tools are not found yet: try again in a few seconds.");
    const shown = found.tools.reduce((sum, { tool }) => sum + entryOf(tool).tokens, 0);
    const structuredContent = {
      tools: found.tools.map(shownTool),
      nothingFits: found.nothingFits,
      ...(found.nearest === undefined ? {} : { nearest: found.nearest.map(nearTool) }),
      ...(connecting.length === 0 ? {} : { connecting }),
      ...(hint === "" ? {} : { hint }),
      tokens: { shown, all: view.tokens },
    };
    return { content: [{ type: "text", text: JSON.stringify(structuredContent) }], structuredContent };
  } catch (error) {
    if (isArsenalError(error) && error.code === "QUERY_INVALID") return refused(error.message);
    throw error;
  }
}

function shownTool(found: ScoredTool): JsonObject {
  const { name, description, inputSchema } = entryOf(found.tool);
  return { name, description, inputSchema, score: scoreOf(found) };
}

/** To be named, not called: without its schema. */
function nearTool(found: ScoredTool): JsonObject {
  const { name, description } = entryOf(found.tool);
  return { name, description, score: scoreOf(found) };
}

function scoreOf({ semanticScore }: ScoredTool): number {
  return Math.round(semanticScore * 10_000) / 10_000;
}

/** A number within the limits; models also write numbers as text, or null for nothing. Undefined for what is no number. */
function toLimit(given: unknown): number | undefined {
  if (given === undefined || given === null) return DEFAULT_LIMIT;
  const number = typeof given === "string" && given.trim() !== "" ? Number(given) : given;
  if (typeof number !== "number" || Number.isNaN(number)) return undefined;
  return Math.min(Math.max(Math.trunc(number), 1), MAX_LIMIT);
}

function refused(text: string): JsonObject {
  return { content: [{ type: "text", text }], isError: true };
}
