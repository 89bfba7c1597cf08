import { type Sample, FOLDS } from "./samples.ts";
import { type ReadSample, scoreOf, train } from "./train.ts";

/** A sample and its score by a model that was trained without its family. */
export interface ScoredSample {
  readonly sample: Sample;
  readonly score: number;
}

/** Families with fewer texts are not representative. */
const FEWEST = 15;

/** Scores each sample with a model that has not seen its family. Texts that are never trained on use the first model. */
export function scoreByFolds(samples: readonly ReadSample[], hosts: ReadonlySet<string>): readonly ScoredSample[] {
  return Array.from({ length: FOLDS }, (_, fold) => {
    const model = train(samples.filter(({ sample }) => sample.fold !== undefined && sample.fold !== fold), hosts);
    return samples
      .filter(({ sample }) => (sample.fold ?? 0) === fold)
      .map((read) => ({ sample: read.sample, score: scoreOf(read, model) }));
  }).flat();
}

/** Scores attacks with a model that has seen no attack of their writer, and harmless texts with one that has not seen their family. */
export function scoreByWriter(samples: readonly ReadSample[], hosts: ReadonlySet<string>, writer: (set: string) => boolean): readonly ScoredSample[] {
  const isHeldOut = ({ sample }: ReadSample): boolean =>
    sample.malicious ? writer(sample.set) : sample.fold === undefined || sample.fold === 0;
  const model = train(samples.filter((read) => read.sample.fold !== undefined && !isHeldOut(read)), hosts);
  return samples.filter(isHeldOut).map((read) => ({ sample: read.sample, score: scoreOf(read, model) }));
}

const familyOf = ({ set, family }: Sample): string => `${set}, ${family}`;

/** The harmless texts of a place by family. Phrasings are left out: they deliberately share their words with the attacks, as no real text does. */
function harmlessFamilies(scored: readonly ScoredSample[], place: Sample["place"]): readonly (readonly ScoredSample[])[] {
  const texts = scored.filter(({ sample }) => !sample.malicious && sample.place === place && sample.set !== "phrasings");
  return [...Map.groupBy(texts, ({ sample }) => familyOf(sample)).values()].filter(({ length }) => length >= FEWEST);
}

/** Returns the least score at which the mean share of false alarms, over equally weighted families, is at most `share`. */
export function thresholdFor(scored: readonly ScoredSample[], place: Sample["place"], share: number): number {
  const families = harmlessFamilies(scored, place);
  const falling = families
    .flatMap((family) => family.map(({ score }) => ({ score, part: 1 / family.length / families.length })))
    .toSorted((one, other) => other.score - one.score);
  let sum = 0;
  for (const { score, part } of falling) {
    sum += part;
    if (sum > share) return score + 1e-4;
  }
  return falling.at(-1)?.score ?? 0;
}

export interface FalseAlarms {
  readonly family: string;
  readonly texts: number;
  readonly flagged: number;
}

/** False alarms of each family at a threshold that was set without its whole set. */
export function falseAlarms(scored: readonly ScoredSample[], place: Sample["place"], share: number): readonly FalseAlarms[] {
  return harmlessFamilies(scored, place).map((family) => {
    const { sample } = family[0] as ScoredSample;
    const isBenchmark = sample.set.endsWith("of benchmarks");
    const others = scored.filter((other) => (isBenchmark ? familyOf(other.sample) !== familyOf(sample) : other.sample.set !== sample.set));
    const threshold = thresholdFor(others, place, share);
    return { family: familyOf(sample), texts: family.length, flagged: family.filter(({ score }) => score >= threshold).length };
  });
}

/** Attacks found at thresholds set on harmless texts alone, by set. */
export function found(scored: readonly ScoredSample[], share: number): ReadonlyMap<string, { readonly texts: number; readonly found: number }> {
  const thresholds = { definition: thresholdFor(scored, "definition", share), result: thresholdFor(scored, "result", share) };
  const attacks = Map.groupBy(scored.filter(({ sample }) => sample.malicious), ({ sample }) => sample.set);
  return new Map(
    [...attacks].map(([set, texts]) => [
      set,
      { texts: texts.length, found: texts.filter(({ sample, score }) => score >= thresholds[sample.place]).length },
    ]),
  );
}
