/**
 * The search speed by catalog size: `node bench/growth.ts [--sizes 1000,10000,17000,100000] [--built] [--json]`.
 *
 * Each size and tier runs in a process of its own, in turns with plain BM25 over the same tools, and the best of three rounds counts, because other
 * load only adds time. Then a program's cold start from a snapshot of 10,000 tools, the cost of the tuned model, and the
 * kernel's rates. `--built` runs the output of `npm run build`, as users do; sources must first be stripped of their types.
 * Progress goes to stderr.
 */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { TIERS, type TierName } from "../src/adapters/embedders/shipped-tiers.ts";
import type { RetrievalFigures } from "../src/cli/benchmark/measure-retrieval.ts";
import { table } from "../src/cli/terminal/style.ts";
import type { CatalogAnswer, CatalogTask } from "./growth-catalog.ts";
import type { ColdStartAnswer, ColdStartTask } from "./growth-cold-start.ts";
import type { LoadAnswer, ModelAnswer } from "./growth-model.ts";
import { computeVectors, fillCache } from "./growth-vectors.ts";

/** The measurements of one run. */
interface GrowthFigures {
  readonly catalogs: readonly CatalogAnswer[];
  readonly coldTools: number;
  readonly cold: readonly ColdStartAnswer[];
  readonly load: LoadAnswer;
  readonly model: ModelAnswer;
}

/** The number of tools whose vectors the tuned model really computes. */
const COMPUTED = 500;
const COLD_TOOLS = 10_000;
const ROUNDS = 3;

const { values } = parseArgs({
  options: {
    sizes: { type: "string", default: "1000,10000,17000,100000" },
    built: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
  },
});
const sizes = values.sizes.split(",").map(Number);
if (!sizes.every((size) => Number.isInteger(size) && size >= 10)) {
  console.error(`--sizes is a list of whole numbers from 10 up, such as 1000,17000, not ${values.sizes}.`);
  process.exit(2);
}
const library = moduleOf("index");
const folder = mkdtempSync(join(tmpdir(), "growth-"));
try {
  const figures = await measure();
  process.stdout.write(values.json ? `${JSON.stringify(figures)}\n` : show(figures));
} finally {
  rmSync(folder, { recursive: true });
}

async function measure(): Promise<GrowthFigures> {
  const loads: LoadAnswer[] = [];
  for (let round = 0; round < ROUNDS; round++)
    loads.push(await ask<LoadAnswer>("growth-load.mjs", moduleOf("adapters/embedders/tuned")));
  const [load] = loads.sort((a, b) => a.loadMs - b.loadMs);
  if (!load) throw new Error("The tuned model did not load.");
  const model = await ask<ModelAnswer>("growth-model.ts", "");
  const vectors = join(folder, "vectors.f32");
  await computeVectors(vectors, COMPUTED, (done, all) => {
    if (done % 320 === 0 || done === all) say(`${done} of ${all} texts embedded by the tuned model`);
  });
  const cold = await measureColdStart(vectors);
  const catalogs: CatalogAnswer[] = [];
  for (const size of sizes) {
    for (const tier of TIERS) {
      say(`${whole(size)} tools, ${tier}`);
      catalogs.push(await ask<CatalogAnswer>("growth-catalog.ts", { size, tier, vectors } satisfies CatalogTask));
    }
  }
  return { catalogs, coldTools: COLD_TOOLS, cold, load, model };
}

async function measureColdStart(vectors: string): Promise<readonly ColdStartAnswer[]> {
  say(`cold start, ${whole(COLD_TOOLS)} tools`);
  const task = { snapshot: join(folder, "tools.snapshot"), cache: join(folder, "cache"), library };
  await fillCache(task.cache, vectors, COLD_TOOLS);
  await run("growth-cold-start.ts", { ...task, tier: "static", write: COLD_TOOLS } satisfies ColdStartTask);
  const best: ColdStartAnswer[] = [];
  for (const tier of TIERS) {
    const answers: ColdStartAnswer[] = [];
    for (let round = 0; round < ROUNDS; round++)
      answers.push(await ask<ColdStartAnswer>("growth-cold-start.ts", { ...task, tier } satisfies ColdStartTask));
    best.push(...answers.sort((a, b) => a.answeredMs - b.answeredMs).slice(0, 1));
  }
  return best;
}

/** The import path of a module of the library. */
function moduleOf(path: string): string {
  return new URL(values.built ? `../dist/${path}.js` : `../src/${path}.ts`, import.meta.url).href;
}

async function ask<Answer>(file: string, task: object | string): Promise<Answer> {
  return JSON.parse(await run(file, task)) as Answer;
}

async function run(file: string, task: object | string): Promise<string> {
  const program = fileURLToPath(new URL(file, import.meta.url));
  const argument = typeof task === "string" ? task : JSON.stringify(task);
  const { stdout } = await promisify(execFile)(process.execPath, [program, argument], { maxBuffer: 1 << 24 });
  return stdout;
}

