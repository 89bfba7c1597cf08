import type { SourceRequest } from "../tool/handler.ts";
import type { Ask, Requester } from "./connection.ts";
import type { JsonObject, RpcNotification } from "./protocol.ts";

/** What an MCP surface hands an MCP tool's handler with a call, so that the client's request reaches the server unchanged. */
export interface McpRequest extends SourceRequest {
  readonly source: "mcp";
  /** Members of the caller's `params` other than `name` and `arguments`: `_meta`, `inputResponses`, `requestState`, `task`. */
  readonly extra?: JsonObject;
  /** The caller session's own connection. Defaults to the upstream's shared ones. */
  readonly connection?: Requester;
  readonly ask?: Ask;
  readonly passInputRequired?: boolean;
  readonly onNotification?: (notification: RpcNotification) => void;
  readonly headers?: Readonly<Record<string, string>>;
  /** The method that the client called. Defaults to `tools/call`. */
  readonly method?: string;
  /** Ends the subscription that the call makes, if it makes one. */
  readonly until?: AbortSignal;
}

/** The part of an MCP request that a surface's caller decides. */
export type McpRequestParts = Omit<McpRequest, "source">;
