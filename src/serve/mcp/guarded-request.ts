import type { McpRequestParts } from "../../mcp/connection.ts";
import { type JsonObject, RPC, RpcError } from "../../mcp/protocol.ts";
import { type RequestTool, requestToolId } from "../../adapters/sources/mcp/upstream/request-tools.ts";
import type { McpUpstream } from "../../adapters/sources/mcp/upstream/upstream.ts";
import { toWire } from "../../errors/to-wire.ts";
import type { ToolResult } from "../../execute/result.ts";
import type { Principal } from "../../guard/principal.ts";
import { isPlainObject } from "../../tool/json-schema.ts";
import { divideId } from "../../tool/tool.ts";
import type { ServedArsenal } from "../served-arsenal.ts";
import { answerOf, runForClient, withoutConfirmation } from "./client-call.ts";
import type { Exchange } from "./plane.ts";
import { refusal } from "./call-result.ts";

/** A client's request for one server, except `tools/call`, with that server's own names. */
export interface GuardedRequest {
  readonly upstream: McpUpstream;
  readonly params: JsonObject;
  readonly context: Omit<McpRequestParts, "method" | "extra" | "passInputRequired">;
}

/**
 * Runs a client's request through the arsenal and returns the server's own answer. Returns undefined if the client may not see such entries there.
 */
export async function guardedRequest(
  exchange: Pick<Exchange, "method" | "params" | "peer" | "signal" | "ask" | "resumed" | "trace" | "signIn">,
  { upstream, params, context }: GuardedRequest,
  arsenal: Pick<ServedArsenal, "execute" | "approvals">,
): Promise<JsonObject | undefined> {
  const { method } = exchange;
  const { tool, arguments: args, extra } = toCall(method, withoutConfirmation(params));
  const toolName = requestToolId(upstream.settings, tool);
  const call = { toolName, arguments: args, checkArguments: false, timeoutMs: timeoutFor(upstream) };
  const result = await runForClient(exchange, arsenal, call, { ...context, method, extra });
  const answer = answerOf(result);
  if (answer !== undefined) return answer;
  if (result.status === "success") return isPlainObject(result.result) ? result.result : {};
  if (result.error?.code === "TOOL_NOT_FOUND") return undefined;
  throw refused(result);
}

/**
 * Returns the timeout of a request to a server, in milliseconds. The default is long, because a person may have to answer a question during the
 * request.
 */
export function timeoutFor({ settings }: McpUpstream): number {
  return Math.min(settings.timeoutMs ?? 300_000, 300_000);
}

/** Returns true if a principal may request a server's entries of one kind. */
export async function mayKnow(
  { settings }: McpUpstream,
  request: RequestTool,
  principal: Principal,
  arsenal: Pick<ServedArsenal, "getTool">,
): Promise<boolean> {
  const { name, namespace } = divideId(requestToolId(settings, request));
  const tool = await arsenal.getTool(name, namespace, { principal });
  return tool !== undefined && (tool.refused === undefined || tool.refused.listed === true);
}

/**
 * Returns the call that represents a request. The policy decides on the call's arguments. Subscribing to a resource counts as reading it, and
 * completing an argument counts as using its prompt or template.
 */
function toCall(
  method: string,
  params: JsonObject,
): { readonly tool: RequestTool; readonly arguments: JsonObject; readonly extra: JsonObject } {
  switch (method) {
    case "resources/read":
    case "resources/subscribe": {
      const { uri, ...extra } = params;
      const subscribe = method === "resources/subscribe" || undefined;
      return { tool: "resources/read", arguments: definedOnly({ uri, subscribe }), extra };
    }
    case "skills/get":
    case "resources/directory/read": {
      const { uri, ...extra } = params;
      const part = method === "skills/get" ? "skill" : "directory";
      return { tool: "resources/read", arguments: definedOnly({ uri, part }), extra };
    }
    case "prompts/get": {
      const { name, arguments: args, ...extra } = params;
      return { tool: "prompts/get", arguments: definedOnly({ name, arguments: args }), extra };
    }
    case "completion/complete": {
      const { argument = null, context, ...extra } = params;
      const { type, uri, name } = isPlainObject(extra["ref"]) ? extra["ref"] : {};
      if (type === "ref/resource")
        return { tool: "resources/read", arguments: definedOnly({ uri, argument, context }), extra };
      if (type === "ref/prompt")
        return { tool: "prompts/get", arguments: definedOnly({ name, argument, context }), extra };
      throw wrongReference();
    }
    default:
      return { tool: "mcp/request", arguments: { method, params }, extra: {} };
  }
}

/** Drops undefined members, so that the server itself answers to missing ones. */
function definedOnly(members: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

/** Returns the error for a completion whose reference is neither a prompt nor a resource template. */
export function wrongReference(): RpcError {
  const message =
    "ref must be a prompt (ref/prompt, with its name) or a resource template (ref/resource, with its uri).";
  return new RpcError({ code: RPC.invalidParams, message });
}

/** Converts a refusal of the arsenal, or a failure of the server, to a protocol error, because only tools have results for errors. */
function refused(result: ToolResult): RpcError {
  const { error, toolName } = result;
  const { _meta } = refusal(result);
  const data = isPlainObject(_meta) ? _meta["toolarsenal/error"] : undefined;
  const message = error?.message ?? `${toolName} ended with ${result.status}.`;
  return new RpcError({ code: toWire(error?.code ?? "EXECUTION_FAILED").jsonRpcCode, message, data });
}
