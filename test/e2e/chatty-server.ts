/**
 * An MCP server over stdio that writes a log: to stderr when it starts, and as MCP log messages when its tool is called. Given `fail`, it
 * ends before it answers.
 */
import { createInterface } from "node:readline";

interface Message {
  readonly id?: number | string;
  readonly method: string;
}

const RESULTS: Readonly<Record<string, object>> = {
  initialize: {
    protocolVersion: "2025-11-25",
    capabilities: { tools: {}, logging: {} },
    serverInfo: { name: "chatty", version: "1.0.0" },
  },
  "tools/list": {
    tools: [
      { name: "greet", description: "Says hello", inputSchema: { type: "object" } },
      { name: "wait", description: "Never answers", inputSchema: { type: "object" } },
    ],
  },
  "tools/call": { content: [{ type: "text", text: "Hello" }] },
};

const send = (message: object): void =>
  void process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);

process.stderr.write("\u001B[32mchatty\u001B[0m is starting\n");
process.stderr.write(`it uses the token ${process.env["CHATTY_TOKEN"] ?? "of nobody"}\n`);
process.stderr.write("<img src=x onerror=alert(1)> is ready\n");
if (process.argv[2] === "fail") {
  process.stderr.write(
    "Traceback (most recent call last):\n    import pandas\nModuleNotFoundError: No module named 'pandas'\n",
  );
  process.exit(1);
}

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method } = JSON.parse(line) as Message;
  if (id === undefined) return;
  if (line.includes('"wait"')) return void process.stderr.write("waiting\n");
  if (method === "tools/call") {
    const data = { greeted: process.env["CHATTY_TOKEN"] ?? "nobody" };
    send({ method: "notifications/message", params: { level: "warning", logger: "greeter", data } });
  }
  const result = RESULTS[method];
  send({ id, ...(result === undefined ? { error: { code: -32_601, message: "Method not found" } } : { result }) });
});
