import { type FSWatcher, watch } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import { type Clock, systemClock } from "../observe/clock.ts";

interface WatchOptions {
  /** Called when the text of a file has changed. Calls do not overlap. */
  readonly onChange: () => Promise<void> | void;
  /** Called at most once per folder, if the folder cannot be watched. */
  readonly onFailure?: (error: Error) => void;
  readonly clock?: Clock;
  /** Time without changes after which a file counts as completely written, in milliseconds. Defaults to 150. */
  readonly quietMs?: number;
  /** The texts of the files when they were last read, so that changes since then are noticed. Defaults to the current texts. */
  readonly known?: readonly (string | undefined)[];
}

export type WatchedConfig = Awaited<ReturnType<typeof watchConfig>>;

/** The link that a mounted volume replaces to swap all its files at once. */
const SWAPPED_LINK = "..data";

/** Watches files for changes of their text. Their folders are watched, because editors and mounted volumes replace a file instead of writing it. */
export async function watchConfig(
  files: readonly string[],
  { onChange, onFailure, clock = systemClock, quietMs = 150, known: given }: WatchOptions,
) {
  const paths = files.map((file) => resolve(file));
  let closed = false;
  let cancel: (() => void) | undefined;
  let running: Promise<void> = Promise.resolve();

  const watchers = [...Map.groupBy(paths, dirname)].flatMap(([folder, inside]) => {
    const names = new Set(inside.map((path) => basename(path)));
    return watchFolder(folder, (name) => names.has(name), settle, onFailure);
  });
  let known = given ?? (await fileTexts(paths));
  if (given !== undefined) settle();

  function settle(): void {
    cancel?.();
    if (!closed) cancel = clock.after(quietMs, () => look(false), { background: true });
  }

  function look(always: boolean): void {
    running = lookAfter(running, always).catch((error: unknown) => onFailure?.(toError(error)));
  }

  async function lookAfter(earlier: Promise<void>, always: boolean): Promise<void> {
    await earlier;
    if (closed) return;
    const now = await fileTexts(paths);
    const changed = now.some((text, index) => text !== known[index]);
    if (!changed && !always) return;
    known = now;
    await onChange();
  }

  return {
    /** Checks for changes now, and calls `onChange` even if nothing changed. */
    reload: (): void => look(true),
    /** Resolves when a call in progress has ended. */
    async close(): Promise<void> {
      closed = true;
      cancel?.();
      for (const watcher of watchers) watcher.close();
      await running;
    },
  };
}

/** Returns the texts of the files; undefined for a file that cannot be read. */
export function fileTexts(paths: readonly string[]): Promise<readonly (string | undefined)[]> {
  return Promise.all(paths.map((path) => readFile(path, "utf8").catch(() => undefined)));
}

export type WatchedFiles = ReturnType<typeof watchFiles>;

/** Watches files like `watchConfig`, but the list of files can change. */
export function watchFiles(options: WatchOptions) {
  let followed: readonly string[] = [];
  let current: Promise<WatchedConfig | undefined> = Promise.resolve(undefined);
  const replace = (files: readonly string[], known?: readonly (string | undefined)[]): void => {
    followed = files;
    current = current.then(async (watched) => {
      await watched?.close();
      if (files.length === 0) return undefined;
      return watchConfig(files, { ...options, ...(known && { known }) });
    });
  };
  return {
    /** Replaces the list of watched files. `known` is their text when they were last read. */
    follow(files: readonly string[], known?: readonly (string | undefined)[]): void {
      if (files.join("\n") !== followed.join("\n")) replace(files, known);
    },
    async close(): Promise<void> {
      await (await current)?.close();
    },
  };
}

interface WatchFoldersOptions {
  /** Called once after changes, when no file has changed for `quietMs`. */
  readonly changed: () => void;
  readonly matters: (file: string) => boolean;
  readonly clock: Clock;
  /** Defaults to 150. */
  readonly quietMs?: number;
}

/** Watches the files directly inside folders. A folder that cannot be watched is skipped. Returns a function that stops. */
export function watchFolders(
  folders: readonly string[],
  { changed, matters, clock, quietMs = 150 }: WatchFoldersOptions,
): () => void {
  let cancel: (() => void) | undefined;
  const settle = (): void => {
    cancel?.();
    cancel = clock.after(quietMs, changed, { background: true });
  };
  const watchers = folders.flatMap((folder) => watchFolder(folder, matters, settle));
  return () => {
    cancel?.();
    for (const watcher of watchers) watcher.close();
  };
}

/** Calls back for changes of relevant files. Returns no watcher if the folder cannot be watched. */
function watchFolder(
  folder: string,
  matters: (file: string) => boolean,
  changed: () => void,
  onFailure?: (error: Error) => void,
): readonly FSWatcher[] {
  try {
    const watcher = watch(folder, { persistent: false }, (_event, name) => {
      if (name === null || name === SWAPPED_LINK || matters(name)) changed();
    });
    return [watcher.once("error", (error) => (watcher.close(), onFailure?.(error)))];
  } catch (error) {
    onFailure?.(toError(error));
    return [];
  }
}

function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
