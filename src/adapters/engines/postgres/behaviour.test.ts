import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { pglite, type RealPostgres, realPostgres } from "../../../../test/services/postgres.ts";
import { internalsOf, ToolArsenal } from "../../../arsenal.ts";
import type { CatalogEngine, EngineAnswer } from "../../../catalog/catalog-engine.port.ts";
import { dice, idsOf, randomTools, toolNamed, unit, vectorsOf } from "../../../testing/catalog-engine/fixtures.ts";
import { createSecrets } from "../../../guard/secrets/secrets.ts";
import { createManualClock } from "../../../testing/manual-clock.ts";
import { createHashingEmbedder } from "../../../testing/hashing-embedder.ts";
import type { EmbeddedPostgres } from "../../postgres/client.ts";
import { openPostgres, type Postgres } from "../../postgres/postgres.ts";
import { memoryEngine } from "../memory.ts";
import { create, postgresEngine, type PostgresEngineOptions } from "./postgres.ts";

let embedded: EmbeddedPostgres & { close(): Promise<void> };
beforeAll(async () => (embedded = await pglite()));
const server = await realPostgres();
afterAll(async () => {
  await embedded.close();
  await server?.remove();
});

let schemas = 0;
const newSchema = (): string => `other_${++schemas}`;

async function opened(options: PostgresEngineOptions = {}): Promise<CatalogEngine> {
  const engine = postgresEngine({
    ...(options.url === undefined ? { client: embedded } : {}),
    schema: newSchema(),
    ...options,
  });
  await engine.open();
  return engine;
}

const found = ({ candidates }: EngineAnswer): readonly string[] => candidates.map(({ tool }) => tool.id).sort();

describe("postgresEngine [000-5.1-pgvector]", () => {
  it("must be opened first", async () => {
    await expect(postgresEngine({ client: embedded }).count()).rejects.toMatchObject({ code: "STORE_FAILED" });
  });

  it("refuses a schema that SQL cannot name, and to start without a database", async () => {
    await expect(postgresEngine({ client: embedded, schema: 'a"; DROP' }).open()).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      details: { field: "vector_store.schema" },
    });
    await expect(postgresEngine({}).open()).rejects.toThrow(/Set vector_store.url: postgres:\/\//);
  });

  it("refuses tables of a later release, and changes nothing", async () => {
    const schema = newSchema();
    const engine = await opened({ schema });
    await engine.put([toolNamed("a")]);
    await engine.close();
    await embedded.exec(`UPDATE ${schema}.versions SET version = 99 WHERE part = 'catalog'`);
    await expect(postgresEngine({ client: embedded, schema }).open()).rejects.toThrow(
      /catalog tables in the schema other_\d+ were written by a later release \(version 99, this release knows 1\)\. Use that release/,
    );
    expect((await embedded.query(`SELECT id FROM ${schema}.tools`)).rows).toEqual([{ id: "default.a" }]);
  });

  it("says how to get the extension if the server does not have it", async () => {
    const plain = await pglite({ vector: false });
    const failure = await postgresEngine({ client: plain })
      .open()
      .catch((error: unknown) => error);
    expect(String(failure)).toMatch(
      /needs the PostgreSQL extension vector \(pgvector\), and the server does not have it/,
    );
    expect(failure).toMatchObject({
      code: "STORE_FAILED",
      details: {
        fix: expect.stringMatching(/apt install postgresql-17-pgvector.*CREATE EXTENSION vector.*vectors: false/),
      },
    });
    const words = postgresEngine({ client: plain, vectors: false });
    await words.open();
    await words.put([toolNamed("a", { description: "Brews espresso in the kitchen." }), toolNamed("b")]);
    expect(found(await words.search({ limit: 5, texts: ["espresso"] }))).toEqual(["default.a"]);
    await expect(words.putVectors("m", [vectorsOf(toolNamed("b"))])).rejects.toThrow(
      /keeps no vectors. Set vector_store.vectors: true/,
    );
    await plain.close();
  });

  it("refuses vectors of another dimension, and says which it expects", async () => {
    const engine = await opened();
    const [a, b] = [toolNamed("a"), toolNamed("b")];
    await engine.put([a, b]);
    await engine.putVectors("m", [vectorsOf(a, unit(1, 0))]);
    await expect(engine.putVectors("m", [vectorsOf(b, unit(1, 0, 0))])).rejects.toThrow(
      /A vector of default.b has 3 dimensions, the other vectors of this model have 2\. Give each embedder a unique model name/,
    );
    expect(await engine.withoutVectors("m", { limit: 5 })).toEqual(["default.b"]);
    // Once its last vector is gone, a model may have another dimension.
    await engine.delete(["default.a"]);
    await engine.putVectors("m", [vectorsOf(b, unit(1, 0, 0))]);
    expect(await engine.withoutVectors("m", { limit: 5 })).toEqual([]);
  });

  it("finds with an HNSW index what comparing every vector finds, filtered or not", async () => {
    const schema = newSchema();
    const chance = dice(41);
    const tools = randomTools(400, chance);
    const entries = tools.map((tool) => vectorsOf(tool, chance.vector(16), ...chance.some([chance.vector(16)], 0.3)));
    const exact = await opened({ schema, exactBelow: 1_000_000 });
    await exact.put(tools);
    await exact.putVectors("m", entries);
    const clock = createManualClock();
    const indexed = await opened({ schema, exactBelow: 100, clock });
    await clock.advance(10_000);
    await indexBuilt(openPostgres({ url: "", client: embedded, what: "A test", field: "url" }), schema);
    for (let round = 0; round < 12; round++) {
      const query = {
        limit: 10,
        texts: [],
        vectors: [{ model: "m", vector: chance.vector(16) }],
        ...(round % 3 === 1 ? { filter: { deprecated: false } } : {}),
        // So few that the index alone would hardly meet them.
        ...(round % 3 === 2 ? { filter: { ids: idsOf(chance.some(tools, 0.02)) } } : {}),
      };
      const [right, answer] = await Promise.all([exact.search(query), indexed.search(query)]);
      expect(answer.candidates.length).toBe(right.candidates.length);
      const same = found(answer).filter((id) => found(right).includes(id));
      expect(same.length).toBeGreaterThanOrEqual(right.candidates.length - 1);
    }
    await Promise.all([exact.close(), indexed.close()]);
  });

  it("stays exact on words that are everywhere while a filter accepts few", async () => {
    const engine = await opened();
    const memory = memoryEngine();
    const tools = Array.from({ length: 3_000 }, (_, index) =>
      toolNamed(`act_${index}`, {
        namespace: `space-${index % 30}`,
        description: `Acts on common things number ${index}.`,
      }),
    );
    await Promise.all([engine.put(tools), memory.open().then(() => memory.put(tools))]);
    const query = { limit: 20, texts: ["act on common things"], filter: { namespaces: ["space-7"] } };
    expect(found(await engine.search(query))).toEqual(found(await memory.search(query)));
    await engine.close();
  });
});

