import { type Clock, systemClock } from "../../observe/clock.ts";
import type { Terminal } from "../command.ts";

const CLOSE_MS = 5000;

/** Closes resources one after the other. Gives up five seconds after `drainMs`, the time for running calls. Returns the exit code. */
export async function closeInTime(
  steps: readonly (() => Promise<void>)[],
  { err }: Pick<Terminal, "err">,
  { drainMs, clock = systemClock }: { readonly drainMs: number; readonly clock?: Clock },
): Promise<number> {
  let cancel: (() => void) | undefined;
  const closeMs = drainMs + CLOSE_MS;
  const late = new Promise<"late">((resolve) => void (cancel = clock.after(closeMs, () => resolve("late"))));
  const closing = (async () => {
    for (const step of steps) await step();
    return "closed" as const;
  })();
  const outcome = await Promise.race([closing, late]).finally(() => cancel?.());
  if (outcome === "closed") return 0;
  closing.catch(() => {});
  err.write(`Not everything closed within ${closeMs / 1000} s. Exiting anyway.\n`);
  return 1;
}
