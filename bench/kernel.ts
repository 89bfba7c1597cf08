/**
 * Times the embedder's kernel: `node bench/kernel.ts WEIGHTS.bin [--onnx MODEL.onnx] [--onnxruntime FOLDER]`.
 *
 * If onnxruntime-node is installed (or its folder is given) and an ONNX file of the same architecture is given, both run in turns in the same
 * process on one thread, and each of our figures has its ratio to onnxruntime's. Best of many repetitions, because other
 * load only adds time.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { parseArgs } from "node:util";
import { createEncoder } from "../src/adapters/embedders/kernel/encoder.ts";
import { createVectorRows } from "../src/adapters/embedders/kernel/vector-rows.ts";
import { createWordPiece } from "../src/adapters/embedders/wordpiece/wordpiece.ts";

interface OnnxRuntime {
  readonly Tensor: new (type: "int64", data: BigInt64Array, shape: readonly number[]) => object;
  readonly InferenceSession: {
    create(
      file: string,
      options: object,
    ): Promise<{ run(inputs: Record<string, object>): Promise<Record<string, { data: Float32Array }>> }>;
  };
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { onnx: { type: "string" }, onnxruntime: { type: "string" }, rounds: { type: "string", default: "15" } },
});
const [weightsFile] = positionals;
if (weightsFile === undefined) {
  console.error("Usage: node bench/kernel.ts WEIGHTS.bin [--onnx MODEL.onnx] [--onnxruntime FOLDER] [--rounds 15]");
  process.exit(2);
}
const rounds = Number(values.rounds);
const residentBefore = process.memoryUsage.rss();

const loadStart = performance.now();
const encoder = createEncoder({ weights: readFileSync(weightsFile) });
const loadMs = performance.now() - loadStart;
encoder.encode([textOf(256, 0)]);
const resident = process.memoryUsage.rss();
console.log(
  `load ${loadMs.toFixed(0)} ms (read, check, pack); resident ${mib(resident)} MiB, ${mib(resident - residentBefore)} of it for the encoder`,
);

const runtime = findRuntime();
const session =
  runtime && values.onnx !== undefined
    ? await runtime.InferenceSession.create(values.onnx, { intraOpNumThreads: 1, interOpNumThreads: 1 })
    : undefined;
if (session === undefined) console.log("onnxruntime-node or --onnx is missing: only our own figures follow.");

async function runOnnx(texts: readonly Int32Array[]): Promise<void> {
  if (runtime === undefined || session === undefined) return;
  for (const text of texts) {
    const shape = [1, text.length];
    const ids = new runtime.Tensor("int64", BigInt64Array.from(text, BigInt), shape);
    const mask = new runtime.Tensor("int64", new BigInt64Array(text.length).fill(1n), shape);
    await session.run({ input_ids: ids, attention_mask: mask });
  }
}

console.log("\ntext                 ours      texts/s   onnxruntime  ratio");
for (const [label, count, tokens] of [
  ["1 x 8 tokens", 1, 8],
  ["1 x 20 tokens", 1, 20],
  ["1 x 32 tokens", 1, 32],
  ["1 x 100 tokens", 1, 100],
  ["1 x 256 tokens", 1, 256],
  ["50 x 20 tokens", 50, 20],
  ["10 x 100 tokens", 10, 100],
] as const) {
  const texts = Array.from({ length: count }, (_, seed) => textOf(tokens, seed));
  let best = Infinity;
  let bestOnnx = Infinity;
  for (let round = 0; round < rounds; round++) {
    const start = performance.now();
    encoder.encode(texts);
    best = Math.min(best, performance.now() - start);
    if (session === undefined) continue;
    const onnxStart = performance.now();
    await runOnnx(texts);
    bestOnnx = Math.min(bestOnnx, performance.now() - onnxStart);
  }
  const rate = ((count * 1000) / best).toFixed(0);
  const line = `${label.padEnd(18)} ${ms(best)} ${rate.padStart(12)}`;
  console.log(session === undefined ? line : `${line}    ${ms(bestOnnx)} ${(best / bestOnnx).toFixed(2).padStart(6)}`);
}

const words =
  "Find the open pull requests of a repository and summarise what each changes, with links; naïve café 東京. ";
const wordPiece = createWordPiece(
  readFileSync(new URL("../src/adapters/embedders/wordpiece/vocabulary.txt", import.meta.url), "utf8"),
);
const long = words.repeat(1000);
const tokenizing = bestOf(() => void wordPiece.encode(long, { maxTokens: 1_000_000 }));
console.log(`\ntokenizer: ${(long.length / tokenizing / 1000).toFixed(1)} million characters a second`);

console.log(
  "\nexact search, 384 components; one query over all rows, over every tenth, and a plain loop in TypeScript over all",
);
for (const count of [1_000, 10_000, 17_000, 100_000]) {
  for (const format of ["float32", "int8"] as const) {
    const rows = createVectorRows(384, format);
    const flat = new Float32Array(count * 384);
    for (let row = 0; row < count; row++) {
      const vector = flat.subarray(row * 384, (row + 1) * 384);
      for (let i = 0; i < 384; i++) vector[i] = (((row * 31 + i * 17) % 97) - 48) / 550;
      rows.set(row, vector);
    }
    const query = flat.slice(0, 384);
    const tenth = Uint32Array.from({ length: count / 10 }, (_, i) => i * 10);
    const all = bestOf(() => void rows.scores(query, count));
    const some = bestOf(() => void rows.scores(query, tenth));
    const plain = bestOf(() => {
      for (let row = 0; row < count; row++) {
        let sum = 0;
        for (let i = 0; i < 384; i++) sum += (flat[row * 384 + i] ?? 0) * (query[i] ?? 0);
        if (sum > 2) throw new Error("unreachable");
      }
    });
    console.log(
      `${String(count).padStart(7)} ${format.padEnd(8)} ${ms(all)} ${ms(some)} ${ms(plain)}   ${(plain / all).toFixed(1)} times the plain loop`,
    );
  }
}

function findRuntime(): OnnxRuntime | undefined {
  try {
    return createRequire(import.meta.url)(values.onnxruntime ?? "onnxruntime-node") as OnnxRuntime;
  } catch {
    return undefined;
  }
}

function textOf(tokens: number, seed: number): Int32Array {
  return Int32Array.from({ length: tokens }, (_, i) => 2000 + ((i * 37 + seed * 101) % 9000));
}

function bestOf(action: () => void): number {
  let best = Infinity;
  for (let round = 0; round < rounds; round++) {
    const start = performance.now();
    action();
    best = Math.min(best, performance.now() - start);
  }
  return best;
}

function ms(value: number): string {
  return `${value.toFixed(2).padStart(8)} ms`;
}

function mib(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(0);
}
