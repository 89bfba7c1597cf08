import { signal } from "@preact/signals";
import { caller, gateway, may } from "./gateway.ts";
import { events } from "./live.ts";

/** The number of things that wait for the user, by the page that shows them. `more` if there are more than were counted. */
export interface Waiting {
  readonly count: number;
  readonly more: boolean;
}

export const waiting = signal<Readonly<Record<string, Waiting>>>({});

/** An approval may carry long arguments, so that only this many are read to count them. */
const MOST_COUNTED = 9;
/** For people who may not follow events, and for what other processes do. */
const LOOK_EVERY_MS = 15_000;
const SETTLED_MS = 100;

const CHANGES = /^(confirmation-|pin|tool-changed|tool-conflicted|ensemble-accepted)/;

let scheduled: ReturnType<typeof setTimeout> | undefined;

/** Counts again soon: once for several events. */
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
