import { setImmediate as nextTurn } from "node:timers/promises";
import type { TierName } from "../../adapters/embedders/shipped-tiers.ts";
import { internalsOf, ToolArsenal } from "../../arsenal.ts";
import type { ToolDraft } from "../../tool/draft.ts";
import { measureRetrieval, timeOf } from "./measure-retrieval.ts";
import { memoryUsed } from "./memory-used.ts";
import { createPlainBm25 } from "./plain-bm25.ts";
import { syntheticQueries, syntheticTools } from "./synthetic-tools.ts";

/** The results for a catalog of one size, and the baselines of the same run. */
export type CatalogFigures = Awaited<ReturnType<typeof measureCatalog>>;

interface MeasureOptions {
  readonly tier: TierName;
  /** The number of rounds for retrieval, and for registration of few tools. The best round counts, because the machine may be busy. */
  readonly rounds: number;
  readonly signal: AbortSignal;
  /** Shows the progress of one part of the measurement. */
  readonly show: ShowProgress;
}

/** Runs work under a label, and displays how much of `total` is done. */
export type ShowProgress = <Result>(
  label: string,
  total: number,
  work: (onProgress: (done: number) => void) => Promise<Result>,
) => Promise<Result>;

const QUERIES = 100;

/** Larger catalogs are registered only once. */
const FEW = 10_000;

/** The number of tools that are registered between checks for an interrupt. */
const TURN = 1000;

/** Registers generated tools, runs generated requests, and measures both. */
export async function measureCatalog(size: number, options: MeasureOptions) {
  const { tier, rounds, signal, show } = options;
  const drafts = await inventTools(size, signal);
  const config = { telemetry: { enabled: false }, embedder: { tier, cache: false } } as const;
  const rehearsals = size <= FEW ? rounds - 1 : 0;
  let earlierMs = Infinity;
  for (let round = 0; round < rehearsals; round++) {
    await using rehearsal = new ToolArsenal(config);
    earlierMs = Math.min(earlierMs, await register(rehearsal, drafts, options));
  }
  const before = await memoryUsed();
  await using arsenal = new ToolArsenal(config);
  const registrationMs = Math.min(earlierMs, await register(arsenal, drafts, options));
  const bytesPerTool = Math.max(0, Math.round(((await memoryUsed()) - before) / size));
  const copyMs = timeOf(
    () => new Map(drafts.map((draft) => [`${draft.namespace}.${draft.name}`, JSON.stringify(draft)])),
  );
  await show("embedding", size, (update) =>
    internalsOf(arsenal).settled({ tier, signal, onProgress: (pending) => update(size - pending) }),
  );
  const retrieval = await show("searching", rounds * QUERIES, (onProgress) =>
    measureRetrieval({
      arsenal,
      plain: createPlainBm25(drafts),
      // Each round uses other requests, because an embedder may cache the previous ones.
      rounds: Array.from({ length: rounds }, (_, round) => syntheticQueries(QUERIES, round * QUERIES)),
      signal,
      onProgress,
    }),
  );
  return {
    tools: size,
    ...retrieval,
    /** Includes indexing until the tools can be found. The tuned tier indexes later. */
    toolsPerSecond: Math.round((size / registrationMs) * 1000),
    /** The baseline: copying each definition into a map. */
    copiedPerSecond: Math.round((size / copyMs) * 1000),
    /** Registration time over copy time. */
    registrationRatio: registrationMs / copyMs,
    bytesPerTool,
  };
}

/** Generates tools in turns. A million takes seconds, and an interrupt must not wait for them. */
async function inventTools(size: number, signal: AbortSignal): Promise<readonly ToolDraft[]> {
  const drafts: ToolDraft[] = [];
  while (drafts.length < size) {
    await nextTurn();
    signal.throwIfAborted();
    for (const draft of syntheticTools(Math.min(TURN * 10, size - drafts.length), drafts.length)) drafts.push(draft);
  }
  return drafts;
}

async function register(
  arsenal: ToolArsenal,
  drafts: readonly ToolDraft[],
  { signal, show }: MeasureOptions,
): Promise<number> {
  return show("registering", drafts.length, async (onProgress) => {
    const started = performance.now();
    for (let start = 0; start < drafts.length; start += TURN) {
      await nextTurn();
      signal.throwIfAborted();
      await arsenal.add(drafts.slice(start, start + TURN).map((tool) => ({ tool })));
      onProgress(Math.min(start + TURN, drafts.length));
    }
    await arsenal.sync({ signal });
    return performance.now() - started;
  });
}

/** Measures the engine's overhead for a tool that does nothing, relative to calling its function directly. In milliseconds per call. */
export async function measureEngine(calls: number, signal: AbortSignal, onProgress: (done: number) => void) {
  await using arsenal = new ToolArsenal({
    telemetry: { enabled: false },
    security: { maxRequestsPerMinute: 1_000_000 },
  });
  const handler = ({ text }: { readonly text?: string }): string | undefined => text;
  const schema = { type: "object", properties: { text: { type: "string" } } } as const;
  arsenal.register({ name: "nothing", description: "Returns what it was given.", parameters: schema }, handler);
  const call = { toolName: "nothing", arguments: { text: "hello" } };
  let done = 0;
  const time = async (run: () => unknown): Promise<number> => {
    const started = performance.now();
    for (let count = 0; count < calls; count++) await run();
    const tookMs = performance.now() - started;
    signal.throwIfAborted();
    onProgress((done += calls));
    return tookMs / calls;
  };
  await time(() => arsenal.execute(call)); // warm-up
  const directMs = await time(async () => handler({ text: "hello" }));
  const engineMs = await time(() => arsenal.execute(call));
  return { directMs, engineMs, overheadMs: engineMs - directMs };
}
