import type { ToolCall } from "../execute/call.ts";
import type { ToolResult } from "../execute/result.ts";
import type { MarkedTool } from "../guard/policy.port.ts";
import type { ConversationContext, Message, ToolQuery } from "../retrieve/query.ts";
import type { RetrievalResult } from "../retrieve/result.ts";
import { DEFAULT_NAMESPACE } from "../tool/limits.ts";
import { divideId, type Tool } from "../tool/tool.ts";
import type { OfferedTool } from "./agent-run.ts";
import { FIND_TOOLS, FIND_TOOLS_TOOL, foundIds } from "./find-tools.ts";
import type { AgentMessage } from "./llm.port.ts";

/** The part of a `ToolArsenal` that an agent needs. */
export interface AgentArsenal {
  /** True for a client of a gateway, which identifies the caller by the client's credentials and takes no principal. */
  readonly remote?: true;
  retrieve(query: ToolQuery): Promise<RetrievalResult>;
  getTool(name: string, namespace?: string, by?: AskedBy): Promise<MarkedTool | undefined>;
  execute(call: ToolCall): Promise<ToolResult>;
}

/** The caller whose view of the catalog applies. */
export type AskedBy = Pick<ToolQuery, "principal" | "toolset">;

export interface OfferSettings {
  readonly limit: number;
  readonly scoreThreshold?: number;
  /** Ids or names. */
  readonly pinned: readonly string[];
  readonly findTools: boolean;
  readonly by: AskedBy;
}

export interface OfferRequest {
  readonly request: string;
  readonly messages: readonly AgentMessage[];
  readonly summary?: string | undefined;
  readonly traceId: string;
  readonly signal: AbortSignal;
}

export interface Offer extends OfferedTool {
  readonly tool: Tool;
}

/** Low enough to fill the limit unless nothing fits: an extra tool costs some tokens, a missing tool costs the task. */
const BARELY_FITS = 0.001;
const RECENT_MESSAGES = 10;
/** The part of a message that retrieval reads, in characters. */
const MESSAGE_LENGTH = 400;
/** The part of the request that the search uses, in characters. People paste whole documents. */
const REQUEST_LENGTH = 8_000;
/** The part of a summary that is passed to retrieval, in characters. */
const SUMMARY_LENGTH = 20_000;
const RECENT_TOOLS = 1_000;

/** With fewer remaining places, all of them go to tools of the catalog and none to `find_tools`. */
const PLACES_TO_SEARCH = 3;

/** Returns how many tools of the catalog fit into one turn. `find_tools` takes one place of `limit` if the pinned tools leave three or more. */
export function placesFor({ limit, pinned, findTools }: Omit<OfferSettings, "by">): number {
  return findTools && limit - pinned.length >= PLACES_TO_SEARCH ? limit - 1 : limit;
}

/** Returns the tools to send in a turn: the offered tools, and `find_tools` if there is room for it and no offered tool has its name. */
export function sentTools(offers: readonly Offer[], { limit, findTools }: OfferSettings): readonly Tool[] {
  const tools = offers.map(({ tool }) => tool);
  const isAdded = findTools && tools.length < limit && tools.every(({ id }) => id !== FIND_TOOLS_TOOL.id);
  return isAdded ? [...tools, FIND_TOOLS_TOOL] : tools;
}

/**
 * Chooses the tools for the model's next turn, at most `placesFor(settings)`. Pinned tools come first, then the results of the model's last search,
 * then up to half of the remaining places for tools that the model called earlier. The remaining places go to results of earlier searches, and to the
 * best tools for the request and for the model's last text.
 */
export async function offerTools(
  arsenal: AgentArsenal,
  settings: OfferSettings,
  request: OfferRequest,
): Promise<readonly Offer[]> {
  const { pinned, by } = settings;
  const limit = placesFor(settings);
  const seen = toolsIn(request.messages);
  const [newest = [], ...older] = settings.findTools ? searchesIn(request.messages) : [];
  const named = async (ids: readonly string[], because: OfferedTool["because"]): Promise<readonly Offer[]> => {
    const tools = await Promise.all(ids.map((id) => toolOf(arsenal, id, by)));
    return tools.flatMap((tool) =>
      tool === undefined || (tool.refused !== undefined && tool.refused.listed !== true)
        ? []
        : [{ tool, id: tool.id, because }],
    );
  };
  const [first, earlier, latest, before, found] = await Promise.all([
    named(pinned, "pinned"),
    named(seen.used.slice(0, limit), "used"),
    named(newest.slice(0, limit), "found"),
    named(older.flat().slice(0, limit), "found"),
    retrieveFor(arsenal, settings, request, seen),
  ]);

  const offers = new Map<string, Offer>();
  const take = (from: readonly Offer[], most: number): void => {
    for (const offer of from) if (offers.size < most && !offers.has(offer.id)) offers.set(offer.id, offer);
  };
  take(first, limit);
  take(latest, limit);
  take(earlier, offers.size + Math.floor((limit - offers.size) / 2));
  take(before, limit);
  take(found, limit);
  take(earlier, limit);
  return [...offers.values()];
}

