// Embeds files of [{ "text", "limit" }] to unit rows of float32: NAME.json → NAME.PREFIX.f32.
//   node models/embed-texts.ts MODEL PREFIX FILE.json…
// MODEL is static:FOLDER/static (a token table), FILE.onnx (reference weights) or FILE.bin (weights of the shipped encoder).
import { readFileSync, writeFileSync } from "node:fs";
import { createEncoder } from "../src/adapters/embedders/kernel/encoder.ts";
import { readKernel } from "../src/adapters/embedders/kernel/kernel.ts";
import { createStaticTable } from "../src/adapters/embedders/static-table.ts";
import { createWordPiece } from "../src/adapters/embedders/wordpiece/wordpiece.ts";
import { convertOnnxWeights } from "../scripts/convert-onnx-weights.ts";

const [model = "", prefix = "", ...files] = process.argv.slice(2);
const BATCH = 32;
const vocabulary = new URL("../src/adapters/embedders/wordpiece/vocabulary.txt", import.meta.url);
const wordPiece = createWordPiece(readFileSync(vocabulary, "utf8"));
const { dimension, embed } = model.startsWith("static:") ? staticModel(model.slice("static:".length)) : encoderModel(model);

for (const file of files) {
  const items = JSON.parse(readFileSync(file, "utf8")) as { readonly text: string; readonly limit: number }[];
  const tokens = items.map(({ text, limit }) => wordPiece.encode(text, { maxTokens: limit }));
  // Texts of like length run together, so that little is spent on padding.
  const order = tokens.map((_, at) => at).sort((a, b) => (tokens[a]?.length ?? 0) - (tokens[b]?.length ?? 0));
  const rows = new Float32Array(items.length * dimension);
  for (let start = 0; start < order.length; start += BATCH) {
    const part = order.slice(start, start + BATCH);
    const vectors = embed(part.map((at) => tokens[at] ?? new Int32Array()));
    part.forEach((at, place) => rows.set(vectors[place] ?? [], at * dimension));
  }
  writeFileSync(file.replace(/\.json$/, `.${prefix}.f32`), rows);
  console.log(`${file}: ${items.length} texts`);
}

function staticModel(path: string) {
  const rows = readFileSync(`${path}.i8`);
  const scales = readFileSync(`${path}.scale.f32`);
  const table = createStaticTable({
    rows: new Int8Array(rows.buffer, rows.byteOffset, rows.length),
    scales: new Float32Array(scales.buffer.slice(scales.byteOffset, scales.byteOffset + scales.length)),
    dimension: 256,
    ignore: wordPiece.special,
  });
  return { dimension: 256, embed: (batch: readonly Int32Array[]) => batch.map((ids) => table.embed(ids)) };
}

function encoderModel(path: string) {
  const bytes = readFileSync(path);
  const weights = path.endsWith(".onnx") ? convertOnnxWeights(bytes, "reference") : bytes;
  const encoder = createEncoder({ wasm: readKernel(), weights });
  return { dimension: 384, embed: (batch: readonly Int32Array[]) => encoder.encode(batch) };
}
