import { createInterface } from "node:readline";

/** A tiny server of 2025-11-25 without a library: what answers one message. `exit` ends the process or the connection. */
export function answerRaw(
  line: string,
  {
    send,
    exit,
    acted,
  }: { readonly send: (text: string) => void; readonly exit: () => void; readonly acted: () => void },
): void {
  const { id, method, params } = JSON.parse(line) as {
    readonly id?: unknown;
    readonly method: string;
    readonly params?: { readonly name?: string };
  };
  if (id === undefined) return;
  const reply = (result: unknown): void => send(JSON.stringify({ jsonrpc: "2.0", id, result }));
  switch (method) {
    case "initialize": {
      const serverInfo = { name: "raw", version: "1.0.0" };
      return reply({ protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo });
    }
    case "tools/list":
      return reply({
        tools: ["small", "big", "big_id_last", "die"].map((name) => ({ name, inputSchema: { type: "object" } })),
      });
    case "tools/call": {
      acted();
      const text = params?.name?.startsWith("big") === true ? "x".repeat(150_000) : "done";
      const result = { content: [{ type: "text", text }] };
      if (params?.name === "die") return exit();
      // The libraries of some languages write the id last.
      if (params?.name === "big_id_last") return send(JSON.stringify({ result, jsonrpc: "2.0", id }));
      return reply(result);
    }
    default:
      return send(JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32_601, message: "Method not found" } }));
  }
}

if (process.argv[2] === "stdio") {
  const { appendFileSync } = await import("node:fs");
  createInterface({ input: process.stdin }).on("line", (line) =>
    answerRaw(line, {
      send: (text) => void process.stdout.write(`${text}\n`),
      exit: () => process.exit(1),
      acted: () => appendFileSync(process.argv[3] ?? "", "x"),
    }),
  );
}