describe("an arsenal on postgresEngine", () => {
  function arsenalOn(engine: CatalogEngine, embeddedTexts: string[] = [], dimension = 32): ToolArsenal {
    const embedder = createHashingEmbedder({ dimension, onEmbed: (texts) => embeddedTexts.push(...texts) });
    return new ToolArsenal({ telemetry: { enabled: false }, engine, embedder: { ...embedder, model: "same" } });
  }
  const drafts = Array.from({ length: 50 }, (_, index) => ({
    tool: { name: `act_${index}`, namespace: `service-${index % 7}`, description: `Acts on thing ${index}.` },
  }));

  it("embeds nothing again after a restart, and everything if the dimension changes", async () => {
    const schema = newSchema();
    const texts: string[] = [];
    const counts: number[] = [];
    for (const dimension of [16, 16, 32]) {
      await using arsenal = arsenalOn(postgresEngine({ client: embedded, schema }), texts, dimension);
      await arsenal.add(drafts);
      await internalsOf(arsenal).settled();
      const { tools } = await arsenal.retrieve({ context: { query: "act on thing 33" }, limit: 1 });
      expect(tools[0]?.tool.id).toBe("service-5.act_33");
      counts.push(texts.length);
    }
    // Each time the request is embedded too.
    expect(counts).toEqual([51, 52, 103]);
  });

  it("ranks as an arsenal on memoryEngine does", async () => {
    const chance = dice(31);
    const tools = randomTools(300, chance);
    const [onServer, inMemory] = await Promise.all(
      [postgresEngine({ client: embedded, schema: newSchema() }), memoryEngine({ vectors: "float32" })].map(
        async (engine) => {
          await engine.open();
          await engine.put(tools);
          return arsenalOn(engine);
        },
      ),
    );
    const ranking = async (arsenal: ToolArsenal | undefined, query: string): Promise<readonly string[]> => {
      const answer = await arsenal?.retrieve({ context: { query }, limit: 5, refuse: "never" });
      return answer?.tools.map(({ tool, score }) => `${tool.id} ${score.toFixed(2)}`) ?? [];
    };
    let same = 0;
    for (let round = 0; round < 30; round++) {
      const query = `${chance.pick(tools).description.slice(0, 60)} ${chance.pick(tools).namespace}`;
      const [left, right] = await Promise.all([ranking(onServer, query), ranking(inMemory, query)]);
      expect(left).toHaveLength(5);
      same += left.filter((line) => right.includes(line)).length;
    }
    // Vectors are rounded, so tools that are all but equal may change places.
    expect(same).toBeGreaterThanOrEqual(145);
    await Promise.all([onServer?.close(), inMemory?.close()]);
  });
});

