/** A JSON object as it came over the wire. */
export type JsonObject = Readonly<Record<string, unknown>>;

export type RequestId = string | number;

export interface RpcRequest {
  readonly jsonrpc: "2.0";
  readonly id: RequestId;
  readonly method: string;
  readonly params?: JsonObject;
}

export interface RpcNotification {
  readonly jsonrpc: "2.0";
  readonly method: string;
  readonly params?: JsonObject;
}

export type RpcResponse =
  | { readonly jsonrpc: "2.0"; readonly id: RequestId; readonly result: JsonObject }
  | { readonly jsonrpc: "2.0"; readonly id: RequestId | null; readonly error: RpcErrorBody };

export type RpcMessage = RpcRequest | RpcNotification | RpcResponse;

export interface RpcErrorBody {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** The era of a peer's MCP version: `legacy` up to 2025-11-25, with sessions; `modern` from 2026-07-28, without sessions. */
export type Era = "legacy" | "modern";

export const LATEST_VERSION: Readonly<Record<Era, string>> = { legacy: "2025-11-25", modern: "2026-07-28" };

/** Supported revisions with an initialize handshake, newest first. */
export const LEGACY_VERSIONS: readonly string[] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/** Supported revisions without a handshake, newest first. */
export const MODERN_VERSIONS: readonly string[] = ["2026-07-28"];

/** Keys of `_meta` that the protocol reserves. */
export const META = {
  protocolVersion: "io.modelcontextprotocol/protocolVersion",
  clientInfo: "io.modelcontextprotocol/clientInfo",
  clientCapabilities: "io.modelcontextprotocol/clientCapabilities",
  serverInfo: "io.modelcontextprotocol/serverInfo",
  logLevel: "io.modelcontextprotocol/logLevel",
  subscriptionId: "io.modelcontextprotocol/subscriptionId",
} as const;

/** Error codes of JSON-RPC and of MCP. */
export const RPC = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  /** 2025-11-25 and older: a resource that does not exist. */
  resourceNotFound: -32002,
  headerMismatch: -32020,
  missingClientCapability: -32021,
  unsupportedVersion: -32022,
} as const;

/** A peer's JSON-RPC error. It is kept unchanged so that it can be passed on. */
export class RpcError extends Error {
  override readonly name = "RpcError";
  readonly code: number;
  readonly data: unknown;

  constructor({ code, message, data }: RpcErrorBody) {
    super(message);
    this.code = code;
    this.data = data;
  }

  get body(): RpcErrorBody {
    return { code: this.code, message: this.message, ...(this.data === undefined ? {} : { data: this.data }) };
  }
}

/** Returns true for a result that requests input from the client before the request can be completed. */
export function isInputRequired(result: JsonObject): boolean {
  return result["resultType"] === "input_required";
}
