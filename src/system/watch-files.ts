import { type FSWatcher, watch } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import { type Clock, systemClock } from "../observe/clock.ts";

/** How files are watched. */
export interface WatchOptions {
  /** Called when the text of one of the files is another than before. The next call waits until the last has ended. */
  readonly onChange: () => Promise<void> | void;
  /** Called where the machine cannot watch, at most once a folder. */
  readonly onFailure?: (error: Error) => void;
  readonly clock?: Clock;
  /** Quiet time after which a file counts as written. Default 150. */
  readonly quietMs?: number;
  /** What the files held when they were last read, so that no change in between is missed. Defaults to what they hold now. */
  readonly known?: readonly (string | undefined)[];
}

/** Files that are being watched. */
export interface WatchedConfig {
  /** Looks at once whether a file changed, and calls `onChange` even if none did. */
  reload(): void;
  /** Resolves when a call under way has ended. */
  close(): Promise<void>;
}

/** Where a mounted volume swaps all its files at once. */
export const SWAPPED_LINK = "..data";

/**
 * Watches files for changes of their text. The folders are watched, not the files: editors that write a new file and rename it, and mounted
 * volumes that swap a link, replace the file.
 */
export async function watchConfig(
  files: readonly string[],
  { onChange, onFailure, clock = systemClock, quietMs = 150, known: given }: WatchOptions,
): Promise<WatchedConfig> {
  const paths = files.map((file) => resolve(file));
  let closed = false;
  let cancel: (() => void) | undefined;
  let running: Promise<void> = Promise.resolve();

  const watchers = [...Map.groupBy(paths, dirname)].flatMap(([folder, inside]): readonly FSWatcher[] => {
    const names = new Set([...inside.map((path) => basename(path)), SWAPPED_LINK]);
    try {
      const watcher = watch(folder, { persistent: false }, (_event, name) => {
        if (name === null || names.has(name)) settle();
      });
      return [watcher.once("error", (error) => onFailure?.(error))];
    } catch (error) {
      onFailure?.(error instanceof Error ? error : new Error(String(error)));
      return [];
    }
  });
  let known = given ?? (await fileTexts(paths));
  if (given !== undefined) settle();

  function settle(): void {
    cancel?.();
    if (!closed) cancel = clock.after(quietMs, () => look(false), { background: true });
  }

  function look(always: boolean): void {
    running = lookAfter(running, always).catch((error: unknown) => {
      onFailure?.(error instanceof Error ? error : new Error(String(error)));
    });
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
    reload: () => look(true),
    async close() {
      closed = true;
      cancel?.();
      for (const watcher of watchers) watcher.close();
      await running;
    },
  };
}

/** What the files hold; undefined for one that cannot be read. */
export function fileTexts(paths: readonly string[]): Promise<readonly (string | undefined)[]> {
  return Promise.all(paths.map((path) => readFile(path, "utf8").catch(() => undefined)));
}

/** Files that are watched, which may be others from one moment to the next. */
export interface WatchedFiles {
  /** Watches these files from now on, and no others. `known` is what they held when they were last read. */
  follow(files: readonly string[], known?: readonly (string | undefined)[]): void;
  /** Resolves when everything has ended. */
  close(): Promise<void>;
}

/** Watches files as `watchConfig` does, with a list that can change. */
export function watchFiles(options: WatchOptions): WatchedFiles {
  let followed: readonly string[] = [];
  let current: Promise<WatchedConfig | undefined> = Promise.resolve(undefined);
  const replace = (files: readonly string[], known?: readonly (string | undefined)[]): void => {
    followed = files;
    current = current.then(async (watched) => {
      await watched?.close();
      if (files.length === 0) return undefined;
      return watchConfig(files, { ...options, ...(known === undefined ? {} : { known }) });
    });
  };
  return {
    follow(files, known) {
      if (files.join("\n") !== followed.join("\n")) replace(files, known);
    },
    async close() {
      await (await current)?.close();
    },
  };
}
