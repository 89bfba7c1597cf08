/**
 * Compares the kernel with onnxruntime on the same int8 weights: `node scripts/compare-onnxruntime.ts WEIGHTS.bin TEXTS…`.
 *
 * TEXTS are JSONL files; a line's `query`, `text`, or `name` and `description` is one text. Of up to 1,200 of them, evenly taken, the first
 * 200 are also queries over the others. Exit 1 if a cosine is below 0.999 or a top ten differs by scores of 0.001 or more.
 * `--onnx FILE` compares with a given model of the same vocabulary instead (and then `--activations text` rounds as onnxruntime's int8 graphs do);
 * `--onnxruntime FOLDER` is the folder of onnxruntime-node if it is not installed here.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { parseArgs } from "node:util";
import { createEncoder } from "../src/adapters/embedders/kernel/encoder.ts";
import { readWeights } from "../src/adapters/embedders/kernel/weights.ts";
import { createWordPiece } from "../src/adapters/embedders/wordpiece/wordpiece.ts";
import { toOnnx } from "./onnx-encoder.ts";

interface Session {
  readonly inputNames: readonly string[];
  run(inputs: Record<string, object>): Promise<Record<string, { readonly data: Float32Array } | undefined>>;
}

interface OnnxRuntime {
  readonly Tensor: new (type: "int64", data: BigInt64Array, shape: readonly number[]) => object;
  readonly InferenceSession: { create(model: Uint8Array | string, options: object): Promise<Session> };
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { onnx: { type: "string" }, onnxruntime: { type: "string" }, activations: { type: "string" } },
});
const [weightsFile, ...textFiles] = positionals;
if (weightsFile === undefined || textFiles.length === 0) {
  console.error(
    "Usage: node scripts/compare-onnxruntime.ts WEIGHTS.bin TEXTS.jsonl… [--onnx FILE] [--activations row|text]",
  );
  process.exit(2);
}

const QUERIES = 200;
const weights = readFileSync(weightsFile);
const vocabulary = new URL("../src/adapters/embedders/wordpiece/vocabulary.txt", import.meta.url);
const wordPiece = createWordPiece(readFileSync(vocabulary, "utf8"));
const lines = textFiles.flatMap((file) => readFileSync(file, "utf8").split("\n")).filter((line) => line !== "");
const step = Math.max(1, lines.length / 1200);
const texts = Array.from({ length: Math.min(1200, lines.length) }, (_, i) => lines[Math.floor(i * step)] ?? "")
  .map((line) => JSON.parse(line) as Record<string, unknown>)
  .map((line) => String(line["query"] ?? line["text"] ?? `${String(line["name"])}: ${String(line["description"])}`))
  .map((text) => wordPiece.encode(text, { maxTokens: 192 }));

const activations = values.activations === "text" ? "text" : "row";
const ours = createEncoder({ weights, activations }).encode(texts);
const theirs = await runOnnx(texts);

const cosines = ours.map((vector, i) => dot(vector, theirs[i])).sort((a, b) => a - b);
const below = cosines.filter((cosine) => cosine < 0.999).length;
console.log(
  `${cosines.length} texts: cosine ${show(cosines[0])} at least, median ${show(cosines[cosines.length >> 1])}, ${below} below 0.999`,
);

let equal = 0;
let apart = 0;
let widest = 0;
for (let query = 0; query < QUERIES; query++) {
  const ranked = (vectors: readonly Float32Array[]) => {
    const scores = vectors.slice(QUERIES).map((vector) => dot(vector, vectors[query]));
    return { scores, top: [...scores.keys()].sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0)).slice(0, 10) };
  };
  const mine = ranked(ours);
  const reference = ranked(theirs);
  const gaps = mine.top.map((row, i) =>
    Math.abs((reference.scores[row] ?? 0) - (reference.scores[reference.top[i] ?? 0] ?? 0)),
  );
  if (mine.top.join() === reference.top.join()) equal++;
  widest = Math.max(widest, ...gaps);
  if (gaps.some((gap) => gap >= 0.001)) apart++;
}
console.log(
  `${QUERIES} queries: top ten equal for ${equal}, different by scores of 0.001 or more for ${apart}, widest ${widest.toExponential(1)}`,
);
process.exit(below > 0 || apart > 0 ? 1 : 0);

async function runOnnx(batch: readonly Int32Array[]): Promise<Float32Array[]> {
  const runtime = createRequire(import.meta.url)(values.onnxruntime ?? "onnxruntime-node") as OnnxRuntime;
  const session = await runtime.InferenceSession.create(values.onnx ?? toOnnx(readWeights(weights)), {
    intraOpNumThreads: 1,
  });
  const vectors: Float32Array[] = [];
  for (const text of batch) {
    const tensor = (data: BigInt64Array) => new runtime.Tensor("int64", data, [1, text.length]);
    const inputs: Record<string, object> = { input_ids: tensor(BigInt64Array.from(text, BigInt)) };
    if (session.inputNames.includes("attention_mask")) {
      inputs["attention_mask"] = tensor(new BigInt64Array(text.length).fill(1n));
    }
    const output = await session.run(inputs);
    vectors.push(Float32Array.from(output["sentence_embedding"]?.data ?? []));
  }
  return vectors;
}

function dot(a: Float32Array, b: Float32Array | undefined): number {
  return a.reduce((total, x, i) => total + x * (b?.[i] ?? 0), 0);
}

function show(cosine: number | undefined): string {
  return (cosine ?? Number.NaN).toFixed(7);
}
