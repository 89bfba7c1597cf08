import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, describe, expect, it } from "vitest";
import { internalsOf, ToolArsenal } from "../../../arsenal.ts";
import type { CatalogEngine } from "../../../catalog/catalog-engine.port.ts";
import { catalogEngineContract } from "../../../testing/catalog-engine.contract.ts";
import { dice, randomTools, toolNamed } from "../../../testing/catalog-engine/fixtures.ts";
import { createHashingEmbedder } from "../../../testing/hashing-embedder.ts";
import { loadSqlite } from "../../sqlite/open-sqlite.ts";
import { memoryEngine } from "../memory.ts";
import { sqliteEngine } from "./sqlite.ts";

const root = mkdtempSync(join(tmpdir(), "arsenal-engine-"));
afterAll(() => rmSync(root, { recursive: true }));

let files = 0;
const newFile = (): string => join(root, String(++files), "catalog.sqlite");

/** Runs a program that has `sqliteEngine`, `toolNamed` and the file in a process of its own. */
async function runProgram(file: string, text: string): Promise<string> {
  const engine = new URL("sqlite.ts", import.meta.url).href;
  const fixtures = new URL("../../../testing/catalog-engine/fixtures.ts", import.meta.url).href;
  const start = `import { sqliteEngine } from ${JSON.stringify(engine)}; import { toolNamed, unit } from ${JSON.stringify(fixtures)};
    const engine = sqliteEngine({ file: ${JSON.stringify(file)} }); await engine.open();`;
  const { stdout } = await promisify(execFile)(process.execPath, [
    "--input-type=module",
    "--eval",
    `${start}\n${text}\nawait engine.close();`,
  ]);
  return stdout;
}

describe("sqliteEngine on a file, as a catalog engine", () => {
  let file = "";
  const cases = catalogEngineContract(
    () => {
      file = newFile();
      const adapter = sqliteEngine({ file });
      return { adapter, dispose: () => adapter.close() };
    },
    { another: () => sqliteEngine({ file }) },
  );
  for (const { name, run } of cases) it(name, run);
});

describe("sqliteEngine in memory, as a catalog engine", () => {
  const cases = catalogEngineContract(() => {
    const adapter = sqliteEngine({ file: ":memory:" });
    return { adapter, dispose: () => adapter.close() };
  });
  for (const { name, run } of cases) it(name, run);
});

