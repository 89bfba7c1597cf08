import { setImmediate as nextTurn } from "node:timers/promises";
import type { Clock } from "../../observe/clock.ts";
import type { Tool } from "../../tool/tool.ts";
import type { Embedder } from "../embedder.port.ts";
import type { Embeddings } from "./embeddings.ts";
import { untilAborted } from "./until-aborted.ts";

/** Embeds tools while others work: what the embedder has at hand first, then the rest in small batches. */
export interface BackgroundIndexing {
  /** True where nothing is left to do, or nothing can be done. */
  readonly idle: boolean;
  /** Puts tools into the line. Returns at once. */
  add(tools: readonly Tool[]): void;
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
  /** Whether a tool is in the catalog as it is here. */
  readonly isCurrent: (tool: Tool) => boolean;
  readonly clock: Clock;
}

/** A program that ends sooner never pays for a model it has no use for. */
const DELAY_MS = 150;
const RECALLED_AT_ONCE = 256;
const EMBEDDED_AT_ONCE = 16;
/** After so many failed batches in a row the line waits for the next tools that come. */
const FAILURES_IN_A_ROW = 2;

export function createBackgroundIndexing(parts: BackgroundIndexingParts): BackgroundIndexing {
  const { embedder, embeddings, isCurrent, clock } = parts;
  /** Tools not yet looked up, and those that must be computed. */
  const fresh = new Map<string, Tool>();
  const due = new Map<string, Tool>();
  const closing = new AbortController();
  const { signal } = closing;
  let started = false;
  let stalled = false;
  let cancelStart: (() => void) | undefined;
  let running: Promise<void> | undefined;
  let recalling: Promise<void> | undefined;

  function isIdle(): boolean {
    return running === undefined && fresh.size + due.size === 0;
  }

  function take(from: Map<string, Tool>, count: number): readonly Tool[] {
    const taken: Tool[] = [];
    for (const [id, tool] of from) {
      if (taken.length === count) break;
      from.delete(id);
      if (isCurrent(tool)) taken.push(tool);
    }
    return taken;
  }

  function recall(): Promise<void> {
    return (recalling ??= recallFresh().finally(() => (recalling = undefined)));
  }

  async function recallFresh(): Promise<void> {
    while (fresh.size > 0 && !signal.aborted) {
      const unknown = await embeddings.recall(take(fresh, RECALLED_AT_ONCE), isCurrent);
      for (const tool of unknown) if (!fresh.has(tool.id)) due.set(tool.id, tool);
      await nextTurn();
    }
  }

  async function work(): Promise<void> {
    await recall();
    if (signal.aborted) return;
    // Loads the model where that is still to be done: requests need it even where every tool's vector was at hand. Nothing keeps the process
    // alive for it, so whoever closes must not wait for it.
    if (!(await untilAborted(embedder.healthCheck({ signal, background: true }), signal))) {
      stalled = true;
      if (!signal.aborted)
        embeddings.failed(`The embedder ${embedder.model} is not used`, new Error("it cannot be loaded"));
      return;
    }
    for (let failures = 0; due.size > 0 && !signal.aborted;) {
      await recall();
      const batch = take(due, EMBEDDED_AT_ONCE);
      if (await embeddings.embed(batch, { signal, isCurrent, background: true })) failures = 0;
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
    get idle() {
      return running === undefined && (stalled || fresh.size + due.size === 0);
    },
    add(tools) {
      if (tools.length === 0 || signal.aborted) return;
      for (const tool of tools) {
        due.delete(tool.id);
        fresh.set(tool.id, tool);
      }
      if (started) void run();
      else cancelStart ??= clock.after(DELAY_MS, () => void run(), { background: true });
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
