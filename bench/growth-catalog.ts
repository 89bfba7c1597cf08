/** One size and one tier of `bench/growth.ts`, in a process of its own so that its memory is its own. Prints JSON. */
import { staticEmbedder } from "../src/adapters/embedders/static.ts";
import type { TierName } from "../src/adapters/embedders/shipped-tiers.ts";
import { internalsOf, ToolArsenal } from "../src/arsenal.ts";
import { measureRetrieval, type RetrievalFigures } from "../src/cli/benchmark/measure-retrieval.ts";
import { memoryUsed } from "../src/cli/benchmark/memory-used.ts";
import { createPlainBm25 } from "../src/cli/benchmark/plain-bm25.ts";
import { longRequests, shortRequests, syntheticTools } from "../src/cli/benchmark/synthetic-tools.ts";
import { repeatedEmbedder } from "./growth-vectors.ts";

/** The input of the process. */
export interface CatalogTask {
  readonly size: number;
  readonly tier: TierName;
  /** The file of the tuned model's vectors. */
  readonly vectors: string;
}

/** The measurements. Milliseconds and bytes. */
export interface CatalogAnswer {
  readonly size: number;
  readonly tier: TierName;
  /** Until every tool can be found: by words, and by the static tier's vectors if enabled. */
  readonly indexMs: number;
  /** Growth of heap and buffers by the catalog, and the total memory of the process. */
  readonly usedBytes: number;
  readonly residentBytes: number;
  readonly short: RetrievalFigures;
  readonly long: RetrievalFigures;
}

const ROUNDS = 3;
const SHORT = 100;
const LONG = 40;

const [given] = process.argv.slice(2);
if (given !== undefined) process.stdout.write(`${JSON.stringify(await measure(JSON.parse(given) as CatalogTask))}\n`);

async function measure({ size, tier, vectors }: CatalogTask): Promise<CatalogAnswer> {
  const drafts = syntheticTools(size);
  const before = await memoryUsed();
  await using arsenal = new ToolArsenal({
    telemetry: { enabled: false },
    embedder: { tier, cache: false },
    ...(tier === "tuned"
      ? {
          tiers: [
            { name: "static", embedder: staticEmbedder() },
            { name: "tuned", embedder: repeatedEmbedder(vectors) },
          ],
        }
      : {}),
  });
  const started = performance.now();
  await arsenal.add(drafts.map((tool) => ({ tool })));
  await arsenal.sync();
  const indexMs = performance.now() - started;
  await internalsOf(arsenal).settled({ tier });
  const usedBytes = (await memoryUsed()) - before;
  const residentBytes = process.memoryUsage.rss();
  const plain = createPlainBm25(drafts);
  const { signal } = new AbortController();
  const rounds = (requests: typeof shortRequests, count: number): readonly (readonly string[])[] =>
    Array.from({ length: ROUNDS }, (_, round) => requests(count, round * count));
  return {
    size,
    tier,
    indexMs,
    usedBytes,
    residentBytes,
    short: await measureRetrieval({ arsenal, plain, rounds: rounds(shortRequests, SHORT), signal }),
    long: await measureRetrieval({ arsenal, plain, rounds: rounds(longRequests, LONG), signal }),
  };
}
