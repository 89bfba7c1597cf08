/** An MCP server over stdio with one tool, `calculator`, as small as one can be: it reads a request per line and writes an answer per line. */
import { createInterface } from "node:readline";

interface Request {
  readonly id?: number | string;
  readonly method: string;
  readonly params?: { readonly arguments?: { readonly operation: string; readonly a: number; readonly b: number } };
}

const OPERATIONS: Readonly<Record<string, (a: number, b: number) => number>> = {
  add: (a, b) => a + b,
  subtract: (a, b) => a - b,
  multiply: (a, b) => a * b,
  divide(a, b) {
    if (b === 0) throw new Error("Division by zero");
    return a / b;
  },
};

const CALCULATOR = {
  name: "calculator",
  description: "Performs basic arithmetic operations",
  inputSchema: {
    type: "object",
    properties: {
      operation: { type: "string", enum: Object.keys(OPERATIONS) },
      a: { type: "number" },
      b: { type: "number" },
    },
    required: ["operation", "a", "b"],
  },
};

function answer({ method, params }: Request): object {
  const text = (said: string): object => ({ content: [{ type: "text", text: said }] });
  switch (method) {
    case "initialize":
      return {
        protocolVersion: "2025-11-25",
        capabilities: { tools: {} },
        serverInfo: { name: "calculator", version: "1.0.0" },
      };
    case "tools/list":
      return { tools: [CALCULATOR] };
    default: {
      const { operation = "", a = 0, b = 0 } = params?.arguments ?? {};
      try {
        return text(String(OPERATIONS[operation]?.(a, b)));
      } catch (error) {
        return { ...text((error as Error).message), isError: true };
      }
    }
  }
}

createInterface({ input: process.stdin }).on("line", (line) => {
  const request = JSON.parse(line) as Request;
  if (request.id === undefined) return; // a notification
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id: request.id, result: answer(request) })}\n`);
});
