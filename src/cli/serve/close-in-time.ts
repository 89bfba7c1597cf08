import { type Clock, systemClock } from "../../observe/clock.ts";
import type { Terminal } from "../command.ts";

const CLOSE_MS = 5000;

/** Closes one thing after the other, but leaves after five seconds whatever hangs. Returns the exit code. */
export async function closeInTime(
  steps: readonly (() => Promise<void>)[],
  { err }: Pick<Terminal, "err">,
  clock: Clock = systemClock,
): Promise<number> {
  let cancel: (() => void) | undefined;
  const late = new Promise<"late">((resolve) => void (cancel = clock.after(CLOSE_MS, () => resolve("late"))));
  const closing = (async () => {
    for (const step of steps) await step();
    return "closed" as const;
  })();
  const outcome = await Promise.race([closing, late]).finally(() => cancel?.());
  if (outcome === "closed") return 0;
  closing.catch(() => {});
  err.write(`Not everything closed within ${CLOSE_MS / 1000} s; leaving all the same.\n`);
  return 1;
}
