import type { Clock } from "../observe/clock.ts";

/** Resolves when the event has happened or the time is over. */
export async function within(ms: number, event: Promise<void>, clock: Clock): Promise<void> {
  let cancel = (): void => {};
  const timeIsOver = new Promise<void>((resolve) => {
    cancel = clock.after(ms, resolve);
  });
  await Promise.race([event, timeIsOver]);
  cancel();
}
