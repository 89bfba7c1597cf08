/**
 * The quality of retrieval: `node bench/retrieval.ts [--shared FOLDER] [--reference FOLDER]`.
 *
 * Runs word search, the static and the tuned tier over labelled sets, and reference weights beside them if a folder has them
 * (`minilm-tools-ft2.int8.onnx`, `static256.i8`, `static256.scale.f32`, `tokenizer.json`). All are ranked by the same formula in the same run. Prints NDCG@10,
 * R@1 and R@5 a set in percent, their macro average, and the difference of each tier to its reference with the interval that holds 95 % of
 * paired resamples. `--only static` leaves the slow tier out.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { convertOnnxWeights } from "../scripts/convert-onnx-weights.ts";
import { createEncoder } from "../src/adapters/embedders/kernel/encoder.ts";
import { createStaticTable, sixBitRows } from "../src/adapters/embedders/static.ts";
import { createWordPiece } from "../src/adapters/embedders/wordpiece/wordpiece.ts";
import { calibrateCosine, STATIC_MODEL, TUNED_MODEL, type MeasuredModel } from "../src/retrieve/fuse/calibrate.ts";
import { int8Rows, keptTokens, pickRows } from "../models/kept-tokens.ts";
import { figuresOf } from "../src/eval/metrics.ts";
import { createPool, type BenchModel } from "./retrieval-pool.ts";
import { readSets, type LabelledSet } from "./retrieval-sets.ts";

const { values } = parseArgs({
  options: { shared: { type: "string" }, reference: { type: "string" }, only: { type: "string" } },
});
const shared = values.shared ?? fileURLToPath(new URL("../../shared", import.meta.url));
if (!existsSync(join(shared, "eval"))) {
  console.log(
    `There are no labelled sets: ${join(shared, "eval")} does not exist. Give their folder with --shared FOLDER.`,
  );
  process.exit(0);
}

/** The figures of one system for one request, in percent. */
type Figures = readonly [ndcg10: number, recall1: number, recall5: number];

const LIMITS = { query: 256, tool: 192 };
const vocabulary = readFileSync(new URL("../src/adapters/embedders/wordpiece/vocabulary.txt", import.meta.url), "utf8");
const wordPiece = createWordPiece(vocabulary);
const weights = fileURLToPath(new URL("../models/weights", import.meta.url));

const reference = values.reference;
const referenceStatic = reference === undefined ? undefined : join(reference, "static256");
const referenceOnnx = reference === undefined ? undefined : join(reference, "minilm-tools-ft2.int8.onnx");
const withTuned = values.only !== "static";
const models: readonly BenchModel[] = [
  staticModel("static", join(weights, "static")),
  ...(referenceStatic !== undefined && existsSync(`${referenceStatic}.i8`)
    ? [staticModel("reference static", referenceStatic, keptTokens(reference ?? ""))]
    : []),
  ...(withTuned ? [tunedModel("tuned", readFileSync(join(weights, "tuned.bin")))] : []),
  ...(withTuned && referenceOnnx !== undefined && existsSync(referenceOnnx)
    ? [
        tunedModel(
          "reference tuned",
          convertOnnxWeights(readFileSync(referenceOnnx), "reference", keptTokens(reference ?? "")),
        ),
      ]
    : []),
];

const sets = readSets(shared);
const results = new Map<string, readonly (readonly Figures[])[]>();
const width = Math.max(...sets.map(({ name }) => name.length)) + 2;
console.log(
  `NDCG@10 / R@1 / R@5\n${"".padEnd(18)}${sets.map(({ name }) => name.padEnd(width)).join("")}macro of ${sets.filter(({ counts }) => counts).length}`,
);
for (const [name, model] of [["words", undefined] as const, ...models.map((one) => [one.name, one] as const)]) {
  const measured = sets.map((set) => measure(set, model));
  results.set(name, measured);
  const cells = measured.map((figures) => show(mean(figures)).padEnd(width));
  console.log(`${name.padEnd(18)}${cells.join("")}${show(mean(counted(measured).map(mean)))}`);
}
for (const tier of ["static", "tuned"]) {
  const own = results.get(tier);
  const theirs = results.get(`reference ${tier}`);
  if (own && theirs)
    console.log(`\n${tier} less reference, macro NDCG@10: ${difference(counted(own), counted(theirs))}`);
}

