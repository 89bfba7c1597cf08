import type { McpRequestParts, Requester } from "../../../mcp/connection.ts";
import { type JsonObject, RPC, RpcError } from "../../../mcp/protocol.ts";
import { isKnown, ownToolPrefix, type RequestTool } from "../../../adapters/sources/mcp/upstream/request-tools.ts";
import type { McpUpstream } from "../../../adapters/sources/mcp/upstream/upstream.ts";
import { withoutForeignReferences } from "../../../tool/schema/foreign-references.ts";
import { isPlainObject } from "../../../tool/json-schema.ts";
import type { ServedArsenal, ServedTools } from "../../served-arsenal.ts";
import { refusal, toCallResult } from "../call-result.ts";
import { answerOf, runForClient, unknownTool, withoutConfirmation } from "../client-call.ts";
import { guardedRequest, mayKnow, timeoutFor } from "../guarded-request.ts";
import { askOf, type Exchange, type Peer } from "../plane.ts";
import type { NameIndex } from "./served-tools.ts";

export interface Relay {
  readonly upstream: McpUpstream;
  readonly arsenal: ServedTools & Pick<ServedArsenal, "getTool" | "approvals">;
  readonly names: NameIndex;
  /** The session's own connection, if the upstream keeps state for it. */
  readonly connection?: Requester;
}

type PassHandler = (exchange: Exchange, relay: Relay) => Promise<JsonObject>;

const PASSES: Readonly<Record<string, PassHandler>> = {
  "tools/call": callTool,
  "tools/list": async (exchange, relay) => withoutHidden(await forward(exchange, relay), exchange.peer, relay.names),
  "resources/list": listed("resources/read", { resources: [] }),
  "resources/templates/list": listed("resources/read", { resourceTemplates: [] }),
  "prompts/list": listed("prompts/get", { prompts: [] }),
  "resources/read": guarded,
  "resources/directory/read": guarded,
  "skills/list": listed("resources/read", { skills: [] }),
  "skills/get": guarded,
  "resources/subscribe": guarded,
  "prompts/get": guarded,
  "completion/complete": guarded,
  // These requests reveal no data: they end a subscription, set the session's log level, and check the connection.
  "resources/unsubscribe": forward,
  "logging/setLevel": forward,
  ping: forward,
};
const passes = new Map(Object.entries(PASSES));

/** The known methods of one upstream's plane. Any other method is passed on as the tool `mcp/request`. */
export const TRANSPARENT_METHODS: readonly string[] = [...passes.keys()];

/** Passes one request to the upstream, under policy if it reads or runs anything, and returns the upstream's answer. */
export function passRequest(given: Exchange, relay: Relay): Promise<JsonObject> {
  const { method } = given;
  const exchange = { ...given, headers: mirroredHeaders(given) };
  const pass = passes.get(method) ?? (isKnown(method) ? undefined : guarded);
  return pass === undefined ? Promise.reject(unknownTo(given)) : pass(exchange, relay);
}

/** Returns the error for an entry of the server that the client may not see. */
export function unknownTo({ method, params }: Pick<Exchange, "method" | "params">): RpcError {
  const { uri, name, ref } = params;
  switch (method) {
    case "prompts/get":
      return new RpcError({ code: RPC.invalidParams, message: `Unknown prompt: ${String(name).slice(0, 200)}` });
    case "resources/read":
    case "resources/subscribe":
      return new RpcError({ code: RPC.resourceNotFound, message: "Resource not found", data: { uri } });
    case "completion/complete": {
      const message = "There is no prompt or resource template of that name.";
      return new RpcError({ code: RPC.invalidParams, message, data: { ref } });
    }
    default:
      return new RpcError({ code: RPC.methodNotFound, message: `Method not found: ${method}` });
  }
}

async function guarded(exchange: Exchange, relay: Relay): Promise<JsonObject> {
  const { params } = exchange;
  const context = contextOf(exchange, relay);
  const answer = await guardedRequest(exchange, { upstream: relay.upstream, params, context }, relay.arsenal);
  if (answer === undefined) throw unknownTo(exchange);
  return answer;
}

function contextOf(exchange: Exchange, { connection }: Relay): Omit<McpRequestParts, "extra" | "passInputRequired"> {
  const { headers, notify: onNotification } = exchange;
  return { headers, onNotification, ...(connection && { connection }), ...askOf(exchange) };
}

/** Runs `tools/call` through the arsenal and returns the server's own answer. A refusal of the arsenal is a tool result with an error. */
async function callTool(exchange: Exchange, relay: Relay): Promise<JsonObject> {
  const { name, arguments: args = {}, ...extra } = withoutConfirmation(exchange.params);
  if (typeof name !== "string") throw unknownTool(name);
  const { arsenal, names, upstream } = relay;
  const toolName = (await names.idOf(name)) ?? ownToolPrefix(upstream.settings) + name;
  if (!isPlainObject(args)) {
    const message = "arguments is not an object. Give an object with one member for each parameter.";
    throw new RpcError({ code: RPC.invalidParams, message });
  }
  const timeout = exchange.becomesTask === undefined && { timeoutMs: timeoutFor(upstream) };
  const call = { toolName, arguments: args, checkArguments: false, ...timeout };
  const result = await runForClient(exchange, arsenal, call, { extra, ...contextOf(exchange, relay) });
  const answer = answerOf(result);
  if (answer !== undefined) return answer;
  if (result.error?.code === "TOOL_NOT_FOUND") throw unknownTool(name);
  return result.status === "success" ? toCallResult(result.result, undefined, exchange.peer.era) : refusal(result);
}

async function forward(exchange: Exchange, { upstream, connection }: Relay): Promise<JsonObject> {
  const { method, params, peer, signal, notify, headers } = exchange;
  const options = { signal, onNotification: notify, headers };
  if (connection !== undefined) return connection.request(method, params, options);
  const passInputRequired = peer.era === "modern";
  const asked = { ...options, caller: peer.principal, ...askOf(exchange), passInputRequired };
  return upstream.request(method, params, asked);
}

/** Handles a list, which is empty for callers who may not see its entries. */
function listed(tool: RequestTool, nothing: JsonObject): PassHandler {
  return async (exchange, relay) => {
    const { upstream, arsenal } = relay;
    return (await mayKnow(upstream, tool, exchange.peer.principal, arsenal)) ? forward(exchange, relay) : nothing;
  };
}

/** Returns the headers that mirror arguments. Only these are passed on to the server. */
function mirroredHeaders({ headers }: Exchange): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith("mcp-param-")));
}

/**
 * Leaves out tools that a principal may not see, that the catalog refused, or that differ from the accepted definition. Removes external references
 * from schemas.
 */
async function withoutHidden(result: JsonObject, { principal }: Peer, names: NameIndex): Promise<JsonObject> {
  const { tools } = result;
  if (!Array.isArray(tools)) return result;
  const isShown = await names.shownTo(principal);
  const shown = tools
    .filter((tool: unknown) => isPlainObject(tool))
    .filter(isShown)
    .map(withOwnReferences);
  const isSame = shown.length === tools.length && shown.every((tool, index) => tool === tools[index]);
  return isSame ? result : { ...result, tools: shown };
}

function withOwnReferences(tool: JsonObject): JsonObject {
  const changed = ["inputSchema", "outputSchema"].flatMap((field) => {
    const schema = withoutForeignReferences(tool[field]);
    return schema === tool[field] ? [] : [[field, schema] as const];
  });
  return changed.length === 0 ? tool : { ...tool, ...Object.fromEntries(changed) };
}
