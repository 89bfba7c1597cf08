import { randomUUID } from "node:crypto";
import { EventEmitter } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { NodeStreamableHTTPServerTransport, toNodeHandler } from "@modelcontextprotocol/node";
import {
  acceptedContent,
  createMcpHandler,
  type ElicitRequestFormParams,
  inputRequired,
  inputResponse,
  isInitializeRequest,
  McpServer,
  type Server,
} from "@modelcontextprotocol/server";
import * as z from "zod";

/** A real MCP server that speaks one era only. */
export interface EraServer {
  readonly url: string;
  /** `waiting` when the tool `wait` runs, `cancelled` when its caller gave up. */
  readonly events: EventEmitter<{ waiting: []; cancelled: [] }>;
  close(): Promise<void>;
}

/** Starts a server of one era with tools that ask, report progress and wait to be cancelled. */
export async function startEraServer(era: "legacy" | "modern"): Promise<EraServer> {
  const events: EraServer["events"] = new EventEmitter();
  return { events, ...(await listenAs(era, () => buildServer(events))) };
}

/** Listens on loopback as a server that speaks one era only. */
export async function listenAs(
  era: "legacy" | "modern",
  build: () => McpServer | Server,
): Promise<Pick<EraServer, "url" | "close">> {
  const { listener, end } = era === "modern" ? modernListener(build) : legacyListener(build);
  const server = createServer(listener);
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    async close() {
      await end();
      server.closeAllConnections();
      await new Promise((resolve) => void server.close(resolve));
    },
  };
}

const NAME_FORM: ElicitRequestFormParams["requestedSchema"] = {
  type: "object",
  properties: { name: { type: "string" } },
  required: ["name"],
};

function buildServer(events: EraServer["events"]): McpServer {
  const server = new McpServer({ name: "era", version: "1.0.0" }, { capabilities: { logging: {} } });
  const text = (said: string) => ({ content: [{ type: "text" as const, text: said }] });

  server.registerTool(
    "greet",
    { description: "Asks for a name.", inputSchema: z.object({ call: z.number() }) },
    ({ call }, context) => {
      const answer = acceptedContent<{ name: string }>(context.mcpReq.inputResponses, "who");
      if (answer) return text(`${call}: hello ${answer.name}`);
      if (inputResponse(context.mcpReq.inputResponses, "who").kind !== "missing") return text(`${call}: declined`);
      return inputRequired({
        inputRequests: { who: inputRequired.elicit({ message: `Who calls ${call}?`, requestedSchema: NAME_FORM }) },
      });
    },
  );
  server.registerTool(
    "remember",
    { description: "Asks for a name, and has the client carry what it knows so far.", inputSchema: z.object({}) },
    (_args, context) => {
      const answer = acceptedContent<{ name: string }>(context.mcpReq.inputResponses, "who");
      const { requestState } = context.mcpReq as { requestState?: () => unknown };
      if (answer) return text(`${String(requestState?.())} ${answer.name}`);
      return inputRequired({
        inputRequests: { who: inputRequired.elicit({ message: "Who?", requestedSchema: NAME_FORM }) },
        requestState: "welcome back,",
      });
    },
  );
  server.registerTool(
    "think",
    { description: "Asks the client's model.", inputSchema: z.object({}) },
    (_args, context) => {
      const given = context.mcpReq.inputResponses?.["thought"] as { content?: { text?: string } } | undefined;
      if (given) return text(`thought: ${given.content?.text}`);
      const messages = [{ role: "user" as const, content: { type: "text" as const, text: "Think." } }];
      return inputRequired({ inputRequests: { thought: inputRequired.createMessage({ messages, maxTokens: 9 }) } });
    },
  );
  server.registerTool(
    "count",
    { description: "Counts to three.", inputSchema: z.object({}) },
    async (_args, context) => {
      const progressToken = context.mcpReq._meta?.progressToken;
      for (const progress of [1, 2, 3]) {
        if (progressToken !== undefined)
          await context.mcpReq.notify({
            method: "notifications/progress",
            params: { progressToken, progress, total: 3 },
          });
      }
      return text("counted");
    },
  );
  server.registerTool(
    "wait",
    { description: "Waits until its caller gives up.", inputSchema: z.object({}) },
    (_args, context) => {
      events.emit("waiting");
      return new Promise((resolve) => {
        context.mcpReq.signal.addEventListener("abort", () => {
          events.emit("cancelled");
          resolve(text("cancelled"));
        });
      });
    },
  );
  server.registerTool(
    "odd",
    { description: "Answers with members nobody knows.", inputSchema: z.looseObject({}) },
    () => ({
      content: [{ type: "text" as const, text: "odd" }],
      _meta: { "example.com/trace": "kept" },
      "x-whole": 1,
    }),
  );
  server.registerTool("fail", { description: "Reports an error.", inputSchema: z.object({}) }, () => ({
    ...text("no such thing"),
    isError: true,
  }));
  return server;
}

interface Listener {
  readonly listener: RequestListener;
  end(): Promise<void>;
}

function modernListener(build: () => McpServer | Server): Listener {
  const handler = createMcpHandler(build, { legacy: "reject" });
  const answer = toNodeHandler(handler);
  return { listener: (request, response) => void answer(request as never, response), end: () => handler.close() };
}

function legacyListener(build: () => McpServer | Server): Listener {
  const sessions = new Map<string, NodeStreamableHTTPServerTransport>();
  const listener: RequestListener = async (request, response) => {
    const body = request.method === "POST" ? await json(request) : undefined;
    const id = [request.headers["mcp-session-id"]].flat()[0];
    let transport = id === undefined ? undefined : sessions.get(id);
    if (transport === undefined && isInitializeRequest(body)) {
      const opened = new NodeStreamableHTTPServerTransport({
        sessionIdGenerator: () => randomUUID(),
        onsessioninitialized: (given) => void sessions.set(given, opened),
      });
      await build().connect(opened);
      transport = opened;
    }
    if (transport) await transport.handleRequest(request, response, body);
    else response.writeHead(id === undefined ? 400 : 404).end();
  };
  return {
    listener,
    end: async () => void (await Promise.all(Array.from(sessions.values(), (transport) => transport.close()))),
  };
}
