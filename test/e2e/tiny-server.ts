/**
 * The smallest MCP server over stdio, for tests that start many: one tool, and nothing to load. Given an address, it answers `initialize`
 * only after that address has answered.
 */
import { createInterface } from "node:readline";

interface Message {
  readonly id?: number | string;
  readonly method: string;
}

const RESULTS: Readonly<Record<string, object>> = {
  initialize: {
    protocolVersion: "2025-11-25",
    capabilities: { tools: {} },
    serverInfo: { name: "tiny", version: "1.0.0" },
  },
  "tools/list": { tools: [{ name: "greet", description: "Says hello", inputSchema: { type: "object" } }] },
  "tools/call": { content: [{ type: "text", text: "Hello" }] },
};

const [gate] = process.argv.slice(2);

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method } = JSON.parse(line) as Message;
  if (id === undefined) return;
  const result = RESULTS[method];
  const answer = result === undefined ? { error: { code: -32_601, message: "Method not found" } } : { result };
  const write = (): void => void process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...answer })}\n`);
  if (gate === undefined || method !== "initialize") write();
  else void fetch(gate).then(write, write);
});
