import { setImmediate as nextTurn } from "node:timers/promises";
import type { ToolArsenal } from "../../arsenal.ts";
import { percentile } from "../../eval/metrics.ts";

/** The latency of requests, and of plain BM25 in the same run, in milliseconds. */
export interface RetrievalFigures {
  readonly tier: string;
  readonly p50Ms: number;
  readonly p95Ms: number;
  /** Processor time per request over all threads, which is more reliable than the clock on a busy machine. */
  readonly cpuMs: number;
  /** Plain BM25 that scores every tool. */
  readonly baselineP50Ms: number;
  readonly baselineP95Ms: number;
}

/** The baseline is slow with many tools, so it answers only this many requests per round. */
const MOST_BASELINE = 25;
const LIMIT = 5;

/** Measures each request, alternating with the baseline. */
export async function measureRetrieval(parts: {
  readonly arsenal: Pick<ToolArsenal, "retrieve">;
  readonly plain: (query: string, limit: number) => unknown;
  /** Requests of each round. The best round counts, because the machine may be busy. */
  readonly rounds: readonly (readonly string[])[];
  readonly signal: AbortSignal;
  /** Called with the number of completed requests, outside the measured time. */
  readonly onProgress?: (done: number) => void;
}): Promise<RetrievalFigures> {
  const { arsenal, plain, rounds, signal, onProgress } = parts;
  let done = 0;
  let best: RetrievalFigures | undefined;
  let baselineP50Ms = Infinity;
  let baselineP95Ms = Infinity;
  for (const requests of rounds) {
    const times: number[] = [];
    const plainTimes: number[] = [];
    const every = Math.max(1, Math.floor(requests.length / MOST_BASELINE));
    let cpuMicroseconds = 0;
    let tier = "";
    for (const [index, query] of requests.entries()) {
      await nextTurn(); // allows Ctrl-C
      signal.throwIfAborted();
      const cpuBefore = process.cpuUsage();
      const started = performance.now();
      const result = await arsenal.retrieve({ context: { query }, limit: LIMIT, signal });
      times.push(performance.now() - started);
      const { user, system } = process.cpuUsage(cpuBefore);
      cpuMicroseconds += user + system;
      tier = result.tier;
      if (index % every === 0) plainTimes.push(timeOf(() => plain(query, LIMIT)));
      onProgress?.(++done);
    }
    baselineP50Ms = Math.min(baselineP50Ms, percentile(plainTimes, 0.5));
    baselineP95Ms = Math.min(baselineP95Ms, percentile(plainTimes, 0.95));
    const p95Ms = percentile(times, 0.95);
    if (best && best.p95Ms <= p95Ms) continue;
    const cpuMs = cpuMicroseconds / 1000 / Math.max(times.length, 1);
    best = { tier, p50Ms: percentile(times, 0.5), p95Ms, cpuMs, baselineP50Ms, baselineP95Ms };
  }
  if (!best) throw new RangeError("A measurement needs a round of requests.");
  return { ...best, baselineP50Ms, baselineP95Ms };
}

export function timeOf(work: () => unknown): number {
  const started = performance.now();
  work();
  return performance.now() - started;
}