describe("sqliteEngine", () => {
  it("loses nothing when several processes put into one new file at once", async () => {
    const file = newFile();
    const put = (name: string): string => `
      for (let n = 0; n < 30; n++) {
        const tool = toolNamed(\`${name}_\${n}\`);
        await engine.put([tool]);
        await engine.putVectors("m", [{ id: tool.id, contentHash: tool.contentHash, vectors: [unit(1, n)] }]);
      }`;
    await Promise.all(["a", "b", "c"].map((name) => runProgram(file, put(name))));
    const engine = sqliteEngine({ file });
    await engine.open();
    expect(await engine.count()).toBe(90);
    expect(await engine.withoutVectors("m", { limit: 10 })).toEqual([]);
    expect((await engine.changes(0)).revision).toBe(90);
    const { candidates } = await engine.search({
      limit: 100,
      texts: ["the tool called"],
      vectors: [{ model: "m", vector: Float32Array.of(1, 0) }],
    });
    expect(candidates).toHaveLength(90);
    await engine.close();
  });

  it("says how long filtering, words and vectors took", async () => {
    let time = 0;
    const engine = sqliteEngine({ file: ":memory:", clock: { now: () => (time += 2) } });
    await engine.open();
    const { timings } = await engine.search({ limit: 5, texts: ["the tool called"] });
    expect(timings).toEqual({ filterMs: 2, lexicalMs: 2, denseMs: 2 });
    await engine.close();
  });

  it("follows what another process changes between two searches", async () => {
    const file = newFile();
    const engine = sqliteEngine({ file });
    await engine.open();
    await engine.put([toolNamed("a"), toolNamed("b")]);
    const find = async (): Promise<readonly string[]> => {
      const { candidates } = await engine.search({ limit: 9, texts: ["the tool called"] });
      return candidates.map(({ tool }) => `${tool.id} ${tool.version}`).sort();
    };
    expect(await find()).toEqual(["default.a 1.0.0", "default.b 1.0.0"]);
    await runProgram(
      file,
      `await engine.delete(["default.a"]); await engine.put([toolNamed("b", { version: "2.0.0" }), toolNamed("c")]);`,
    );
    expect(await find()).toEqual(["default.b 2.0.0", "default.c 1.0.0"]);
    await engine.close();
  });

  it("reads everything again when more was deleted than the file remembers", async () => {
    const file = newFile();
    const [engine, other] = [sqliteEngine({ file }), sqliteEngine({ file })];
    await Promise.all([engine.open(), other.open()]);
    await engine.put([toolNamed("kept"), toolNamed("gone")]);
    const { revision } = await engine.changes(0);
    expect((await other.search({ limit: 9, texts: ["the tool called"] })).candidates).toHaveLength(2);
    await engine.delete(["default.gone"]);
    const tools = Array.from({ length: 5_100 }, (_, index) => toolNamed(`t_${index}`));
    for (let round = 0; round < 2; round++) {
      await engine.put(tools);
      await engine.delete(tools.map(({ id }) => id));
    }
    expect((await other.changes(revision)).incomplete).toBe(true);
    const { candidates, total } = await other.search({ limit: 9, texts: ["the tool called"] });
    expect([candidates.map(({ tool }) => tool.id), total]).toEqual([["default.kept"], 1]);
    await Promise.all([engine.close(), other.close()]);
  });

  it("lets only this user read the file and its side files", async () => {
    const file = newFile();
    const engine = sqliteEngine({ file });
    await engine.open();
    await engine.put([toolNamed("a")]);
    const modes = readdirSync(dirname(file)).map((name) => statSync(join(dirname(file), name)).mode & 0o777);
    expect(modes.length).toBeGreaterThan(1);
    expect(new Set(modes)).toEqual(new Set([0o600]));
    await engine.close();
  });

  it("refuses a file of another program, of a later release, or that is no database, and leaves it as it is", async () => {
    const { DatabaseSync } = loadSqlite();
    const make = (name: string, sql: string): string => {
      const file = join(root, name);
      const database = new DatabaseSync(file);
      database.exec(sql);
      database.close();
      return file;
    };
    const foreign = make("foreign.sqlite", "CREATE TABLE mine (x)");
    const later = newFile();
    const engine = sqliteEngine({ file: later });
    await engine.open();
    await engine.close();
    const database = new DatabaseSync(later);
    database.exec("PRAGMA user_version = 99");
    database.close();
    const broken = join(root, "broken.sqlite");
    writeFileSync(broken, "this is not a database, and long enough to be read as the header of one. ".repeat(100));
    for (const [file, message] of [
      [foreign, /belongs to another program\. Name another file as vector_store\.file/],
      [
        later,
        /was written by a later release \(schema 99, this release knows \d+\)\. Use that release, or another file/,
      ],
      [broken, /cannot be used: file is not a database\. Move the file away/],
    ] as const) {
      const before = readFileSync(file);
      await expect(sqliteEngine({ file }).open()).rejects.toMatchObject({
        code: "STORE_FAILED",
        message: expect.stringMatching(message),
      });
      expect(readFileSync(file).equals(before)).toBe(true);
    }
  });

  it("says what is wrong with a folder that cannot be used", async () => {
    const blocked = join(root, "a-file");
    writeFileSync(blocked, "");
    await expect(sqliteEngine({ file: join(blocked, "catalog.sqlite") }).open()).rejects.toMatchObject({
      code: "STORE_FAILED",
      details: { field: "vector_store.file", fix: expect.stringContaining("folder") },
    });
  });

  it("is healthy while another process writes", async () => {
    const file = newFile();
    const engine = sqliteEngine({ file });
    await engine.open();
    const { DatabaseSync } = loadSqlite();
    const other = new DatabaseSync(file);
    other.exec("BEGIN IMMEDIATE");
    expect(await engine.healthCheck()).toBe(true);
    other.exec("ROLLBACK");
    other.close();
    await engine.put([toolNamed("a")]);
    await engine.close();
  });

  it("must be opened first", async () => {
    await expect(sqliteEngine({ file: ":memory:" }).count()).rejects.toMatchObject({ code: "STORE_FAILED" });
  });
});

