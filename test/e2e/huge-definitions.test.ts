import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterEach, describe, expect, it } from "vitest";
import { ToolArsenal } from "../../src/index.ts";

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

/** A server of the older era that lists these tools, whatever they are. */
async function serverOf(tools: readonly object[]): Promise<string> {
  const server = createServer(async (request, response) => {
    const body = await text(request);
    if (request.method !== "POST") return void response.writeHead(405).end();
    const { id, method } = JSON.parse(body) as { id?: number; method: string };
    if (id === undefined) return void response.writeHead(202).end();
    const results: Record<string, object> = {
      initialize: {
        protocolVersion: "2025-11-25",
        capabilities: { tools: {} },
        serverInfo: { name: "huge", version: "1.0.0" },
      },
      "tools/list": { tools },
    };
    const result = results[method];
    const answer = result === undefined ? { error: { code: -32_601, message: "Method not found" } } : { result };
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  closers.push(async () => (server.closeAllConnections(), server.close()));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

const times = <Value>(count: number, make: (index: number) => Value): Value[] =>
  Array.from({ length: count }, (_, index) => make(index));
const tool = (name: string, more: object = {}) => ({
  name,
  description: "Does something for you.",
  inputSchema: { type: "object" },
  ...more,
});

const HUGE: Readonly<Record<string, readonly [object, string]>> = {
  "an enum of 1,000,000 values": [
    { inputSchema: { type: "object", properties: { a: { enum: times(1_000_000, String) } } } },
    "has more than 20,000 values",
  ],
  "50,000 properties": [
    {
      inputSchema: {
        type: "object",
        properties: Object.fromEntries(times(50_000, (index) => [`p${index}`, { type: "string" }])),
      },
    },
    "has more than 20,000 values",
  ],
  "a description of 10 MB": [{ description: "many words ".repeat(1_000_000) }, "has more than 262,144 characters"],
  "_meta of 1 MB": [{ _meta: { note: "many words ".repeat(100_000) } }, "has more than 262,144 characters"],
};

describe("a tool that an MCP server defines with", () => {
  it.each(Object.entries(HUGE))(
    "%s is left out before anything reads it, with the reason",
    async (_, [more, reason]) => {
      const url = await serverOf([tool("before"), tool("huge", more), tool("after")]);
      const arsenal = new ToolArsenal({ telemetry: { enabled: false }, embedder: { tier: "lexical" } });
      closers.push(() => arsenal.close());
      const rejected = new Promise<object>((resolve) =>
        arsenal.subscribe(({ name, data }) => void (name === "tool-rejected" && resolve(data))),
      );
      await arsenal.addMcpServer({ name: "outside", transport: { kind: "http", url } });
      expect((await arsenal.listTools()).map(({ id }) => id)).toEqual(["outside.after", "outside.before"]);
      expect(await rejected).toMatchObject({
        name: "huge",
        message: expect.stringContaining(`Its definition ${reason}.`),
      });

      const served = await arsenal.serve({ port: 0, mode: "static" });
      closers.push(() => served.close());
      for (const path of ["/mcp", "/mcp/upstreams/outside"]) {
        const client = new Client({ name: "client", version: "1.0.0" });
        await client.connect(new StreamableHTTPClientTransport(new URL(served.url + path)));
        closers.push(() => client.close());
        expect(JSON.stringify((await client.listTools()).tools.map(({ name }) => name))).not.toContain("huge");
      }
    },
  );

  it("6,000 described properties is large, and works", async () => {
    const properties = Object.fromEntries(times(6_000, (index) => [`p${index}`, { description: `No. ${index}` }]));
    const url = await serverOf([tool("large", { inputSchema: { type: "object", properties } })]);
    const arsenal = new ToolArsenal({ telemetry: { enabled: false }, embedder: { tier: "lexical" } });
    closers.push(() => arsenal.close());
    expect(await arsenal.addMcpServer({ name: "outside", transport: { kind: "http", url } })).toBe(1);
    const [large] = await arsenal.listTools();
    expect(Object.keys(large?.parameters.properties ?? {})).toHaveLength(6_000);
  });
});
