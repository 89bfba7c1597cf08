import { afterAll, describe, it } from "vitest";
import { chromaEngine } from "../../src/adapters/engines/chroma.ts";
import { catalogEngineContract } from "../../src/testing/catalog-engine.contract.ts";
import { some } from "../kit/effort.ts";
import { realChroma } from "../services/chroma.ts";

const server = await realChroma();
afterAll(() => server?.remove());

// because the server is a program of test/peers, for x64 Linux only
describe.skipIf(server === undefined)("Chroma engine on a real server", () => {
  let collections = 0;
  const engine = (): ReturnType<typeof chromaEngine> =>
    chromaEngine({ url: server?.url, collectionName: `tools_${collections}` });
  const cases = catalogEngineContract(
    () => {
      collections++;
      const adapter = engine();
      return { adapter, dispose: () => adapter.close() };
    },
    { another: engine },
  );
  // The double in src/adapters/engines/chroma.test.ts runs all of them every time.
  for (const { name, run } of some(cases, 10)) it(name, run);
});
