import { setImmediate as nextTurn } from "node:timers/promises";
import type { Clock } from "../../observe/clock.ts";
import type { Tool } from "../../tool/tool.ts";
import type { CatalogEngine } from "../catalog-engine.port.ts";
import type { Embedder } from "../embedder.port.ts";
import type { Embeddings } from "./embeddings.ts";
import { untilAborted } from "./until-aborted.ts";

/** Embeds tools while others work: what the embedder has at hand first, then the rest in small batches. */
export interface BackgroundIndexing {
  /** Puts tools into the line. Returns at once. */
  add(ids: Iterable<string>): void;
  /** Loads the model soon, if that has not been done. */
  load(): void;
  /**
   * Starts without further delay, and resolves when the line is empty or the embedder has failed. If more than `embedAtMost` tools remain after
   * recalling what the embedder has at hand, it resolves at once. Resolves to the number of tools still in the line.
   */
  wait(options?: WaitOptions): Promise<number>;
  /** Stops; resolves when nothing is under way any more. */
  close(): Promise<void>;
}

export interface WaitOptions {
  readonly signal?: AbortSignal;
  /** Defaults to no limit. */
  readonly embedAtMost?: number;
}

export interface BackgroundIndexingParts {
  readonly embedder: Embedder;
  readonly embeddings: Embeddings;
  readonly engine: Pick<CatalogEngine, "get">;
  readonly clock: Clock;
}

/** A program that ends sooner never pays for a model it has no use for. */
const DELAY_MS = 150;
const RECALLED_AT_ONCE = 256;
const EMBEDDED_AT_ONCE = 16;
/** After so many failed batches in a row the line waits for the next tools that come. */
const FAILURES_IN_A_ROW = 2;

export function createBackgroundIndexing(parts: BackgroundIndexingParts): BackgroundIndexing {
  const { embedder, embeddings, engine, clock } = parts;
  /** Tools not yet looked up, and those that must be computed. */
  const fresh = new Set<string>();
  const due = new Set<string>();
  const closing = new AbortController();
  const { signal } = closing;
  let started = false;
  let stalled = false;
  let cancelStart: (() => void) | undefined;
  let running: Promise<void> | undefined;
  let recalling: Promise<void> | undefined;

  function isIdle(): boolean {
    return running === undefined && fresh.size + due.size === 0 && cancelStart === undefined;
  }

  function start(): void {
    if (started) void run();
    else cancelStart ??= clock.after(DELAY_MS, () => void run(), { background: true });
  }

  /** The tools as they are now; those that are gone are left out. If the engine fails, they stay in the line. */
  async function take(from: Set<string>, count: number): Promise<readonly Tool[]> {
    const ids = [...from].slice(0, count);
    for (const id of ids) from.delete(id);
    try {
      return await engine.get(ids);
    } catch {
      for (const id of ids) from.add(id);
      stalled = true;
      return [];
    }
  }

  function recall(): Promise<void> {
    return (recalling ??= recallFresh().finally(() => (recalling = undefined)));
  }

  async function recallFresh(): Promise<void> {
    while (fresh.size > 0 && !signal.aborted && !stalled) {
      const unknown = await embeddings.recall(await take(fresh, RECALLED_AT_ONCE));
      for (const { id } of unknown) if (!fresh.has(id)) due.add(id);
      await nextTurn();
    }
  }

  async function work(): Promise<void> {
    await recall();
    if (signal.aborted || stalled) return;
    // Loads the model where that is still to be done: requests need it even if every tool's vector was at hand. Nothing keeps the process
    // alive for it, so closing must not wait for it.
    if (!(await untilAborted(embedder.healthCheck({ signal, background: true }), signal))) {
      stalled = true;
      if (!signal.aborted)
        embeddings.failed(`The embedder ${embedder.model} is not used`, new Error("it cannot be loaded"));
      return;
    }
    for (let failures = 0; due.size > 0 && !signal.aborted;) {
      await recall();
      const batch = await take(due, EMBEDDED_AT_ONCE);
      if (await embeddings.embed(batch, { signal, background: true })) failures = 0;
      else if (++failures === FAILURES_IN_A_ROW) stalled = true;
      if (stalled) return;
    }
  }

  function run(): Promise<void> {
    started = true;
    stalled = false;
    cancelStart?.();
    cancelStart = undefined;
    running ??= work()
      .catch(() => {}) // only closing ends an embedding from outside
      .finally(() => {
        running = undefined;
        if (!signal.aborted && !stalled && fresh.size + due.size > 0) void run();
      });
    return running;
  }

  return {
    add(ids) {
      if (signal.aborted) return;
      for (const id of ids) {
        due.delete(id);
        fresh.add(id);
      }
      if (fresh.size > 0) start();
    },
    load() {
      if (embedder.ready === false && !started && !signal.aborted) start();
    },
    async wait({ signal: given, embedAtMost = Infinity } = {}) {
      const alive = setInterval(() => {}, 1 << 30); // who waits keeps the process alive; the work itself does not
      try {
        if (isIdle()) return 0;
        if (embedAtMost < Infinity) {
          await untilAborted(recall(), given);
          if (due.size > embedAtMost) return due.size;
        }
        // Runs even if every vector was recalled: requests need the model too.
        do {
          await untilAborted(run(), given);
        } while (!signal.aborted && !stalled && !isIdle());
        return fresh.size + due.size;
      } finally {
        clearInterval(alive);
      }
    },
    async close() {
      closing.abort(new Error("closed"));
      cancelStart?.();
      await running;
    },
  };
}
