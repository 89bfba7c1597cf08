/**
 * The cost of a result from the result cache, as a ratio to running the tool: a function in this process, where the cache can only lose, and a
 * tool of a real MCP server on loopback, for results of three sizes.
 */
import { ToolArsenal } from "../src/arsenal.ts";
import { startReadServer } from "./read-server.ts";
import { table } from "../src/cli/terminal/style.ts";

const CALLS = 200;
const ROUNDS = 7;

const server = await startReadServer(({ size }) => "x".repeat(Number(size ?? 0)));

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
await arsenal.addMcpServer({ name: "remote", transport: { kind: "http", url: server.url }, trustAnnotations: true });

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
server.close();