// because PostgreSQL is not installed everywhere; with CI=true its absence fails.
describe.skipIf(server === undefined)("postgresEngine on a real server", () => {
  const real = server as RealPostgres;

  it("takes the password from where the configuration says, and says what to do if it is wrong", async () => {
    const database = await real.database();
    const url = database.replace(/:[0-9a-f]+@/, ":${secret:env:DATABASE_PASSWORD}@");
    const opening = async (password: string): Promise<number> => {
      const secrets = createSecrets({ environment: { DATABASE_PASSWORD: password } });
      const engine = create({ url, schema: "toolarsenal", vectors: false }, { secrets });
      await engine.open();
      return engine.count().finally(() => engine.close());
    };
    const password = /:([0-9a-f]+)@/.exec(database)?.[1] ?? "";
    expect(await opening(password)).toBe(0);
    const failure = await opening("not/the@password").catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: "STORE_FAILED", details: { field: "vector_store.url" } });
    expect(String(failure)).toMatch(/The catalog cannot use PostgreSQL at postgres@.*Check the user and the password/);
    expect(JSON.stringify(failure) + String(failure)).not.toContain("not/the@password");
  });

  it("writes each tool once if two processes put the same ones, and loses none", async () => {
    const url = await real.database();
    const engines = await Promise.all([1, 2, 3].map(() => opened({ url, schema: "shared", vectors: false })));
    const tools = Array.from({ length: 300 }, (_, index) => toolNamed(`t_${index}`));
    const batches = Array.from({ length: 6 }, (_, nth) => tools.slice(nth * 50, nth * 50 + 50));
    const puts = await Promise.all(
      engines.flatMap((engine, nth) => batches.map((_, at) => engine.put(batches[(at + nth) % 6] ?? []))),
    );
    expect(puts.flatMap(({ changed }) => changed).sort()).toEqual([...idsOf(tools)].sort());
    expect(await engines[0]?.count()).toBe(300);
    const { changed, revision } = (await engines[1]?.changes(0)) ?? { changed: [], revision: 0 };
    expect([changed.length, revision]).toEqual([300, 6]);
    for (const engine of engines) await engine.close();
  });

  it("shows changes in the order of their revisions, also to who reads while others write", async () => {
    const url = await real.database();
    const engines = await Promise.all([1, 2, 3].map(() => opened({ url, schema: "shared", vectors: false })));
    const seen = new Set<string>();
    const follow = async (since: number): Promise<number> => {
      const { revision, changed } = (await engines[2]?.changes(since)) ?? { revision: 0, changed: [] };
      for (const id of changed) seen.add(id);
      return revision;
    };
    const reader = (async () => {
      for (let revision = 0; revision < 60;) revision = await follow(revision);
    })();
    await Promise.all(Array.from({ length: 60 }, (_, index) => engines[index % 2]?.put([toolNamed(`t_${index}`)])));
    await reader;
    expect(seen.size).toBe(60);
    for (const engine of engines) await engine.close();
  });

  it("is unhealthy while the server is away, and works again by itself", async () => {
    const url = await real.database();
    const engine = await opened({ url, vectors: false });
    await engine.put([toolNamed("a")]);
    await real.kill();
    expect(await engine.healthCheck()).toBe(false);
    await expect(engine.count()).rejects.toThrow(/Check that the server is running/);
    await real.start();
    expect(await engine.healthCheck()).toBe(true);
    expect(await engine.count()).toBe(1);
    await engine.close();
  });
});

/** Waits until a model's index is built. */
async function indexBuilt(postgres: Postgres, schema: string): Promise<void> {
  for (;;) {
    const [row] = await postgres.query<{ built: boolean }>(
      `SELECT bool_and(indisvalid) AS built FROM pg_index WHERE indexrelid = to_regclass($1)`,
      [`${schema}.vectors_1_hnsw`],
    );
    if (row?.built === true) return;
    await new Promise((resolve) => setImmediate(resolve));
  }
}
