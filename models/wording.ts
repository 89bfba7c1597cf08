// Trains the scorer of suspicious wording: node models/wording.ts --shared SHARED [--out models/weights]
// SHARED has attacks/ (written_*.jsonl, atr_mcp_cases.jsonl) and corpora/ (toucan-mcp, docker-mcp-registry).
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { BUCKETS, featuresOf, SHORTEST, type TextFeatures } from "../src/adapters/scanners/wording/features.ts";
import { topWindow, windowsOf } from "../src/adapters/scanners/wording/score.ts";
import { normaliseText } from "../src/guard/scan/hidden/normalise-text.ts";
import { isRuleKept, isServerKept } from "./kept-apart.ts";
import { createRandom } from "../src/eval/random.ts";

const { values: options } = parseArgs({
  options: {
    shared: { type: "string", default: "../shared" },
    out: { type: "string", default: "models/weights" },
    "false-alarms": { type: "string", default: "0.005" },
    cost: { type: "string", default: "0.5" },
  },
});

/** Harmless windows for each malicious one. */
const NEGATIVES = 4;

interface Sample {
  readonly text: string;
  readonly malicious: boolean;
  readonly place: "definition" | "result";
  readonly split: "train" | "validation";
  readonly weight: number;
  readonly origin: string;
}

const ATTACKS = join(options.shared, "attacks");
const CORPUS_NAMES: readonly string[] = ["toucan-mcp", "docker-mcp-registry"];
const CORPORA = join(options.shared, "corpora");

function lines<Row>(path: string): readonly Row[] {
  return readFileSync(path, "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Row);
}

interface Written {
  readonly text: string;
  readonly kind: string;
  readonly label: string;
  readonly split: "train" | "validation";
}

function writtenSamples(): readonly Sample[] {
  return ["written_poisoned", "written_results", "written_hard_negatives"].flatMap((name) =>
    lines<Written>(join(ATTACKS, `${name}.jsonl`)).map(({ text, kind, label, split }) => {
      const malicious = label === "malicious";
      const isShortAndForeign = text.length < 200 && /\P{ASCII}/u.test(text);
      return {
        text,
        malicious,
        place: kind === "tool_result" ? "result" : "definition",
        split,
        weight: malicious ? 1 : isShortAndForeign ? 6 : 2,
        origin: name,
      } as const;
    }),
  );
}

/** Half of the public cases is kept for measuring, by rule: cases of one rule are alike. */
function publicSamples(): readonly Sample[] {
  return lines<{ text: string; label: string; rule: string }>(join(ATTACKS, "atr_mcp_cases.jsonl")).map(
    ({ text, label, rule }) => ({
      text,
      malicious: label === "malicious",
      place: "definition",
      split: isRuleKept(rule) ? "validation" : "train",
      weight: label === "malicious" ? 0.6 : 0.7,
      origin: "atr",
    }),
  );
}

/** Descriptions of real tools. One server in five is kept for setting the threshold. */
function corpusSamples(): readonly Sample[] {
  return CORPUS_NAMES.flatMap((name) =>
    lines<{ description?: string; namespace?: string }>(join(CORPORA, name, "tools.jsonl")).flatMap(
      ({ description = "", namespace = "" }) =>
        description.trim() === ""
          ? []
          : [
              {
                text: description,
                malicious: false,
                place: "definition",
                split: isServerKept(namespace) ? "validation" : "train",
                weight: 1,
                origin: name,
              } as const,
            ],
    ),
  );
}

interface Row {
  readonly buckets: Int32Array;
  readonly norm: number;
  readonly malicious: boolean;
  readonly weight: number;
}

interface Read {
  readonly sample: Sample;
  readonly features: TextFeatures;
}

const everything: readonly Read[] = [...writtenSamples(), ...publicSamples(), ...corpusSamples()].map((sample) => ({
  sample,
  features: featuresOf(normaliseText(sample.text).text),
}));
const train = everything.filter(({ sample }) => sample.split === "train");
const benign = train.filter(({ sample }) => !sample.malicious);

/**
 * Word triples of harmless texts, to tell an attack from the text it was put into. Descriptions that are kept for the threshold count too:
 * attacks were put into some of them, and their words would otherwise be learned as malicious.
 */
const harmless = new Set<string>();
for (const { sample, features } of everything)
  if (!sample.malicious && (sample.split === "train" || CORPUS_NAMES.includes(sample.origin)))
    for (const key of shingles(features, 0, features.offsets.length - 1)) harmless.add(key);

function* shingles({ buckets, offsets }: TextFeatures, from: number, to: number): Generator<string> {
  for (let token = from + 2; token < to; token++)
    yield `${buckets[offsets[token - 2] ?? 0]} ${buckets[offsets[token - 1] ?? 0]} ${buckets[offsets[token] ?? 0]}`;
}

function rowOf({ sample, features }: Read, from: number, to: number): Row {
  return {
    buckets: features.buckets.subarray(features.offsets[from], features.offsets[to]),
    norm: 1 / Math.sqrt(Math.max(to - from, SHORTEST)),
    malicious: sample.malicious,
    weight: sample.weight,
  };
}

const positives = train
  .filter(({ sample }) => sample.malicious)
  .flatMap((read) =>
    [...windowsOf(read.features.offsets.length - 1)].flatMap(({ from, to }) => {
      const keys = [...shingles(read.features, from, to)];
      const known = keys.filter((key) => harmless.has(key)).length;
      return keys.length > 0 && known / keys.length > 0.3 ? [] : [rowOf(read, from, to)];
    }),
  );

/** So many items, chosen at random but the same in every run. */
function draw<Item>(items: readonly Item[], count: number): readonly Item[] {
  const random = createRandom(1);
  const copy = [...items];
  for (let at = copy.length - 1; at > 0; at--) {
    const other = Math.floor(random() * (at + 1));
    [copy[at], copy[other]] = [copy[other] as Item, copy[at] as Item];
  }
  return copy.slice(0, Math.max(0, count));
}

interface Model {
  readonly weights: Float64Array;
  readonly bias: number;
}

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let index = 0; index < a.length; index++) sum += (a[index] as number) * (b[index] as number);
  return sum;
}

