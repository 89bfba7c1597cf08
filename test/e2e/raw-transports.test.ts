import { EventEmitter, once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { WebSocketServer } from "ws";
import type { McpServerSettings } from "../../src/adapters/sources/mcp/settings.ts";
import { ToolArsenal } from "../../src/index.ts";
import { answerRaw } from "./raw-server.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

interface Started {
  readonly transport: McpServerSettings["transport"];
  /** How many calls it carried out. */
  acted(): number;
}

function overStdio(): Started {
  const folder = mkdtempSync(join(tmpdir(), "toolarsenal-raw-"));
  closing.push(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "acted");
  writeFileSync(file, "");
  const program = fileURLToPath(new URL("./raw-server.ts", import.meta.url));
  return {
    transport: { kind: "stdio", command: process.execPath, args: [program, "stdio", file] },
    acted: () => readFileSync(file, "utf8").length,
  };
}

async function overWebSocket(): Promise<Started> {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1", handleProtocols: () => "mcp" });
  await once(server, "listening");
  closing.push(() => server.close());
  let acted = 0;
  server.on("connection", (socket) => {
    closing.push(() => socket.terminate());
    socket.on("message", (data: Buffer) =>
      answerRaw(data.toString(), {
        send: (said) => socket.send(said),
        exit: () => socket.terminate(),
        acted: () => void acted++,
      }),
    );
  });
  return {
    transport: { kind: "websocket", url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}` },
    acted: () => acted,
  };
}

/** Streamable HTTP that answers with JSON or events, and the older HTTP+SSE. */
async function overHttp(kind: "json" | "events" | "sse"): Promise<Started> {
  let acted = 0;
  const streams = new EventEmitter();
  const asEvent = (said: string): string => `event: message\ndata: ${said}\n\n`;
  const server = createServer(async (request, response: ServerResponse) => {
    if (request.method === "GET" && kind === "sse") {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write("event: endpoint\ndata: /messages\n\n");
      const write = (said: string): void => void response.write(asEvent(said));
      const end = (): void => void response.destroy();
      streams.on("said", write).on("end", end);
      response.on("close", () => streams.off("said", write).off("end", end));
      return;
    }
    if (request.method !== "POST") return void response.writeHead(405).end();
    const said = await text(request);
    if (kind === "sse") {
      response.writeHead(202).end();
      const parts = {
        send: (answer: string) => void streams.emit("said", answer),
        exit: () => void streams.emit("end"),
      };
      return answerRaw(said, { ...parts, acted: () => void acted++ });
    }
    const isJson = kind === "json";
    answerRaw(said, {
      send: (answer) =>
        void response
          .writeHead(200, { "content-type": isJson ? "application/json" : "text/event-stream" })
          .end(isJson ? answer : asEvent(answer)),
      exit: () => void response.destroy(),
      acted: () => void acted++,
    });
    if (!response.headersSent && !response.destroyed) response.writeHead(202).end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closing.push(() => (server.closeAllConnections(), server.close()));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return { transport: { kind: kind === "sse" ? "sse" : "http", url }, acted: () => acted };
}

async function connect({ transport }: Started): Promise<ToolArsenal> {
  const arsenal = new ToolArsenal({ telemetry: { enabled: false } });
  closing.push(() => arsenal.close());
  await arsenal.addMcpServer({ name: "raw", transport, maxMessageBytes: 100_000 });
  return arsenal;
}

const TRANSPORTS = [
  { over: "stdio", start: async () => overStdio(), keeps: true },
  { over: "a WebSocket", start: overWebSocket, keeps: true },
  { over: "streamable HTTP with JSON", start: () => overHttp("json"), keeps: true },
  { over: "streamable HTTP with events", start: () => overHttp("events"), keeps: true },
  { over: "HTTP+SSE", start: () => overHttp("sse"), keeps: false },
];

describe.each(TRANSPORTS)("over $over", ({ start, keeps }) => {
  it("a result that is too large fails its call at once", async () => {
    const arsenal = await connect(await start());
    const code = keeps ? "RESULT_TOO_LARGE" : "OUTCOME_UNKNOWN";
    for (const toolName of ["raw.big", "raw.big_id_last"]) {
      const [big, small] = await Promise.all([
        arsenal.execute({ toolName, retryCount: 5 }),
        arsenal.execute({ toolName: "raw.small" }),
      ]);
      expect(big).toMatchObject({ status: "failure", attempts: 1, error: { code } });
      if (keeps) expect(small).toMatchObject({ status: "success" });
      if (!keeps) return;
    }
  });

  it("a call whose server goes away after it acted ran once, and its outcome is unknown", async () => {
    const server = await start();
    const arsenal = await connect(server);
    const result = await arsenal.execute({ toolName: "raw.die", retryCount: 5 });
    expect(result).toMatchObject({ status: "failure", attempts: 1, error: { code: "OUTCOME_UNKNOWN" } });
    expect(result.error?.message).toMatch(/[^.]\. It may have taken effect: check before repeating it\.$/);
    expect(server.acted()).toBe(1);
  });
});
