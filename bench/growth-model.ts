/** The size of the shipped models on disk and the speed of the kernel, for `bench/growth.ts`. Prints JSON. */
import { readFileSync, statSync } from "node:fs";
import { createEncoder } from "../src/adapters/embedders/kernel/encoder.ts";
import { SHIPPED_FILES } from "../src/adapters/embedders/shipped-files.ts";

/** Bytes, milliseconds, and texts per second. */
export interface ModelAnswer {
  readonly disk: Readonly<Record<string, number>>;
  readonly twentyTokensMs: number;
  readonly textsPerSecond: number;
}

/** The output of `growth-load.mjs`: milliseconds and bytes. */
export interface LoadAnswer {
  readonly loadMs: number;
  readonly residentBytes: number;
  /** The memory of the process before loading. */
  readonly residentBefore: number;
}

process.stdout.write(`${JSON.stringify({ disk: sizes(), ...runKernel() } satisfies ModelAnswer)}\n`);

function sizes(): Readonly<Record<string, number>> {
  const folder = new URL("../src/adapters/embedders/kernel/", import.meta.url);
  const [kernel, relaxedKernel] = [new URL("kernel.wasm", folder), new URL("kernel-relaxed.wasm", folder)];
  return Object.fromEntries(
    Object.entries({ ...SHIPPED_FILES, kernel, relaxedKernel }).map(([name, file]) => [name, statSync(file).size]),
  );
}

function runKernel(): Omit<ModelAnswer, "disk"> {
  const encoder = createEncoder({ weights: readFileSync(SHIPPED_FILES.tuned) });
  const texts = Array.from({ length: 10 }, (_, seed) => textOf(100, seed));
  return {
    twentyTokensMs: bestOf(60, () => void encoder.encode([textOf(20, 1)])),
    textsPerSecond: (texts.length * 1000) / bestOf(8, () => void encoder.encode(texts)),
  };
}

function textOf(tokens: number, seed: number): Int32Array {
  return Int32Array.from({ length: tokens }, (_, at) => 2000 + ((at * 37 + seed * 101) % 9000));
}

function bestOf(rounds: number, work: () => void): number {
  let least = Infinity;
  for (let round = 0; round < rounds; round++) {
    const started = performance.now();
    work();
    least = Math.min(least, performance.now() - started);
  }
  return least;
}
