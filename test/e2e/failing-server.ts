/** An MCP server over stdio whose tools fail in one way each, without ending the connection. */
import { createInterface } from "node:readline";

interface Message {
  readonly id?: number | string;
  readonly method: string;
  readonly params?: { readonly name?: string };
}

const FAILURES: Readonly<Record<string, object>> = {
  read_text_file: {
    result: { content: [{ type: "text", text: "ENOENT: no such file or directory" }], isError: true },
  },
  wrong_parameters: { error: { code: -32_602, message: "Invalid arguments" } },
  missing_resource: { error: { code: -32_002, message: "Resource not found" } },
  break_down: { error: { code: -32_603, message: "Internal error" } },
};

const TOOLS = Object.keys(FAILURES).map((name) => ({
  name,
  description: `${name.replaceAll("_", " ")}, and nothing else.`,
  inputSchema: { type: "object" },
}));

function answerTo({ method, params }: Message): object {
  if (method === "tools/call") return FAILURES[params?.name ?? ""] ?? {};
  if (method === "tools/list") return { result: { tools: TOOLS } };
  const serverInfo = { name: "failing", version: "1.0.0" };
  if (method === "initialize")
    return { result: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo } };
  return { error: { code: -32_601, message: "Method not found" } };
}

createInterface({ input: process.stdin }).on("line", (line) => {
  const message = JSON.parse(line) as Message;
  if (message.id === undefined) return;
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id: message.id, ...answerTo(message) })}\n`);
});
