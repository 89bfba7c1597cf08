/** The server that every contender of `bench/gateway.ts` calls: one tool that returns its input. */
import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { NodeStreamableHTTPServerTransport, toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, isInitializeRequest, McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

function build(): McpServer {
  const server = new McpServer({ name: "echo", version: "1.0.0" });
  server.registerTool(
    "echo",
    { description: "Says what it was told", inputSchema: z.object({ message: z.string() }) },
    ({ message }) => ({ content: [{ type: "text", text: `Echo: ${message}` }] }),
  );
  return server;
}

/** Sessions for clients that open with initialize, and stateless requests, at one address. */
async function serveHttp(): Promise<string> {
  const modern = toNodeHandler(createMcpHandler(build));
  const sessions = new Map<string, NodeStreamableHTTPServerTransport>();

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = request.method === "POST" ? await json(request) : undefined;
    const session = sessions.get(String(request.headers["mcp-session-id"]));
    if (session !== undefined) return session.handleRequest(request, response, body);
    if (!isInitializeRequest(body)) return modern(request as Parameters<typeof modern>[0], response, body);
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => void sessions.set(id, transport),
      onsessionclosed: (id) => void sessions.delete(id),
    });
    await build().connect(transport);
    return transport.handleRequest(request, response, body);
  }

  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

if (process.argv[2] === "http") console.log(await serveHttp());
else serveStdio(build);