/** Adds `factor` times `b` to `a`, in place. */
function add(a: Float64Array, factor: number, b: Float64Array): void {
  for (let index = 0; index < a.length; index++) a[index] = (a[index] as number) + factor * (b[index] as number);
}

/** Minimises by L-BFGS with backtracking, from zero. `evaluate` returns the loss and overwrites its gradient. */
function minimise(size: number, evaluate: (at: Float64Array, gradient: Float64Array) => number): Float64Array {
  let at = new Float64Array(size);
  let gradient = new Float64Array(size);
  let loss = evaluate(at, gradient);
  const steps: { readonly moved: Float64Array; readonly turned: Float64Array; readonly rho: number }[] = [];
  for (let iteration = 0; iteration < 150; iteration++) {
    const direction = gradient.slice();
    const alphas: number[] = [];
    for (const { moved, turned, rho } of steps.toReversed()) {
      const alpha = rho * dot(moved, direction);
      alphas.push(alpha);
      add(direction, -alpha, turned);
    }
    const last = steps.at(-1);
    const shrink = last ? 1 / (last.rho * dot(last.turned, last.turned)) : 1 / Math.sqrt(dot(gradient, gradient));
    for (let index = 0; index < size; index++) direction[index] = -(direction[index] as number) * shrink;
    for (const { moved, turned, rho } of steps) add(direction, -(alphas.pop() ?? 0) - rho * dot(turned, direction), moved);
    const descent = dot(gradient, direction);
    let length = 1;
    for (;;) {
      const next = at.slice();
      add(next, length, direction);
      const nextGradient = new Float64Array(size);
      const nextLoss = evaluate(next, nextGradient);
      if (nextLoss > loss + 1e-4 * length * descent && length > 1e-10) {
        length /= 2;
        continue;
      }
      const moved = next.slice();
      add(moved, -1, at);
      const turned = nextGradient.slice();
      add(turned, -1, gradient);
      const curvature = dot(moved, turned);
      if (curvature > 1e-12) steps.push({ moved, turned, rho: 1 / curvature });
      if (steps.length > 8) steps.shift();
      const gain = (loss - nextLoss) / loss;
      [at, gradient, loss] = [next, nextGradient, nextLoss];
      if (gain < 1e-5) return at;
      break;
    }
  }
  return at;
}

