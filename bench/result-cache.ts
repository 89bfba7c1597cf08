/**
 * The cost of a result from the result cache, as a ratio to running the tool: a function in this process, where the cache can only lose, and a
 * tool of a real MCP server on loopback, for results of three sizes.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { ToolArsenal } from "../src/arsenal.ts";
import { table } from "../src/cli/terminal/style.ts";

const CALLS = 200;
const ROUNDS = 7;

const server = createServer(async (request, response) => {
  const body = await text(request);
  const { id, method, params } = JSON.parse(body === "" ? "{}" : body);
  const results: Record<string, object> = {
    initialize: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } },
    "tools/list": {
      tools: [{ name: "read", annotations: { readOnlyHint: true }, inputSchema: { type: "object" } }],
    },
    "tools/call": { content: [{ type: "text", text: "x".repeat(params?.arguments?.size ?? 0) }] },
  };
  if (id === undefined) return void response.writeHead(202).end();
  const result = results[method];
  const error = { code: -32_601, message: "Method not found" };
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify({ jsonrpc: "2.0", id, ...(result ? { result } : { error }) }));
});
await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;

const arsenal = new ToolArsenal({
  embedder: { tier: "lexical" },
  security: { maxRequestsPerMinute: 1_000_000 },
  execution: { resultCache: { ttlS: 3_600 } },
});
const properties = { size: { type: "number" } } as const;
const parameters = { type: "object", properties } as const;
arsenal.register(
  { name: "read", description: "Reads so many characters.", parameters, annotations: { readOnly: true } },
  ({ size = 0 }) => ({ content: [{ type: "text", text: "x".repeat(size) }] }),
);
await arsenal.addMcpServer({ name: "remote", transport: { kind: "http", url }, trustAnnotations: true });

/** Microseconds per call, in the best round. */
async function time(toolName: string, size: number, cache: boolean): Promise<number> {
  const call = { toolName, arguments: { size }, cache };
  await arsenal.execute({ ...call, cache: true });
  let best = Infinity;
  for (let round = 0; round < ROUNDS; round++) {
    const began = performance.now();
    for (let index = 0; index < CALLS; index++) {
      const { status, cached } = await arsenal.execute(call);
      if (status !== "success" || (cached === true) !== cache) throw new Error(`${toolName}: ${status}`);
    }
    best = Math.min(best, ((performance.now() - began) * 1000) / CALLS);
  }
  return best;
}

const rows = [];
for (const [label, toolName] of [
  ["function in this process", "default.read"],
  ["MCP server on loopback", "remote.read"],
] as const) {
  for (const size of [100, 10_000, 100_000]) {
    const ran = await time(toolName, size, false);
    const hit = await time(toolName, size, true);
    rows.push([label, String(size), ran.toFixed(0), hit.toFixed(0), (hit / ran).toFixed(2)]);
  }
}
console.log(table([["tool", "characters", "run, µs", "cached, µs", "cached / run"], ...rows]));
await arsenal.close();
server.closeAllConnections();
server.close();
