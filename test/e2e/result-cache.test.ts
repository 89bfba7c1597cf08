import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { acceptedContent, inputRequired, McpServer } from "@modelcontextprotocol/server";
import { afterEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { ToolArsenal } from "../../src/index.ts";
import { listenAs } from "./era-server.ts";

const ERAS = ["legacy", "modern"] as const;
type Era = (typeof ERAS)[number];
const CASES = ERAS.flatMap((clientEra) => ERAS.map((serverEra) => ({ clientEra, serverEra })));

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

const NAME_FORM = { type: "object", properties: { name: { type: "string" } }, required: ["name"] } as const;

/** A real MCP server with a tool that reads, one that asks a question before it reads, and one that writes. */
async function startNotes(era: Era): Promise<{ readonly url: string; readonly calls: string[] }> {
  const calls: string[] = [];
  const text = (said: string) => ({ content: [{ type: "text" as const, text: said }] });
  const build = (): McpServer => {
    const server = new McpServer({ name: "notes", version: "1.0.0" });
    const annotations = { readOnlyHint: true };
    const inputSchema = z.object({ id: z.number() });
    server.registerTool("read", { description: "Reads a note.", inputSchema, annotations }, ({ id }) => {
      calls.push("read");
      return { ...text(`note ${id}`), structuredContent: { id }, _meta: { "example.com/kept": calls.length } };
    });
    server.registerTool("ask", { description: "Asks who reads.", inputSchema, annotations }, ({ id }, { mcpReq }) => {
      const answer = acceptedContent<{ name: string }>(mcpReq.inputResponses, "who");
      if (answer === undefined)
        return inputRequired({
          inputRequests: { who: inputRequired.elicit({ message: "Who?", requestedSchema: NAME_FORM as never }) },
        });
      calls.push("ask");
      return text(`${answer.name} reads ${id}`);
    });
    server.registerTool("write", { description: "Writes a note.", inputSchema }, () => {
      calls.push("write");
      return text("written");
    });
    return server;
  };
  const { url, close } = await listenAs(era, build);
  closing.push(close);
  return { url, calls };
}

async function startGateway(url: string): Promise<string> {
  const arsenal = new ToolArsenal({ telemetry: { enabled: false }, execution: { resultCache: { ttlS: 60 } } });
  closing.push(() => arsenal.close());
  await arsenal.addMcpServer({ name: "notes", transport: { kind: "http", url }, trustAnnotations: true });
  const gateway = await arsenal.serve({ port: 0, mode: "static" });
  closing.push(() => gateway.close());
  return gateway.url ?? "";
}

async function connect(era: Era, url: string, names: string[] = []): Promise<Client> {
  const client = new Client(
    { name: "reader", version: "1.0.0" },
    {
      capabilities: { elicitation: { form: {} } },
      ...(era === "modern" ? { versionNegotiation: { mode: { pin: "2026-07-28" } } } : {}),
    },
  );
  client.setRequestHandler("elicitation/create", () => ({ action: "accept", content: { name: names.shift() ?? "" } }));
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  closing.push(() => client.close());
  return client;
}

describe.each(CASES)("a cached answer of a $serverEra server, for a $clientEra client", ({ clientEra, serverEra }) => {
  it("is the server's own, whole, and costs the server no call", async () => {
    const { url, calls } = await startNotes(serverEra);
    const gateway = await startGateway(url);
    const read = { name: "notes-read", arguments: { id: 1 } };
    const first = await connect(clientEra, `${gateway}/mcp`);
    const fresh = await first.callTool(read, { onprogress: () => {} });
    const second = await connect(clientEra, `${gateway}/mcp`);
    const again = await second.callTool(read, { onprogress: () => {} });

    expect(again).toEqual(fresh);
    expect(fresh).toMatchObject({ structuredContent: { id: 1 }, _meta: { "example.com/kept": 1 } });
    expect(calls).toEqual(["read"]);
    await first.callTool({ name: "notes-write", arguments: { id: 1 } });
    await first.callTool(read);
    expect(calls).toEqual(["read", "write", "read"]);
  });

  it("is none if a person was asked for it", async () => {
    const { url, calls } = await startNotes(serverEra);
    const client = await connect(clientEra, `${await startGateway(url)}/mcp`, ["Ada", "Bob"]);
    const ask = { name: "notes-ask", arguments: { id: 1 } };
    expect((await client.callTool(ask)).content).toEqual([{ type: "text", text: "Ada reads 1" }]);
    expect((await client.callTool(ask)).content).toEqual([{ type: "text", text: "Bob reads 1" }]);
    expect(calls).toEqual(["ask", "ask"]);
  });

  it("is none on the transparent plane, where every request reaches the server", async () => {
    const { url, calls } = await startNotes(serverEra);
    const client = await connect(clientEra, `${await startGateway(url)}/mcp/upstreams/notes`);
    for (let turn = 0; turn < 2; turn++) await client.callTool({ name: "read", arguments: { id: 1 } });
    expect(calls).toEqual(["read", "read"]);
  });
});
