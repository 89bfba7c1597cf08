import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { SSEServerTransport } from "@modelcontextprotocol/sdk/server/sse.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";

/** A server of 2025-11-25 that carries out `tools/call` and then claims not to know the session. */
export interface ForgetfulServer {
  readonly url: string;
  /** The amounts that were paid, in order. */
  readonly committed: readonly number[];
  /** How many sessions were opened. */
  readonly sessions: number;
  /** What the server answers after it acted; `undefined` lets it answer properly. */
  refusal: { readonly status: number; readonly body: string } | undefined;
  close(): Promise<void>;
}

const TOOLS = ["pay", "look"].map((name) => ({
  name,
  description: `The tool ${name} of a bank that forgets.`,
  inputSchema: { type: "object" as const, properties: { amount: { type: "number" } } },
  annotations: { readOnlyHint: name === "look" },
}));

/** What a server says that does not know a session. */
export const UNKNOWN_SESSION: NonNullable<ForgetfulServer["refusal"]> = {
  status: 404,
  body: JSON.stringify({ jsonrpc: "2.0", error: { code: -32_001, message: "Session not found" }, id: null }),
};

function createMcp(): Server {
  const mcp = new Server({ name: "forgetful bank", version: "1.0.0" }, { capabilities: { tools: {} } });
  mcp.setRequestHandler(ListToolsRequestSchema, () => ({ tools: TOOLS }));
  mcp.setRequestHandler(CallToolRequestSchema, ({ params }) => ({
    content: [{ type: "text", text: `${params.name} ${String(params.arguments?.["amount"])}` }],
  }));
  return mcp;
}

type Handle = (request: IncomingMessage, response: ServerResponse, body: unknown) => Promise<void> | void;

/** Over streamable HTTP with sessions. */
export function startStreamable(): Promise<ForgetfulServer> {
  return start((opened) => {
    const sessions = new Map<string, StreamableHTTPServerTransport>();
    return async (request, response, body) => {
      const id = request.headers["mcp-session-id"];
      const known = typeof id === "string" ? sessions.get(id) : undefined;
      if (known !== undefined) return known.handleRequest(request, response, body);
      const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (session) => {
          opened();
          sessions.set(session, transport);
        },
      });
      await createMcp().connect(transport as never);
      return transport.handleRequest(request, response, body);
    };
  });
}

/** Over the older HTTP+SSE, whose session is in the address that messages are posted to. */
export function startSse(): Promise<ForgetfulServer> {
  return start((opened) => {
    const sessions = new Map<string, SSEServerTransport>();
    return async (request, response, body) => {
      if (request.method === "GET") {
        const transport = new SSEServerTransport("/messages", response);
        opened();
        sessions.set(transport.sessionId, transport);
        return createMcp().connect(transport);
      }
      const id = new URL(request.url ?? "", "http://bank").searchParams.get("sessionId") ?? "";
      const known = sessions.get(id);
      if (known !== undefined) return known.handlePostMessage(request, response, body);
      response.writeHead(404).end();
    };
  });
}

async function start(createHandle: (opened: () => void) => Handle): Promise<ForgetfulServer> {
  const committed: number[] = [];
  let sessions = 0;
  const handle = createHandle(() => void sessions++);
  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body: unknown = request.method === "POST" ? JSON.parse(await text(request)) : undefined;
    const { method, params } = (body ?? {}) as { method?: string; params?: { arguments?: { amount?: number } } };
    if (method === "tools/call") {
      committed.push(params?.arguments?.amount ?? 0);
      const { refusal } = started;
      if (refusal !== undefined) {
        response.writeHead(refusal.status, { "content-type": "application/json" }).end(refusal.body);
        return;
      }
    }
    await handle(request, response, body);
  }
  const server = createServer((request, response) => void take(request, response));
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const started: ForgetfulServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    committed,
    get sessions() {
      return sessions;
    },
    refusal: UNKNOWN_SESSION,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => void server.close(resolve));
    },
  };
  return started;
}
