/**
 * Measures "nothing fits" by catalog size and request style on the held-out servers:
 * `node bench/nothing-fits-sizes.ts --shared ../shared [--tier lexical,static,tuned] [--draws 100] [--seed 1] [--refuse confident]`.
 *
 * For each size up to 100 tools it draws catalogs of 1 to 4 held-out servers, indexes each one, and asks the requests that the drawn servers
 * serve (at most 40) and three kinds that they do not: requests about servers that were not drawn, near misses about a server that was, and
 * requests whose tool was taken out of its server. The last size is all held-out servers at once. "falsely refused" is the share of servable
 * requests that get no tool; R@1 and R@5 are ranked before refusal. Vectors are computed once and kept in .borrowed/vectors.
 */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { EVERY_TOOL } from "../src/tool/tool-filter.ts";
import { systemClock } from "../src/observe/clock.ts";
import { createHealth } from "../src/observe/health.ts";
import { createRetriever } from "../src/retrieve/retriever.ts";
import { DEFAULT_SETTINGS, type RetrieverSettings } from "../src/retrieve/settings.ts";
import {
  type RequestLine,
  catalogOf,
  type Draw,
  drawCatalogs,
  heldOutServers,
  type Kind,
  lines,
  SIZES,
  toolsOf,
  WHOLE,
} from "../models/catalog-draws.ts";
import { embedderOf, type RememberedEmbedder } from "../models/remembered-embedder.ts";

interface SizedOutcome {
  readonly size: string;
  readonly style: string;
  readonly kind: Kind;
  readonly query: string;
  readonly confidence: number;
  readonly refused: boolean;
  /** The rank of the right tool, from 0; -1 if it is not among the first five. */
  readonly rank: number;
  /** Whether the right tool is returned. */
  readonly returned: boolean;
}

const { values: options } = parseArgs({
  options: {
    shared: { type: "string", default: "../shared" },
    tier: { type: "string", default: "lexical,static,tuned" },
    draws: { type: "string", default: "100" },
    seed: { type: "string", default: "1" },
    refuse: { type: "string", default: "confident" },
    out: { type: "string" },
  },
});
const set = join(options.shared, "eval/toucan-paraphrase");
if (!existsSync(set)) {
  console.error(`${set} does not exist. Give the folder that has eval/ and models/ with --shared FOLDER.`);
  process.exit(2);
}
const held = heldOutServers(options.shared);
const tools = toolsOf(options.shared, (namespace) => held.has(namespace));
const data = (name: string): readonly RequestLine[] =>
  lines<RequestLine>(join(import.meta.dirname, "../models/data", name));
const asked: readonly RequestLine[] = [
  ...lines<RequestLine>(join(set, "queries.jsonl")),
  ...data("heldout-styles.jsonl"),
  ...data("heldout-impossible.jsonl").map((one) => ({
    ...one,
    style: "direct",
    near: one.style === "absent" ? [] : (one.near ?? []),
  })),
];
const settings = { ...DEFAULT_SETTINGS, refuse: options.refuse } as RetrieverSettings;
const emit = (): void => {};

const all: (SizedOutcome & { readonly tier: string })[] = [];
for (const tier of options.tier.split(",")) {
  const embedder = tier === "lexical" ? undefined : embedderOf(tier as "static" | "tuned", ".borrowed/vectors");
  const started = performance.now();
  const found: SizedOutcome[] = [];
  const draws = { draws: Number(options.draws), wholes: 1, seed: Number(options.seed) };
  for (const draw of drawCatalogs(tools, asked, draws)) found.push(...(await judge(draw, tier, embedder)));
  embedder?.save();
  await embedder?.close?.();
  print(tier, found, performance.now() - started);
  all.push(...found.map((one) => ({ tier, ...one })));
}
if (options.out) writeFileSync(options.out, all.map((one) => `${JSON.stringify(one)}\n`).join(""));

