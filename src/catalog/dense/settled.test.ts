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
