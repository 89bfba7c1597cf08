import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** What a hostile server does. */
export type Hostility =
  | "hangs"
  | "hangs_too"
  | "endless_cursors"
  | "giant_cursor"
  | "list_changed_flood"
  | "hundred_thousand_tools"
  | "progress_flood"
  | "log_flood"
  | "giant_result"
  | "slow_drip"
  | "forgets_sessions";

/** Every kind of hostile server. */
export const HOSTILITIES: readonly Hostility[] = [
  "hangs",
  "hangs_too",
  "endless_cursors",
  "giant_cursor",
  "list_changed_flood",
  "hundred_thousand_tools",
  "progress_flood",
  "log_flood",
  "giant_result",
  "slow_drip",
  "forgets_sessions",
];

/** A server of 2025-11-25 on loopback, written without a library, that does its worst. */
export interface HostileServer {
  readonly url: string;
  /** How often each method was asked for. */
  readonly asked: ReadonlyMap<string, number>;
  /** Bytes that it wrote, as far as they were taken. */
  readonly written: number;
  close(): Promise<void>;
}

type Json = Readonly<Record<string, unknown>>;

const TOOL = { name: "work", description: "Does some work.", inputSchema: { type: "object", properties: {} } };
const MEGABYTE = 1024 * 1024;

/** Resolves when the reader took what was written, or went. */
function taken(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off("drain", done).off("close", done);
      resolve();
    };
    response.on("drain", done).on("close", done);
  });
}

/** Starts a hostile server, or a harmless one where it is told nothing. */
export async function startHostile(hostility?: Hostility): Promise<HostileServer> {
  const asked = new Map<string, number>();
  let written = 0;
  const closing = new AbortController();
  const closed = closing.signal;

  /** Writes as fast as the reader takes it, for as long as it is there. */
  async function flood(response: ServerResponse, piece: (count: number) => string, times = Infinity): Promise<void> {
    for (let count = 0; count < times && !closed.aborted && !response.destroyed; count++) {
      const part = piece(count);
      written += part.length;
      if (!response.write(part)) await taken(response);
      else if (count % 100 === 99) await new Promise((resolve) => setImmediate(resolve));
    }
  }

  const event = (message: Json): string => `data: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`;

  function openStream(response: ServerResponse): void {
    response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
  }

  function list({ cursor }: { readonly cursor?: string }): Json {
    switch (hostility) {
      case "endless_cursors":
        return {
          tools: cursor === undefined ? [TOOL] : [],
          nextCursor: `${cursor ?? ""}x`.slice(-20) + String(asked.get("tools/list")),
        };
      case "giant_cursor":
        return { tools: [TOOL], nextCursor: "x".repeat(8 * MEGABYTE) };
      case "hundred_thousand_tools":
        return { tools: Array.from({ length: 100_000 }, (_, number) => ({ ...TOOL, name: `work_${number}` })) };
      default:
        return { tools: [TOOL] };
    }
  }

  async function call(response: ServerResponse, id: unknown, params: Json): Promise<void> {
    const result = { content: [{ type: "text", text: "done" }] };
    const progressToken = (params["_meta"] as Json | undefined)?.["progressToken"];
    switch (hostility) {
      case "hangs":
      case "hangs_too":
        return;
      case "progress_flood":
        openStream(response);
        return flood(response, (progress) =>
          event({ method: "notifications/progress", params: { progressToken, progress, message: "Working." } }).repeat(
            50,
          ),
        );
      case "log_flood":
        openStream(response);
        return flood(response, () =>
          event({ method: "notifications/message", params: { level: "error", data: "Help!" } }).repeat(50),
        );
      case "giant_result":
        response.writeHead(200, { "content-type": "application/json" });
        response.write(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"content":[{"type":"text","text":"`);
        await flood(response, () => "x".repeat(MEGABYTE), 1024);
        return void response.end(`"}]}}`);
      case "slow_drip":
        response.writeHead(200, { "content-type": "application/json" });
        response.write("{");
        return;
      default:
        return answer(response, id, result);
    }
  }

  function answer(response: ServerResponse, id: unknown, result: Json, headers: Json = {}): void {
    const body = JSON.stringify({ jsonrpc: "2.0", id, result });
    written += body.length;
    response.writeHead(200, { "content-type": "application/json", ...headers } as Record<string, string>).end(body);
  }

  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on("error", () => {});
    if (request.method === "GET") {
      openStream(response);
      if (hostility === "list_changed_flood")
        return flood(response, () => event({ method: "notifications/tools/list_changed" }).repeat(50));
      if (hostility === "log_flood")
        return flood(response, () =>
          event({ method: "notifications/message", params: { level: "error", data: "Help!" } }).repeat(50),
        );
      return;
    }
    if (request.method !== "POST") return void response.writeHead(200).end();
    const {
      id,
      method,
      params = {},
    } = JSON.parse(await text(request)) as {
      readonly id?: unknown;
      readonly method: string;
      readonly params?: Json;
    };
    asked.set(method, (asked.get(method) ?? 0) + 1);
    if (id === undefined) return void response.writeHead(202).end();
    switch (method) {
      case "initialize": {
        const capabilities = { tools: { listChanged: true }, logging: {} };
        const serverInfo = { name: hostility ?? "harmless", version: "1.0.0" };
        const described = { protocolVersion: "2025-11-25", capabilities, serverInfo };
        return answer(response, id, described, { "mcp-session-id": `s${asked.get(method)}` });
      }
      case "tools/list":
        if (hostility === "forgets_sessions") return void response.writeHead(404).end();
        return answer(response, id, list(params));
      case "tools/call":
        return call(response, id, params);
      default: {
        const error = { code: -32_601, message: `Method not found: ${method}` };
        return void response
          .writeHead(method === "server/discover" ? 400 : 200, { "content-type": "application/json" })
          .end(JSON.stringify({ jsonrpc: "2.0", id, error }));
      }
    }
  }

  const server = createServer((request, response) => void take(request, response).catch(() => response.destroy()));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    asked,
    get written() {
      return written;
    },
    async close() {
      closing.abort();
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