async function retrieveFor(
  arsenal: AgentArsenal,
  { limit, scoreThreshold = BARELY_FITS, by }: OfferSettings,
  { request, messages, summary, traceId, signal }: OfferRequest,
  seen: ReturnType<typeof toolsIn>,
): Promise<readonly Offer[]> {
  const context: Omit<ConversationContext, "query"> = {
    recentMessages: messages.slice(-RECENT_MESSAGES).map(toMessage),
    toolsAlreadyUsed: seen.used.slice(0, RECENT_TOOLS),
    toolsFailed: seen.failed.slice(0, RECENT_TOOLS),
    ...(summary !== undefined && { conversationSummary: summary.slice(0, SUMMARY_LENGTH) }),
  };
  const last = messages.findLast(({ role }) => role !== "tool");
  const said = last?.role === "assistant" ? last.text.trim().slice(-MESSAGE_LENGTH) : "";
  const best = new Map<string, Offer & { readonly score: number }>();
  for (const query of new Set([request.slice(0, REQUEST_LENGTH), said])) {
    if (query === "") continue;
    const asked = { context: { ...context, query }, limit, scoreThreshold, ...by, traceId, signal };
    const { tools } = await arsenal.retrieve(asked);
    for (const { tool, score } of tools)
      if (score > (best.get(tool.id)?.score ?? -1))
        best.set(tool.id, { tool, id: tool.id, because: "retrieved", score });
  }
  return [...best.values()].sort((a, b) => b.score - a.score);
}

/** Returns the tools that a conversation called, latest first, and the tools whose last call failed. */
function toolsIn(messages: readonly AgentMessage[]) {
  const latest = new Map<string, ToolResult>();
  for (const message of messages.toReversed()) {
    if (message.role !== "tool") continue;
    for (const { result } of message.results.toReversed())
      if (result.toolId !== undefined && !latest.has(result.toolId)) latest.set(result.toolId, result);
  }
  const used = [...latest.keys()];
  return { used, failed: used.filter((id) => isFailed(latest.get(id))) };
}

/** Returns the ids that the model's searches for the current request found, latest search first. Searches of one turn count as one. */
function searchesIn(messages: readonly AgentMessage[]): readonly (readonly string[])[] {
  const request = messages.findLastIndex(({ role }) => role === "user");
  return messages
    .slice(request + 1)
    .toReversed()
    .flatMap((message) => {
      if (message.role !== "tool") return [];
      const results = message.results.filter(({ read }) => read.call.toolName === FIND_TOOLS);
      const ids = results.map(({ result }) => foundIds(result.result));
      return ids.length === 0 ? [] : [inTurns(ids)];
    });
}

/** Returns the best of each list, then the second of each, so that parallel searches share the places. */
function inTurns(lists: readonly (readonly string[])[]): readonly string[] {
  const longest = Math.max(...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, place) => lists.flatMap((list) => list.slice(place, place + 1))).flat();
}

/** Wrong arguments are the caller's mistake and do not count as a failure of the tool. */
function isFailed({ status, error }: Partial<ToolResult> = {}): boolean {
  const wentWrong = status !== "success" && status !== "pending_confirmation" && status !== "cancelled";
  return wentWrong && error?.code !== "ARGUMENTS_INVALID";
}

function toolOf(arsenal: AgentArsenal, id: string, by: AskedBy): Promise<MarkedTool | undefined> {
  const { name, namespace } = divideId(id);
  return arsenal.getTool(name, namespace || DEFAULT_NAMESPACE, by);
}

function toMessage(message: AgentMessage): Message {
  if (message.role !== "tool") return { role: message.role, content: message.text.slice(0, MESSAGE_LENGTH) };
  const content = message.results.map(({ result }) => JSON.stringify(result.result ?? result.error?.message ?? ""));
  return { role: "tool", content: content.join("\n").slice(0, MESSAGE_LENGTH) };
}
