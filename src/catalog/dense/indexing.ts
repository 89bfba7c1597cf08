import { setImmediate as nextTurn } from "node:timers/promises";
import type { Clock } from "../../observe/clock.ts";
import type { Tool } from "../../tool/tool.ts";
import type { CatalogEngine } from "../catalog-engine.port.ts";
import type { Embedder } from "../embedder.port.ts";
import type { Exclusively } from "../exclusively.ts";
import { type Embeddings, vectorsName } from "./embeddings.ts";
import { pause, untilAborted } from "../../base/turns/until-aborted.ts";

/** The delay before a model is loaded, in milliseconds. Short-lived programs then never load a model that they do not need. */
const DELAY_MS = 150;
/** The polling interval while another process embeds, in milliseconds. */
const LOOK_MS = 500;
/** The maximum time that requests wait for a model whose vectors are available, in milliseconds. */
const WARM_MS = 3_000;
const PAGE = 1000;
/** The interval of progress reports to a waiting caller, in milliseconds. */
const REPORT_MS = 100;
/** The number of this process's tools that are looked up at once. */
const TURN = 256;
/** The maximum number of failed tools per page that are retried, one by one. */
const RETRIED = 64;

/** Embeds tools without vectors in the background. Uses the embedder's cached vectors first. */
export function createIndexing({
  embedder,
  embeddings,
  engine,
  clock,
  exclusively,
  first,
}: {
  readonly embedder: Embedder;
  readonly embeddings: Embeddings;
  readonly engine: Pick<CatalogEngine, "get" | "withoutVectors">;
  readonly clock: Clock;
  /** Present if other processes share the engine. One process at a time embeds the tools of all. */
  readonly exclusively?: Exclusively | undefined;
  /** True if requests wait until the model is loaded. Otherwise it is loaded in the background. */
  readonly first: boolean;
}) {
  const name = vectorsName(embedder);
  const { missing } = embeddings;
  /** Tools that this process failed to embed: content hashes by id. */
  const failed = new Map<string, string>();
  const closing = new AbortController();
  const { signal } = closing;
  let asked = 0;
  let cancelStart: (() => void) | undefined;
  let running: Promise<void> | undefined;
  /** The value of `asked` when cached vectors were last looked up for a search. */
  let warmed = 0;
  let warming: Promise<void> | undefined;

  /** Yields pages of ids without vectors. Does not query an engine that has a single writer. */
  async function* lacking(): AsyncGenerator<readonly string[]> {
    if (exclusively) return yield* withoutVectors(engine, name, signal);
    const ids = [...missing.keys()];
    for (let start = 0; start < ids.length; start += TURN) yield ids.slice(start, start + TURN);
  }

  /** Updates `missing` from the engine. */
  async function look(): Promise<void> {
    const found = new Set<string>();
    for await (const ids of withoutVectors(engine, name, signal)) {
      const unknown = ids.filter((id) => !missing.has(id));
      if (unknown.length > 0) embeddings.expect(await engine.get(unknown));
      for (const id of ids) found.add(id);
    }
    embeddings.forget([...missing.keys()].filter((id) => !found.has(id)));
  }

  async function recallLacking(held: AbortSignal): Promise<void> {
    if (!embedder.recall) return;
    for await (const ids of lacking()) {
      held.throwIfAborted();
      await embeddings.recall(await engine.get(ids));
      await nextTurn();
    }
  }

  async function embedLacking(held: AbortSignal): Promise<void> {
    await recallLacking(held);
    const hasFailed = ({ id, contentHash }: Tool): boolean => failed.get(id) === contentHash;
    for await (const ids of lacking()) {
      held.throwIfAborted();
      const tools = await engine.get(ids);
      const fresh = tools.filter((tool) => !hasFailed(tool));
      const works = await embeddings.embed(fresh, { signal: held, background: !first });
      if (works) await embeddings.retry(tools.filter(hasFailed).slice(0, RETRIED), held);
      for (const { id, contentHash } of tools) {
        if (missing.get(id) === contentHash) failed.set(id, contentHash);
        else failed.delete(id);
      }
      if (!works) return;
    }
  }

  async function canEmbed(): Promise<boolean> {
    if (first) return true;
    // Loads the model, because requests need it even if every tool has a vector. Closing does not wait for it.
    if (await untilAborted(embedder.healthCheck({ signal, background: true }), signal)) return true;
    embeddings.failed(`The embedder ${embedder.model} is not used`, new Error("it cannot be loaded"));
    return false;
  }

  /** Takes one turn. Returns false if another process has the turn and tools remain without vectors. */
  async function turn(): Promise<boolean> {
    if (!exclusively) return embedLacking(signal).then(() => true);
    const outcome = await exclusively(`embed:${name}`, embedLacking, signal);
    if (outcome !== "done" || missing.size > 0) await look();
    return outcome !== "taken" || missing.size === 0;
  }

  async function work(): Promise<void> {
    try {
      // Cached vectors become useful once the embedder is available again.
      if (!exclusively) await recallLacking(signal);
      if (!(await canEmbed())) return;
      for (let done = -1; done !== asked;) {
        const now = asked;
        if (await turn()) done = now;
        else await pause(LOOK_MS, clock, { signal, background: true });
      }
    } catch {
      // The engine failed or is closing. The next call of `add` retries.
    } finally {
      running = undefined; // in the same turn as the last read of `asked`, so that no request is lost
    }
  }

  function run(): Promise<void> {
    cancelStart?.();
    cancelStart = undefined;
    return (running ??= work());
  }

  function add(): void {
    asked++;
    if (signal.aborted || running !== undefined) return;
    cancelStart ??= clock.after(DELAY_MS, () => void run(), { background: true });
  }

  async function warmUp(knowsEnough: () => boolean): Promise<void> {
    const now = asked;
    const bound = new AbortController();
    try {
      if (!exclusively && missing.size > 0) await recallLacking(signal);
      if (embedder.ready !== false || !knowsEnough()) return;
      const loaded = embedder.healthCheck({ signal });
      await Promise.race([loaded, pause(WARM_MS, clock, { signal: AbortSignal.any([signal, bound.signal]) })]);
    } catch {
      // The background work reports the error.
    } finally {
      bound.abort();
      warmed = now;
      warming = undefined;
    }
  }

  return {
    add,
    /**
     * Before a search, stores the vectors that the embedder has cached, and waits for the model if they are enough to answer. Returns undefined if
     * this was already done for all current tools.
     */
    warm(knowsEnough: () => boolean): Promise<void> | undefined {
      if (first || warmed === asked || signal.aborted) return undefined;
      return (warming ??= warmUp(knowsEnough));
    },
    /** Schedules loading the model, unless it is loaded. */
    load() {
      if (embedder.ready === false) add();
    },
    /** Finds the engine's tools without vectors. The first tier embeds them immediately, unless another process already does. */
    async begin() {
      if (first) await turn().catch(() => false);
      else await look().catch(() => {});
      if (missing.size > 0) add();
    },
    /**
     * Starts immediately, and resolves when no vector is missing or the embedder has failed. Resolves early if, after cached vectors are used, more
     * than `embedAtMost` tools remain. Resolves to the number of tools without vectors.
     */
    async wait({
      signal: given,
      embedAtMost = Infinity,
      onProgress,
    }: {
      readonly signal?: AbortSignal | undefined;
      readonly embedAtMost?: number;
      readonly onProgress?: (pending: number) => void;
    }): Promise<number> {
      if (running === undefined && cancelStart === undefined && missing.size === 0) return 0;
      const report = (): void => onProgress?.(missing.size);
      // A waiting caller keeps the process alive; the background work does not.
      const alive = setInterval(report, onProgress === undefined ? 1 << 30 : REPORT_MS);
      report();
      try {
        if (embedAtMost < Infinity)
          await untilAborted(exclusively ? look() : recallLacking(signal).catch(() => {}), given);
        if (missing.size > embedAtMost) return missing.size;
        await untilAborted(run(), given);
        return missing.size;
      } finally {
        clearInterval(alive);
        report();
      }
    },
    /** Stops. Resolves when no work is running. */
    async close() {
      closing.abort(new Error("closed"));
      cancelStart?.();
      await running;
    },
  };
}

/** Yields the ids of tools without vectors of a model, page by page. */
export async function* withoutVectors(
  engine: Pick<CatalogEngine, "withoutVectors">,
  model: string,
  signal?: AbortSignal,
): AsyncGenerator<readonly string[]> {
  for (let after = ""; ;) {
    const page = await engine.withoutVectors(model, { after, limit: PAGE, ...(signal && { signal }) });
    if (page.length > 0) yield page;
    if (page.length < PAGE) return;
    after = page.at(-1) ?? "";
  }
}
