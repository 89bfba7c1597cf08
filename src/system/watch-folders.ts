import { type FSWatcher, watch } from "node:fs";
import type { Clock } from "../observe/clock.ts";
import { SWAPPED_LINK } from "./watch-files.ts";

/** How folders are watched. */
export interface WatchFoldersOptions {
  /** Called after files changed, once it has been quiet for a moment. */
  readonly changed: () => void;
  /** Which files count. */
  readonly matters: (file: string) => boolean;
  readonly clock: Clock;
  /** Default 150. */
  readonly quietMs?: number;
}

/** Watches the files right inside folders. A folder that cannot be watched is passed over. Returns what ends the watch. */
export function watchFolders(
  folders: readonly string[],
  { changed, matters, clock, quietMs = 150 }: WatchFoldersOptions,
): () => void {
  let cancel: (() => void) | undefined;
  const watchers = folders.flatMap((folder): readonly FSWatcher[] => {
    try {
      const watcher = watch(folder, { persistent: false }, (_event, name) => {
        if (name !== null && name !== SWAPPED_LINK && !matters(name)) return;
        cancel?.();
        cancel = clock.after(quietMs, changed, { background: true });
      });
      return [watcher.on("error", () => watcher.close())];
    } catch {
      return [];
    }
  });
  return () => {
    cancel?.();
    for (const watcher of watchers) watcher.close();
  };
}
