import { setTimeout as pause } from "node:timers/promises";

/** Between two looks, in milliseconds: a test that spins takes the processor from the gateways that it waits for. */
const LOOK_EVERY_MS = 5;

/** Resolves with the milliseconds that passed until the condition held. Rejects if it does not hold in time. */
export async function eventually(
  what: string,
  condition: () => Promise<boolean> | boolean,
  { withinMs = 60_000 }: { readonly withinMs?: number } = {},
): Promise<number> {
  const since = performance.now();
  for (;;) {
    if (await condition()) return performance.now() - since;
    const waited = performance.now() - since;
    if (waited > withinMs) throw new Error(`After ${Math.round(waited)} ms it still does not hold that ${what}.`);
    await pause(LOOK_EVERY_MS);
  }
}
