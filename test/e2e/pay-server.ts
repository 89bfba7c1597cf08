import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { acceptedContent, createMcpHandler, inputRequired, McpServer } from "@modelcontextprotocol/server";
import * as z from "zod";

/** A real MCP server of the modern era whose tools count how often they ran. */
export interface PayServer {
  readonly url: string;
  /** What was paid, in order. */
  readonly paid: readonly number[];
  /** The `_meta` that the calls came with. */
  readonly metas: readonly unknown[];
  close(): Promise<void>;
}

/** Starts a server with `pay`, and `pay_somebody`, which asks for a name first. */
export async function startPayServer(port = 0): Promise<PayServer> {
  const paid: number[] = [];
  const metas: unknown[] = [];
  const text = (said: string) => ({ content: [{ type: "text" as const, text: said }] });
  const build = (): McpServer => {
    const server = new McpServer({ name: "pay", version: "1.0.0" });
    const inputSchema = z.object({ amount: z.number(), to: z.string().optional() });
    server.registerTool("pay", { description: "Pays an amount.", inputSchema }, ({ amount }, context) => {
      paid.push(amount);
      metas.push(context.mcpReq._meta);
      return text(`paid ${amount}`);
    });
    server.registerTool(
      "pay_somebody",
      { description: "Pays an amount to whom the person names.", inputSchema },
      ({ amount }, context) => {
        const answer = acceptedContent<{ name: string }>(context.mcpReq.inputResponses, "who");
        if (answer === undefined) {
          const name = { type: "string" as const };
          const requestedSchema = { type: "object" as const, properties: { name }, required: ["name"] };
          return inputRequired({
            inputRequests: { who: inputRequired.elicit({ message: "Pay whom?", requestedSchema }) },
          });
        }
        paid.push(amount);
        return text(`paid ${amount} to ${answer.name}`);
      },
    );
    return server;
  };
  const handler = createMcpHandler(build, { legacy: "reject" });
  const answer = toNodeHandler(handler);
  const server = createServer((request, response) => void answer(request as never, response));
  await new Promise<void>((resolve) => void server.listen(port, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    paid,
    metas,
    async close() {
      await handler.close();
      server.closeAllConnections();
      await new Promise((resolve) => void server.close(resolve));
    },
  };
}
