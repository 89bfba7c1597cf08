import { signal } from "@preact/signals";
import { caller, gateway, may } from "./gateway.ts";
import { events } from "./live.ts";

/** The number of items that wait for the user, by page. `more` is true if counting stopped early. */
export interface Waiting {
  readonly count: number;
  readonly more: boolean;
}

export const waiting = signal<Readonly<Record<string, Waiting>>>({});

/** Counting reads at most this many approvals, because they may have long arguments. */
const MOST_COUNTED = 9;
/** Polling interval, for people who may not follow events, and for changes by other processes. */
const LOOK_EVERY_MS = 15_000;
const SETTLED_MS = 100;

const CHANGES = /^(confirmation-|pin|tool-changed|tool-conflicted|ensemble-accepted)/;

let scheduled: ReturnType<typeof setTimeout> | undefined;

/** Counts again soon. Several events cause only one count. */
export function countAgain(): void {
  scheduled ??= setTimeout(() => {
    scheduled = undefined;
    void count();
  }, SETTLED_MS);
}

async function count(): Promise<void> {
  if (caller.value !== "signed-in" || document.hidden) return;
  const [approvals, pins] = await Promise.all([
    may("listApprovals")
      ? gateway()
          .approvals.list({ limit: MOST_COUNTED })
          .catch(() => undefined)
      : undefined,
    may("listPins")
      ? gateway()
          .pins.list({ states: ["changed", "new"] })
          .catch(() => undefined)
      : undefined,
  ]);
  const undecided = pins?.filter(({ refusedBy }) => refusedBy === undefined);
  waiting.value = {
    ...(approvals && { approvals: { count: approvals.length, more: approvals.next !== undefined } }),
    ...(undecided && { pins: { count: undecided.length, more: false } }),
  };
}

caller.subscribe((who) => {
  if (who === "signed-in") countAgain();
  else waiting.value = {};
});
events.subscribe(([latest]) => {
  if (latest !== undefined && CHANGES.test(latest.name)) countAgain();
});
setInterval(countAgain, LOOK_EVERY_MS);
document.addEventListener("visibilitychange", countAgain);
