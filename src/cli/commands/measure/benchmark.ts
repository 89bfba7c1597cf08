import { TIERS } from "../../../adapters/embedders/shipped-tiers.ts";
import { CONTRACT_MS, type BenchmarkFigures, showBenchmark } from "../../benchmark/show-benchmark.ts";
import {
  type CatalogFigures,
  measureCatalog,
  measureEngine,
  type ShowProgress,
} from "../../benchmark/measure-catalog.ts";
import type { Command } from "../../command.ts";
import { withProgress } from "../../terminal/progress.ts";
import { readChoice, readNumber } from "../../input.ts";

/** The tier that answers a user's first requests, until the tuned tier has indexed the tools. The guaranteed time applies to this tier. */
const FIRST_TO_ANSWER = "static";
/** The number of calls that measure the engine. */
const CALLS = 20_000;

export const command: Command = {
  options: {
    tools: { value: "N", description: "Number of tools for the 50 ms limit", fallback: "1000" },
    quick: { description: "Skip the catalogs of 10,000 and 100,000 tools" },
    tier: {
      value: TIERS.join("|"),
      description: "Measure only this tier; tuned takes a minute for 1,000 tools and skips the larger catalogs",
      fallback: "lexical and static",
    },
  },
  examples: ["benchmark", "benchmark --tools 5000 --quick", "benchmark --tier tuned"],
  async run(input, terminal) {
    const { signal } = terminal;
    const count = readNumber(input, "tools", { min: 10, max: 1_000_000, fallback: 1000 });
    const only = readChoice(input, "tier", TIERS);
    const tiers = only === undefined ? (["lexical", FIRST_TO_ANSWER] as const) : [only];
    const sizes =
      input.flags.has("quick") || only === "tuned"
        ? [count]
        : [...new Set([count, 10_000, 100_000])].sort((a, b) => a - b);
    const runs = tiers.flatMap((tier) => sizes.map((size) => ({ tier, size })));
    const measured: CatalogFigures[] = [];
    for (const [index, { tier, size }] of runs.entries()) {
      const run = `${index + 1} of ${runs.length}: ${tier},`;
      const show: ShowProgress = (label, total, work) => withProgress(terminal.err, `${run} ${label}`, total, work);
      measured.push(await measureCatalog(size, { tier, rounds: size === count ? 3 : 1, signal, show }));
    }
    // Warm-up calls, direct calls, and calls through the engine.
    const engine = await withProgress(terminal.err, "calls", 3 * CALLS, (update) =>
      measureEngine(CALLS, signal, update),
    );
    const contractTier = only ?? FIRST_TO_ANSWER;
    const kept = keepsContract(measured, count, contractTier);
    const figures: BenchmarkFigures = { contractMs: CONTRACT_MS, contractTier, kept, retrieval: measured, engine };
    terminal.out.write(input.json ? `${JSON.stringify(figures)}\n` : showBenchmark(figures, count, terminal));
    return kept ? 0 : 1;
  },
};

/** Returns whether P95 retrieval met the guaranteed time, at the size and for the tier that it applies to. */
export function keepsContract(
  measured: readonly Pick<CatalogFigures, "tools" | "tier" | "p95Ms">[],
  count: number,
  tier: string,
): boolean {
  return measured.some((figures) => figures.tools === count && figures.tier === tier && figures.p95Ms < CONTRACT_MS);
}
