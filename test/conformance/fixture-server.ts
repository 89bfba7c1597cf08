import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import {
  localhostHostValidation,
  localhostOriginValidation,
  NodeStreamableHTTPServerTransport,
  toNodeHandler,
} from "@modelcontextprotocol/node";
import { classifyInboundRequest, createMcpHandler, isInitializeRequest } from "@modelcontextprotocol/server";
import { buildFixture } from "./fixture/build-server.ts";
import { createEventStore } from "./fixture/event-store.ts";
import type { Announcements } from "./fixture/tool.ts";

/** A listening fixture. */
export interface FixtureServer {
  readonly url: string;
  close(): Promise<void>;
}

/** Serves the fixture on loopback: sessions to clients that open with initialize, requests that stand for themselves to the others. */
export async function serveFixture(port = 0): Promise<FixtureServer> {
  const sessions = createSessions();
  const announce: Announcements = {
    toolsChanged() {
      modern.notify.toolsChanged();
      sessions.announce("tools");
    },
    promptsChanged() {
      modern.notify.promptsChanged();
      sessions.announce("prompts");
    },
  };
  const modern = createMcpHandler(() => buildFixture(announce), { legacy: "reject" });
  const answerModern = toNodeHandler(modern);
  const hostAllowed = localhostHostValidation();
  const originAllowed = localhostOriginValidation();

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!hostAllowed(request, response) || !originAllowed(request, response)) return;
    const body = request.method === "POST" ? await json(request).catch(() => undefined) : undefined;
    if (isLegacy(request, body)) await sessions.answer(request, response, body, announce);
    else await answerModern(request as Parameters<typeof answerModern>[0], response, body);
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      process.stderr.write(`${String(error)}\n`);
      response.destroy();
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(port, "127.0.0.1", resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    async close() {
      await modern.close();
      await sessions.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function isLegacy(request: IncomingMessage, body: unknown): boolean {
  const version = header(request, "mcp-protocol-version");
  const method = header(request, "mcp-method");
  const { kind } = classifyInboundRequest({
    httpMethod: request.method ?? "GET",
    ...(version === undefined ? {} : { protocolVersionHeader: version }),
    ...(method === undefined ? {} : { mcpMethodHeader: method }),
    body,
  });
  return kind === "legacy";
}

interface Sessions {
  answer(request: IncomingMessage, response: ServerResponse, body: unknown, announce: Announcements): Promise<void>;
  announce(what: "tools" | "prompts"): void;
  close(): Promise<void>;
}

function createSessions(): Sessions {
  const open = new Map<
    string,
    { transport: NodeStreamableHTTPServerTransport; server: ReturnType<typeof buildFixture> }
  >();

  async function start(announce: Announcements): Promise<NodeStreamableHTTPServerTransport> {
    const server = buildFixture(announce);
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      eventStore: createEventStore(),
      retryInterval: 500,
      onsessioninitialized: (id) => void open.set(id, { transport, server }),
      onsessionclosed: (id) => void open.delete(id),
    });
    await server.connect(transport);
    return transport;
  }

  return {
    async answer(request, response, body, announce) {
      const id = header(request, "mcp-session-id");
      if (id === undefined && isInitializeRequest(body)) {
        await (await start(announce)).handleRequest(request, response, body);
        return;
      }
      const session = id === undefined ? undefined : open.get(id);
      if (session !== undefined) await session.transport.handleRequest(request, response, body);
      else refuse(response, id === undefined ? 400 : 404, id === undefined ? "Session required" : "Session not found");
    },
    announce(what) {
      for (const { server } of open.values()) {
        const sent = what === "tools" ? server.sendToolListChanged() : server.sendPromptListChanged();
        // A session whose client is not listening has nobody to tell.
        sent.catch(() => undefined);
      }
    },
    async close() {
      await Promise.all([...open.values()].map(({ transport }) => transport.close()));
    },
  };
}

function refuse(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify({ jsonrpc: "2.0", id: null, error: { code: -32_000, message } }));
}

function header(request: IncomingMessage, name: string): string | undefined {
  return [request.headers[name]].flat()[0];
}

if (import.meta.main) {
  const { url, close } = await serveFixture(Number(process.argv[2] ?? 0));
  process.stdout.write(`${url}\n`);
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void close());
}
