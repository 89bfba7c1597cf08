/**
 * Measures "nothing fits" on the held-out servers: `node bench/nothing-fits.ts --shared ../shared [--tier lexical,static,tuned]`.
 *
 * The 684 tools and the requests they serve are read from the shared folder, the 432 requests that nothing there serves from models/data.
 * Every request goes through the product: index, rank, judge. AUC is the chance that a request that can be served gets the higher number;
 * the top score (the calibrated cosine of the best tool, or its word coverage) stands beside the confidence as the baseline. Intervals are
 * 95 %, by paired bootstrap over requests.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { internalsOf, ToolArsenal } from "../src/arsenal.ts";
import { setSource } from "../src/eval/set-source.ts";
import type { SourceDraft } from "../src/tool/draft.ts";
import { createRandom } from "../src/eval/random.ts";

interface HeldOutRequest {
  readonly style: string;
  readonly query: string;
  readonly relevant: readonly string[];
  readonly also_ok?: readonly string[];
}
interface RequestOutcome {
  readonly style: string;
  readonly score: number;
  readonly confidence: number;
  readonly refused: boolean;
  /** Whether the best tool is the right one. */
  readonly right: boolean;
  readonly ms: number;
}

const ROUNDS = 1000;
const { values: options } = parseArgs({
  options: {
    shared: { type: "string", default: "../shared" },
    tier: { type: "string", default: "lexical,static,tuned" },
  },
});
const set = join(options.shared, "eval/toucan-paraphrase");
if (!existsSync(set)) {
  console.error(`${set} is not there: give the folder that has eval/ and models/ with --shared FOLDER.`);
  process.exit(2);
}
const held = new Set(
  readFileSync(join(options.shared, "models/heldout-servers.txt"), "utf8").split("\n").filter(Boolean),
);
const tools = lines<SourceDraft & { readonly id: string }>(join(set, "tools.jsonl")).filter(({ namespace }) =>
  held.has(namespace ?? ""),
);
const known = new Set(tools.map(({ id }) => id));
const possible = lines<HeldOutRequest>(join(set, "queries.jsonl"))
  .filter(({ relevant }) => relevant.length > 0 && relevant.every((id) => known.has(id)))
  .map((asked) => ({ ...asked, style: "possible" }));
const impossible = lines<HeldOutRequest>(join(import.meta.dirname, "../models/data/heldout-impossible.jsonl"));

for (const tier of options.tier.split(",")) {
  const judged = await judgeAll(tier as "lexical" | "static" | "tuned");
  const served = judged.filter(({ style }) => style === "possible");
  console.log(
    `\n${tier}: ${tools.length} tools, ${served.length} possible requests, ${judged.length - served.length} impossible ones`,
  );
  for (const style of ["near-miss", "absent"]) {
    const unserved = judged.filter((one) => one.style === style);
    const [score, confidence, gain] = compare(served, unserved);
    console.log(
      `  ${style.padEnd(10)}AUC of the top score ${score}, of the confidence ${confidence}, difference ${gain}`,
    );
  }
  const share = (group: readonly RequestOutcome[]): string =>
    `${((100 * group.filter(({ refused }) => refused).length) / group.length).toFixed(1)} %`;
  const of = (style: string): readonly RequestOutcome[] => judged.filter((one) => one.style === style);
  console.log(
    `  default threshold: refused ${share(judged.filter(({ style }) => style !== "possible"))} (near misses ${share(of("near-miss"))}, absent ${share(of("absent"))}), ` +
      `falsely ${share(served)} (${share(served.filter(({ right }) => right))} of those whose best tool is the right one)`,
  );
  const cut =
    served.map(({ confidence }) => confidence).toSorted((a, b) => a - b)[Math.floor(0.05 * served.length)] ?? 0;
  const below = (style: string): string =>
    `${((100 * of(style).filter(({ confidence }) => confidence < cut).length) / of(style).length).toFixed(1)} %`;
  console.log(
    `  at 5 % false refusals (confidence ${cut.toFixed(3)}): near misses ${below("near-miss")}, absent ${below("absent")}`,
  );
  for (const [low, high] of [
    [0, 0.2],
    [0.2, 0.4],
    [0.4, 0.6],
    [0.6, 0.8],
    [0.8, 1.01],
  ] as const) {
    const within = judged.filter(({ confidence }) => confidence >= low && confidence < high);
    const possibleShare = weightOf(within, served.length, judged.length - served.length);
    console.log(
      `  confidence ${low.toFixed(1)} to ${Math.min(high, 1).toFixed(1)}: ${String(within.length).padStart(4)} requests, ${(100 * possibleShare).toFixed(0)} % can be served (at even odds)`,
    );
  }
  const times = judged.map(({ ms }) => ms).toSorted((a, b) => a - b);
  console.log(`  retrieval with the judgement: median ${times[times.length >> 1]?.toFixed(2)} ms`);
}

