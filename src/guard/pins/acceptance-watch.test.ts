import { describe, expect, it } from "vitest";
import { memoryState } from "../../adapters/state/memory.ts";
import type { Clock } from "../../observe/clock.ts";
import { createManualClock, type ManualClock } from "../../testing/manual-clock.ts";
import type { State } from "../../state/state.port.ts";
import { createAcceptanceWatch } from "./accept.ts";

interface Bench {
  readonly watch: ReturnType<typeof createAcceptanceWatch>;
  readonly clock: ManualClock;
  readonly state: State;
  readonly again: string[];
}

function setUp(more: { readonly state?: State; readonly after?: Clock["after"] } = {}): Bench {
  const clock = createManualClock();
  const state = more.state ?? memoryState({ clock }).documents;
  const again: string[] = [];
  const listAgain = async (ensemble: string): Promise<void> => void again.push(ensemble);
  const watch = createAcceptanceWatch({ state, clock: { ...clock, ...more }, listAgain });
  return { watch, clock, state, again };
}

describe("the look for what others accept", () => {
  it("does not keep the process alive", () => {
    const waits: unknown[] = [];
    const { watch } = setUp({ after: (ms, _callback, options) => (waits.push([ms, options]), () => {}) });
    watch.follow("files", "waiting");
    expect(waits).toEqual([[2_000, { background: true }]]);
  });

  it("is one for all, and ends once nothing waits", async () => {
    const { watch, clock } = setUp();
    watch.follow("files", "waiting");
    watch.follow("web", "unread");
    expect(clock.pending).toBe(1);
    watch.follow("files", "settled");
    expect(clock.pending).toBe(1);
    watch.follow("web", "settled");
    expect(clock.pending).toBe(0);
  });

  it("has nothing listed that settled while it looked, and then ends", async () => {
    const { slow, reached, release } = slowState();
    const { watch, clock, again } = setUp({ state: slow });
    watch.follow("files", "waiting");
    const advanced = clock.advance(2_000);
    await reached;
    watch.follow("files", "settled");
    release();
    await advanced;
    await clock.advance(0);
    expect(again).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  it("has nothing listed after the close, though it was on its way", async () => {
    const { slow, reached, release } = slowState();
    const { watch, clock, again } = setUp({ state: slow });
    watch.follow("files", "waiting");
    const advanced = clock.advance(2_000);
    await reached;
    watch.close();
    release();
    await advanced;
    await clock.advance(0);
    expect(again).toEqual([]);
    watch.follow("files", "waiting");
    expect(clock.pending).toBe(0);
  });

  it("goes on where the state fails", async () => {
    const state = memoryState().documents;
    let broken = true;
    const get: State["get"] = (key) => (broken ? Promise.reject(new Error("gone")) : state.get(key));
    const { watch, clock, again } = setUp({ state: { ...state, get } });
    watch.follow("files", "waiting");
    await clock.advance(2_000);
    expect(again).toEqual([]);
    broken = false;
    await clock.advance(2_000);
    expect(again).toEqual(["files"]);
  });

  it("comes at once when another process says that it accepted something", async () => {
    const clock = createManualClock();
    const { documents: state, changes } = memoryState({ clock });
    const again: string[] = [];
    const listAgain = async (ensemble: string): Promise<void> => void again.push(ensemble);
    const [watch, other] = [listAgain, async () => {}].map((each) =>
      createAcceptanceWatch({ state, changes, clock, listAgain: each }),
    );
    watch?.follow("files", "waiting");
    await other?.announce();
    await clock.advance(0);
    expect(again).toEqual(["files"]);
    expect(clock.pending).toBe(1);
    watch?.follow("files", "settled");
    await other?.announce();
    await clock.advance(0);
    expect(again).toEqual(["files"]);
    expect(clock.pending).toBe(0);
  });

  it("notices each acceptance once", async () => {
    const { watch, clock, again } = setUp();
    watch.follow("files", "waiting");
    await clock.advance(2_000);
    again.length = 0;
    await watch.announce();
    await clock.advance(10_000);
    expect(again).toEqual(["files"]);
    await watch.announce();
    await clock.advance(2_000);
    expect(again).toEqual(["files", "files"]);
  });
});

/** A state in which reading waits until it is let go. */
function slowState(): { readonly slow: State; readonly reached: Promise<void>; readonly release: () => void } {
  const reached = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const get = async (): Promise<undefined> => {
    reached.resolve();
    await released.promise;
  };
  return { slow: { ...memoryState().documents, get }, reached: reached.promise, release: () => released.resolve() };
}
