import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { postgresEngine } from "../../src/adapters/engines/postgres/postgres.ts";
import { sqliteEngine } from "../../src/adapters/engines/sqlite/sqlite.ts";
import { sqliteState } from "../../src/adapters/state/sqlite.ts";
import type { CatalogEngine } from "../../src/catalog/catalog-engine.port.ts";
import type { StateConfig, VectorStoreConfig } from "../../src/config/config.ts";
import { type ArsenalEvent, ToolArsenal } from "../../src/index.ts";
import { repeats } from "../kit/effort.ts";
import { realPostgres } from "../services/postgres.ts";
import { startRedis } from "../services/redis.ts";

let root = "";
let folders = 0;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "catalog-replicas-"));
});
afterAll(() => rm(root, { recursive: true, force: true }));

/** An arsenal on files that another one uses too. */
function replica(folder: string): { arsenal: ToolArsenal; end: () => Promise<void> } {
  const state = sqliteState({ file: `${folder}-state.sqlite` });
  const engine = sqliteEngine({ file: `${folder}-catalog.sqlite` });
  const arsenal = new ToolArsenal({ telemetry: { enabled: false }, embedder: { tier: "static" }, state, engine });
  return { arsenal, end: () => arsenal.close().then(() => state.close()) };
}

async function twoReplicas(): Promise<{ a: ToolArsenal; b: ToolArsenal; end: () => Promise<void> }> {
  const folder = join(root, String(++folders));
  const [one, other] = [replica(folder), replica(folder)];
  await Promise.all([one.arsenal.listTools(), other.arsenal.listTools()]);
  return { a: one.arsenal, b: other.arsenal, end: async () => void (await Promise.all([one.end(), other.end()])) };
}

function heard(arsenal: ToolArsenal, name: ArsenalEvent["name"]): Promise<ArsenalEvent> {
  const { promise, resolve } = Promise.withResolvers<ArsenalEvent>();
  const stop = arsenal.subscribe((event) => {
    if (event.name !== name) return;
    stop();
    resolve(event);
  });
  return promise;
}

const draft = (name: string, description = `Does ${name} for somebody.`) => ({ name, description });

describe("arsenals that share a catalog", () => {
  it("no longer call, list or count a tool that another one deleted, though both registered it", async () => {
    const { a, b, end } = await twoReplicas();
    for (const arsenal of [a, b]) {
      await arsenal.add([draft("walk"), draft("swim")].map((tool) => ({ tool, handler: () => tool.name })));
      await arsenal.sync();
    }
    expect((await b.execute({ toolName: "walk" })).result).toBe("walk");
    const deleted = heard(b, "tool-deleted");
    await a.deleteTool("walk");
    expect((await deleted).data).toEqual({ toolId: "default.walk" });
    expect((await b.execute({ toolName: "walk" })).error?.code).toBe("TOOL_NOT_FOUND");
    expect((await b.listTools()).map(({ name }) => name)).toEqual(["swim"]);
    expect([a.toolCount, b.toolCount]).toEqual([1, 1]);
    expect((await b.execute({ toolName: "swim" })).result).toBe("swim");
    // Who registers it again has it again.
    await b.addTool(draft("walk"), () => "again");
    expect((await b.execute({ toolName: "walk" })).result).toBe("again");
    await end();
  });

  it("take over a definition that another one changed, unless they have a handler for it themselves", async () => {
    const { a, b, end } = await twoReplicas();
    for (const arsenal of [a, b]) await arsenal.addTool(draft("walk", "Walks to a shop."));
    await a.sync();
    await b.sync();
    const replaced = heard(b, "tool-replaced");
    await a.addTool(draft("walk", "Walks to a museum."));
    await a.sync();
    await replaced;
    expect((await b.getTool("walk"))?.description).toBe("Walks to a museum.");
    await end();
  });

  it("each keep their own version of a tool during a rolling deployment, report the other one once, and write nothing", async () => {
    const { a, b, end } = await twoReplicas();
    const described = async (arsenal: ToolArsenal) => (await arsenal.listTools()).map(({ description }) => description);
    const conflicts: ArsenalEvent[] = [];
    for (const arsenal of [a, b])
      arsenal.subscribe((event) => void (event.name === "tool-conflicted" && conflicts.push(event)));
    for (const arsenal of [a, b]) await arsenal.addTool(draft("walk", "Walks to a shop."), () => "walked");
    await a.sync();
    await b.sync();
    const conflicted = heard(a, "tool-conflicted");
    await b.addTool({ ...draft("walk", "Walks to a museum."), version: "2.0.0" }, () => "walked far");
    await b.sync();
    expect((await conflicted).data).toMatchObject({ toolId: "default.walk", fields: "description, version" });
    expect([await described(a), await described(b)]).toEqual([["Walks to a shop."], ["Walks to a museum."]]);
    for (const [arsenal, version, result] of [
      [a, "1.0.0", "walked"],
      [b, "2.0.0", "walked far"],
    ] as const) {
      expect((await arsenal.getTool("walk"))?.version).toBe(version);
      expect((await arsenal.execute({ toolName: "walk" })).result).toBe(result);
      const { tools } = await arsenal.retrieve({ context: { query: "walk to a museum or a shop" } });
      expect(tools.map(({ tool }) => tool.version)).toEqual([version]);
    }

    // Neither writes its own over the other's: what the catalog holds is what was registered last.
    const heardNext = heard(a, "catalog-changed");
    await b.addTool(draft("swim"), () => "swum");
    await b.sync();
    await heardNext;
    expect([await a.sync(), await b.sync()]).toEqual([0, 0]);
    expect(conflicts).toHaveLength(1);

    // The old one is restarted with the new version.
    await a.addTool({ ...draft("walk", "Walks to a museum."), version: "2.0.0" }, () => "walked far");
    expect(await a.sync()).toBe(0);
    expect(await described(a)).toEqual(["Does swim for somebody.", "Walks to a museum."]);
    await end();
  });

  it("tell the MCP clients of all of them that the list changed", async () => {
    const { a, b, end } = await twoReplicas();
    const served = await b.serve({ port: 0, mode: "static" });
    const client = new Client({ name: "watcher", version: "1.0.0" });
    const { promise: changed, resolve } = Promise.withResolvers<void>();
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => resolve());
    await client.connect(new StreamableHTTPClientTransport(new URL(`${served.url}/mcp`)));
    expect((await client.listTools()).tools).toEqual([]);
    await a.addTool(draft("walk"), () => "walked");
    await a.sync();
    await changed;
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["walk"]);
    expect(b.toolCount).toBe(1);
    await client.close();
    await served.close();
    await end();
  });
});