function measure({ tools, requests }: LabelledSet, model: BenchModel | undefined): readonly Figures[] {
  const pool = createPool(tools, model);
  return requests.map((request) => {
    const ranking = pool.rank(request).filter((id) => request.relevant.has(id) || !request.alsoOk.has(id));
    const { "ndcg@10": ndcg10, "recall@1": recall1, "recall@5": recall5 } = figuresOf(ranking, request.relevant);
    return [100 * ndcg10, 100 * recall1, 100 * recall5];
  });
}

function counted<Value>(perSet: readonly Value[]): readonly Value[] {
  return perSet.filter((_, index) => sets[index]?.counts);
}

/** Requests are resampled within each set, and the sets' means averaged, so that a large set does not dominate. */
function difference(own: readonly (readonly Figures[])[], theirs: readonly (readonly Figures[])[]): string {
  const deltas = own.map((set, index) => set.map(([ndcg], at) => ndcg - (theirs[index]?.[at]?.[0] ?? 0)));
  const random = generator(20_240_501);
  const drawn = Array.from({ length: 5000 }, () =>
    average(deltas.map((set) => average(set.map(() => set[Math.floor(random() * set.length)] ?? 0)))),
  ).sort((a, b) => a - b);
  const point = average(deltas.map(average));
  return `${signed(point)} (95 % of resamples: ${signed(drawn[125] ?? 0)} to ${signed(drawn[4874] ?? 0)})`;
}

function mean(figures: readonly Figures[]): Figures {
  const of = (which: 0 | 1 | 2): number => average(figures.map((figure) => figure[which]));
  return [of(0), of(1), of(2)];
}

function average(numbers: readonly number[]): number {
  return numbers.reduce((total, value) => total + value, 0) / Math.max(numbers.length, 1);
}

function show(figures: Figures): string {
  return figures.map((figure) => figure.toFixed(1)).join(" / ");
}

function signed(value: number): string {
  return `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(2)}`;
}

function readingOf({ worthShowing, share }: MeasuredModel): Pick<BenchModel, "calibrate" | "share"> {
  return { calibrate: calibrateCosine(worthShowing), share };
}

/** Reads the shipped table of 6 bits, or the rows of some tokens of a table of 8 bits. */
function staticModel(name: string, path: string, tokens?: readonly number[]): BenchModel {
  const scales = new Float32Array(Uint8Array.from(readFileSync(`${path}.scale.f32`)).buffer);
  const file = readFileSync(tokens ? `${path}.i8` : `${path}.i6`);
  const table = createStaticTable({
    rowOf: tokens
      ? int8Rows(pickRows(new Int8Array(file.buffer, file.byteOffset, file.length), 256, tokens), 256)
      : sixBitRows(file, { rows: scales.length, dimension: 256 }),
    scales: tokens ? pickRows(scales, 1, tokens) : scales,
    dimension: 256,
    ignore: wordPiece.special,
  });
  return {
    name,
    ...readingOf(STATIC_MODEL),
    embed: (texts, kind) => texts.map((text) => table.embed(wordPiece.encode(text, { maxTokens: LIMITS[kind] }))),
  };
}

function tunedModel(name: string, file: Uint8Array): BenchModel {
  const encoder = createEncoder({ weights: file });
  /** Two sets have the same tools. */
  const known = new Map<string, Float32Array>();
  return {
    name,
    ...readingOf(TUNED_MODEL),
    embed(texts, kind, passagesFrom = texts.length) {
      if (passagesFrom < texts.length) {
        const tokens = texts.map((text) => wordPiece.encode(text, { maxTokens: LIMITS[kind] }));
        return encoder.encode(tokens, { passagesFrom });
      }
      const key = (text: string): string => `${kind} ${text}`;
      const fresh = [...new Set(texts)].filter((text) => !known.has(key(text)));
      const encoded = fresh
        .map((text) => ({ text, tokens: wordPiece.encode(text, { maxTokens: LIMITS[kind] }) }))
        .sort((a, b) => a.tokens.length - b.tokens.length);
      for (let start = 0; start < encoded.length; start += 32) {
        const part = encoded.slice(start, start + 32);
        const vectors = encoder.encode(part.map(({ tokens }) => tokens));
        part.forEach(({ text }, at) => known.set(key(text), vectors[at] ?? new Float32Array()));
      }
      return texts.map((text) => known.get(key(text)) ?? new Float32Array());
    },
  };
}

/** Deterministic numbers in [0, 1) (mulberry32). */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
