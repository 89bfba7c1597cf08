import type { Requester } from "../../../mcp/connection.ts";
import { type JsonObject, RPC, RpcError } from "../../../mcp/protocol.ts";
import { isKnown, type RequestTool } from "../../../adapters/sources/mcp/upstream/request-tools.ts";
import type { McpUpstream } from "../../../adapters/sources/mcp/upstream/upstream.ts";
import { withoutForeignReferences } from "../../../tool/schema/foreign-references.ts";
import { isPlainObject } from "../../../tool/json-schema.ts";
import type { ServedArsenal, ServedTools } from "../../served-arsenal.ts";
import { guardedRequest, mayKnow } from "../guarded-request.ts";
import { askOf, type Exchange, type Peer } from "../plane.ts";
import { callTool } from "./call-tool.ts";
import type { NameIndex } from "./served-tools.ts";

/** What passing a request on needs. */
export interface Relay {
  readonly upstream: McpUpstream;
  readonly arsenal: ServedTools & Pick<ServedArsenal, "getTool" | "approvals">;
  readonly names: NameIndex;
}

type Pass = (exchange: Exchange, relay: Relay, connection?: Requester) => Promise<JsonObject>;

/** How each request passes that this program knows. */
const PASSES: Readonly<Record<string, Pass>> = {
  "tools/call": (exchange, { upstream: { settings }, arsenal, names }, connection) =>
    callTool(exchange, { arsenal, names, settings, ...(connection === undefined ? {} : { connection }) }),
  "tools/list": async (exchange, relay, connection) =>
    withoutHidden(await forward(exchange, relay, connection), exchange.peer, relay.names),
  "resources/list": listed("resources/read", { resources: [] }),
  "resources/templates/list": listed("resources/read", { resourceTemplates: [] }),
  "prompts/list": listed("prompts/get", { prompts: [] }),
  "resources/read": guarded,
  "resources/subscribe": guarded,
  "prompts/get": guarded,
  "completion/complete": guarded,
  // These tell nothing: the end of what was allowed, how much a session is told of itself, and a sign of life.
  "resources/unsubscribe": forward,
  "logging/setLevel": forward,
  ping: forward,
};
const passes = new Map(Object.entries(PASSES));

/** The methods that one upstream's plane knows. Any other passes as the one tool `mcp/request`. */
export const TRANSPARENT_METHODS: readonly string[] = [...passes.keys()];

/** Hands one request to the upstream, under policy where it asks for anything, and its answer back. */
export async function passRequest(given: Exchange, relay: Relay, connection?: Requester): Promise<JsonObject> {
  const { method } = given;
  const exchange = { ...given, headers: mirroredHeaders(given) };
  const pass = passes.get(method) ?? (isKnown(method) ? undefined : guarded);
  if (pass === undefined) throw new RpcError({ code: RPC.methodNotFound, message: `Method not found: ${method}` });
  return pass(exchange, relay, connection);
}

/** The protocol's error for what the server has and the client may not know of. */
export function unknownTo({ method, params }: Pick<Exchange, "method" | "params">): RpcError {
  const { uri, name, ref } = params;
  if (method === "prompts/get")
    return new RpcError({ code: RPC.invalidParams, message: `Unknown prompt: ${String(name).slice(0, 200)}` });
  if (method === "resources/read" || method === "resources/subscribe")
    return new RpcError({ code: RPC.resourceNotFound, message: "Resource not found", data: { uri } });
  if (method === "completion/complete")
    return new RpcError({
      code: RPC.invalidParams,
      message: "There is nothing of that name to complete.",
      data: { ref },
    });
  return new RpcError({ code: RPC.methodNotFound, message: `Method not found: ${method}` });
}

async function guarded(exchange: Exchange, relay: Relay, connection?: Requester): Promise<JsonObject> {
  const { params, notify: onNotification, headers } = exchange;
  const context = { headers, onNotification, ...(connection && { connection }), ...askOf(exchange) };
  const answer = await guardedRequest(exchange, { upstream: relay.upstream, params, context }, relay.arsenal);
  if (answer === undefined) throw unknownTo(exchange);
  return answer;
}

async function forward(exchange: Exchange, { upstream }: Relay, connection?: Requester): Promise<JsonObject> {
  const { method, params, peer, signal, notify, headers } = exchange;
  const options = { signal, onNotification: notify, headers };
  if (connection !== undefined) return connection.request(method, params, options);
  return upstream.request(method, params, {
    ...options,
    caller: peer.principal,
    ...askOf(exchange),
    passInputRequired: peer.era === "modern",
  });
}

/** A list that is empty to whoever may not know what is on it. */
function listed(tool: RequestTool, nothing: JsonObject): Pass {
  return async (exchange, relay, connection) => {
    const { upstream, arsenal } = relay;
    if (!(await mayKnow(upstream, tool, exchange.peer.principal, arsenal))) return nothing;
    return forward(exchange, relay, connection);
  };
}

/** Of a request's headers only those that mirror arguments are the server's affair. */
function mirroredHeaders({ headers }: Exchange): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith("mcp-param-")));
}

/**
 * Leaves out what a principal may not know of, what the catalog could not take in, and what is not as it was accepted. References that lead
 * out of a schema are removed.
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