async function judge(
  { size, ids, cases }: Draw,
  tier: string,
  embedder: RememberedEmbedder | undefined,
): Promise<readonly SizedOutcome[]> {
  if (cases.length === 0) return [];
  const chosen = ids.flatMap((id) => tools.get(id) ?? []);
  const catalog = await catalogOf(chosen, tier, embedder, systemClock);
  const health = createHealth({ clock: systemClock, emit });
  const retriever = createRetriever({
    catalog,
    health,
    sees: () => true,
    visible: () => EVERY_TOOL,
    settings,
    emit,
    clock: systemClock,
  });
  const found: SizedOutcome[] = [];
  for (const { asked: one, kind } of cases) {
    const context = { query: one.query };
    const whole = await retriever.retrieve({ context, scoreThreshold: 0, limit: 5 });
    const given = await retriever.retrieve({ context });
    const right = new Set([...one.relevant, ...(one.also_ok ?? [])]);
    const isRight = ({ tool }: (typeof whole.tools)[number]): boolean => right.has(String(tool.sourceMeta["setId"]));
    found.push({
      size,
      style: one.style,
      kind,
      query: one.query,
      confidence: whole.confidence,
      refused: given.tools.length === 0,
      rank: whole.tools.findIndex(isRight),
      returned: given.tools.some(isRight),
    });
  }
  await catalog.close();
  return found;
}

function print(tier: string, found: readonly SizedOutcome[], ms: number): void {
  console.log(`\n${tier}, refuse: ${options.refuse} (${(ms / 1000).toFixed(0)} s)`);
  console.log(
    "size    style    requests (distinct) falsely refused   R@1   R@5  returned | refused: absent      near miss        removed",
  );
  for (const size of [...SIZES.map(({ name }) => name), WHOLE]) {
    const sized = found.filter((one) => one.size === size);
    for (const style of ["every", ...new Set(sized.map((one) => one.style).sort())]) {
      const cell = sized.filter((one) => style === "every" || one.style === style);
      const served = cell.filter(({ kind }) => kind === "possible");
      const distinct = new Set(served.map(({ query }) => query)).size;
      const of = (kind: Kind): string => {
        const group = cell.filter((one) => one.kind === kind);
        return (group.length === 0 ? "-" : `${percent(group, isRefused)} of ${group.length}`).padStart(14);
      };
      const shown = [
        percent(served, isRefused).padStart(14),
        percent(served, ({ rank }) => rank === 0).padStart(7),
        percent(served, ({ rank }) => rank >= 0),
        percent(served, ({ returned }) => returned).padStart(8),
      ];
      console.log(
        `${size.padEnd(7)} ${style.padEnd(8)} ${String(served.length).padStart(8)} ${`(${distinct})`.padStart(9)} ${shown.join(" ")} | ${of("absent")} ${of("near")} ${of("removed")}`,
      );
    }
  }
  for (const [name, isIn] of [
    ["up to 100 tools", ({ size }: SizedOutcome) => size !== WHOLE],
    ["about 700 tools", ({ size }: SizedOutcome) => size === WHOLE],
  ] as const) {
    const group = found.filter(isIn);
    const of = (kind: Kind): readonly number[] =>
      group.filter((one) => one.kind === kind).map(({ confidence }) => confidence);
    const served = of("possible").toSorted((a, b) => a - b);
    const at = (share: number): string => {
      const cut = served[Math.floor(share * served.length)] ?? 0;
      const below = (...kinds: readonly Kind[]): string => percent(kinds.flatMap(of), (one) => one < cut).trim();
      return `at ${100 * share} % false ${below("absent", "near", "removed")} % refused (absent ${below("absent")}, near ${below("near")}, removed ${below("removed")})`;
    };
    const areas = (["absent", "near", "removed"] as const).map((kind) => `${kind} ${auc(served, of(kind)).toFixed(3)}`);
    console.log(
      `${name}, one threshold on the confidence: ${at(0.01)}; ${at(0.02)}; ${at(0.05)}; AUC ${areas.join(", ")}`,
    );
  }
}

function isRefused({ refused }: SizedOutcome): boolean {
  return refused;
}

function percent<Row>(rows: readonly Row[], test: (row: Row) => boolean): string {
  return rows.length === 0 ? "    -" : ((100 * rows.filter(test).length) / rows.length).toFixed(1).padStart(5);
}

/** The chance that a servable request gets the higher number. `high` is sorted. */
function auc(high: readonly number[], low: readonly number[]): number {
  const countBelow = (value: number, orEqual: boolean): number => {
    let [from, to] = [0, high.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      const one = high[middle] ?? 0;
      if (one < value || (orEqual && one === value)) from = middle + 1;
      else to = middle;
    }
    return from;
  };
  const wins = low.reduce((sum, one) => sum + high.length - (countBelow(one, false) + countBelow(one, true)) / 2, 0);
  return wins / (high.length * low.length);
}