interface Shared {
  readonly vectorStore: VectorStoreConfig;
  readonly state: StateConfig;
  readonly engine: CatalogEngine;
  close?(): Promise<void>;
}

async function onFiles(): Promise<Shared> {
  const folder = join(root, String(++folders));
  const file = `${folder}-catalog.sqlite`;
  const state: StateConfig = { type: "sqlite", file: `${folder}-state.sqlite` };
  return { vectorStore: { type: "sqlite", file }, state, engine: sqliteEngine({ file }) };
}

async function onServers(): Promise<Shared | undefined> {
  const postgres = await realPostgres({ vector: true });
  if (postgres === undefined) return undefined;
  const redis = await startRedis();
  const url = await postgres.database();
  return {
    vectorStore: { type: "postgres", url },
    state: { type: "redis", url: redis.url },
    engine: postgresEngine({ url }),
    close: async () => void (await Promise.all([postgres.remove(), redis.stop()])),
  };
}

describe.each([
  ["SQLite", onFiles],
  ["PostgreSQL and Redis", onServers],
])("two processes that register the same tools at once, on %s,", (_, open) => {
  it("store each once and embed each once", { timeout: 240_000 }, async ({ skip }) => {
    const TOOLS = repeats(2_000, 10_000);
    const shared = await open();
    // because the machine has no PostgreSQL with pgvector; realPostgres says so
    if (shared === undefined) return skip();
    const { vectorStore, state, engine } = shared;
    const config = JSON.stringify({ telemetry: { enabled: false }, vectorStore, state });
    const program = fileURLToPath(new URL("./catalog-replica.ts", import.meta.url));
    const processes = [0, 1].map(() => {
      const child = spawn(process.execPath, [program, config, String(TOOLS)], { stdio: ["pipe", "pipe", "inherit"] });
      return { child, lines: createInterface({ input: child.stdout })[Symbol.asyncIterator]() };
    });
    try {
      for (const { lines } of processes) expect((await lines.next()).value).toBe("ready");
      for (const { child } of processes) child.stdin.write("go\n");
      type Report = { readonly indexed: number; readonly embedded: readonly string[]; readonly count: number };
      const reports = await Promise.all(
        processes.map(async ({ lines }) => JSON.parse(String((await lines.next()).value)) as Report),
      );
      expect(reports.reduce((sum, { indexed }) => sum + indexed, 0)).toBe(TOOLS);
      expect(reports.map(({ count }) => count)).toEqual([TOOLS, TOOLS]);
      const embedded = reports.flatMap((report) => report.embedded);
      expect(embedded).toHaveLength(TOOLS);
      expect(new Set(embedded).size).toBe(TOOLS);
      await Promise.all(processes.map(({ child }) => child.exitCode ?? once(child, "exit")));
      await engine.open();
      const [model = ""] = await engine.models();
      expect([await engine.count(), await engine.withoutVectors(model, { limit: 9 })]).toEqual([TOOLS, []]);
    } finally {
      for (const { child } of processes) child.kill("SIGKILL");
      await engine.close();
      await shared.close?.();
    }
  });
});
