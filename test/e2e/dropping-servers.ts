import { AsyncLocalStorage } from "node:async_hooks";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { McpServer as LegacyServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import * as z from "zod";

/** A server on loopback that does what it is asked and then, in place of an answer, closes the connection. */
export interface DroppingServer {
  readonly url: string;
  /** What took effect, in order. */
  readonly committed: readonly number[];
  /** From now on it answers. */
  fix(): void;
  close(): Promise<void>;
}

type Commit = (amount: number) => void;
type Start = () => Promise<DroppingServer>;

const TOOL = { description: "Pays an amount to somebody.", inputSchema: z.object({ amount: z.number() }) };
const text = (said: string) => ({ content: [{ type: "text" as const, text: said }] });

/** A real MCP server of the modern era with the tool `pay`. */
export const startModern: Start = () =>
  start((commit) => {
    const build = (): McpServer => {
      const server = new McpServer({ name: "pay", version: "1.0.0" });
      server.registerTool("pay", TOOL, ({ amount }) => {
        commit(amount);
        return text(`paid ${amount}`);
      });
      return server;
    };
    const answer = toNodeHandler(createMcpHandler(build, { legacy: "reject" }));
    return (request, response) => void answer(request as never, response);
  });

/** A real MCP server of the older era with the tool `pay`. */
export const startLegacy: Start = () =>
  start((commit) => async (request, response) => {
    const server = new LegacyServer({ name: "pay", version: "1.0.0" });
    server.registerTool("pay", { ...TOOL, inputSchema: TOOL.inputSchema.shape }, ({ amount }: { amount: number }) => {
      commit(amount);
      return text(`paid ${amount}`);
    });
    const transport = new StreamableHTTPServerTransport({});
    response.on("close", () => void transport.close());
    await server.connect(transport as never);
    await transport.handleRequest(request, response);
  });

/** An HTTP endpoint that takes `POST /payments`. */
export const startHttp: Start = () =>
  start((commit) => async (request, response) => {
    const { amount } = JSON.parse((await buffer(request)).toString()) as { readonly amount: number };
    commit(amount);
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ paid: amount }));
  });

async function start(listenerOf: (commit: Commit) => RequestListener): Promise<DroppingServer> {
  const committed: number[] = [];
  let isBroken = true;
  // The connection that the request under way came over, and no other.
  const connection = new AsyncLocalStorage<Socket>();
  const listener = listenerOf((amount) => {
    committed.push(amount);
    if (isBroken) connection.getStore()?.destroy();
  });
  const server = createServer((request, response) => connection.run(request.socket, () => listener(request, response)));
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    committed,
    fix: () => void (isBroken = false),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => void server.close(resolve));
    },
  };
}
