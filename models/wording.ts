// Trains the scorer of suspicious wording: node models/wording.ts --shared SHARED [--out models/weights]
// SHARED has attacks/ (written_*.jsonl, atr_mcp_cases.jsonl), corpora/ (toucan-mcp, docker-mcp-registry, mcp-servers) and eval/.
// Prints estimates for held-out families and writers, then writes the weights.
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { falseAlarms, found, scoreByFolds, scoreByWriter, thresholdFor, type ScoredSample } from "./wording/estimate.ts";
import { allSamples } from "./wording/samples.ts";
import { hostTriples, readSample, scoreOf, train } from "./wording/train.ts";

const { values: options } = parseArgs({
  options: {
    shared: { type: "string", default: "../shared" },
    out: { type: "string", default: "models/weights" },
    /** The mean share of harmless texts that may be flagged, over families. */
    "false-alarms": { type: "string", default: "0.0075" },
  },
});
const share = Number(options["false-alarms"]);

const samples = allSamples(options.shared).map(readSample);
const hosts = hostTriples(samples);

/** Prints a share with its 95 % interval (Wilson). */
function percent(part: number, of: number): string {
  const [z, rate] = [1.96, part / of];
  const middle = (rate + z ** 2 / (2 * of)) / (1 + z ** 2 / of);
  const half = (z * Math.sqrt((rate * (1 - rate)) / of + z ** 2 / (4 * of ** 2))) / (1 + z ** 2 / of);
  const [low, high] = [100 * Math.max(0, middle - half), 100 * (middle + half)];
  return `${(100 * rate).toFixed(1)} % (${low.toFixed(1)} to ${high.toFixed(1)})`;
}

function report(title: string, scored: readonly ScoredSample[]): void {
  console.log(`\n${title}`);
  for (const place of ["definition", "result"] as const) {
    const families = falseAlarms(scored, place, share);
    const shares = families.map(({ flagged, texts }) => flagged / texts);
    const mean = shares.reduce((sum, each) => sum + each, 0) / shares.length;
    const error = Math.sqrt(shares.reduce((sum, each) => sum + (each - mean) ** 2, 0) / (shares.length - 1) / shares.length);
    const [low, high] = [mean - 1.96 * error, mean + 1.96 * error].map((bound) => (100 * Math.max(0, bound)).toFixed(2));
    console.log(`  false alarms, ${place}: ${(100 * mean).toFixed(2)} % (${low} to ${high}) over ${families.length} families`);
    for (const { family, flagged, texts } of families.toSorted((a, b) => b.flagged / b.texts - a.flagged / a.texts).slice(0, 6))
      console.log(`    ${family}: ${percent(flagged, texts)} of ${texts}`);
  }
  for (const [set, { found: part, texts }] of found(scored, share)) console.log(`  found, ${set}: ${percent(part, texts)} of ${texts}`);
}

const byFolds = scoreByFolds(samples, hosts);
report("families held out", byFolds);
report("writer of written_* held out", scoreByWriter(samples, hosts, (set) => set.startsWith("written")));
report("writer of phrasings held out", scoreByWriter(samples, hosts, (set) => set === "phrasings"));

const model = train(samples.filter(({ sample }) => sample.fold !== undefined), hosts);
// One scale for all weights; the few beyond it are clipped.
const magnitudes = model.weights.map(Math.abs).filter((value) => value > 0).toSorted();
const largest = magnitudes[Math.floor(0.999 * magnitudes.length)] ?? 1;
const scale = Math.fround(largest / 127);
const bias = Math.fround(model.bias);
const weights = Int8Array.from(model.weights, (value) => Math.max(-127, Math.min(127, Math.round(value / scale))));

const quantised = Float64Array.from(weights);
const thresholds = { definition: thresholdFor(byFolds, "definition", share), result: thresholdFor(byFolds, "result", share) };
console.log("\nshipped", { scale, bias, thresholds });
const sets = Map.groupBy(samples, ({ sample }) => `${sample.set}, ${sample.malicious ? "attacks" : "harmless"}, ${sample.fold === undefined ? "never trained on" : "trained on"}`);
for (const [name, reads] of sets) {
  const flagged = reads.filter((read) => scoreOf(read, { weights: quantised, bias }, scale) >= thresholds[read.sample.place]);
  console.log(`  ${name}: ${percent(flagged.length, reads.length)} of ${reads.length}`);
}

const header = Float32Array.of(scale, bias, thresholds.definition, thresholds.result);
const file = Buffer.concat([Buffer.from(header.buffer), Buffer.from(weights.buffer)]);
writeFileSync(join(options.out, "wording.bin"), file);
const sums = join(options.out, "SHA256SUMS");
const others = existsSync(sums) ? readFileSync(sums, "utf8").split("\n").filter((line) => line !== "" && !line.endsWith("wording.bin")) : [];
const sum = createHash("sha256").update(file).digest("hex");
writeFileSync(sums, `${[...others, `${sum}  wording.bin`].join("\n")}\n`);
