import type { CatalogEngine } from "../../catalog/catalog-engine.port.ts";
import type { MemoryEngine } from "../../catalog/memory-image.ts";
import type { Tool } from "../../tool/tool.ts";
import type { Surroundings } from "../surroundings.ts";
import { notOpen } from "./handle.ts";
import type { SnapshotFile, SnapshotLines } from "./snapshot-file.ts";
import { type SnapshotImage, snapshotIndex } from "./snapshot-index.ts";
import { toJson } from "./stored-text.ts";

/** How long changes are gathered before they are written, in milliseconds. A process that is killed loses at most these. */
const GATHER_MS = 100;
/** The index is written less often: it is large, and a process that is killed before only has to build it again. */
const GATHER_INDEX_MS = 10_000;
/** Writing the index takes at most one part in so many of the time. */
const INDEX_SHARE = 20;

/** A line of the file that was read, or a newer one. */
type Line = string | { readonly start: number; readonly end: number };

/**
 * Keeps an engine's tools in a file, and its index in another one next to it. They are read when the engine is opened, and written some time after
 * each change and when it is closed.
 */
export function withSnapshot(
  engine: MemoryEngine,
  file: SnapshotFile,
  { clock, emit }: Pick<Surroundings, "clock" | "emit">,
): CatalogEngine {
  const indexFile = `${file.path}.index`;
  const index = snapshotIndex(indexFile, file.replace);
  /** Each tool as it stands in the file, in its order, so that changing one does not rewrite the others. */
  const lines = new Map<string, Line>();
  /** Fills the lines of a restored index, which are needed when something changes. */
  let restoredLines: (() => void) | undefined;
  /** The file as it was read. */
  let kept: Buffer = Buffer.alloc(0);
  let state: "new" | "open" | "closed" = "new";
  let opening: Promise<void> | undefined;
  let cancelTimer: (() => void) | undefined;
  let writing: Promise<void> | undefined;
  let dirty = false;
  let failed = false;
  /** Changes of the tools that were made, and those under way. */
  let changes = 0;
  let underWay = 0;
  /** The tools on disk, and after which change. */
  let written: { readonly checksum: string; readonly changes: number } | undefined;
  let indexDirty = false;
  let indexTookMs = 0;
  let cancelIndexTimer: (() => void) | undefined;
  let writingIndex: Promise<void> | undefined;

  async function load(): Promise<void> {
    const [found, saved] = await Promise.all([file.read(), index.read()]);
    await engine.open();
    if (found?.restored !== undefined) emit("snapshot-failed", { file: file.path, message: found.restored });
    indexDirty = false;
    if (found === undefined || saved === undefined || (await engine.count()) > 0) await readLines(found);
    else if ("problem" in saved) await rebuild(found, saved.problem);
    else if (saved.tools !== found.checksum) await rebuild(found, "is of other tools", saved.image);
    else if (!restore(found, saved.image))
      await rebuild(found, "was made by another version of toolarsenal", saved.image);
    written = found && { checksum: found.checksum, changes };
    dirty = false;
    state = "open";
  }

  /** Takes the index as it is. Tools are parsed when they are first needed. */
  function restore({ bytes }: SnapshotLines, image: SnapshotImage): boolean {
    const { starts, ends } = image.lines;
    const read = (slot: number): Tool => JSON.parse(bytes.toString("utf8", starts[slot], ends[slot])) as Tool;
    const ids = engine.restore(image, read);
    if (ids === undefined) return false;
    kept = bytes;
    restoredLines = () => {
      const slots = [...ids.keys()].sort((a, b) => (starts[a] ?? 0) - (starts[b] ?? 0));
      for (const slot of slots) {
        const id = ids[slot];
        if (id !== undefined) lines.set(id, { start: starts[slot] ?? 0, end: ends[slot] ?? 0 });
      }
    };
    return true;
  }

  /** Indexes the tools again; vectors that are still of the same tools are kept. */
  async function rebuild(found: SnapshotLines, problem: string, image?: SnapshotImage): Promise<void> {
    await readLines(found);
    if (image) await engine.adoptVectors(image);
    indexDirty = true;
    const message = `The index ${indexFile} ${problem}. The tools were indexed again from ${file.path}. No tool is lost, and the index is written again.`;
    emit("snapshot-failed", { file: indexFile, message });
  }

  async function readLines(found: SnapshotLines | undefined): Promise<void> {
    const tools: Tool[] = [];
    const before = new Set(allLines().keys());
    lines.clear();
    kept = found?.bytes ?? Buffer.alloc(0);
    for (let start = 0; start < kept.length;) {
      const end = kept.indexOf(10, start);
      const tool = JSON.parse(kept.toString("utf8", start, end)) as Tool;
      tools.push(tool);
      before.delete(tool.id);
      lines.set(tool.id, { start, end });
      start = end + 1;
    }
    await engine.delete([...before]);
    await engine.put(tools);
    if (tools.length > 0) indexDirty = true;
  }

  function allLines(): Map<string, Line> {
    restoredLines?.();
    restoredLines = undefined;
    return lines;
  }

  function assertOpened(): void {
    if (state === "new") throw notOpen("memory", false);
  }

  function scheduleWrite(): void {
    dirty = true;
    cancelTimer ??= clock.after(GATHER_MS, () => {
      cancelTimer = undefined;
      flush().catch(() => {
        // Kept in `failed`: the next change tries again and reports it.
      });
    });
    scheduleIndex();
  }

  function scheduleIndex(): void {
    indexDirty = true;
    const wait = Math.max(GATHER_INDEX_MS, INDEX_SHARE * indexTookMs);
    cancelIndexTimer ??= clock.after(wait, () => void flushIndex(), { background: true });
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
    const at = changes;
    try {
      const checksum = await file.write(Array.from(allLines().values(), bytesOf));
      written = { checksum, changes: at };
      failed = false;
    } catch (error) {
      dirty = true;
      failed = true;
      throw error;
    }
  }

  function bytesOf(line: Line): string | Uint8Array {
    return typeof line === "string" ? line : kept.subarray(line.start, line.end + 1);
  }

  async function flushIndex(): Promise<void> {
    cancelIndexTimer?.();
    cancelIndexTimer = undefined;
    if (indexDirty) await (writingIndex ??= writeIndex().finally(() => (writingIndex = undefined)));
  }

  /** Writes the index of the tools on disk. A failure is reported and no more: the index only saves time. */
  async function writeIndex(): Promise<void> {
    const startedAt = clock.now();
    indexDirty = false;
    try {
      await flush();
      const { take, write } = index.begin();
      const ids = await engine.save(take);
      // The tools have changed meanwhile: it is the next one's turn.
      if (written === undefined || written.changes !== changes || underWay > 0) return scheduleIndex();
      take({ lines: linesOf(ids) });
      await write(written.checksum);
    } catch (error) {
      indexDirty = true;
      const message = error instanceof Error ? error.message : String(error);
      emit("snapshot-failed", { file: indexFile, message });
    }
    indexTookMs = clock.now() - startedAt;
  }

  /** By slot: where the line of its tool begins and ends in the file. */
  function linesOf(ids: readonly (string | undefined)[]): SnapshotImage["lines"] {
    const places = new Map<string, number>();
    const starts = new Uint32Array(ids.length);
    const ends = new Uint32Array(ids.length);
    ids.forEach((id, slot) => id !== undefined && places.set(id, slot));
    let position = 0;
    for (const [id, line] of allLines()) {
      const slot = places.get(id) ?? -1;
      starts[slot] = position;
      position += typeof line === "string" ? Buffer.byteLength(line) : line.end - line.start;
      ends[slot] = position++;
    }
    return { starts, ends };
  }

  /** A write that failed in the background is retried first, so that nobody relies on a snapshot that is not written. */
  async function change<Outcome>(signal: AbortSignal | undefined, step: () => Promise<Outcome>): Promise<Outcome> {
    signal?.throwIfAborted();
    assertOpened();
    if (failed) await flush();
    underWay++;
    try {
      return await step();
    } finally {
      underWay--;
    }
  }

  function changed(): void {
    changes++;
    scheduleWrite();
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
          .map((tool) => [tool.id, toJson(tool)] as const);
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
      scheduleIndex();
    },

    async deleteVectors(model, options) {
      await engine.deleteVectors(model, options);
      scheduleIndex();
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
      await writingIndex;
      await flushIndex();
      cancelIndexTimer?.();
      cancelIndexTimer = undefined;
      state = "closed";
    },
  };
}
