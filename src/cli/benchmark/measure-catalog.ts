import { setImmediate as nextTurn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { ToolArsenal } from "../../arsenal.ts";
import type { ToolDraft } from "../../tool/draft.ts";
import { percentile } from "../eval/metrics.ts";
import { createPlainBm25 } from "./plain-bm25.ts";
import { syntheticQueries, syntheticTools } from "./synthetic-tools.ts";

/** How a catalog of one size fares, and the baselines of the same run. */
export interface CatalogFigures {
  readonly tools: number;
  readonly toolsPerSecond: number;
  /** Registering, over copying each definition into a map. */
  readonly registrationRatio: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  /** Plain BM25 that scores every tool. */
  readonly baselineP95Ms: number;
  readonly bytesPerTool: number;
}

/** What a measurement may be told. */
export interface MeasureOptions {
  /** Retrieval is measured so often and the best round counts: the machine may be busy with other things. */
  readonly rounds: number;
  readonly signal: AbortSignal;
  /** Called with the number of tools done so far. */
  readonly onProgress?: (done: number) => void;
}

const QUERIES = 100;

/** Tools registered before an interruption is noticed and the progress shown. */
const TURN = 1000;

/** Registers invented tools, retrieves for invented requests, and measures both. */
export async function measureCatalog(size: number, options: MeasureOptions): Promise<CatalogFigures> {
  const { rounds, signal } = options;
  const drafts = syntheticTools(size);
  const before = memoryUsed();
  await using arsenal = new ToolArsenal({ telemetry: { enabled: false } });
  const registrationMs = await register(arsenal, drafts, options);
  const bytesPerTool = Math.max(0, Math.round((memoryUsed() - before) / size));
  const copyMs = timeOf(
    () => new Map(drafts.map((draft) => [`${draft.namespace}.${draft.name}`, JSON.stringify(draft)])),
  );

  const plain = createPlainBm25(drafts);
  let best = { p50Ms: Infinity, p95Ms: Infinity };
  let baselineP95Ms = Infinity;
  for (let round = 0; round < rounds; round++) {
    const times: number[] = [];
    const plainTimes: number[] = [];
    for (const query of syntheticQueries(QUERIES)) {
      await nextTurn(); // lets Ctrl-C through
      signal.throwIfAborted();
      const started = performance.now();
      await arsenal.retrieve({ context: { query }, limit: 5, signal });
      times.push(performance.now() - started);
      plainTimes.push(timeOf(() => plain(query, 5)));
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
    bytesPerTool,
  };
}

async function register(
  arsenal: ToolArsenal,
  drafts: readonly ToolDraft[],
  { signal, onProgress }: MeasureOptions,
): Promise<number> {
  const started = performance.now();
  for (let start = 0; start < drafts.length; start += TURN) {
    await nextTurn();
    signal.throwIfAborted();
    await arsenal.addTools(drafts.slice(start, start + TURN).map((tool) => ({ tool })));
    onProgress?.(Math.min(start + TURN, drafts.length));
  }
  await arsenal.sync({ signal });
  return performance.now() - started;
}

function timeOf(work: () => unknown): number {
  const started = performance.now();
  work();
  return performance.now() - started;
}

/** Bytes in use once garbage is gone: without collecting first, growth is whatever the collector happened to do meanwhile. */
function memoryUsed(): number {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
