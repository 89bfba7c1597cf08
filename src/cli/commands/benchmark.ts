import { ToolArsenal } from "../../arsenal.ts";
import { createPlainBm25 } from "../benchmark/plain-bm25.ts";
import { syntheticQueries, syntheticTools } from "../benchmark/synthetic-tools.ts";
import type { Command, Terminal } from "../command.ts";
import { percentile } from "../eval/metrics.ts";
import { createProgressBar } from "../progress.ts";
import { readNumber } from "../read-number.ts";
import { styles, table } from "../style.ts";

const CONTRACT_MS = 50;
const QUERIES = 100;

interface Measured {
  readonly tools: number;
  readonly toolsPerSecond: number;
  /** Registering, over copying each definition into a map. */
  readonly registrationRatio: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly baselineP95Ms: number;
  readonly growthBytesPerTool: number;
}

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
    quick: { type: "boolean", description: "Leave out the larger catalogs" },
  },
  examples: ["benchmark", "benchmark --tools 5000 --quick"],
  async run(input, terminal) {
    const count = readNumber(input.options["tools"], "--tools", { min: 10, max: 1_000_000, fallback: 1000 });
    const sizes =
      input.options["quick"] === true ? [count] : [...new Set([count, 10_000, 100_000])].sort((a, b) => a - b);
    const measured: Measured[] = [];
    const bar = createProgressBar(
      terminal.err,
      "tools",
      sizes.reduce((sum, size) => sum + size, 0),
    );
    for (const size of sizes) {
      measured.push(await measure(size, size === count ? 3 : 1, terminal.signal));
      bar.update(measured.reduce((sum, { tools }) => sum + tools, 0));
    }
    bar.end();
    const engine = await measureEngine();
    const contract = measured.find(({ tools }) => tools === count);
    const kept = contract !== undefined && contract.p95Ms < CONTRACT_MS;
    if (input.json)
      terminal.out.write(`${JSON.stringify({ contractMs: CONTRACT_MS, kept, retrieval: measured, engine })}\n`);
    else terminal.out.write(readable(measured, engine, count, kept, terminal));
    return kept ? 0 : 1;
  },
};

/** One catalog size. Retrieval is measured `rounds` times and the best counts: the machine may be busy with other things. */
async function measure(size: number, rounds: number, signal: AbortSignal): Promise<Measured> {
  const drafts = syntheticTools(size);
  const queries = syntheticQueries(QUERIES);
  const heapBefore = process.memoryUsage().heapUsed;
  await using arsenal = new ToolArsenal({ telemetry: { enabled: false } });
  const started = performance.now();
  await arsenal.addTools(drafts.map((tool) => ({ tool })));
  await arsenal.sync({ signal });
  const registrationMs = performance.now() - started;
  const heapAfter = process.memoryUsage().heapUsed;

  const copying = performance.now();
  const copies = new Map<string, string>();
  for (const draft of drafts) copies.set(`${draft.namespace}.${draft.name}`, JSON.stringify(draft));
  const copyMs = performance.now() - copying;

  const plain = createPlainBm25(drafts);
  let best = { p50Ms: Infinity, p95Ms: Infinity };
  let baselineP95Ms = Infinity;
  for (let round = 0; round < rounds; round++) {
    const times: number[] = [];
    const plainTimes: number[] = [];
    for (const query of queries) {
      signal.throwIfAborted();
      const { totalTimeMs } = await arsenal.retrieve({ context: { query }, limit: 5 });
      times.push(totalTimeMs);
      const before = performance.now();
      plain(query, 5);
      plainTimes.push(performance.now() - before);
    }
    const p95Ms = percentile(times, 0.95);
    if (p95Ms < best.p95Ms) best = { p50Ms: percentile(times, 0.5), p95Ms };
    baselineP95Ms = Math.min(baselineP95Ms, percentile(plainTimes, 0.95));
  }
  return {
    tools: size,
    toolsPerSecond: Math.round((size / registrationMs) * 1000),
    registrationRatio: registrationMs / copyMs,
    ...best,
    baselineP95Ms,
    growthBytesPerTool: Math.max(0, Math.round((heapAfter - heapBefore) / size)),
  };
}

interface EngineMeasured {
  readonly directMs: number;
  readonly engineMs: number;
  readonly overheadMs: number;
}

/** A call of a tool that does nothing, against calling its function directly. */
async function measureEngine(): Promise<EngineMeasured> {
  const calls = 20_000;
  await using arsenal = new ToolArsenal({
    telemetry: { enabled: false },
    security: { maxRequestsPerMinute: 1_000_000 },
  });
  const handler = ({ text }: { readonly text?: string }): string | undefined => text;
  const schema = { type: "object", properties: { text: { type: "string" } } } as const;
  arsenal.register({ name: "nothing", description: "Returns what it was given.", parameters: schema }, handler);
  const call = { toolName: "nothing", arguments: { text: "hello" } };
  const time = async (run: () => unknown): Promise<number> => {
    const started = performance.now();
    for (let count = 0; count < calls; count++) await run();
    return (performance.now() - started) / calls;
  };
  await time(() => arsenal.execute(call)); // warm-up
  const directMs = await time(async () => handler({ text: "hello" }));
  const engineMs = await time(() => arsenal.execute(call));
  return { directMs, engineMs, overheadMs: engineMs - directMs };
}

function readable(
  measured: readonly Measured[],
  engine: EngineMeasured,
  count: number,
  kept: boolean,
  terminal: Terminal,
): string {
  const paint = styles(terminal.out, terminal.environment);
  const first = measured[0];
  const rows = measured.map(
    ({ tools, toolsPerSecond, registrationRatio, p50Ms, p95Ms, baselineP95Ms, growthBytesPerTool }) => [
      tools.toLocaleString("en"),
      `${toolsPerSecond.toLocaleString("en")}/s`,
      `${registrationRatio.toFixed(1)}×`,
      p50Ms.toFixed(2),
      p95Ms.toFixed(2),
      `${(p95Ms / baselineP95Ms).toFixed(2)}×`,
      first && first.tools !== tools ? `${(p95Ms / first.p95Ms).toFixed(1)}× for ${tools / first.tools}× tools` : "",
      `${(growthBytesPerTool / 1024).toFixed(1)} KiB`,
    ],
  );
  const header = ["tools", "registered", "of copying", "P50 ms", "P95 ms", "of plain BM25", "growth", "a tool"];
  return `${table([header, ...rows])}

engine: ${engine.overheadMs.toFixed(4)} ms a call over ${engine.directMs.toFixed(4)} ms for calling the function directly (aim: 0.1 ms)
${kept ? paint.green("kept") : paint.red("broken")}: P95 retrieval below ${CONTRACT_MS} ms at ${count.toLocaleString("en")} tools, best of three
baselines of the same run: registering over copying each definition into a map; retrieving over plain BM25 scoring every tool
`;
}
