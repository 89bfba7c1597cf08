import type { Ask, Requester } from "./connection.ts";
import type { JsonObject, RpcError, RpcNotification } from "./protocol.ts";

/** What an MCP surface hands an MCP tool's handler, so that a call passes through the arsenal and its policy unchanged. */
export interface McpCallContext {
  /** Members of the caller's `params` other than `name` and `arguments`: `_meta`, `inputResponses`, `requestState`, `task`. */
  readonly extra?: JsonObject;
  /** The caller session's own connection. Defaults to the upstream's shared ones. */
  readonly connection?: Requester;
  readonly ask?: Ask;
  readonly passInputRequired?: boolean;
  readonly onNotification?: (notification: RpcNotification) => void;
  readonly headers?: Readonly<Record<string, string>>;
  /** The client's request that the call stands for; `tools/call` where absent. */
  readonly method?: string;
  /** Ends the subscription that the call makes, where it makes one. */
  readonly until?: AbortSignal;
  /** Takes the server's raw answer to that request, whatever the arsenal makes of it. */
  readonly onAnswer?: (answer: { readonly result: JsonObject } | { readonly error: RpcError }) => void;
}

const contexts = new WeakMap<object, McpCallContext>();

/** Auxiliary data for a call that carries an MCP context, unseen by everybody but the MCP handler. */
export function withMcpContext(context: McpCallContext): Readonly<Record<string, unknown>> {
  const auxdata = Object.freeze({});
  contexts.set(auxdata, context);
  return auxdata;
}

/** The MCP context that a call's auxiliary data carries. */
export function mcpContextOf(auxdata: object): McpCallContext | undefined {
  return contexts.get(auxdata);
}
