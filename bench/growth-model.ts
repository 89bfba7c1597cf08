/** What the tuned model itself takes, of `bench/growth.ts`: time to load, memory, disk, and the kernel's rates. Prints JSON. */
import { readFileSync, statSync } from "node:fs";
import { createEncoder } from "../src/adapters/embedders/kernel/encoder.ts";
import { readKernel } from "../src/adapters/embedders/kernel/kernel.ts";
import { SHIPPED_FILES } from "../src/adapters/embedders/shipped-files.ts";
import { tunedEmbedder } from "../src/adapters/embedders/tuned.ts";

/** What the process is told: load the model as a program does, or run its kernel alone. */
export type ModelTask = "load" | "kernel";

/** Milliseconds, bytes, and texts a second. */
export interface LoadAnswer {
  readonly loadMs: number;
  readonly residentBytes: number;
  /** What the process took before. */
  readonly residentBefore: number;
  readonly disk: Readonly<Record<string, number>>;
}

export interface KernelAnswer {
  readonly twentyTokensMs: number;
  readonly textsPerSecond: number;
}

const [task] = process.argv.slice(2);
if (task === "load") process.stdout.write(`${JSON.stringify(await load())}\n`);
if (task === "kernel") process.stdout.write(`${JSON.stringify(runKernel())}\n`);

async function load(): Promise<LoadAnswer> {
  const residentBefore = process.memoryUsage.rss();
  const started = performance.now();
  const embedder = tunedEmbedder();
  await embedder.healthCheck();
  const loadMs = performance.now() - started;
  // The longest text a tool or a request may be: the kernel's memory grows with it.
  await embedder.embed(["word ".repeat(400)], { kind: "query" });
  const residentBytes = process.memoryUsage.rss();
  await embedder.close?.();
  const kernel = new URL("../src/adapters/embedders/kernel/kernel.wasm", import.meta.url);
  const disk = Object.fromEntries(
    Object.entries({ ...SHIPPED_FILES, kernel }).map(([name, file]) => [name, statSync(file).size]),
  );
  return { loadMs, residentBytes, residentBefore, disk };
}

function runKernel(): KernelAnswer {
  const encoder = createEncoder({ wasm: readKernel(), weights: readFileSync(SHIPPED_FILES.tuned) });
  const textOf = (tokens: number, seed: number): Int32Array =>
    Int32Array.from({ length: tokens }, (_, at) => 2000 + ((at * 37 + seed * 101) % 9000));
  const best = (rounds: number, work: () => void): number => {
    let least = Infinity;
    for (let round = 0; round < rounds; round++) {
      const started = performance.now();
      work();
      least = Math.min(least, performance.now() - started);
    }
    return least;
  };
  const texts = Array.from({ length: 10 }, (_, seed) => textOf(100, seed));
  return {
    twentyTokensMs: best(60, () => void encoder.encode([textOf(20, 1)])),
    textsPerSecond: (texts.length * 1000) / best(8, () => void encoder.encode(texts)),
  };
}
