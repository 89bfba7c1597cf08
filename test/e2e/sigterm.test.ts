import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { A2A_WAYS, type A2aWay, asking, outcomeOf, readEvents } from "../serve/a2a-clients.ts";
import { askAt, eventsOf } from "../serve/rest-gateway.ts";
import { startGateway } from "./gateway-process.ts";
import { httpClient } from "./no-bypass/clients.ts";
import { eventually } from "./replicas/eventually.ts";
import { startUpstream } from "./replicas/upstream.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

/** Calls a tool with an id, and resolves with the text of its result. */
type Call = (server: string, id: string) => Promise<string>;

/** A way to call tools, and a request of it that a gateway refuses while it shuts down. */
interface Way {
  readonly name: string;
  open(url: string): Promise<Call>;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Content {
  readonly content: readonly { readonly text: string }[];
}
const textIn = ({ content }: Content): string => content.map(({ text }) => text).join();

const a2aWay = (name: string): A2aWay => A2A_WAYS.find((way) => way.name === name) ?? A2A_WAYS[0];

const WAYS: readonly Way[] = [
  ...(["legacy", "modern"] as const).map((era): Way => ({
    name: `MCP, ${era} client`,
    async open(url) {
      const client = await httpClient(era, `${url}/mcp`);
      closing.push(() => client.close());
      return async (server, id) => {
        return textIn((await client.callTool({ name: `${server}-hold`, arguments: { id } })) as Content);
      };
    },
    path: "/mcp",
  })),
  {
    name: "REST",
    open: async (url) => async (server, id) => {
      const body = { toolName: `${server}.hold`, arguments: { id } };
      return textIn((await askAt(`${url}/api/v1`)("POST", "/execute", { body })).body.result);
    },
    path: "/api/v1/execute",
  },
  {
    name: "REST, streamed",
    open: async (url) => async (server, id) => {
      const body = { toolName: `${server}.hold`, arguments: { id } };
      const headers = { accept: "text/event-stream" };
      const { text } = await askAt(`${url}/api/v1`)("POST", "/execute", { body, headers });
      const results = eventsOf(text).filter(({ event }) => event === "result");
      return results.map(({ data }) => textIn((data as { readonly result: Content }).result)).join();
    },
    path: "/api/v1/execute",
    headers: { accept: "text/event-stream" },
  },
  ...(
    [
      ["JSON-RPC, 1.0", "/a2a"],
      ["HTTP+JSON, 1.0", "/a2a/v1/message:send"],
    ] as const
  ).flatMap(([binding, path]): readonly Way[] => {
    const refused = { path, headers: { "A2A-Version": "1.0" } };
    return [
      {
        name: `A2A, ${binding}`,
        async open(url) {
          const client = await a2aWay(binding).connect(url);
          return async (server, id) =>
            outcomeOf(await client.sendMessage(asking({ tool: `${server}.hold`, arguments: { id } }))).made.join();
        },
        ...refused,
      },
      {
        name: `A2A, ${binding}, streamed`,
        async open(url) {
          const client = await a2aWay(binding).connect(url);
          return async (server, id) => {
            const stream = client.sendMessageStream(asking({ tool: `${server}.hold`, arguments: { id } }));
            const events = await readEvents(stream);
            expect(events.at(-1)).toBe("completed");
            const made = events.filter((event) => event.startsWith("artifact "));
            return made.map((event) => JSON.parse(event.slice("artifact ".length)) as string).join();
          };
        },
        ...refused,
      },
    ];
  }),
];

const CALLS = 200;
const GRACE_S = 60;

describe("toolarsenal serve", () => {
  it("loses and repeats none of 200 calls in flight over MCP, REST and A2A at SIGTERM, and exits 0", async () => {
    const [old, young] = await Promise.all([startUpstream("legacy"), startUpstream("modern")]);
    closing.push(
      () => old.close(),
      () => young.close(),
    );
    const folder = mkdtempSync(join(tmpdir(), "toolarsenal-sigterm-"));
    closing.push(() => rmSync(folder, { recursive: true, force: true }));
    const audit = join(folder, "audit.jsonl");
    const gateway = await startGateway({
      servers: { old: { type: "http", url: old.url }, young: { type: "http", url: young.url } },
      settings: {
        state: { file: join(folder, "state.sqlite") },
        server: { drain_timeout_s: GRACE_S },
        audit: { file: audit },
        execution: { max_concurrent: 2 * CALLS, max_concurrent_per_ensemble: CALLS },
        security: { max_requests_per_minute: 10 * CALLS },
      },
      mode: "static",
      tier: "lexical",
    });
    closing.push(() => gateway.close());
    const { url } = gateway;
    const open = await Promise.all(WAYS.map((way) => way.open(url)));
    // Streams without an end must not hold it up.
    const endless = await Promise.all([fetch(`${url}/sse`), fetch(`${url}/api/v1/events`)]);

    const held = new Set<string>();
    for (const server of [old, young]) server.events.on("held", (id) => held.add(id));
    let answered = 0;
    const ids = Array.from({ length: CALLS }, (_, index) => `${WAYS[index % WAYS.length]?.name} ${index}`);
    const calls = ids.map(async (id, index) => {
      const server = Math.floor(index / WAYS.length) % 2 === 0 ? "old" : "young";
      const said = await open[index % WAYS.length]?.(server, id);
      answered++;
      return said;
    });
    await eventually("all calls are in flight", () => held.size === CALLS, { withinMs: 25_000 });
    const exited = gateway.close();
    await eventually("it drains", async () => (await fetch(`${url}/readyz`)).status === 503);

    for (const { name, path, headers } of WAYS) {
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: {} });
      const sent = { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers };
      const refused = await fetch(url + path, { method: "POST", headers: sent, body });
      expect([name, refused.status, Number(refused.headers.get("retry-after")) > 0]).toEqual([name, 503, true]);
      expect([name, await refused.text()]).toEqual([name, expect.stringContaining("shutting down")]);
    }
    expect(answered).toBe(0);

    for (const id of ids) for (const server of [old, young]) server.events.emit("go", id);
    expect(await Promise.all(calls)).toEqual(ids.map((id) => `held ${id}`));
    const streamed = await Promise.all(endless.map((stream) => stream.text()));
    expect(streamed).toEqual([expect.stringContaining("endpoint"), expect.stringContaining("call-started")]);
    expect(await exited).toBe(0);
    // Each surface counts its calls as work that shutting down waits for.
    expect(gateway.log()).toContain(`${CALLS} calls are still running`);

    const executed = [...old.executed, ...young.executed];
    expect(executed.toSorted()).toEqual(ids.map((id) => [id, 1] as const).toSorted());
    const records = readFileSync(audit, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ kind }) => kind === "call");
    expect(records.map(({ status }) => status)).toEqual(ids.map(() => "success"));
    const hashes = records.map((record) => (record["arguments"] as { readonly sha256: string }).sha256);
    expect(new Set(hashes).size).toBe(CALLS);
  });
});