describe("an arsenal on sqliteEngine", () => {
  const drafts = Array.from({ length: 10_000 }, (_, index) => {
    const [what, where] = [index % 100, Math.floor(index / 100)];
    return { tool: { name: `act_${what}`, namespace: `service-${where}`, description: `Acts on thing ${what}.` } };
  });

  function arsenalOn(engine: CatalogEngine, embedded: string[]): ToolArsenal {
    const embedder = createHashingEmbedder({ dimension: 32, onEmbed: (texts) => embedded.push(...texts) });
    return new ToolArsenal({ telemetry: { enabled: false }, engine, embedder });
  }

  it("answers its first request after a restart at 10,000 tools without indexing, embedding or writing anything", async () => {
    const file = newFile();
    const before: string[] = [];
    const first = arsenalOn(sqliteEngine({ file }), before);
    await first.add(drafts);
    await internalsOf(first).settled();
    await first.close();
    expect(before.length).toBeGreaterThanOrEqual(10_000);
    const bytes = (): string => createHash("sha256").update(readFileSync(file)).digest("hex");
    const kept = bytes();

    const embedded: string[] = [];
    const second = arsenalOn(sqliteEngine({ file }), embedded);
    const { tools } = await second.retrieve({ context: { query: "act 42 of service-7" }, limit: 3 });
    expect(tools.map(({ tool }) => tool.id)).toContain("service-7.act_42");
    // The request itself is all that was embedded. The tools come again from their sources, and are all unchanged.
    expect(embedded).toHaveLength(1);
    await second.add(drafts);
    await internalsOf(second).settled();
    expect(embedded).toHaveLength(1);
    await second.close();
    expect(readdirSync(dirname(file))).toEqual(["catalog.sqlite"]);
    expect(bytes()).toBe(kept);
  });

  it("embeds its tools again if an embedder gives longer vectors under the same name", async () => {
    const file = newFile();
    const found: (readonly string[])[] = [];
    const embedded: string[] = [];
    for (const dimension of [16, 32]) {
      const embedder = createHashingEmbedder({ dimension, onEmbed: (texts) => embedded.push(...texts) });
      const parts = { engine: sqliteEngine({ file }), embedder: { ...embedder, model: "same" } };
      await using arsenal = new ToolArsenal({ telemetry: { enabled: false }, ...parts });
      await arsenal.add(drafts.slice(0, 5));
      await internalsOf(arsenal).settled();
      const { tools, tier } = await arsenal.retrieve({ context: { query: "act on thing 3" }, limit: 1 });
      found.push([tier, ...tools.map(({ tool }) => tool.id)]);
    }
    expect(found).toEqual([
      ["same", "service-0.act_3"],
      ["same", "service-0.act_3"],
    ]);
    expect(embedded).toHaveLength(12);
  });

  it("is what the configuration names", async () => {
    const file = newFile();
    const arsenal = new ToolArsenal({
      telemetry: { enabled: false },
      embedder: { tier: "lexical" },
      vectorStore: { type: "sqlite", file },
    });
    await arsenal.add(drafts.slice(0, 3));
    await arsenal.sync();
    await arsenal.close();
    const engine = sqliteEngine({ file });
    await engine.open();
    expect(await engine.count()).toBe(3);
    await engine.close();
  });

  it("ranks as an arsenal on memoryEngine does, with the same scores", async () => {
    const chance = dice(31);
    const tools = randomTools(300, chance);
    const engines = [sqliteEngine({ file: ":memory:" }), memoryEngine({ vectors: "float32" })];
    const [onFile, inMemory] = await Promise.all(
      engines.map(async (engine) => {
        await engine.open();
        await engine.put(tools);
        return arsenalOn(engine, []);
      }),
    );
    const ranking = async (arsenal: ToolArsenal | undefined, query: string): Promise<readonly unknown[]> => {
      const found = await arsenal?.retrieve({ context: { query }, limit: 20, refuse: "never" });
      return found?.tools.map(({ tool, score }) => [tool.id, score.toFixed(5)]) ?? [];
    };
    for (let round = 0; round < 40; round++) {
      const query = `${chance.pick(tools).description.slice(0, 60)} ${chance.pick(tools).namespace}`;
      const found = await ranking(onFile, query);
      expect(found.length).toBeGreaterThan(0);
      expect(found).toEqual(await ranking(inMemory, query));
    }
    await Promise.all([onFile?.close(), inMemory?.close()]);
  });
});
