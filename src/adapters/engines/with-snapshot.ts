import type { CatalogEngine } from "../../catalog/catalog-engine.port.ts";
import type { MemoryEngine } from "../../catalog/memory-image.ts";
import { messageOf } from "../../errors/show-value.ts";
import type { Clock } from "../../observe/clock.ts";
import type { Tool } from "../../tool/tool.ts";
import type { Surroundings } from "../surroundings.ts";
import { notOpen } from "./handle.ts";
import type { SnapshotFile, SnapshotLines } from "./snapshot-file.ts";
import { type SnapshotImage, snapshotIndex } from "./snapshot-index.ts";
import { toJson } from "./stored-text.ts";

/** How long changes are collected before they are written, in milliseconds. A killed process loses at most these changes. */
const GATHER_MS = 100;
/** The index is written less often, because it is large and can be rebuilt. */
const GATHER_INDEX_MS = 10_000;
/** Writing the index takes at most 1/20 of the time. */
const INDEX_SHARE = 20;

/** Stores an engine's tools in a file, and its index in a second file next to it. Both are written shortly after each change, and on closing. */
export function withSnapshot(
  engine: MemoryEngine,
  file: SnapshotFile,
  { clock, emit }: Pick<Surroundings, "clock" | "emit">,
): CatalogEngine {
  const indexFile = `${file.path}.index`;
  const index = snapshotIndex(indexFile, file.replace);
  /** Each tool's line in the file, in order, so one change does not rewrite the others. */
  const lines = new Map<string, Buffer>();
  /** Fills the lines of a restored index, which are needed on the first change. */
  let restoredLines: (() => void) | undefined;
  let state: "new" | "open" | "closed" = "new";
  let opening: Promise<void> | undefined;
  /** The number of completed changes, and of changes in progress. */
  let changes = 0;
  let underWay = 0;
  /** The checksum of the file on disk, and the last change in it. */
  let written: { readonly checksum: string; readonly changes: number } | undefined;
  let indexTookMs = 0;
  const toolsWriter = createWriter(clock, { write: writeTools, waitMs: () => GATHER_MS });
  const indexWriter = createWriter(clock, {
    write: writeIndex,
    waitMs: () => Math.max(GATHER_INDEX_MS, INDEX_SHARE * indexTookMs),
    background: true,
  });

  async function load(): Promise<void> {
    const [found, saved] = await Promise.all([file.read(), index.read()]);
    await engine.open();
    if (found?.restored !== undefined) emit("snapshot-failed", { file: file.path, message: found.restored });
    if (found === undefined || saved === undefined || (await engine.count()) > 0) await readLines(found);
    else if ("problem" in saved) await rebuild(found, saved.problem);
    else if (saved.tools !== found.checksum) await rebuild(found, "belongs to other tools", saved.image);
    else if (!restore(found, saved.image))
      await rebuild(found, "was made by another version of toolarsenal", saved.image);
    written = found && { checksum: found.checksum, changes };
    state = "open";
  }

  /** Restores the index. Tools are parsed on first use. */
  function restore({ bytes }: SnapshotLines, image: SnapshotImage): boolean {
    const { starts, ends } = image.lines;
    const read = (slot: number): Tool => JSON.parse(bytes.toString("utf8", starts[slot], ends[slot])) as Tool;
    const ids = engine.restore(image, read);
    if (ids === undefined) return false;
    restoredLines = () => {
      const slots = [...ids.keys()].sort((a, b) => (starts[a] ?? 0) - (starts[b] ?? 0));
      for (const slot of slots) {
        const id = ids[slot];
        if (id !== undefined) lines.set(id, bytes.subarray(starts[slot], (ends[slot] ?? 0) + 1));
      }
    };
    return true;
  }

  /** Indexes the tools again. Keeps the vectors of unchanged tools. */
  async function rebuild(found: SnapshotLines, problem: string, image?: SnapshotImage): Promise<void> {
    await readLines(found);
    if (image) await engine.adoptVectors(image);
    indexWriter.later();
    const message = `The index ${indexFile} ${problem}. The tools were indexed again from ${file.path}. No tool is lost, and the index is written again.`;
    emit("snapshot-failed", { file: indexFile, message });
  }

  async function readLines(found: SnapshotLines | undefined): Promise<void> {
    const tools: Tool[] = [];
    const before = new Set(allLines().keys());
    lines.clear();
    const bytes = found?.bytes ?? Buffer.alloc(0);
    for (let start = 0; start < bytes.length;) {
      const line = bytes.subarray(start, bytes.indexOf(10, start) + 1);
      const tool = JSON.parse(line.toString()) as Tool;
      tools.push(tool);
      before.delete(tool.id);
      lines.set(tool.id, line);
      start += line.length;
    }
    await engine.delete([...before]);
    await engine.put(tools);
    if (tools.length > 0) indexWriter.later();
  }

  function allLines(): Map<string, Buffer> {
    restoredLines?.();
    restoredLines = undefined;
    return lines;
  }

  function assertOpened(): void {
    if (state === "new") throw notOpen("memory", false);
  }

  async function writeTools(): Promise<void> {
    const at = changes;
    written = { checksum: await file.write([...allLines().values()]), changes: at };
  }

  /** Writes the index of the tools on disk. Failures are only reported, because the index only saves time. */
  async function writeIndex(): Promise<void> {
    const startedAt = clock.now();
    try {
      await toolsWriter.flush();
      const { take, write } = index.begin();
      const ids = await engine.save(take);
      // The tools have changed meanwhile, so the next write includes them.
      if (written === undefined || written.changes !== changes || underWay > 0) return indexWriter.later();
      take({ lines: linesOf(ids) });
      await write(written.checksum);
    } catch (error) {
      emit("snapshot-failed", { file: indexFile, message: messageOf(error) });
      throw error;
    } finally {
      indexTookMs = clock.now() - startedAt;
    }
  }

  /** Returns the start and end of each tool's line in the file, by slot. */
  function linesOf(ids: readonly (string | undefined)[]): SnapshotImage["lines"] {
    const places = new Map<string, number>();
    const starts = new Uint32Array(ids.length);
    const ends = new Uint32Array(ids.length);
    ids.forEach((id, slot) => id !== undefined && places.set(id, slot));
    let position = 0;
    for (const [id, line] of allLines()) {
      const slot = places.get(id) ?? -1;
      starts[slot] = position;
      position += line.length;
      ends[slot] = position - 1;
    }
    return { starts, ends };
  }

  /** Retries a failed background write first, so no caller relies on an unwritten snapshot. */
  async function change<Outcome>(signal: AbortSignal | undefined, step: () => Promise<Outcome>): Promise<Outcome> {
    signal?.throwIfAborted();
    assertOpened();
    if (toolsWriter.failed) await toolsWriter.flush();
    underWay++;
    try {
      return await step();
    } finally {
      underWay--;
    }
  }

  function changed(): void {
    changes++;
    toolsWriter.later();
    indexWriter.later();
  }

  return {
    ...engine,

    open({ signal } = {}) {
      if (signal?.aborted) return Promise.reject(signal.reason);
      if (state === "open") return Promise.resolve();
      opening ??= load().finally(() => (opening = undefined));
      return opening;
    },

    put: (tools, options = {}) =>
      change(options.signal, async () => {
        const fresh = tools
          .filter(({ id, contentHash }) => engine.hashOf(id) !== contentHash)
          .map((tool) => [tool.id, Buffer.from(`${toJson(tool)}\n`)] as const);
        const outcome = await engine.put(tools, options);
        if (outcome.changed.length === 0) return outcome;
        for (const [id, line] of fresh) allLines().set(id, line);
        changed();
        return outcome;
      }),

    delete: (ids, options = {}) =>
      change(options.signal, async () => {
        const count = await engine.delete(ids, options);
        if (count === 0) return count;
        for (const id of ids) allLines().delete(id);
        changed();
        return count;
      }),

    async putVectors(model, entries, options) {
      await engine.putVectors(model, entries, options);
      indexWriter.later();
    },

    async deleteVectors(model, options) {
      await engine.deleteVectors(model, options);
      indexWriter.later();
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
      return !toolsWriter.failed && state === "open" && (await engine.healthCheck(options));
    },

    async close() {
      if (state !== "open") return;
      await toolsWriter.flush();
      await engine.close();
      // Another change may have arrived meanwhile.
      await toolsWriter.flush();
      await indexWriter.flush().catch(() => {});
      indexWriter.stop();
      state = "closed";
    },
  };
}

/** Writes some time after a request, one write at a time. Ignores errors of background writes; the next write retries. */
function createWriter(
  clock: Clock,
  how: { readonly write: () => Promise<void>; readonly waitMs: () => number; readonly background?: boolean },
) {
  const { write, waitMs, background = false } = how;
  let cancelTimer: (() => void) | undefined;
  let writing: Promise<void> | undefined;
  let isDue = false;
  let failed = false;

  async function writeOnce(): Promise<void> {
    isDue = false;
    try {
      await write();
      failed = false;
    } catch (error) {
      isDue = failed = true;
      throw error;
    }
  }

  function stop(): void {
    cancelTimer?.();
    cancelTimer = undefined;
  }

  /** Writes pending changes. Callers during a write share the next write. */
  async function flush(): Promise<void> {
    stop();
    await writing?.catch(() => {});
    if (isDue || writing) await (writing ??= writeOnce().finally(() => (writing = undefined)));
  }

  return {
    get failed() {
      return failed;
    },
    later(): void {
      isDue = true;
      cancelTimer ??= clock.after(waitMs(), () => void flush().catch(() => {}), { background });
    },
    flush,
    stop,
  };
}
