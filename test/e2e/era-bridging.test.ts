import { once } from "node:events";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ToolArsenal } from "../../src/index.ts";
import type { ServedGateway } from "../../src/serve/serve-arsenal.ts";
import { startEraServer, type EraServer } from "./era-server.ts";

const ERAS = ["legacy", "modern"] as const;
type Era = (typeof ERAS)[number];

/** How a plane names the tool of an upstream. */
const PLANES = [
  { plane: "aggregate", path: () => "/mcp", tool: (era: Era, name: string) => `${era}-${name}` },
  { plane: "transparent", path: (era: Era) => `/mcp/upstreams/${era}`, tool: (_era: Era, name: string) => name },
] as const;

describe("a client of one era and a server of one era", () => {
  const servers = new Map<Era, EraServer>();
  let arsenal: ToolArsenal;
  let gateway: ServedGateway;

  beforeAll(async () => {
    arsenal = new ToolArsenal({
      telemetry: { enabled: false },
      security: { maxRequestsPerMinute: 10_000 },
      execution: { maxConcurrent: 64 },
    });
    for (const era of ERAS) {
      const server = await startEraServer(era);
      servers.set(era, server);
      await arsenal.addMcpServer({ name: era, transport: { kind: "http", url: server.url }, maxConnections: 64 });
    }
    gateway = await arsenal.serve({ port: 0, mode: "static" });
  });

  afterAll(async () => {
    await gateway.close();
    await arsenal.close();
    for (const server of servers.values()) await server.close();
  });

  async function connect(era: Era, path: string, name = "Ada"): Promise<Client> {
    const client = new Client(
      { name: `client of ${name}`, version: "1.0.0" },
      {
        capabilities: { elicitation: { form: {} }, sampling: {} },
        ...(era === "modern" ? { versionNegotiation: { mode: { pin: "2026-07-28" } } } : {}),
      },
    );
    client.setRequestHandler("elicitation/create", () => ({ action: "accept", content: { name } }));
    client.setRequestHandler("sampling/createMessage", () => ({
      role: "assistant",
      model: "test",
      content: { type: "text", text: `${name} thinks` },
    }));
    await client.connect(new StreamableHTTPClientTransport(new URL(`${gateway.url}${path}`)));
    expect(client.getProtocolEra()).toBe(era);
    return client;
  }

  for (const { plane, path, tool } of PLANES) {
    for (const clientEra of ERAS) {
      for (const serverEra of ERAS) {
        describe(`${clientEra} client, ${serverEra} server, ${plane} plane`, () => {
          const name = (bare: string): string => tool(serverEra, bare);
          let client: Client;
          beforeAll(async () => {
            client = await connect(clientEra, path(serverEra));
          });
          afterAll(() => client.close());

          it("passes a question to the person and the answer back", async () => {
            const { content } = await client.callTool({ name: name("greet"), arguments: { call: 1 } });
            expect(content).toEqual([{ type: "text", text: "1: hello Ada" }]);
          });

          it("passes a question to the client's model and the answer back", async () => {
            const { content } = await client.callTool({ name: name("think"), arguments: {} });
            expect(content).toEqual([{ type: "text", text: "thought: Ada thinks" }]);
          });

          it("tells progress to the one who asked for it", async () => {
            const told: number[] = [];
            const onprogress = ({ progress }: { progress: number }): void => void told.push(progress);
            await client.callTool({ name: name("count"), arguments: {} }, { onprogress });
            expect(told).toEqual([1, 2, 3]);
          });

          it("cancels at the server what the client cancelled", async () => {
            const { events } = servers.get(serverEra) as EraServer;
            const [waiting, cancelled] = [once(events, "waiting"), once(events, "cancelled")];
            const controller = new AbortController();
            const call = client.callTool({ name: name("wait"), arguments: {} }, { signal: controller.signal });
            await waiting;
            controller.abort();
            await expect(call).rejects.toThrow();
            await cancelled;
          });

          it("keeps what it does not know in a result, and the server's own error", async () => {
            expect(await client.callTool({ name: name("odd"), arguments: {} })).toMatchObject({
              content: [{ type: "text", text: "odd" }],
              _meta: { "example.com/trace": "kept" },
              "x-whole": 1,
            });
            expect(await client.callTool({ name: name("fail"), arguments: {} })).toMatchObject({
              content: [{ type: "text", text: "no such thing" }],
              isError: true,
            });
          });
        });
      }
    }
  }

  it.each(PLANES.flatMap((plane) => ERAS.flatMap((client) => ERAS.map((server) => ({ ...plane, client, server })))))(
    "answers 50 questions at once to the right caller: $client clients, $server server, $plane plane",
    async ({ path, tool, client: clientEra, server }) => {
      const people = Array.from({ length: 10 }, (_, index) => `P${index}`);
      const clients = await Promise.all(people.map((person) => connect(clientEra, path(server), person)));
      const answers = await Promise.all(
        clients.flatMap((client, person) =>
          Array.from({ length: 5 }, async (_, round) => {
            const call = person * 5 + round;
            const { content } = await client.callTool({ name: tool(server, "greet"), arguments: { call } });
            return { content, expected: [{ type: "text", text: `${call}: hello P${person}` }] };
          }),
        ),
      );
      for (const { content, expected } of answers) expect(content).toEqual(expected);
      await Promise.all(clients.map((client) => client.close()));
    },
  );
});
