import { randomUUID } from "node:crypto";
import { EventEmitter, once } from "node:events";
import { createServer, type IncomingMessage, type Server as HttpServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { Server as LegacyServer } from "@modelcontextprotocol/sdk/server/index.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import {
  CallToolRequestSchema,
  ElicitResultSchema,
  isInitializeRequest,
  ListToolsRequestSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { createMcpHandler, inputRequired, Server as ModernServer } from "@modelcontextprotocol/server";

type Json = Record<string, unknown>;

/** What a tool of the sample servers can do beside returning something. */
interface ToolContext {
  readonly signal: AbortSignal;
  readonly meta: Json;
  /** The answers of a modern client who was asked. */
  readonly inputResponses: Json | undefined;
  notify(method: string, params: Json): Promise<void>;
  elicit(message: string): Promise<Json>;
}

/** A server on loopback that a test looks into. */
export interface UpstreamServer {
  readonly url: string;
  readonly port: number;
  /** Emits `called` with a tool's name when a call begins, and `cancelled` when one is cancelled. */
  readonly events: EventEmitter;
  /** Every HTTP request that came: its method, headers and JSON body. */
  readonly requests: { readonly method: string; readonly headers: IncomingMessage["headers"]; readonly body: Json }[];
  /** What `tools/list` answers, page by page. */
  pages: Json[][];
  /** What it tells models about itself, to whoever connects from now on. */
  instructions: string;
  /** Says that the tools changed. */
  listChanged(): Promise<void>;
  /** How many subscriptions to a resource there are. */
  subscribed(uri: string): number;
  resourceUpdated(uri: string): Promise<void>;
  /** Forgets every session, as a server does that was restarted. */
  forgetSessions(): void;
  readonly sessions: number;
  close(): Promise<void>;
}

const SCHEMA = { type: "object", properties: { text: { type: "string" } } };

/** The tools of a sample server: echo, wait, report, ask, fail. */
export const SAMPLE_TOOLS: readonly Json[] = ["echo", "wait", "report", "ask", "fail"].map((name) => ({
  name,
  description: `The sample tool that does ${name}.`,
  inputSchema: SCHEMA,
}));

async function runTool(name: unknown, args: Json, context: ToolContext, events: EventEmitter): Promise<Json> {
  events.emit("called", name);
  switch (name) {
    case "echo":
    case "Echo.It":
      return {
        content: [{ type: "text", text: String(args["text"]) }],
        structuredContent: args,
        unheardOf: { kept: [1, null] },
      };
    case "wait":
      await once(context.signal, "abort");
      events.emit("cancelled");
      return { content: [] };
    case "report": {
      const { progressToken } = context.meta;
      await context.notify("notifications/progress", { progressToken, progress: 1, total: 2, message: args["text"] });
      await context.notify("notifications/message", { level: "info", data: args["text"] });
      // Both callers are under way before either is answered.
      if (args["until"] !== undefined) await once(events, String(args["until"]));
      return { content: [{ type: "text", text: "reported" }] };
    }
    case "ask": {
      const answer = await context.elicit(String(args["text"]));
      if (answer["resultType"] === "input_required") return answer;
      return { content: [{ type: "text", text: JSON.stringify(answer["content"]) }] };
    }
    case "fail":
      return { isError: true, content: [{ type: "text", text: "It did not work." }] };
    default:
      return { isError: true, content: [{ type: "text", text: `No tool ${String(name)}` }] };
  }
}

function listPage(pages: readonly Json[][], cursor: unknown): Json {
  const page = Number(cursor ?? 0);
  return { tools: pages[page] ?? [], ...(page + 1 < pages.length ? { nextCursor: String(page + 1) } : {}) };
}

/** Starts an HTTP server that collects bodies and hands requests on. */
async function listen(
  handle: (request: IncomingMessage, response: ServerResponse, body: Json | undefined) => void | Promise<void>,
  requests: UpstreamServer["requests"],
  port: number,
): Promise<HttpServer> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const text = Buffer.concat(chunks).toString();
      const body = text === "" ? undefined : (JSON.parse(text) as Json);
      requests.push({ method: request.method ?? "", headers: request.headers, body: body ?? {} });
      void handle(request, response, body);
    });
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return server;
}

async function shut(server: HttpServer): Promise<void> {
  server.closeAllConnections();
  server.close();
  await once(server, "close");
}

