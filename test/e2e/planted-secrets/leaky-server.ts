/** An MCP server over stdio that repeats the secrets it was started with, wherever it is told to. */
import { createInterface } from "node:readline";
import { FORMS, thirds } from "./secrets.ts";

interface Message {
  readonly id?: number;
  readonly method: string;
  readonly params?: { readonly arguments?: Asked; readonly _meta?: { readonly progressToken?: unknown } };
}

interface Asked {
  readonly index: number;
  readonly form: string;
  readonly how: string;
}

const TOOL = { name: "leak", description: "Repeats a secret.", inputSchema: { type: "object" } };
const write = (message: object): void =>
  void process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line) as Message;
  if (id === undefined) return;
  switch (method) {
    case "initialize": {
      const serverInfo = { name: "leaky", version: "1.0.0" };
      return write({ id, result: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo } });
    }
    case "tools/list":
      return write({ id, result: { tools: [TOOL] } });
    case "tools/call":
      return leak(id, params?.arguments ?? { index: 0, form: "raw", how: "" }, params?._meta?.progressToken);
    default:
      return write({ id, error: { code: -32_601, message: "Method not found" } });
  }
});

function leak(id: number, { index, form, how }: Asked, progressToken: unknown): void {
  const text = FORMS[form]?.(process.env[`SECRET_${index}`] ?? "") ?? "";
  const result = { content: [{ type: "text", text }] };
  switch (how) {
    case "error":
      return write({ id, result: { ...result, isError: true } });
    case "refusal":
      return write({ id, error: { code: -32_000, message: `refused ${text}`, data: { text } } });
    case "progress":
      for (const [progress, message] of thirds(text).entries())
        write({ method: "notifications/progress", params: { progressToken, progress, message } });
      return write({ id, result });
    case "stderr":
      for (const part of thirds(text)) process.stderr.write(part);
      process.stderr.write("\n");
      return write({ id, result });
    case "exit":
      return void process.stderr.write(`last words: ${text}\n`, () => process.exit(1));
    default:
      return write({ id, result });
  }
}
