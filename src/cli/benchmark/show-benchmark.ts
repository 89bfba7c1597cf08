import type { Terminal } from "../command.ts";
import { styles, table } from "../terminal/style.ts";
import type { CatalogFigures, measureEngine } from "./measure-catalog.ts";

/** The only guaranteed time. All others are goals. */
export const CONTRACT_MS = 50;

/** The output of `toolarsenal benchmark --json`. Times are milliseconds. */
export interface BenchmarkFigures {
  readonly contractMs: number;
  /** The tier whose P95 the contract covers. */
  readonly contractTier: string;
  readonly kept: boolean;
  readonly retrieval: readonly CatalogFigures[];
  readonly engine: Awaited<ReturnType<typeof measureEngine>>;
}

/** Formats the results as tables: catalogs of every size, then each goal with its measurement and a baseline from the same run. */
export function showBenchmark(
  figures: BenchmarkFigures,
  count: number,
  terminal: Pick<Terminal, "out" | "environment">,
): string {
  const { contractTier, kept, retrieval } = figures;
  const paint = styles(terminal.out, terminal.environment);
  const header = ["tools", "tier", "registered", "P50 ms", "P95 ms", "of plain BM25", "P95 growth", "a tool"];
  return `${table([header, ...retrieval.map((one) => catalogRow(one, retrieval))])}

${table([["aims on an idle core", "aim", "measured", "baseline of the same run"], ...aims(figures, count)])}

${kept ? paint.green("kept") : paint.red("broken")}: P95 retrieval below ${CONTRACT_MS} ms at ${whole(count)} tools, ${contractTier} tier, best of three
`;
}

function catalogRow(one: CatalogFigures, all: readonly CatalogFigures[]): readonly string[] {
  const { tools, tier, toolsPerSecond, p50Ms, p95Ms, baselineP95Ms, bytesPerTool } = one;
  const first = all.find((other) => other.tier === tier);
  return [
    whole(tools),
    tier,
    `${whole(toolsPerSecond)}/s`,
    p50Ms.toFixed(2),
    p95Ms.toFixed(2),
    `${(p95Ms / baselineP95Ms).toFixed(2)}×`,
    first && first !== one ? `${(p95Ms / first.p95Ms).toFixed(1)}× for ${ratio(tools / first.tools)} tools` : "",
    `${(bytesPerTool / 1024).toFixed(1)} KiB`,
  ];
}

function aims({ retrieval, contractTier, engine }: BenchmarkFigures, count: number): readonly (readonly string[])[] {
  const at = (tier: string): CatalogFigures | undefined =>
    retrieval.find((one) => one.tier === tier && one.tools === count);
  const words = at("lexical");
  const usual = at(contractTier) ?? retrieval[0];
  const rows: (readonly string[])[] = [];
  if (words) {
    const baseline = `${words.baselineP95Ms.toFixed(2)} ms, plain BM25 scoring every tool`;
    rows.push([`P95 retrieval by words, ${whole(count)} tools`, "< 5 ms", `${words.p95Ms.toFixed(2)} ms`, baseline]);
  }
  if (usual) {
    const { tier, toolsPerSecond, copiedPerSecond, registrationRatio } = usual;
    const baseline = `${whole(copiedPerSecond)}/s, copying each definition into a map (${registrationRatio.toFixed(1)}×)`;
    rows.push([`registration, ${whole(count)} tools, ${tier}`, "> 5,000/s", `${whole(toolsPerSecond)}/s`, baseline]);
  }
  const direct = `${engine.directMs.toFixed(4)} ms, calling the function directly`;
  const overhead = `${engine.overheadMs.toFixed(4)} ms`;
  return [...rows, ["a call through the engine, over a direct one", "< 0.1 ms", overhead, direct]];
}

function whole(number: number): string {
  return number.toLocaleString("en", { maximumFractionDigits: 0 });
}

function ratio(value: number): string {
  return `${Number.isInteger(value) ? value : value.toFixed(1)}×`;
}
