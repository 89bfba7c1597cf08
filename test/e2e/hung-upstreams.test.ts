import { once } from "node:events";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterEach, expect, it } from "vitest";
import { ToolArsenal } from "../../src/index.ts";
import { startLegacyServer, startModernServer, type UpstreamServer } from "../mcp/upstream-server.ts";

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

/** A gateway with the default limits before three servers. */
async function setUp(): Promise<{ readonly url: string; readonly servers: readonly UpstreamServer[] }> {
  const servers = [await startLegacyServer(), await startModernServer(), await startModernServer()];
  const arsenal = new ToolArsenal({ telemetry: { enabled: false }, security: { maxRequestsPerMinute: 10_000 } });
  closing.push(
    () => arsenal.close(),
    ...servers.map(
      ({ close }) =>
        () =>
          close(),
    ),
  );
  await Promise.all(
    servers.map(({ url }, index) => arsenal.addMcpServer({ name: `s${index}`, transport: { kind: "http", url } })),
  );
  const gateway = await arsenal.serve({ port: 0, mode: "static", drainMs: 0 });
  closing.push(gateway.close);
  return { url: `${gateway.url}/mcp`, servers };
}

async function connect(url: string): Promise<Client> {
  const client = new Client({ name: "caller", version: "1.0.0" });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  closing.push(() => client.close());
  return client;
}

it("answers for a third server while two others answer nothing, however many calls hang on them", async () => {
  const { url, servers } = await setUp();
  const [stuck, caller] = [await connect(url), await connect(url)];
  const left = new AbortController();
  closing.push(async () => left.abort());
  for (const [index, { events }] of servers.slice(0, 2).entries()) {
    const called = once(events, "called");
    for (let count = 0; count < 200; count++)
      void stuck.callTool({ name: `s${index}-wait`, arguments: {} }, { signal: left.signal }).catch(() => {});
    await called;
  }
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, count) =>
      caller.callTool({ name: "s2-echo", arguments: { text: `hello ${count}` } }),
    ),
  );
  expect(answers.map(({ content }) => (content as { text: string }[])[0]?.text)).toEqual(
    Array.from({ length: 20 }, (_, count) => `hello ${count}`),
  );
});
