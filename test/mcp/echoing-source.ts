import type { McpSource } from "../../src/adapters/sources/mcp/mcp.ts";
import type { McpUpstream } from "../../src/adapters/sources/mcp/upstream/upstream.ts";

/** An MCP server without tools, connected to at once, that answers every request with what it was asked. */
export function echoing(name: string, more: Partial<McpUpstream> = {}): McpSource {
  const nothing = async (): Promise<void> => undefined;
  const server = { info: {}, capabilities: {} };
  const upstream: McpUpstream = {
    name,
    settings: { name, transport: { kind: "stdio", command: "none" } },
    state: { kind: "connected", era: "modern", protocolVersion: "2026-07-28", server },
    attempted: Promise.resolve(),
    retry: async () => {},
    watch: () => () => undefined,
    list: async () => [],
    request: async (method, params = {}) => ({ asked: { method, params } }),
    subscribe: nothing,
    openSession: () => Promise.reject(new Error("not here")),
    close: nothing,
    ...more,
  };
  return { name, kind: "mcp", upstream, connect: nothing, list: async () => [], disconnect: nothing };
}