function show({ catalogs, coldTools, cold, load, model }: GrowthFigures): string {
  const disk = Object.values(model.disk).reduce((sum, bytes) => sum + bytes, 0);
  const retrieval = (["short", "long"] as const).flatMap((kind) =>
    catalogs.map((one) => retrievalRow(one, kind, catalogs)),
  );
  return `Retrieval, milliseconds, best of ${ROUNDS} rounds. Short requests ask for one thing in at most 32 tokens; long ones have about 120.
Ratios are to plain BM25's P95 over the same tools and requests in the same process; CPU is processor time a request, all threads.
The tuned model computed the vectors of ${COMPUTED} tools; for all other tools these REAL VECTORS ARE REPEATED. Words and static vectors are real.

${table([["tools", "tier", "requests", "P50", "P95", "of plain BM25", "CPU", "aim", "P95 growth", "plain BM25's"], ...retrieval])}

Index: until every tool can be found (the tuned tier learns tools afterwards); used is heap and buffers of the catalog, resident the whole process.

${table([["tools", "tier", "index ms", "tools/s", "used MB", "resident MB", "index growth", "used growth"], ...catalogs.map((one) => indexRow(one, catalogs))])}

Cold start from a snapshot of ${whole(coldTools)} tools, vectors cached, milliseconds from the first line (aim: first answer < 300):

${table([["up to tier", "imported", "first answer", "by", "tier ready", "by"], ...cold.map(coldRow)])}

The tuned tier                    bound      measured
load, in its worker               300 ms     ${load.loadMs.toFixed(0)} ms
resident, whole process           150 MB     ${megabytes(load.residentBytes)} MB (${megabytes(load.residentBefore)} before)
models and inference on disk      60 MB      ${megabytes(disk)} MB (${Object.entries(model.disk)
    .map(([name, bytes]) => `${name} ${megabytes(bytes)}`)
    .join(", ")})
a text of 20 tokens               10 ms      ${model.twentyTokensMs.toFixed(1)} ms
texts of 100 tokens               40/s       ${model.textsPerSecond.toFixed(0)}/s
`;
}

/** The aim on an idle core. */
function aimOf(tier: TierName, size: number): string {
  if (tier === "lexical") return size === 1000 ? "< 5" : "";
  return size === 17_000 ? (tier === "static" ? "< 15" : "< 30") : "";
}

function retrievalRow(
  one: CatalogAnswer,
  kind: "short" | "long",
  all: readonly CatalogAnswer[],
): readonly (string | number)[] {
  const { size, tier } = one;
  const figures: RetrievalFigures = one[kind];
  const first = all.find((other) => other.tier === tier);
  const growth = (of: (answer: CatalogAnswer) => number): string =>
    first && first !== one ? `${(of(one) / of(first)).toFixed(1)}× for ${times(size / first.size)}` : "";
  return [
    whole(size),
    figures.tier === tier ? tier : `${tier} (${figures.tier} answered)`,
    kind,
    figures.p50Ms.toFixed(2),
    figures.p95Ms.toFixed(2),
    `${(figures.p95Ms / figures.baselineP95Ms).toFixed(2)}×`,
    figures.cpuMs.toFixed(2),
    kind === "short" ? aimOf(tier, size) : "",
    growth((answer) => answer[kind].p95Ms),
    growth((answer) => answer[kind].baselineP95Ms),
  ];
}

function indexRow(one: CatalogAnswer, all: readonly CatalogAnswer[]): readonly (string | number)[] {
  const { size, tier, indexMs, usedBytes, residentBytes } = one;
  const first = all.find((other) => other.tier === tier);
  const growth = (of: (answer: CatalogAnswer) => number): string =>
    first && first !== one ? `${(of(one) / of(first)).toFixed(1)}× for ${times(size / first.size)}` : "";
  return [
    whole(size),
    tier,
    indexMs.toFixed(0),
    whole((size / indexMs) * 1000),
    megabytes(usedBytes),
    megabytes(residentBytes),
    growth((answer) => answer.indexMs),
    growth((answer) => answer.usedBytes),
  ];
}

function coldRow({ tier, importedMs, answeredMs, answeredBy, settledMs, settledBy }: ColdStartAnswer): string[] {
  return [tier, importedMs.toFixed(0), answeredMs.toFixed(0), answeredBy, settledMs.toFixed(0), settledBy];
}

function say(what: string): void {
  process.stderr.write(`${what}\n`);
}

function whole(number: number): string {
  return number.toLocaleString("en", { maximumFractionDigits: 0 });
}

function times(ratio: number): string {
  return `${Number.isInteger(ratio) ? ratio : ratio.toFixed(1)}× tools`;
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(bytes < 1e6 ? 2 : 1);
}
