import { expect, it } from "vitest";
import { memoryState } from "../../adapters/state/memory.ts";
import type { Limits, Pass } from "../../state/limits.port.ts";
import type { SharedState } from "../../state/shared-state.ts";
import type { State } from "../../state/state.port.ts";
import { changesContract } from "../changes.contract.ts";
import { limitsContract } from "../limits.contract.ts";
import type { StateBackend } from "./backend.ts";
import { stateContract } from "../state.contract.ts";

/** One memory for all handles, with something wrong about it. */
function broken(wrong: (limits: Limits, state: SharedState, now: () => number) => Partial<Limits>): StateBackend {
  let shared: SharedState | undefined;
  return {
    single: true,
    open(clock) {
      shared ??= memoryState({ clock });
      return { ...shared, limits: { ...shared.limits, ...wrong(shared.limits, shared, clock.now) } };
    },
  };
}

/** Reads what is held, decides, and writes: what another process writes in between is lost. */
function readThenWrite({ documents }: Pick<SharedState, "documents">, now: () => number): Partial<Limits> {
  const held = async (key: string): Promise<Record<string, number>> =>
    ((await documents.get(`held:${key}`))?.value ?? {}) as Record<string, number>;
  let last = 0;
  return {
    async admit({ places = [], windows = [], holdMs }) {
      const id = String(++last);
      const of = new Map([
        ...places.map(({ key, limit }) => [key, { limit, until: now() + holdMs }] as const),
        ...windows.map(({ key, calls, windowMs }) => [key, { limit: calls, until: now() + windowMs }] as const),
      ]);
      for (const [key, { limit }] of of) {
        const live = Object.values(await held(key)).filter((until) => until > now());
        if (live.length >= limit) return { admitted: false, because: "window", key, retryAfterMs: 1 };
      }
      for (const [key, { until }] of of) await documents.set(`held:${key}`, { ...(await held(key)), [id]: until });
      return { admitted: true, pass: { id, probe: false, places, era: 0 } };
    },
  };
}

const mistakes: Readonly<Record<string, { readonly make: () => StateBackend; readonly caught: readonly string[] }>> = {
  "each process has limits of its own": {
    make: () => ({ open: (clock) => memoryState({ clock }) }),
    caught: [
      "fills every window to its limit and never beyond, wherever it begins",
      "never runs more at once than there are places, and runs all",
      "opens for everyone after as many failures in a row as its threshold",
      "lets exactly one of many probe, and closes for everyone if it succeeds",
      "notifies every process of openings and closings within a second",
      "shares one retry budget, a share of the calls of the last minute",
    ],
  },
  "what is read is written back later": {
    make: () => broken((_limits, state, now) => readThenWrite(state, now)),
    caught: ["fills every window to its limit and never beyond, wherever it begins"],
  },
  "windows begin at fixed times": {
    make: () =>
      broken((limits, _state, now) => ({
        admit({ windows = [], ...request }, options) {
          const fixed = windows.map(({ key, calls, windowMs }) => {
            const number = Math.floor(now() / windowMs);
            return { key: `${key}:${number}`, calls, windowMs: windowMs * 2 };
          });
          return limits.admit({ ...request, windows: fixed }, options);
        },
      })),
    caught: ["fills every window to its limit and never beyond, wherever it begins"],
  },
  "windows are taken before it is known whether there is a place": {
    make: () =>
      broken((limits) => ({
        async admit({ windows = [], ...request }, options) {
          const taken = await limits.admit({ windows, holdMs: request.holdMs });
          return taken.admitted ? limits.admit(request, options) : taken;
        },
      })),
    caught: ["takes everything or nothing"],
  },
  "a process that disappears keeps its places and its probe": {
    make: () =>
      broken((limits) => ({
        admit: (request, options) => limits.admit({ ...request, holdMs: 1e12 }, options),
      })),
    caught: [
      "frees the places of a process that disappeared, at their time and not before",
      "frees the probe of a process that disappeared, at its time and not before",
    ],
  },
  "a caller that gave up is still given a place": {
    make: () =>
      broken((limits) => ({
        async admit(request, { signal } = {}) {
          const answer = await limits.admit(request);
          return signal?.aborted ? { admitted: false, because: "aborted", key: "" } : answer;
        },
      })),
    caught: ["keeps nothing for calls that gave up waiting, at whatever moment", "says why a wait ended, at its time"],
  },
  "late reports count": {
    make: () => {
      const eras = new Map<string, number>();
      return broken((limits) => ({
        async admit(request, options) {
          const answer = await limits.admit(request, options);
          if (answer.admitted && answer.pass.breaker) eras.set(answer.pass.breaker.key, answer.pass.era);
          return answer;
        },
        release(pass: Pass, outcome) {
          return limits.release({ ...pass, era: eras.get(pass.breaker?.key ?? "") ?? 0 }, outcome);
        },
      }));
    },
    caught: ["does not count reports about an earlier era"],
  },
};

it.each(Object.entries(mistakes))("the limits' suite notices that %s", async (_mistake, { make, caught }) => {
  const failed: string[] = [];
  for (const { name, run } of limitsContract(make).filter((one) => caught.includes(one.name)))
    await run().catch(() => failed.push(name));
  expect(failed.toSorted()).toEqual(caught.toSorted());
});

it("the documents' suite notices a version that is checked before the write, not with it", async () => {
  let shared: SharedState | undefined;
  const make = (): StateBackend => ({
    single: true,
    open(clock) {
      const state = (shared ??= memoryState({ clock }));
      const set: State["set"] = async (key, value, { ifVersion, ...options } = {}) => {
        const found = (await state.documents.get(key))?.version ?? "absent";
        return ifVersion !== undefined && found !== ifVersion ? false : state.documents.set(key, value, options);
      };
      return { ...state, documents: { ...state.documents, set } };
    },
  });
  const racing = "lets one of many succeed that change an entry at once, in whatever process";
  await expect(
    stateContract(make)
      .find(({ name }) => name === racing)
      ?.run(),
  ).rejects.toThrow();
});

it("the suite of changes, leases and presence notices that processes do not know of each other", async () => {
  const failed: string[] = [];
  for (const { name, run } of changesContract(() => ({ open: (clock) => memoryState({ clock }) })))
    await run().catch(() => failed.push(name));
  expect(failed).toEqual([
    "notifies every process, including the publisher, within a second",
    "delivers every message to everyone in one order, however many publish",
    "keeps the order in which one process published",
    "gives each listener a value of its own, and none of them the failure of another",
    "delivers nothing to a listener after it has ended",
    "gives a lease to exactly one of many, and to the next once it is released",
    "keeps a lease for as long as its process lives",
    "takes a lease from a process that stopped, after its time and not before, and tells it so",
    "knows each process by an id of its own, and nobody else",
    "knows a process for as long as it lives, whether or not it holds something",
    "knows that a process is gone ten seconds after it stopped and not before, and knows it again",
    "knows within a second that a process has closed",
    "does not consider a process gone that could not renew because the store was unavailable",
    "frees the places of a process that stopped, however long it may hold them",
    "keeps the places of a process that lives, for as long as it may hold them",
    "frees the probe of a process that stopped, however long it may hold it",
    "frees the leases of a process that stopped, however long they last, and tells it so",
    "gives nothing to the waiting calls of a process that stopped, and their turn to those of one that comes back",
  ]);
});
