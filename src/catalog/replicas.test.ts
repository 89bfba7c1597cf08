import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { memoryEngine } from "../adapters/engines/memory.ts";
import { sqliteEngine } from "../adapters/engines/sqlite/sqlite.ts";
import { memoryState } from "../adapters/state/memory.ts";
import { sqliteState } from "../adapters/state/sqlite.ts";
import type { SharedState } from "../state/shared-state.ts";
import { createHashingEmbedder } from "../testing/hashing-embedder.ts";
import { createManualClock, type ManualClock } from "../testing/manual-clock.ts";
import { defineTool } from "../tool/define-tool.ts";
import type { Tool } from "../tool/tool.ts";
import { type Catalog, createCatalog } from "./catalog.ts";
import type { CatalogEngine } from "./catalog-engine.port.ts";
import type { Embedder } from "./embedder.port.ts";

let root = "";
let files = 0;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "replicas-"));
});
afterAll(() => rm(root, { recursive: true, force: true }));

const file = (): string => join(root, `${++files}.sqlite`);
const START = 1_700_000_000_000;

function tools(count: number): Tool[] {
  return Array.from({ length: count }, (_, index) =>
    defineTool({ name: `tool_${index}`, description: `Does thing ${index}.`, createdAt: 1 }),
  );
}

/** An embedder that says what it embedded, under a name of its own. */
function embedderOf(model: string): { embedder: Embedder; embedded: string[] } {
  const embedded: string[] = [];
  const hashing = createHashingEmbedder({ dimension: 16, onEmbed: (texts) => void embedded.push(...texts) });
  return { embedder: { ...hashing, model }, embedded };
}

function catalogOf(
  engine: CatalogEngine,
  embedders: readonly Embedder[],
  { clock, state }: { readonly clock: ManualClock; readonly state: SharedState },
): Catalog {
  const { changes, leases } = state;
  const tiers = embedders.map((embedder) => ({ name: embedder.model, embedder }));
  return createCatalog({ engine, tiers, emit: () => {}, clock, changes, leases });
}

describe("catalogs of processes that share an engine", () => {
  it("embed what a process left that died while it embedded, when its lease is over and not before", async () => {
    const [catalogFile, stateFile] = [file(), file()];
    const dead = sqliteState({ file: stateFile, clock: createManualClock(START) });
    const deadEngine = sqliteEngine({ file: catalogFile });
    await deadEngine.open();
    await deadEngine.put(tools(30));
    // Nothing renews it: the clock of the dead process stands still.
    expect(await dead.leases.acquire("embed:m/16", { ttlMs: 10_000 })).toBeDefined();

    const clock = createManualClock(START);
    const state = sqliteState({ file: stateFile, clock });
    const { embedder, embedded } = embedderOf("m");
    const catalog = catalogOf(sqliteEngine({ file: catalogFile }), [embedder], { clock, state });
    await catalog.open();
    await clock.advance(9_000);
    expect([catalog.size, embedded]).toEqual([30, []]);
    await clock.advance(3_000);
    expect(new Set(embedded).size).toBe(30);
    expect(embedded).toHaveLength(30);
    expect(await catalog.engine.withoutVectors("m/16", { limit: 9 })).toEqual([]);
    await catalog.close();
    await Promise.all([state.close(), dead.close(), deadEngine.close()]);
  });

  it("find the tools of a process that died before it could tell of them", async () => {
    const catalogFile = file();
    const clock = createManualClock(START);
    const state = memoryState({ clock });
    const { embedder, embedded } = embedderOf("m");
    const catalog = catalogOf(sqliteEngine({ file: catalogFile }), [embedder], { clock, state });
    const told: unknown[] = [];
    catalog.onChanges(async (changes) => void told.push(changes.changed.length));
    await catalog.open();
    const dead = sqliteEngine({ file: catalogFile });
    await dead.open();
    await dead.put(tools(20));
    await clock.advance(31_000);
    expect([catalog.size, told, embedded.length]).toEqual([20, [20], 20]);
    await catalog.close();
    await Promise.all([dead.close(), state.close()]);
  });

  it("register tools without waiting for a state that is away, and embed them when it is back", async () => {
    const clock = createManualClock(START);
    const state = memoryState({ clock });
    let away = true;
    const leases: SharedState["leases"] = {
      acquire: (name, options) => (away ? Promise.reject(new Error("away")) : state.leases.acquire(name, options)),
    };
    const { embedder, embedded } = embedderOf("m");
    const catalog = catalogOf(sqliteEngine({ file: file() }), [embedder], { clock, state: { ...state, leases } });
    expect(await catalog.upsert(tools(3))).toEqual({ indexed: 3, unchanged: 0 });
    expect(embedded).toEqual([]);
    away = false;
    await clock.advance(31_000);
    expect(embedded).toHaveLength(3);
    await catalog.close();
    await state.close();
  });

  it("retry a tool that could not be embedded without holding back the others", async () => {
    const clock = createManualClock(START);
    const state = memoryState({ clock });
    const hashing = createHashingEmbedder({ dimension: 16 });
    let broken = true;
    const embedder: Embedder = {
      ...hashing,
      model: "m",
      embed: (texts, options) =>
        broken && texts.some((text) => text.includes("thing 3."))
          ? Promise.reject(new Error("no such text"))
          : hashing.embed(texts, options),
    };
    const catalog = catalogOf(sqliteEngine({ file: file() }), [embedder], { clock, state });
    await catalog.upsert(tools(10));
    await catalog.upsert([defineTool({ name: "other", description: "Does other things.", createdAt: 1 })]);
    expect(await catalog.engine.withoutVectors("m/16", { limit: 9 })).toEqual(["default.tool_3"]);
    broken = false;
    await clock.advance(31_000);
    expect(await catalog.engine.withoutVectors("m/16", { limit: 9 })).toEqual([]);
    await catalog.close();
    await state.close();
  });

  it("poll nothing, and ask for no lease, on an engine that no other process has", async () => {
    const clock = createManualClock(START);
    const state = memoryState({ clock });
    const engine = memoryEngine();
    const asked: string[] = [];
    const watched: CatalogEngine = {
      ...engine,
      changes: (...given) => (asked.push("changes"), engine.changes(...given)),
    };
    const leases: SharedState["leases"] = {
      acquire: (name, options) => (asked.push(name), state.leases.acquire(name, options)),
    };
    const { embedder } = embedderOf("m");
    const catalog = catalogOf(watched, [embedder, embedderOf("n").embedder], { clock, state: { ...state, leases } });
    await catalog.upsert(tools(5));
    await catalog.delete(["default.tool_1"]);
    await clock.advance(600_000);
    expect(asked).toEqual(["changes"]);
    await catalog.close();
    await state.close();
  });
});

