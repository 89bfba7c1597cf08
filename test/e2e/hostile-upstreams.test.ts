import { internalsOf } from "../../src/arsenal.ts";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterEach, describe, expect, it } from "vitest";
import { ToolArsenal } from "../../src/index.ts";
import { type HostileProcess, startHostileProcess } from "./hostile-process.ts";
import { HOSTILITIES, type Hostility } from "./hostile-servers.ts";

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

const MEGABYTE = 1024 * 1024;

/** A gateway before two harmless servers and hostile ones. */
async function setUp(hostilities: readonly Hostility[] = HOSTILITIES): Promise<{
  readonly arsenal: ToolArsenal;
  readonly url: string;
  readonly rejected: string[];
  readonly servers: HostileProcess;
}> {
  const servers = await startHostileProcess(["harmless_a", "harmless_b", ...hostilities]);
  closing.push(servers.close);
  const security = { maxRequestsPerMinute: 100_000, requireConfirmation: [] };
  const arsenal = new ToolArsenal({ telemetry: { enabled: false }, security });
  closing.push(() => arsenal.close());
  const rejected: string[] = [];
  arsenal.subscribe((event) => {
    if (event.name === "tool-rejected") rejected.push(event.data.message);
  });
  for (const [name, url] of Object.entries(servers.urls)) {
    const transport = { kind: "http", url } as const;
    await arsenal.addMcpServer({ name, transport, maxTools: 200, timeoutMs: 300_000 }, { patient: true });
  }
  await internalsOf(arsenal).upstreamsAttempted();
  const gateway = await arsenal.serve({ port: 0, mode: "static", drainMs: 0 });
  closing.push(gateway.close);
  return { arsenal, url: `${gateway.url}/mcp`, rejected, servers };
}

async function connect(url: string): Promise<Client> {
  const client = new Client({ name: "caller", version: "1.0.0" }, { versionNegotiation: { mode: "auto" } });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  closing.push(() => client.close());
  return client;
}

const textOf = ({ content }: { readonly content?: unknown }): string =>
  (content as { readonly text: string }[]).map(({ text }) => text).join();

describe("harmless servers beside every kind of hostile one", () => {
  it("answer every call, and what the others may cost is bounded", async () => {
    const { arsenal, url, servers, rejected } = await setUp();
    const [victim, caller] = [await connect(url), await connect(url)];
    const left = new AbortController();
    closing.push(async () => left.abort());
    const hostile = HOSTILITIES.filter((name) => name !== "forgets_sessions");
    let progressed = 0;
    for (const name of hostile)
      for (let count = 0; count < (name === "giant_result" ? 5 : 40); count++)
        void victim
          .callTool(
            { name: name === "hundred_thousand_tools" ? `${name}-work_7` : `${name}-work`, arguments: {} },
            { signal: left.signal, timeout: 300_000, onprogress: () => void progressed++ },
          )
          .catch(() => {});

    for (let round = 0; round < 10; round++) {
      const calls = ["harmless_a", "harmless_b"].flatMap((name) =>
        Array.from({ length: 10 }, () => caller.callTool({ name: `${name}-work`, arguments: {} })),
      );
      expect((await Promise.all(calls)).map(textOf)).toEqual(Array.from({ length: 20 }, () => "done"));
    }

    const statistics = await servers.statistics();
    const asked = (name: Hostility, method: string): number => statistics[name]?.asked[method] ?? 0;
    expect(asked("endless_cursors", "tools/list")).toBeLessThanOrEqual(1000);
    expect(asked("giant_cursor", "tools/list")).toBe(1);
    // Once at first, then after 1, 2, 4 … seconds.
    expect(asked("list_changed_flood", "tools/list")).toBeLessThanOrEqual(10);
    expect(asked("forgets_sessions", "initialize")).toBeLessThanOrEqual(20);
    for (const name of ["hangs", "hangs_too"] as const) expect(asked(name, "tools/call")).toBe(32);
    // Twenty at once for each of the 32 calls that run, then ten a second.
    expect(progressed).toBeLessThan(32 * (20 + 10 * 120));
    expect(rejected.length).toBeLessThanOrEqual(20);
    expect((await arsenal.listTools({ namespace: "hundred_thousand_tools" })).length).toBe(200);
  });
});

describe("a server that", () => {
  it("lists without end keeps the tools that it listed so far, with a warning", async () => {
    const { arsenal, rejected } = await setUp(["endless_cursors"]);
    while (rejected.length === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(rejected).toEqual([expect.stringMatching(/"endless_cursors".*more than 1000 pages/)]);
    expect(await arsenal.execute({ toolName: "endless_cursors.work" })).toMatchObject({ status: "success" });
  });

  it("answers with a gigabyte fails that call at once and saves the memory", async () => {
    const { arsenal, servers } = await setUp(["giant_result"]);
    const result = await arsenal.execute({ toolName: "giant_result.work", retryCount: 5 });
    expect(result).toMatchObject({ status: "failure", attempts: 1, error: { code: "RESULT_TOO_LARGE" } });
    expect((await servers.statistics())["giant_result"]?.written).toBeLessThan(64 * MEGABYTE);
  });
});
