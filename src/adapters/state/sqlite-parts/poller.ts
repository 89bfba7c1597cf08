import type { Clock } from "../../../observe/clock.ts";
import type { StateFile } from "./file.ts";

export type Poller = ReturnType<typeof createPoller>;

/** Detects writes of other processes. While there is a listener, it polls one number that SQLite keeps in memory. */
export function createPoller(file: StateFile, clock: Clock) {
  const looks = new Map<() => void, { readonly ms: number; seen: string | undefined }>();
  let cancel: (() => void) | undefined;
  let everyMs = 0;

  function schedule(): void {
    const ms = Math.min(...[...looks.values()].map((look) => look.ms));
    if (cancel !== undefined && (looks.size === 0 || ms < everyMs)) {
      cancel();
      cancel = undefined;
    }
    if (looks.size === 0 || cancel !== undefined) return;
    everyMs = ms;
    cancel = clock.after(ms, poll, { background: true });
  }

  function poll(): void {
    cancel = undefined;
    try {
      const version = file.exists() ? file.version() : undefined;
      for (const [look, one] of looks) {
        if (version === undefined || one.seen === version) continue;
        look();
        one.seen = version;
      }
    } catch {
      // The file cannot be read now. The next poll detects the changes.
    }
    schedule();
  }

  return {
    /** Calls `look` at the first poll, and then at most every `ms` milliseconds if the file changed. Returns a function that stops the polling. */
    add(look: () => void, ms: number) {
      looks.set(look, { ms, seen: undefined });
      schedule();
      return () => {
        looks.delete(look);
        schedule();
      };
    },
    close() {
      looks.clear();
      schedule();
    },
  };
}
