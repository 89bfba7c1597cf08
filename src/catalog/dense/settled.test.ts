import { expect, it } from "vitest";
import { memoryEngine } from "../../adapters/engines/memory.ts";
import { createHashingEmbedder } from "../../testing/hashing-embedder.ts";
import { createManualClock } from "../../testing/manual-clock.ts";
import { defineTool } from "../../tool/define-tool.ts";
import { createCatalog } from "../catalog.ts";

it("does not wait for a tier that must embed more new tools than it may, and counts them", async () => {
  const embedded: string[] = [];
  const tuned = createHashingEmbedder({ dimension: 8, onEmbed: (texts) => void embedded.push(...texts) });
  const catalog = createCatalog({
    engine: memoryEngine(),
    tiers: [
      { name: "static", embedder: createHashingEmbedder() },
      {
        name: "tuned",
        embedder: {
          ...tuned,
          recall: async (texts) =>
            texts.map((text) => (text.startsWith("ada") ? new Float32Array(8).fill(0.5) : undefined)),
        },
      },
    ],
    clock: createManualClock(),
    emit: () => {},
  });
  await catalog.open();
  const names = ["ada", "bob", "eve"];
  await catalog.upsert(
    names.map((name) => defineTool({ name, description: "Sends mail to people.", parameters: {}, createdAt: 0 })),
  );
  expect(await catalog.settled({ embedAtMost: 1 })).toEqual({ pending: 2 });
  expect([embedded, catalog.tier]).toEqual([[], "static"]);
  expect(await catalog.settled({ embedAtMost: 2 })).toEqual({ pending: 0 });
  expect([embedded.map((text) => text.slice(0, 3)), catalog.tier]).toEqual([["bob", "eve"], "tuned"]);
  expect(await catalog.settled()).toEqual({ pending: 0 });
  await catalog.close();
});

it("resolves if the catalog is closed meanwhile, or the engine fails", async () => {
  const engine = memoryEngine();
  let fails = false;
  const catalog = createCatalog({
    engine: { ...engine, get: (ids) => (fails ? Promise.reject(new Error("away")) : engine.get(ids)) },
    tiers: [
      { name: "static", embedder: createHashingEmbedder() },
      { name: "tuned", embedder: { ...createHashingEmbedder({ dimension: 8 }), recall: async () => [] } },
    ],
    clock: createManualClock(),
    emit: () => {},
  });
  await catalog.open();
  await catalog.upsert([defineTool({ name: "ada", description: "Sends mail.", parameters: {}, createdAt: 0 })]);
  fails = true;
  expect(await catalog.settled({ embedAtMost: 1 })).toEqual({ pending: 1 });
  fails = false;
  const settled = catalog.settled({ embedAtMost: 1 });
  await catalog.close();
  expect(await settled).toEqual({ pending: 1 });
});

it("reports how many tools are pending, from the first to none", async () => {
  const catalog = createCatalog({
    engine: memoryEngine(),
    tiers: [
      { name: "static", embedder: createHashingEmbedder() },
      { name: "tuned", embedder: createHashingEmbedder({ dimension: 8 }) },
    ],
    clock: createManualClock(),
    emit: () => {},
  });
  await catalog.open();
  await catalog.upsert(
    ["ada", "bob"].map((name) => defineTool({ name, description: "Sends mail.", parameters: {}, createdAt: 0 })),
  );
  const reported: number[] = [];
  await catalog.settled({ onProgress: (pending) => reported.push(pending) });
  expect([reported.at(0), reported.at(-1)]).toEqual([2, 0]);
  await catalog.close();
});
