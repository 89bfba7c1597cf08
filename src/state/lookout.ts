import type { Clock } from "../observe/clock.ts";

/** Polls every `ms` milliseconds and on request, never concurrently. A poll after a failed one catches up. */
export function createLookout(clock: Clock, ms: number, look: () => Promise<unknown>) {
  const background = { background: true };
  let cancelSoon: (() => void) | undefined;
  let cancelLater = clock.after(ms, run, background);
  let looking = false;
  let again = false;
  let ended = false;

  function run(): void {
    cancelSoon = undefined;
    cancelLater();
    cancelLater = clock.after(ms, run, background);
    again = looking;
    if (!looking) void lookNow();
  }

  async function lookNow(): Promise<void> {
    looking = true;
    await look().catch(() => {});
    looking = false;
    if (again) soon();
  }

  /** Polls in the next turn. Many calls in one turn cost one poll. */
  function soon(): void {
    if (!ended) cancelSoon ??= clock.after(0, run, background);
  }

  return {
    soon,
    stop() {
      ended = true;
      cancelSoon?.();
      cancelLater();
    },
  };
}
