// An MCP server that is a subprocess becomes tools, and one of them runs.
import assert from "node:assert/strict";
import { ToolArsenal } from "toolarsenal";
import { mcp } from "toolarsenal/sources";

const SERVER = `
  const results = {
    initialize: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "tiny", version: "1.0.0" } },
    "tools/list": { tools: [{ name: "greet", description: "Says hello", inputSchema: { type: "object" } }] },
    "tools/call": { content: [{ type: "text", text: "Hello" }] },
  };
  require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method } = JSON.parse(line);
    if (id === undefined) return;
    const answer = results[method] ? { result: results[method] } : { error: { code: -32601, message: "Method not found" } };
    process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, ...answer }) + "\\n");
  });
`;
const arsenal = new ToolArsenal();
await arsenal.add(mcp({ name: "tiny", command: process.env.RUNTIMES_NODE, args: ["--eval", SERVER] }));
const { status, result } = await arsenal.execute({ toolName: "tiny.greet", arguments: {} });
assert.deepEqual([status, JSON.stringify(result).includes("Hello")], ["success", true]);
await arsenal.close();
