import type { Clock } from "../../observe/clock.ts";
import type { SharedState } from "../../state/shared-state.ts";
import { contract, type ContractCase, createRandom } from "../contract.ts";
import { createManualClock, type ManualClock } from "../manual-clock.ts";

/** One store that several processes share. */
export interface StateBackend {
  /** Opens a handle on the store with this clock. Each process has one handle. */
  open(clock: Clock): SharedState;
  /** True if every handle is the same object, so one handle cannot stop alone. */
  readonly single?: boolean;
  /** Resolves once the store has answered every request. For remote stores: time advances only afterwards. */
  readonly settle?: () => Promise<void>;
  dispose?(): Promise<void>;
}

export interface TwoHandles {
  readonly clock: ManualClock;
  readonly one: SharedState;
  readonly other: SharedState;
  /** Alternates between the two handles, with random pauses before and after each operation, so that operations overtake each other. */
  slow(index: number): SharedState;
  /** True if both handles are the same object. */
  readonly single: boolean;
  /** Opens a third handle. */
  open(): SharedState;
  /** Stops the timers of `one`, as if its process had died or been suspended. Returns a function that resumes it. */
  stop(): () => void;
  /** Advances time until a promise is settled. */
  until<Value>(work: Value | Promise<Value>, stepMs?: number): Promise<Value>;
}

export type Claims = Readonly<Record<string, (handles: TwoHandles) => Promise<void>>>;

/** Creates the cases of a suite about shared state. Skips cases that stop one handle if the backend has only one. */
export function stateCases(make: () => StateBackend | Promise<StateBackend>, claims: Claims): readonly ContractCase[] {
  return Object.entries(claims).flatMap(([name, check]) =>
    contract(() => openHandles(make, name.length), { [name]: check }),
  );
}

async function openHandles(make: () => StateBackend | Promise<StateBackend>, seed: number) {
  const backend = await make();
  const { single = false } = backend;
  const clock = createManualClock(1_700_000_000_000.25, backend.settle);
  const stoppable = createStoppable(clock);
  const one = backend.open(stoppable.clock);
  const others: SharedState[] = [];
  const open = (): SharedState => {
    const state = backend.open(clock);
    others.push(state);
    return state;
  };
  const other = open();
  const random = createRandom(seed);
  const [first, second] = [slowed(one, random), slowed(other, random)];
  const adapter: TwoHandles = {
    clock,
    one,
    other,
    slow: (index) => (index % 2 === 0 ? first : second),
    single,
    open,
    stop: single ? () => () => {} : stoppable.stop,
    until: (work, stepMs = 10) => until(work, clock, stepMs),
  };
  return {
    adapter,
    async dispose() {
      for (const state of [one, ...others]) await state.close();
      await backend.dispose?.();
    },
  };
}

async function until<Value>(work: Value | Promise<Value>, clock: ManualClock, stepMs: number): Promise<Value> {
  const progress = { settled: false };
  const watched = Promise.resolve(work).finally(() => (progress.settled = true));
  watched.catch(() => {});
  for (let step = 0; step < 3_000 && !progress.settled; step++) await clock.advance(stepMs);
  if (!progress.settled) throw new Error("Still waiting after 3,000 steps of the clock.");
  return watched;
}

function createStoppable(clock: ManualClock): { readonly clock: Clock; stop(): () => void } {
  let missed: (() => void)[] | undefined;
  return {
    clock: {
      now: clock.now,
      after: (ms, callback, options) =>
        clock.after(ms, () => (missed === undefined ? callback() : void missed.push(callback)), options),
    },
    stop() {
      missed = [];
      return () => {
        const due = missed ?? [];
        missed = undefined;
        for (const callback of due) callback();
      };
    },
  };
}

function slowed(state: SharedState, random: () => number): SharedState {
  return {
    ...state,
    documents: slowedPart(state.documents, random),
    limits: { ...slowedPart(state.limits, random), watchBreakers: state.limits.watchBreakers },
    changes: { ...slowedPart(state.changes, random), subscribe: state.changes.subscribe },
    leases: slowedPart(state.leases, random),
  };
}

function slowedPart<Part extends object>(part: Part, random: () => number): Part {
  const turns = async (): Promise<void> => {
    for (let turn = Math.floor(random() * 4); turn > 0; turn--)
      await new Promise((resolve) => void setImmediate(resolve));
  };
  const slow = Object.entries(part as Record<string, unknown>).map(([name, run]) => [
    name,
    typeof run !== "function"
      ? run
      : async (...given: readonly unknown[]) => {
          await turns();
          const answer: unknown = await Reflect.apply(run, part, given);
          await turns();
          return answer;
        },
  ]);
  return Object.fromEntries(slow) as Part;
}
