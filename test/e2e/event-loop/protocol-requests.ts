import { META, MODERN_VERSIONS } from "../../../src/mcp/protocol.ts";
import type { HostileRequest } from "./observed-gateway.ts";

type Sent = Omit<HostileRequest, "name" | "who">;

const ACCEPT = { accept: "application/json, text/event-stream" };
const [VERSION = ""] = MODERN_VERSIONS;

/** A request of MCP that stands for itself. */
export function modern(method: string, params: object, more: object = {}): Sent {
  const { name } = params as { readonly name?: string };
  const _meta = { [META.protocolVersion]: VERSION, [META.clientCapabilities]: {}, ...more };
  return {
    path: "/mcp",
    headers: {
      ...ACCEPT,
      "mcp-protocol-version": VERSION,
      "mcp-method": method,
      ...(name !== undefined && { "mcp-name": name }),
    },
    body: { jsonrpc: "2.0", id: 1, method, params: { ...params, _meta } },
  };
}

/** A request within a session of MCP; the test adds the session's id. */
export function legacy(method: string, params: object): Sent {
  const headers = { ...ACCEPT, "mcp-protocol-version": "2025-11-25", "mcp-session-id": "" };
  return { path: "/mcp", headers, body: { jsonrpc: "2.0", id: 1, method, params } };
}

let messages = 0;

/** A message of A2A with these parts. */
export function a2a(parts: readonly object[], more: object = {}): Sent {
  const message = { messageId: `m${++messages}`, role: "ROLE_USER", parts, ...more };
  return { path: "/a2a", body: { jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message } } };
}
