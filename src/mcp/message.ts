import {
  type JsonObject,
  RPC,
  type RequestId,
  type RpcErrorBody,
  type RpcMessage,
  type RpcNotification,
  type RpcRequest,
  type RpcResponse,
} from "./protocol.ts";
import { isPlainObject } from "../tool/json-schema.ts";

export type Received =
  | { readonly kind: "request"; readonly message: RpcRequest }
  | { readonly kind: "notification"; readonly message: RpcNotification }
  | { readonly kind: "response"; readonly message: RpcResponse }
  /** `id` is the id of the request, if it could be read. */
  | { readonly kind: "invalid"; readonly id: RequestId | null; readonly error: RpcErrorBody };

/** Classifies a parsed JSON value as a JSON-RPC message. */
export function readMessage(value: unknown): Received {
  if (Array.isArray(value)) return invalid(null, "Batches are not accepted: send one message at a time.");
  if (!isPlainObject(value)) return invalid(null, "A message must be a JSON object.");
  const { jsonrpc, id, method, params } = value;
  const known = typeof id === "string" || Number.isSafeInteger(id) ? (id as RequestId) : null;
  if (jsonrpc !== "2.0") return invalid(known, 'A message needs "jsonrpc": "2.0".');
  if (id !== undefined && known === null && !(id === null && "error" in value))
    return invalid(null, "The id of a request must be a string or an integer.");
  if (method === undefined) return readResponse(value, known);
  if (typeof method !== "string" || method === "") return invalid(known, "The method must be a string.");
  if (params !== undefined && !isPlainObject(params)) return invalid(known, "The params must be an object.");
  return known === null
    ? { kind: "notification", message: value as unknown as RpcNotification }
    : { kind: "request", message: value as unknown as RpcRequest };
}

function readResponse(value: Readonly<Record<string, unknown>>, id: RequestId | null): Received {
  const { result, error } = value;
  const good =
    error === undefined
      ? id !== null && isPlainObject(result)
      : isPlainObject(error) && typeof error["code"] === "number" && typeof error["message"] === "string";
  return good
    ? { kind: "response", message: value as unknown as RpcResponse }
    : invalid(id, "A message needs a method, a result or an error.");
}

function invalid(id: RequestId | null, message: string): Received {
  return { kind: "invalid", id, error: { code: RPC.invalidRequest, message } };
}

export function answer(id: RequestId, result: JsonObject): RpcResponse {
  return { jsonrpc: "2.0", id, result };
}

/** Returns the answer to a failed request. The id is null if it could not be read. */
export function failure(id: RequestId | null, error: RpcErrorBody): RpcResponse {
  return { jsonrpc: "2.0", id, error };
}

/** Returns true for an answer, which is the last message about its request. */
export function isResponse(message: RpcMessage): message is RpcResponse {
  return !("method" in message);
}
