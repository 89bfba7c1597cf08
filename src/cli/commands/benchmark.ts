import { type CatalogFigures, measureCatalog } from "../benchmark/measure-catalog.ts";
import { type EngineFigures, measureEngine } from "../benchmark/measure-engine.ts";
import type { Command, Terminal } from "../command.ts";
import { createProgressBar } from "../progress.ts";
import { readNumber } from "../read-number.ts";
import { styles, table } from "../style.ts";

/** The only time that is a promise; all others are aims. */
const CONTRACT_MS = 50;

/** `toolarsenal benchmark` */
export const benchmark: Command = {
  name: "benchmark",
  summary: "Measure speed; exit 1 where P95 retrieval is 50 ms or more.",
  positionals: [],
  options: {
    tools: {
      type: "string",
      value: "N",
      description: "How many tools the contract is measured with",
      fallback: "1000",
    },
    quick: { type: "boolean", description: "Leave out the catalogs of 10,000 and 100,000 tools" },
  },
  examples: ["benchmark", "benchmark --tools 5000 --quick"],
  async run(input, terminal) {
    const { signal } = terminal;
    const count = readNumber(input.options["tools"], "--tools", { min: 10, max: 1_000_000, fallback: 1000 });
    const sizes =
      input.options["quick"] === true ? [count] : [...new Set([count, 10_000, 100_000])].sort((a, b) => a - b);
    const bar = createProgressBar(terminal.err, "tools", sum(sizes));
    const measured: CatalogFigures[] = [];
    try {
      for (const size of sizes) {
        const before = sum(measured.map(({ tools }) => tools));
        const onProgress = (done: number): void => bar.update(before + done);
        measured.push(await measureCatalog(size, { rounds: size === count ? 3 : 1, signal, onProgress }));
      }
    } finally {
      bar.end();
    }
    const engine = await measureEngine(20_000, signal);
    const kept = keepsContract(measured, count);
    if (input.json)
      terminal.out.write(`${JSON.stringify({ contractMs: CONTRACT_MS, kept, retrieval: measured, engine })}\n`);
    else terminal.out.write(readable(measured, engine, count, kept, terminal));
    return kept ? 0 : 1;
  },
};

/** Whether P95 retrieval stayed below the contract's time at the size it is promised for. */
export function keepsContract(measured: readonly Pick<CatalogFigures, "tools" | "p95Ms">[], count: number): boolean {
  return measured.some(({ tools, p95Ms }) => tools === count && p95Ms < CONTRACT_MS);
}

function readable(
  measured: readonly CatalogFigures[],
  engine: EngineFigures,
  count: number,
  kept: boolean,
  terminal: Terminal,
): string {
  const paint = styles(terminal.out, terminal.environment);
  const first = measured[0];
  const rows = measured.map(
    ({ tools, toolsPerSecond, registrationRatio, p50Ms, p95Ms, baselineP95Ms, bytesPerTool }) => [
      tools.toLocaleString("en"),
      `${toolsPerSecond.toLocaleString("en")}/s`,
      `${registrationRatio.toFixed(1)}×`,
      p50Ms.toFixed(2),
      p95Ms.toFixed(2),
      `${(p95Ms / baselineP95Ms).toFixed(2)}×`,
      first && first.tools !== tools ? `${(p95Ms / first.p95Ms).toFixed(1)}× for ${tools / first.tools}× tools` : "",
      `${(bytesPerTool / 1024).toFixed(1)} KiB`,
    ],
  );
  const header = ["tools", "registered", "of copying", "P50 ms", "P95 ms", "of plain BM25", "P95 growth", "a tool"];
  return `${table([header, ...rows])}

engine: ${engine.overheadMs.toFixed(4)} ms a call over ${engine.directMs.toFixed(4)} ms for calling the function directly
aims on an idle core: P95 below 5 ms at 1,000 tools, more than 5,000 tools/s, less than 0.1 ms a call
baselines of the same run: registering over copying each definition into a map; retrieving over plain BM25 scoring every tool
${kept ? paint.green("kept") : paint.red("broken")}: P95 retrieval below ${CONTRACT_MS} ms at ${count.toLocaleString("en")} tools, best of three
`;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
