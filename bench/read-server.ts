import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** The arguments of a call of the tool `read`. */
export type ReadArguments = Readonly<Record<string, unknown>>;

/** Starts an MCP server with one tool that only reads. `answer` returns the text of its result. */
export async function startReadServer(answer: (args: ReadArguments) => string) {
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const { id, method, params } = JSON.parse(body === "" ? "{}" : body);
    if (id === undefined) return void response.writeHead(202).end();
    const results: Record<string, () => object> = {
      initialize: () => ({
        protocolVersion: "2025-11-25",
        capabilities: { tools: {} },
        serverInfo: { name: "s", version: "1" },
      }),
      "tools/list": () => ({
        tools: [{ name: "read", annotations: { readOnlyHint: true }, inputSchema: { type: "object" } }],
      }),
      "tools/call": () => ({ content: [{ type: "text", text: answer(params?.arguments ?? {}) }] }),
    };
    const result = results[method]?.();
    const error = { code: -32_601, message: "Method not found" };
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ jsonrpc: "2.0", id, ...(result ? { result } : { error }) }));
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    close(): void {
      server.closeAllConnections();
      server.close();
    },
  };
}
