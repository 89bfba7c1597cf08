import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventsOf, legacy } from "../mcp/sample-endpoint.ts";
import { accepted, type LegacyClient, legacyClient, modernClient } from "./replicas/clients.ts";
import { startUpstream, type Upstream } from "./replicas/upstream.ts";
import { type Caller, type KeyedGateway, startKeyedGateway } from "./rest/keyed-gateway.ts";

/** As many as one process holds of each. */
const SESSIONS = 1000;
const STREAMS = 256;
const SUSPENDED = 1000;

let upstream: Upstream;
let gateway: KeyedGateway;
let leaving: AbortController;
beforeEach(async () => {
  upstream = await startUpstream("legacy");
  leaving = new AbortController();
  gateway = await startKeyedGateway({
    mode: "static",
    settings: { execution: { max_concurrent: 4_000, max_concurrent_per_ensemble: 3_000 } },
    security: { allowed_domains: ["127.0.0.1"], max_requests_per_minute: 1_000_000 },
  });
  // Each call that asks its client needs a connection of its own to a server of this era.
  const server = { name: "desk", transport: { kind: "http", url: upstream.url }, maxConnections: 4_000 };
  expect((await gateway.ask("operator", "POST", "/api/v1/ensembles", { type: "mcp", ...server })).status).toBe(201);
});
afterEach(async () => {
  leaving.abort();
  kept.length = 0;
  // Asked to stop, it would wait for the calls that wait for their clients.
  await gateway.kill();
  await gateway.close();
  await upstream.close();
});

const as = (who: Caller): { readonly url: string; readonly key: string } => ({
  url: gateway.url,
  key: gateway.keyOf(who),
});

/** Does something often, a few at once. Resolves with how often it succeeded. */
async function often(count: number, act: (index: number) => Promise<boolean>): Promise<number> {
  let [next, succeeded] = [0, 0];
  const worker = async (): Promise<void> => {
    while (next < count) if (await act(next++)) succeeded++;
  };
  await Promise.all(Array.from({ length: 16 }, worker));
  return succeeded;
}

/** Streams whose responses nobody refers to would be closed when memory is collected. */
const kept: Response[] = [];

/** Opens a stream that stays open until the test ends. */
async function open(who: Caller, path: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  const response = await fetch(gateway.url + path, {
    headers: { "x-api-key": gateway.keyOf(who), accept: "text/event-stream", ...headers },
    signal: leaving.signal,
  });
  kept.push(response);
  return response;
}

/** Begins a session and keeps it busy with a stream. False if there is no room for it. */
async function busySession(who: Caller): Promise<boolean> {
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "flood" } };
  const response = await fetch(`${gateway.url}/mcp`, {
    method: "POST",
    headers: {
      "x-api-key": gateway.keyOf(who),
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
    },
    body: JSON.stringify(legacy(1, "initialize", params)),
  });
  await response.text();
  const id = response.headers.get("mcp-session-id");
  return id !== null && (await open(who, "/mcp", { "mcp-session-id": id })).ok;
}

/** A client of HTTP+SSE. */
async function sseClient(who: Caller): Promise<{ ping(): Promise<boolean> }> {
  const response = await open(who, "/sse");
  expect(response.status).toBe(200);
  const events = eventsOf(response);
  const { value: endpoint } = await events.next();
  return {
    async ping() {
      const sent = await gateway.ask(who, "POST", endpoint?.data ?? "", legacy(1, "ping"));
      return sent.status === 202 && (await events.next()).value?.data === '{"jsonrpc":"2.0","id":1,"result":{}}';
    },
  };
}

const named = async (client: LegacyClient): Promise<readonly string[]> =>
  (await client.tools()).map(({ name }) => name);

describe("a key without rights that takes all it can get", () => {
  it("ends no session of others, and does not keep them from new ones", async () => {
    const idle = await legacyClient(as("guest-a"));
    expect(await named(idle)).toContain("desk-book");
    const opened = await often(SESSIONS + 20, () => busySession("guest"));
    expect(await named(idle)).toContain("desk-book");
    expect(opened).toBe(SESSIONS - 1);
    const another = await legacyClient(as("guest-a"));
    expect(await named(another)).toContain("desk-book");
    expect(await named(idle)).toContain("desk-book");
  });

  it("takes no stream of others, and does not keep them from new ones", async () => {
    const first = await sseClient("guest-a");
    const opened = await often(STREAMS + 20, async () => (await open("guest", "/sse")).ok);
    expect(opened).toBe(STREAMS - 1);
    const second = await sseClient("guest-a");
    for (const client of [first, second]) expect(await client.ping()).toBe(true);
  });

  it("takes no waiting call of others, and does not keep them from new ones", async () => {
    const ask = (who: Caller, id: string) => modernClient(as(who), { asks: true }).call("desk-greet", { id });
    const first = await ask("guest-a", "first");
    expect(first.result).toMatchObject({ resultType: "input_required" });
    const waiting = await often(SUSPENDED + 20, async (index) => {
      const { result } = await ask("guest", `flood ${index}`);
      return result?.["resultType"] === "input_required";
    });
    expect(waiting).toBe(SUSPENDED - 1);
    const second = await ask("guest-a", "second");
    for (const [id, asked] of [
      ["first", first],
      ["second", second],
    ] as const) {
      const client = modernClient(as("guest-a"), { asks: true });
      expect(await client.call("desk-greet", { id }, accepted(asked, { name: "Ada" }))).toMatchObject({
        said: "hello Ada",
      });
    }
  }, 240_000);
});