async function judgeAll(tier: "lexical" | "static" | "tuned"): Promise<readonly RequestOutcome[]> {
  await using arsenal = new ToolArsenal({ embedder: { tier }, telemetry: { enabled: false } });
  await arsenal.add(
    setSource(tools.map(({ id, ...draft }) => ({ id, draft: { ...draft, namespace: draft.namespace || "default" } }))),
  );
  await arsenal.sync();
  await internalsOf(arsenal).settled();
  const judged: RequestOutcome[] = [];
  for (const { style, query, relevant, also_ok: alsoOk = [] } of [...possible, ...impossible]) {
    const started = performance.now();
    const result = await arsenal.retrieve({ context: { query }, scoreThreshold: 0, limit: 5 });
    const ms = performance.now() - started;
    const best = String(result.tools[0]?.tool.sourceMeta["setId"]);
    judged.push({
      style,
      score: Math.max(0, ...result.tools.map(({ semanticScore }) => semanticScore)),
      confidence: result.confidence,
      refused: result.nothingFits,
      right: relevant.includes(best) || alsoOk.includes(best),
      ms,
    });
  }
  return judged;
}

/** AUC of the score, of the confidence and their difference, each with its interval. */
function compare(served: readonly RequestOutcome[], unserved: readonly RequestOutcome[]): readonly string[] {
  const random = createRandom(7);
  const draw = (group: readonly RequestOutcome[]): readonly RequestOutcome[] =>
    group.map(() => group[Math.floor(random() * group.length)] as RequestOutcome);
  const measure = (a: readonly RequestOutcome[], b: readonly RequestOutcome[]): readonly number[] => {
    const score = auc(
      a.map((one) => one.score),
      b.map((one) => one.score),
    );
    const confidence = auc(
      a.map((one) => one.confidence),
      b.map((one) => one.confidence),
    );
    return [score, confidence, confidence - score];
  };
  const drawn = Array.from({ length: ROUNDS }, () => measure(draw(served), draw(unserved)));
  return measure(served, unserved).map((value, at) => {
    const sorted = drawn.map((round) => round[at] ?? 0).toSorted((a, b) => a - b);
    return `${value.toFixed(3)} [${sorted[Math.floor(0.025 * ROUNDS)]?.toFixed(3)}, ${sorted[Math.floor(0.975 * ROUNDS)]?.toFixed(3)}]`;
  });
}

function auc(high: readonly number[], low: readonly number[]): number {
  const sorted = low.toSorted((a, b) => a - b);
  const below = (value: number, orEqual: boolean): number => {
    let [from, to] = [0, sorted.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      const one = sorted[middle] ?? 0;
      if (one < value || (orEqual && one === value)) from = middle + 1;
      else to = middle;
    }
    return from;
  };
  return (
    high.reduce((sum, value) => sum + (below(value, false) + below(value, true)) / 2, 0) / (high.length * low.length)
  );
}

/** The share of servable requests if both groups were equally large. */
function weightOf(group: readonly RequestOutcome[], served: number, unserved: number): number {
  const yes = group.filter(({ style }) => style === "possible").length / served;
  const no = group.filter(({ style }) => style !== "possible").length / unserved;
  return yes + no === 0 ? 0 : yes / (yes + no);
}

function lines<Row>(path: string): readonly Row[] {
  return readFileSync(path, "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Row);
}