describe.each([
  ["memory", () => memoryEngine()],
  ["sqlite", () => sqliteEngine({ file: file() })],
])("a model that takes the place of another one on %s", (_, makeEngine) => {
  it("learns the tools in the background while the old one answers, also after a restart", async () => {
    const clock = createManualClock(START);
    const state = memoryState({ clock });
    const engine = { ...makeEngine() };
    const { close } = engine;
    engine.close = async () => {};
    const first = catalogOf(engine, [embedderOf("old").embedder], { clock, state });
    await first.upsert(tools(40));
    await first.close();

    const old = embedderOf("old");
    const second = catalogOf(engine, [old.embedder, embedderOf("new").embedder], { clock, state });
    await second.open();
    expect(second.tier).toBe("old");
    expect((await second.request(["thing 7"])).tiers.map(({ name }) => name)).toEqual(["old"]);
    expect(old.embedded).toEqual(["thing 7"]);
    expect(await engine.models()).toEqual(["old/16"]);
    await second.close();

    const third = embedderOf("new");
    const catalog = catalogOf(engine, [old.embedder, third.embedder], { clock, state });
    await catalog.open();
    expect(catalog.tier).toBe("old");
    await catalog.settled();
    expect([catalog.tier, third.embedded.length]).toEqual(["new", 40]);
    expect(await engine.models()).toEqual(["new/16", "old/16"]);
    await catalog.close();

    // The old one is no longer configured: its vectors go, but only after a while.
    const last = embedderOf("new");
    const alone = catalogOf(engine, [last.embedder], { clock, state });
    await alone.open();
    expect([alone.tier, last.embedded]).toEqual(["new", []]);
    await clock.advance(3_500_000);
    expect(await engine.models()).toEqual(["new/16", "old/16"]);
    await clock.advance(200_000);
    expect(await engine.models()).toEqual(["new/16"]);
    await alone.close();
    await close.call(engine);
    await state.close();
  });

  it("keeps the old vectors for as long as it does not know every tool", async () => {
    const clock = createManualClock(START);
    const state = memoryState({ clock });
    const engine = makeEngine();
    await engine.open();
    await engine.put(tools(3));
    const vectors = [Float32Array.of(1, 0)];
    await engine.putVectors(
      "old/2",
      tools(3).map(({ id, contentHash }) => ({ id, contentHash, vectors })),
    );
    const { embedder } = embedderOf("new");
    const broken: Embedder = { ...embedder, embed: () => Promise.reject(new Error("no model today")) };
    const catalog = catalogOf(engine, [broken], { clock, state });
    await catalog.open();
    await clock.advance(8_000_000);
    expect(await engine.models()).toEqual(["old/2"]);
    await catalog.close();
    await state.close();
  });

  it("is loaded after a restart though every tool has its vectors, and answers", async () => {
    const clock = createManualClock(START);
    const state = memoryState({ clock });
    const engine = makeEngine();
    const { embedder } = embedderOf("best");
    let ready = false;
    const loading: Embedder = {
      ...embedder,
      get ready() {
        return ready;
      },
      healthCheck: async () => (ready = true),
    };
    await engine.open();
    await engine.put(tools(12));
    const filler = catalogOf({ ...engine, close: async () => {} }, [embedderOf("quick").embedder, embedder], {
      clock,
      state,
    });
    await filler.settled();
    await filler.close();
    const catalog = catalogOf(engine, [embedderOf("quick").embedder, loading], { clock, state });
    await catalog.open();
    expect(catalog.tier).toBe("quick");
    await clock.advance(1_000);
    expect(catalog.tier).toBe("best");
    await catalog.close();
    await state.close();
  });
});