/** Fits a logistic regression with L2, its features scaled by naive-Bayes log-ratios. Only buckets seen in training take part. */
function fit(rows: readonly Row[]): Model {
  const places = new Int32Array(BUCKETS).fill(-1);
  const seen: number[] = [];
  const starts = new Int32Array(rows.length + 1);
  rows.forEach(({ buckets }, index) => (starts[index + 1] = (starts[index] as number) + buckets.length));
  const columns = new Int32Array(starts[rows.length] as number);
  rows.forEach(({ buckets }, index) => {
    for (let offset = 0; offset < buckets.length; offset++) {
      const bucket = buckets[offset] as number;
      if (places[bucket] === -1) places[bucket] = seen.push(bucket) - 1;
      columns[(starts[index] as number) + offset] = places[bucket] as number;
    }
  });
  const size = seen.length;

  const ALPHA = 0.3;
  const counts = [new Float64Array(size).fill(ALPHA), new Float64Array(size).fill(ALPHA)] as const;
  const totals = [0, 0];
  rows.forEach(({ malicious, weight }, index) => {
    const side = malicious ? 1 : 0;
    for (const column of new Set(columns.subarray(starts[index], starts[index + 1])))
      counts[side][column] = (counts[side][column] as number) + weight;
    totals[side] = (totals[side] as number) + weight;
  });
  const ratio = new Float64Array(size);
  for (let column = 0; column < size; column++)
    ratio[column] =
      Math.log((counts[1][column] as number) / (totals[1] as number)) -
      Math.log((counts[0][column] as number) / (totals[0] as number));

  // The last place is the bias, which is not regularised.
  const cost = Number(options.cost);
  const scaled = new Float64Array(size);
  const solution = minimise(size + 1, (at, gradient) => {
    let loss = 0;
    for (let column = 0; column < size; column++) {
      const weight = at[column] as number;
      loss += 0.5 * weight * weight;
      scaled[column] = weight * (ratio[column] as number);
      gradient[column] = 0;
    }
    let slope = 0;
    for (let index = 0; index < rows.length; index++) {
      const { norm, malicious, weight } = rows[index] as Row;
      const [start, end] = [starts[index] as number, starts[index + 1] as number];
      let sum = 0;
      for (let offset = start; offset < end; offset++) sum += scaled[columns[offset] as number] as number;
      sum = sum * norm + (at[size] as number);
      const signed = malicious ? sum : -sum;
      loss += cost * weight * (signed > 0 ? Math.log1p(Math.exp(-signed)) : Math.log1p(Math.exp(signed)) - signed);
      const error = cost * weight * (1 / (1 + Math.exp(-sum)) - (malicious ? 1 : 0));
      slope += error;
      const step = error * norm;
      for (let offset = start; offset < end; offset++) {
        const column = columns[offset] as number;
        gradient[column] = (gradient[column] as number) + step;
      }
    }
    for (let column = 0; column < size; column++)
      gradient[column] = (gradient[column] as number) * (ratio[column] as number) + (at[column] as number);
    gradient[size] = slope;
    return loss;
  });
  const weights = new Float64Array(BUCKETS);
  for (let column = 0; column < size; column++)
    weights[seen[column] as number] = (solution[column] as number) * (ratio[column] as number);
  return { weights, bias: solution[size] as number };
}


/** All windows of texts that only look like attacks, and a draw from those of ordinary descriptions. */
const isOrdinary = ({ sample }: Read): boolean => CORPUS_NAMES.includes(sample.origin);
const allWindows = (read: Read): readonly Row[] =>
  [...windowsOf(read.features.offsets.length - 1)].map(({ from, to }) => rowOf(read, from, to));
const lookalikes = benign.filter((read) => !isOrdinary(read)).flatMap(allWindows);
const ordinary = benign.filter(isOrdinary).flatMap(allWindows);
const negatives = [...lookalikes, ...draw(ordinary, Math.round(NEGATIVES * positives.length) - lookalikes.length)];
console.log(`${positives.length} malicious windows, ${negatives.length} harmless ones`);
const model = fit([...positives, ...negatives]);

// One scale for all weights; the few beyond it are cut.
const magnitudes = model.weights.map(Math.abs).filter((value) => value > 0).toSorted();
const largest = magnitudes[Math.floor(0.999 * magnitudes.length)] ?? 1;
const scale = Math.fround(largest / 127);
const bias = Math.fround(model.bias);
const weights = Int8Array.from(model.weights, (value) => Math.max(-127, Math.min(127, Math.round(value / scale))));

const scoreOf = ({ features }: Read): number => topWindow(features, weights, { scale, bias })?.score ?? -Infinity;

/**
 * Returns the least score that is reported in a place, by harmless texts that no weight was fitted to. The share of false alarms holds for the written
 * texts and for real descriptions, each by itself.
 */
function thresholdOf(place: Sample["place"]): number {
  const kept = everything.filter(
    ({ sample: { split, malicious, origin, place: at } }) =>
      split === "validation" && !malicious && origin !== "atr" && at === place,
  );
  const groups = [kept.filter(isOrdinary), kept.filter((read) => !isOrdinary(read))].filter(({ length }) => length > 0);
  const least = groups.map((group) => {
    const scores = group.map(scoreOf).toSorted((a, b) => b - a);
    return scores[Math.floor(Number(options["false-alarms"]) * scores.length)] as number;
  });
  return Math.fround(Math.max(...least) + 1e-4);
}
const thresholds = { definition: thresholdOf("definition"), result: thresholdOf("result") };
console.log({ scale, bias, thresholds });

const groups = Map.groupBy(
  everything,
  ({ sample: { origin, malicious, split } }) =>
    `${origin.padEnd(24)}${malicious ? "malicious" : "harmless "} ${split.padEnd(10)}`,
);
for (const [name, reads] of groups) {
  const flagged = reads.filter((read) => scoreOf(read) >= thresholds[read.sample.place]).length;
  console.log(`${name} ${flagged} of ${reads.length}, ${((100 * flagged) / reads.length).toFixed(2)} %`);
}

const header = Float32Array.of(scale, bias, thresholds.definition, thresholds.result);
const file = Buffer.concat([Buffer.from(header.buffer), Buffer.from(weights.buffer)]);
writeFileSync(join(options.out, "wording.bin"), file);
const sums = join(options.out, "SHA256SUMS");
const others = existsSync(sums) ? readFileSync(sums, "utf8").split("\n").filter((line) => line !== "" && !line.endsWith("wording.bin")) : [];
const sum = createHash("sha256").update(file).digest("hex");
writeFileSync(sums, `${[...others, `${sum}  wording.bin`].join("\n")}\n`);
