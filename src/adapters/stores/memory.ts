import type { ToolStore } from "../../catalog/tool-store.port.ts";
import { ArsenalError, isArsenalError } from "../../errors/arsenal-error.ts";
import { type Clock, systemClock } from "../../observe/clock.ts";
import type { Tool } from "../../tool/tool.ts";
import { snapshotFile } from "./snapshot-file.ts";

export interface MemoryOptions {
  /** A file the tools are kept in between runs. None where absent. */
  readonly snapshot?: string;
  readonly clock?: Clock;
}

/** How long changes are gathered before they are written, in milliseconds. A process that is killed loses at most these. */
const GATHER_MS = 100;

/** Keeps tools in memory and, with `snapshot`, in one file that outlives the process. Changes are written shortly after, and on `close`. */
export function memory(options: MemoryOptions = {}): ToolStore {
  const clock = options.clock ?? systemClock;
  const file = options.snapshot === undefined ? undefined : snapshotFile(options.snapshot);
  let tools = new Map<string, Tool>();
  /** Each tool as it stands in the file, so that a change to one does not write out the others anew. */
  let lines = new Map<string, string>();
  let sorted: readonly Tool[] | undefined;

  let state: "new" | "open" | "closed" = "new";
  let opening: Promise<void> | undefined;
  let dirty = false;
  let cancelTimer: (() => void) | undefined;
  let writing: Promise<void> | undefined;
  let failed = false;

  async function load(): Promise<void> {
    const found = (await file?.read()) ?? [];
    tools = new Map();
    lines = new Map();
    for (const line of found) {
      const tool = JSON.parse(line) as Tool;
      tools.set(tool.id, tool);
      lines.set(tool.id, line);
    }
    sorted = undefined;
    dirty = false;
    state = "open";
  }

  function assertUsable(): void {
    if (state === "open" || (state === "new" && !file)) return;
    const why = state === "new" ? "is not open yet. Call open() first." : "was closed. Call open() to use it again.";
    throw new ArsenalError(state === "new" ? "STORE_FAILED" : "CLOSED", `The memory store ${why}`, {
      fix: "Call open() first.",
    });
  }

  function scheduleWrite(): void {
    if (!file) return;
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
    if (!file) return;
    while (dirty || writing) {
      writing ??= writeOnce(file.write).finally(() => (writing = undefined));
      await writing;
    }
  }

  async function writeOnce(write: (lines: readonly string[]) => Promise<void>): Promise<void> {
    dirty = false;
    try {
      await write([...lines.values()]);
      failed = false;
    } catch (error) {
      dirty = true;
      failed = true;
      throw error;
    }
  }

  /** A write that failed in the background is tried again first: the caller must not believe in a store that keeps nothing. */
  async function prepareChange(signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    assertUsable();
    if (failed) await flush();
  }

  return {
    open({ signal } = {}) {
      if (signal?.aborted) return Promise.reject(signal.reason);
      if (state === "open") return Promise.resolve();
      opening ??= load().finally(() => (opening = undefined));
      return opening;
    },

    async put(added, { signal } = {}) {
      await prepareChange(signal);
      const written = file ? added.map((tool) => [tool.id, lineOf(tool)] as const) : [];
      for (const tool of added) tools.set(tool.id, tool);
      for (const [id, line] of written) lines.set(id, line);
      sorted = undefined;
      if (added.length > 0) scheduleWrite();
    },

    async get(ids, { signal } = {}) {
      signal?.throwIfAborted();
      assertUsable();
      return ids.flatMap((id) => tools.get(id) ?? []);
    },

    async delete(ids, { signal } = {}) {
      await prepareChange(signal);
      let count = 0;
      for (const id of ids) {
        if (tools.delete(id)) count++;
        lines.delete(id);
      }
      if (count > 0) {
        sorted = undefined;
        scheduleWrite();
      }
      return count;
    },

    async list({ namespace, limit, offset = 0, signal } = {}) {
      signal?.throwIfAborted();
      assertUsable();
      sorted ??= [...tools.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
      const wanted = namespace === undefined ? sorted : sorted.filter((tool) => tool.namespace === namespace);
      return wanted.slice(offset, limit === undefined ? undefined : offset + limit);
    },

    async count({ namespace, signal } = {}) {
      signal?.throwIfAborted();
      assertUsable();
      if (namespace === undefined) return tools.size;
      let count = 0;
      for (const tool of tools.values()) if (tool.namespace === namespace) count++;
      return count;
    },

    async healthCheck() {
      return !failed && (state === "open" || (state === "new" && !file));
    },

    async close() {
      if (state !== "open") return;
      await flush();
      state = "closed";
    },
  };
}

function lineOf(tool: Tool): string {
  try {
    return JSON.stringify(tool);
  } catch (cause) {
    const reason = isArsenalError(cause) || cause instanceof Error ? cause.message : String(cause);
    throw new ArsenalError(
      "STORE_FAILED",
      `Tool ${tool.id} cannot be kept in the snapshot: ${reason}. Make it plain JSON data.`,
      { field: tool.id, fix: "Make the tool plain JSON data.", cause },
    );
  }
}
