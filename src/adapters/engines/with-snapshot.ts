import type { CatalogEngine } from "../../catalog/catalog-engine.port.ts";
import { ArsenalError } from "../../errors/arsenal-error.ts";
import type { Clock } from "../../observe/clock.ts";
import type { Tool } from "../../tool/tool.ts";
import type { SnapshotFile } from "./snapshot-file.ts";

/** How long changes are gathered before they are written, in milliseconds. A process that is killed loses at most these. */
const GATHER_MS = 100;

/** Keeps an engine's tools in a file too. They are read when it is opened, and written shortly after each change. */
export function withSnapshot(engine: CatalogEngine, file: SnapshotFile, clock: Clock): CatalogEngine {
  /** Each tool as it stands in the file, so that changing one does not write the others anew. */
  const lines = new Map<string, string>();
  let state: "new" | "open" | "closed" = "new";
  let opening: Promise<void> | undefined;
  let dirty = false;
  let cancelTimer: (() => void) | undefined;
  let writing: Promise<void> | undefined;
  let failed = false;

  async function load(): Promise<void> {
    const found = (await file.read()).map((line) => ({ line, tool: JSON.parse(line) as Tool }));
    await engine.open();
    const kept = new Set(found.map(({ tool }) => tool.id));
    await engine.delete([...lines.keys()].filter((id) => !kept.has(id)));
    lines.clear();
    for (const { line, tool } of found) lines.set(tool.id, line);
    await engine.put(found.map(({ tool }) => tool));
    dirty = false;
    state = "open";
  }

  function assertOpened(): void {
    if (state !== "new") return;
    throw new ArsenalError("STORE_FAILED", "The memory engine is not open yet. Call open() first.", {
      fix: "Call open() first.",
    });
  }

  function scheduleWrite(): void {
    dirty = true;
    cancelTimer ??= clock.after(GATHER_MS, () => {
      cancelTimer = undefined;
      flush().catch(() => {
        // Kept in `failed`: the next change tries again and reports it.
      });
    });
  }

  /** Writes until nothing is left to write. One write at a time; those who ask meanwhile share the next. */
  async function flush(): Promise<void> {
    cancelTimer?.();
    cancelTimer = undefined;
    while (dirty || writing) {
      writing ??= writeOnce().finally(() => (writing = undefined));
      await writing;
    }
  }

  async function writeOnce(): Promise<void> {
    dirty = false;
    try {
      await file.write([...lines.values()]);
      failed = false;
    } catch (error) {
      dirty = true;
      failed = true;
      throw error;
    }
  }

  /** A write that failed in the background is retried first, so that nobody relies on a snapshot that is not written. */
  async function prepareChange(signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    assertOpened();
    if (failed) await flush();
  }

  return {
    ...engine,

    open({ signal } = {}) {
      if (signal?.aborted) return Promise.reject(signal.reason);
      if (state === "open") return Promise.resolve();
      opening ??= load().finally(() => (opening = undefined));
      return opening;
    },

    async put(tools, options = {}) {
      await prepareChange(options.signal);
      const known = await engine.get(tools.map(({ id }) => id));
      const hashes = new Map(known.map(({ id, contentHash }) => [id, contentHash]));
      const changed = tools.filter(({ id, contentHash }) => hashes.get(id) !== contentHash);
      const written = changed.map((tool) => [tool.id, lineOf(tool)] as const);
      const outcome = await engine.put(tools, options);
      for (const [id, line] of written) lines.set(id, line);
      if (outcome.changed.length > 0) scheduleWrite();
      return outcome;
    },

    async delete(ids, options = {}) {
      await prepareChange(options.signal);
      const count = await engine.delete(ids, options);
      for (const id of ids) lines.delete(id);
      if (count > 0) scheduleWrite();
      return count;
    },

    async get(ids, options) {
      assertOpened();
      return engine.get(ids, options);
    },

    async list(query) {
      assertOpened();
      return engine.list(query);
    },

    async healthCheck(options) {
      return !failed && state === "open" && (await engine.healthCheck(options));
    },

    async close() {
      if (state !== "open") return;
      await flush();
      await engine.close();
      // A change may have come in meanwhile.
      await flush();
      state = "closed";
    },
  };
}

function lineOf(tool: Tool): string {
  try {
    return JSON.stringify(tool);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const fix = "Make the tool plain JSON data.";
    throw new ArsenalError("STORE_FAILED", `Tool ${tool.id} cannot be written to the snapshot: ${reason}. ${fix}`, {
      field: tool.id,
      fix,
      cause,
    });
  }
}
