import { setTimeout as sleep } from "node:timers/promises";

/** How long the end of killed processes is waited for, and how often it is looked for, in milliseconds. */
const GONE_WITHIN_MS = 2_000;
const LOOK_EVERY_MS = 5;

/** Waits until killed processes that are not our children have ended: nothing tells us when they do, so they are looked at. */
export async function untilGone(isLiving: () => boolean): Promise<void> {
  for (let waited = 0; waited < GONE_WITHIN_MS && isLiving(); waited += LOOK_EVERY_MS) await sleep(LOOK_EVERY_MS);
}
