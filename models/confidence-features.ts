// Prints one JSON line per example: the product's features of its ranking, for confidence.py to fit.
//   node models/confidence-features.ts --shared ../shared --tier lexical|static|tuned [--weights reference|shipped] > FILE.jsonl
// Catalogs are drawn from servers that are not held out, and ranked by the product's own catalog. An embedder is more confident on requests it was
// trained
// on, so requests come from data unseen by the weights: with the reference weights, toucan-paraphrase from the
// 5,500th on; with the shipped weights, only those in models/data that were never trained on.
import { parseArgs } from "node:util";
import { join } from "node:path";
import { systemClock } from "../src/observe/clock.ts";
import { featuresOf } from "../src/retrieve/fit/confidence-features.ts";
import { type RequestLine, catalogOf, drawCatalogs, heldOutServers, lines, rankIn, sample, toolsOf } from "./catalog-draws.ts";
import { embedderOf } from "./remembered-embedder.ts";
import { createRandom } from "../src/eval/random.ts";

const { values: options } = parseArgs({
  options: {
    shared: { type: "string", default: "../shared" },
    tier: { type: "string", default: "tuned" },
    weights: { type: "string", default: "reference" },
    draws: { type: "string", default: "250" },
    seed: { type: "string", default: "11" },
  },
});
const FIRST_UNSEEN = 5500;
const MOST_UNSEEN = 1000;
const { shared, tier } = options;
const isReference = options.weights === "reference";
const held = heldOutServers(shared);
const data = (name: string): readonly RequestLine[] => lines<RequestLine>(join(import.meta.dirname, "data", name));
const marked = (from: string, rows: readonly RequestLine[]): readonly RequestLine[] => rows.map((row) => ({ ...row, from, style: row.style ?? "direct" }));
const unseen = lines<RequestLine>(join(shared, "eval/toucan-paraphrase/queries.jsonl")).slice(FIRST_UNSEEN);
const asked: readonly RequestLine[] = [
  ...marked("styles", data("train-styles.jsonl")),
  ...marked("fresh", data("confidence-possible.jsonl")),
  ...marked("impossible", data("train-impossible.jsonl").map((row) => ({ ...row, style: "direct" }))),
  ...(isReference ? marked("unseen", sample(unseen, MOST_UNSEEN, createRandom(3))) : []),
];
// Servers that a request is about, and as many others again, so that most draws have something to ask.
const about = new Set(asked.flatMap(({ relevant, scope = [] }) => [...relevant.map((id) => id.slice(0, id.lastIndexOf("/"))), ...scope]));
const tools = toolsOf(shared, (namespace) => !held.has(namespace) && about.has(namespace));
const embedder = tier === "lexical" ? undefined : embedderOf(tier as "static" | "tuned", ".borrowed/vectors", isReference ? join(shared, "models") : undefined);
const clock = systemClock;

let count = 0;
for (const { size, ids, cases } of drawCatalogs(tools, asked, { draws: Number(options.draws), wholes: 6, seed: Number(options.seed) })) {
  if (cases.length === 0) continue;
  const catalog = await catalogOf(ids.flatMap((id) => tools.get(id) ?? []), tier, embedder, clock);
  for (const { asked: one, kind } of cases) {
    const { hits } = await rankIn(catalog, one.query, 50);
    const ranking = hits.map(({ tool, cosine, coverage = 0 }) => ({ tool, cosine, coverage }));
    const features = featuresOf(one.query, ranking, ids.length);
    const home = one.relevant[0]?.slice(0, one.relevant[0].lastIndexOf("/")) ?? one.scope?.[0] ?? "";
    const hit = one.relevant.includes(String(ranking[0]?.tool.sourceMeta["setId"]));
    const isName = ranking[0]?.coverage === 1;
    process.stdout.write(`${JSON.stringify({ kind, from: one.from, style: one.style, size, tools: ids.length, home, hit, isName, empty: ranking.length === 0, query: one.query, features })}\n`);
    count++;
  }
  await catalog.close();
}
embedder?.save();
await embedder?.close?.();
console.error(`${count} examples from ${tools.size} tools`);
