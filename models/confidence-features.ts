// Prints one JSON line an example: what the product reads from its ranking, for confidence.py to fit.
//   node models/confidence-features.ts .borrowed/confidence/train static|tuned|lexical [PREFIX] > .borrowed/confidence/train.static.jsonl
// Beside NAME.examples.json lie NAME.{A,C,Q}.PREFIX.f32, unit rows of 256 (static) or 384 (tuned) numbers; PREFIX is the tier where absent.
import { readFileSync } from "node:fs";
import { createLexicalIndex } from "../src/catalog/lexical-index.ts";
import { toolFields } from "../src/catalog/tool-text.ts";
import { featuresOf, type RankedTool } from "../src/retrieve/confidence-features.ts";
import { normaliseTool } from "../src/tool/normalise-tool.ts";
import type { SourceDraft } from "../src/tool/draft.ts";

interface Example {
  readonly kind: string;
  readonly label: number;
  readonly pool: number;
  readonly row: number;
  readonly relevant: readonly string[];
  readonly without: readonly number[];
  readonly strange?: boolean;
}
interface Examples {
  readonly tools: readonly (SourceDraft & { readonly id: string })[];
  readonly pools: readonly (readonly number[])[];
  readonly requests: readonly string[];
  readonly examples: readonly Example[];
}

const [path = "", tier = "static", prefix = tier] = process.argv.slice(2);
const dimension = tier === "tuned" ? 384 : 256;
const denseShare = { tuned: 0.9, static: 0.8, lexical: 0 }[tier] ?? 0;
const { tools: drafts, pools, requests, examples } = JSON.parse(readFileSync(`${path}.examples.json`, "utf8")) as Examples;
const tools = drafts.map((draft) => normaliseTool(draft, { source: "descriptor", namespace: draft.namespace ?? "default", createdAt: 0 }));
const indexes = pools.map((pool) => {
  const index = createLexicalIndex();
  for (const at of pool) index.upsert(String(at), toolFields(tools[at] as (typeof tools)[number]));
  return index;
});
const queries = rows("Q");
const toolRows = unit(rows("A"), rows("C"));

let spent = 0;
for (const example of examples) {
  const request = requests[example.row] ?? "";
  const ranked = rank(example, request);
  const ranking: RankedTool[] = ranked.map(({ at, cosine, coverage }) => ({ tool: tools[at] as (typeof tools)[number], cosine, coverage }));
  const started = performance.now();
  const features = featuresOf(request, ranking);
  spent += performance.now() - started;
  const hit = example.relevant.includes(drafts[ranked[0]?.at ?? 0]?.id ?? "");
  const top = ranked.slice(0, 10).map(({ at }) => at);
  console.log(JSON.stringify({ kind: example.kind, label: example.label, pool: example.pool, row: example.row, strange: example.strange === true, hit, top, query: request, first: drafts[top[0] ?? 0]?.id, features }));
}
console.error(`${examples.length} examples, ${(spent / examples.length).toFixed(3)} ms each for the features`);

/** The best fifty of a pool, as the product fuses them. */
function rank({ pool, row, without }: Example, request: string) {
  const left = new Set(without);
  const places = (pools[pool] ?? []).filter((at) => !left.has(at));
  const coverages = indexes[pool]?.scores(request, places.map(String)) ?? [];
  const scored = places.map((at, place) => ({ at, coverage: coverages[place] ?? 0, cosine: denseShare > 0 ? dot(row, at) : undefined }));
  const cosines = scored.map(({ cosine }) => cosine ?? 0);
  const low = Math.min(...cosines);
  const span = Math.max(...cosines) - low || 1;
  const most = Math.max(...scored.map(({ coverage }) => coverage)) || 1;
  const fused = ({ cosine, coverage }: (typeof scored)[number]): number => denseShare * (((cosine ?? 0) - low) / span) + (1 - denseShare) * (coverage / most);
  return scored
    .filter(({ coverage }) => denseShare > 0 || coverage > 0)
    .map((one) => ({ ...one, fused: fused(one) })).sort((a, b) => b.fused - a.fused).slice(0, 50);
}

function rows(kind: string): Float32Array {
  if (denseShare === 0) return new Float32Array(0);
  const bytes = readFileSync(`${path}.${kind}.${prefix}.f32`);
  return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
}

/** A tool's vector: the sum of its two texts' vectors at unit length. */
function unit(sum: Float32Array, other: Float32Array): Float32Array {
  for (let start = 0; start < sum.length; start += dimension) {
    let squares = 0;
    for (let at = start; at < start + dimension; at++) squares += (sum[at] = (sum[at] ?? 0) + (other[at] ?? 0)) ** 2;
    const scale = 1 / Math.max(Math.sqrt(squares), 1e-9);
    for (let at = start; at < start + dimension; at++) sum[at] = (sum[at] ?? 0) * scale;
  }
  return sum;
}

function dot(query: number, tool: number): number {
  let sum = 0;
  for (let at = 0; at < dimension; at++) sum += (queries[query * dimension + at] ?? 0) * (toolRows[tool * dimension + at] ?? 0);
  return sum;
}
