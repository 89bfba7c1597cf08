import { featuresOf, SHORTEST, type TextFeatures } from "../../src/adapters/scanners/wording/features.ts";
import { topWindow, windowsOf } from "../../src/adapters/scanners/wording/score.ts";
import { createRandom } from "../../src/eval/random.ts";
import { normaliseText } from "../../src/guard/scan/hidden/normalise-text.ts";
import { fit, type Fitted, type TrainingWindow } from "./fit.ts";
import type { Sample } from "./samples.ts";

/** A sample with the scanner's features. */
export interface ReadSample {
  readonly sample: Sample;
  readonly features: TextFeatures;
}

export function readSample(sample: Sample): ReadSample {
  return { sample, features: featuresOf(normaliseText(sample.text).text) };
}

/** The number of harmless windows for each malicious one: of ordinary descriptions, and of benchmarks. */
const ORDINARY = 4;
const OF_BENCHMARKS = 1.6;
/** The weight of an error against the size of the weights. */
const COST = 0.1;

const isOfBenchmarks = ({ sample }: ReadSample): boolean => sample.set.endsWith("of benchmarks");
const isLookalike = ({ sample }: ReadSample): boolean => ["written_hard_negatives", "phrasings"].includes(sample.set);

/** Trains on samples. `hosts` are texts that contain inserted attacks: their words are not part of an attack. */
export function train(samples: readonly ReadSample[], hosts: ReadonlySet<string>): Fitted {
  const positives = samples.filter(({ sample }) => sample.malicious).flatMap((read) => attackRows(read, hosts));
  const harmless = samples.filter(({ sample }) => !sample.malicious);
  const lookalikes = harmless.filter(isLookalike).flatMap(allRows);
  const benchmarks = harmless.filter(isOfBenchmarks).flatMap(allRows);
  const ordinary = harmless.filter((read) => !isLookalike(read) && !isOfBenchmarks(read)).flatMap(allRows);
  const rows = [
    ...positives,
    ...lookalikes,
    ...draw(benchmarks, Math.round(OF_BENCHMARKS * positives.length)),
    ...draw(ordinary, Math.round(ORDINARY * positives.length) - lookalikes.length),
  ];
  return fit(rows, COST);
}

export function scoreOf({ features }: ReadSample, { weights, bias }: Fitted, scale = 1): number {
  return topWindow(features, weights, { scale, bias })?.score ?? -Infinity;
}

/** Word triples of harmless texts that take part in training. */
export function hostTriples(samples: readonly ReadSample[]): ReadonlySet<string> {
  const triples = new Set<string>();
  for (const { sample, features } of samples)
    if (!sample.malicious && sample.fold !== undefined)
      for (const key of wordTriples(features, 0, features.offsets.length - 1)) triples.add(key);
  return triples;
}

function* wordTriples({ buckets, offsets }: TextFeatures, from: number, to: number): Generator<string> {
  for (let token = from + 2; token < to; token++)
    yield `${buckets[offsets[token - 2] ?? 0]} ${buckets[offsets[token - 1] ?? 0]} ${buckets[offsets[token] ?? 0]}`;
}

function rowOf({ sample, features }: ReadSample, from: number, to: number): TrainingWindow {
  return {
    buckets: features.buckets.subarray(features.offsets[from], features.offsets[to]),
    norm: 1 / Math.sqrt(Math.max(to - from, SHORTEST)),
    malicious: sample.malicious,
    weight: sample.weight,
  };
}

const allRows = (read: ReadSample): readonly TrainingWindow[] =>
  [...windowsOf(read.features.offsets.length - 1)].map(({ from, to }) => rowOf(read, from, to));

/** The windows that consist mostly of the attack, and not the text around it. */
function attackRows(read: ReadSample, hosts: ReadonlySet<string>): readonly TrainingWindow[] {
  return [...windowsOf(read.features.offsets.length - 1)].flatMap(({ from, to }) => {
    const keys = [...wordTriples(read.features, from, to)];
    const known = keys.filter((key) => hosts.has(key)).length;
    return keys.length > 0 && known / keys.length > 0.3 ? [] : [rowOf(read, from, to)];
  });
}

/** Chooses items at random, deterministically. */
function draw<Item>(items: readonly Item[], count: number): readonly Item[] {
  const random = createRandom(1);
  const copy = [...items];
  for (let at = copy.length - 1; at > 0; at--) {
    const other = Math.floor(random() * (at + 1));
    [copy[at], copy[other]] = [copy[other] as Item, copy[at] as Item];
  }
  return copy.slice(0, Math.max(0, count));
}
