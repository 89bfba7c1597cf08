import { type JsonObject, META, RPC, RpcError } from "../../../adapters/sources/mcp/protocol.ts";
import { isPlainObject } from "../../../tool/json-schema.ts";
import type { Exchange } from "../plane.ts";
import { callNamed, listTools, type ToolsParts } from "./answer-tools.ts";
import { completeArgument } from "./complete-argument.ts";
import { findPrompt } from "./find-prompt.ts";
import type { Listings } from "./listings.ts";
import { type LogLevel, toLogLevel } from "./log-level.ts";
import { pageOf } from "./page.ts";
import { servedPrompts, servedResources, servedTemplates } from "./served-lists.ts";
import { findResource, type Subscriptions } from "./subscriptions.ts";
import { requestUpstream } from "./upstream-request.ts";

/** What answering any request needs. */
export interface RequestParts extends Omit<ToolsParts, "sessionLevel"> {
  readonly listings: Listings;
}

/** What the aggregate keeps of one legacy client. */
export interface SessionState {
  level: LogLevel | undefined;
  readonly subscriptions: Subscriptions;
}

/** Answers one request of a client. `session` is absent for a modern one. */
export async function answerRequest(
  given: Exchange,
  request: RequestParts,
  session: SessionState | undefined,
): Promise<JsonObject> {
  const exchange = withLogLevel(given, session?.level);
  const { method, params } = exchange;
  const parts = { ...request, sessionLevel: session?.level };
  switch (method) {
    case "ping":
      return {};
    case "tools/list":
      return listTools(exchange, parts);
    case "tools/call":
      return callNamed(exchange, parts);
    case "resources/list":
      return page("resources", await servedResources(parts.listings), params);
    case "resources/templates/list":
      return page("resourceTemplates", await servedTemplates(parts.listings), params);
    case "prompts/list":
      return page("prompts", await servedPrompts(parts.listings), params);
    case "resources/read": {
      const { upstream, uri } = findResource(params["uri"], parts.upstream);
      return requestUpstream(exchange, upstream, { uri }, parts);
    }
    case "prompts/get": {
      const { upstream, prompt } = await findPrompt(params["name"], parts);
      return requestUpstream(exchange, upstream, { name: prompt }, parts);
    }
    case "completion/complete":
      return completeArgument(exchange, parts);
    default:
      return answerInSession(exchange, parts, session);
  }
}

/** Answers what only a client with a session can ask. */
async function answerInSession(
  { method, params }: Exchange,
  { upstream }: RequestParts,
  session: SessionState | undefined,
): Promise<JsonObject> {
  if (session !== undefined) {
    switch (method) {
      case "resources/subscribe":
        await session.subscriptions.add(findResource(params["uri"], upstream));
        return {};
      case "resources/unsubscribe":
        session.subscriptions.remove(findResource(params["uri"], upstream));
        return {};
      case "logging/setLevel":
        session.level = toLogLevel(params["level"]);
        return {};
    }
  }
  throw new RpcError({ code: RPC.methodNotFound, message: `Method not found: ${method}` });
}

function page(key: string, all: readonly JsonObject[], params: JsonObject): JsonObject {
  const { entries, cursor } = pageOf(all, params["cursor"]);
  return { [key]: entries, ...cursor };
}

/** A modern upstream sends log messages only to requests that say a level, which an older client says once for its session. */
function withLogLevel(exchange: Exchange, level: LogLevel | undefined): Exchange {
  if (level === undefined) return exchange;
  const { _meta } = exchange.params;
  const meta = { ...(isPlainObject(_meta) ? _meta : {}), [META.logLevel]: level };
  return { ...exchange, params: { ...exchange.params, _meta: meta } };
}