/** A server of 2025-11-25 with sessions, on the SDK of its time. */
export async function startLegacyServer(port = 0): Promise<UpstreamServer> {
  const events = new EventEmitter();
  const requests: UpstreamServer["requests"] = [];
  const sessions = new Map<
    string,
    { readonly transport: StreamableHTTPServerTransport; readonly server: LegacyServer }
  >();

  const subscriptions: string[] = [];

  const open = async (): Promise<StreamableHTTPServerTransport> => {
    const mcp = new LegacyServer(
      { name: "old sample", version: "1.0.0" },
      {
        capabilities: { tools: { listChanged: true }, resources: { subscribe: true }, logging: {} },
        instructions: started.instructions,
      },
    );
    mcp.setRequestHandler(ListToolsRequestSchema, ({ params }) => listPage(started.pages, params?.cursor) as never);
    mcp.setRequestHandler(SubscribeRequestSchema, ({ params }) => (subscriptions.push(params.uri), {}));
    mcp.setRequestHandler(UnsubscribeRequestSchema, ({ params }) => {
      subscriptions.splice(subscriptions.indexOf(params.uri), 1);
      return {};
    });
    mcp.setRequestHandler(CallToolRequestSchema, ({ params }, extra) =>
      runTool(
        params.name,
        params.arguments ?? {},
        {
          signal: extra.signal,
          meta: params._meta ?? {},
          inputResponses: undefined,
          notify: (method, sent) => extra.sendNotification({ method, params: sent } as never),
          elicit: (message) =>
            extra.sendRequest(
              {
                method: "elicitation/create",
                params: { message, requestedSchema: { type: "object", properties: {} } },
              },
              ElicitResultSchema,
            ),
        },
        events,
      ),
    );
    const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, { transport, server: mcp }),
      onsessionclosed: (id) => void sessions.delete(id),
    });
    await mcp.connect(transport as never);
    return transport;
  };

  const server = await listen(
    async (request, response, body) => {
      const id = request.headers["mcp-session-id"];
      const known = typeof id === "string" ? sessions.get(id)?.transport : undefined;
      if (known !== undefined) return known.handleRequest(request, response, body);
      if (id === undefined && isInitializeRequest(body)) return (await open()).handleRequest(request, response, body);
      response.writeHead(id === undefined ? 400 : 404, { "content-type": "application/json" });
      const error = { code: id === undefined ? -32_000 : -32_001, message: "Session not found" };
      response.end(JSON.stringify({ jsonrpc: "2.0", error, id: null }));
    },
    requests,
    port,
  );
  const { port: bound } = server.address() as AddressInfo;
  const started: UpstreamServer = {
    url: `http://127.0.0.1:${bound}/mcp`,
    port: bound,
    events,
    requests,
    pages: [[...SAMPLE_TOOLS]],
    instructions: "Be kind.",
    async listChanged() {
      for (const { server: each } of sessions.values()) await each.sendToolListChanged();
    },
    subscribed: (uri) => subscriptions.filter((each) => each === uri).length,
    async resourceUpdated(uri) {
      for (const { server: each } of sessions.values()) await each.sendResourceUpdated({ uri });
    },
    forgetSessions: () => sessions.clear(),
    get sessions() {
      return sessions.size;
    },
    close: () => shut(server),
  };
  return started;
}

/** A server of 2026-07-28, on the current SDK. */
export async function startModernServer(port = 0): Promise<UpstreamServer> {
  const events = new EventEmitter();
  const requests: UpstreamServer["requests"] = [];
  const handler = createMcpHandler(
    () => {
      const mcp = new ModernServer(
        { name: "new sample", version: "2.0.0" },
        {
          capabilities: { tools: { listChanged: true }, resources: { subscribe: true }, logging: {} },
          instructions: started.instructions,
        },
      );
      mcp.setRequestHandler("tools/list", ({ params }) => listPage(started.pages, params?.cursor) as never);
      mcp.setRequestHandler("tools/call", ({ params }, { mcpReq }) => {
        const context: ToolContext = {
          signal: mcpReq.signal,
          meta: (mcpReq._meta ?? {}) as Json,
          inputResponses: mcpReq.inputResponses as Json | undefined,
          notify: (method, sent) => mcpReq.notify({ method, params: sent }),
          elicit: async (message) => {
            const given = context.inputResponses?.["answer"] as Json | undefined;
            if (given !== undefined) return given;
            return inputRequired({
              inputRequests: {
                answer: inputRequired.elicit({ message, requestedSchema: { type: "object", properties: {} } }),
              },
              requestState: `state of ${message}`,
            }) as unknown as Json;
          },
        };
        return runTool(params.name, params.arguments ?? {}, context, events) as never;
      });
      return mcp;
    },
    { legacy: "reject", keepAliveMs: 0 },
  );
  const serve = toNodeHandler(handler);
  const subscriptions: string[] = [];
  const server = await listen(
    (request, response, body) => {
      const { notifications } = (body?.["params"] ?? {}) as { notifications?: { resourceSubscriptions?: string[] } };
      const uris = notifications?.resourceSubscriptions ?? [];
      subscriptions.push(...uris);
      response.on("close", () => {
        for (const uri of uris) subscriptions.splice(subscriptions.indexOf(uri), 1);
      });
      void serve(request as never, response, body);
    },
    requests,
    port,
  );
  const { port: bound } = server.address() as AddressInfo;
  const started: UpstreamServer = {
    url: `http://127.0.0.1:${bound}/mcp`,
    port: bound,
    events,
    requests,
    pages: [[...SAMPLE_TOOLS]],
    instructions: "Be brief.",
    listChanged: async () => handler.notify.toolsChanged(),
    subscribed: (uri) => subscriptions.filter((each) => each === uri).length,
    resourceUpdated: async (uri) => handler.notify.resourceUpdated(uri),
    forgetSessions: () => {},
    sessions: 0,
    async close() {
      await handler.close();
      await shut(server);
    },
  };
  return started;
}
