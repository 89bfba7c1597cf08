import assert from "node:assert/strict";
import { setImmediate as nextTurn } from "node:timers/promises";
import { admit, admitted, FAR, refused } from "./ask-limits.ts";
import { createRandom } from "../contract.ts";
import type { Claims, TwoHandles } from "./backend.ts";

export const placeClaims: Claims = {
  "never runs more at once than there are places, and runs all": async ({ clock, slow, until }) => {
    const random = createRandom(3);
    const places = [{ key: "p", limit: 3 }];
    let running = 0;
    let most = 0;
    const calls = Array.from({ length: 60 }, async (_, index) => {
      const state = slow(index);
      const pass = await admitted(state, { places, waitMs: FAR });
      most = Math.max(most, ++running);
      await new Promise<void>((resolve) => void clock.after(random() * 30, resolve));
      running--;
      await state.limits.release(pass, "success");
    });
    await until(Promise.all(calls));
    assert.equal(most, 3);
  },
  "gives places in the order in which a process asked, and lets nobody overtake": async ({ one, until }) => {
    const request = { places: [{ key: "p", limit: 1 }], waitMs: FAR };
    const first = await admitted(one, request);
    const order: number[] = [];
    const waiting = [0, 1, 2, 3, 4].map(async (index) => {
      const pass = await admitted(one, request);
      order.push(index);
      if (index === 2) await nextTurn();
      await one.limits.release(pass, "success");
    });
    await one.limits.release(first, "success");
    await until(Promise.all(waiting));
    assert.deepEqual(order, [0, 1, 2, 3, 4]);
  },
  "gives a place to a process that waits, however busy another one is": async ({ clock, one, other, until }) => {
    const request = { places: [{ key: "p", limit: 1 }], waitMs: FAR };
    const order: string[] = [];
    const call = async (name: string, state: TwoHandles["one"]): Promise<void> => {
      const pass = await admitted(state, request);
      order.push(name);
      await nextTurn();
      await state.limits.release(pass, "success");
    };
    const first = await admitted(one, request);
    const early = [1, 2, 3].map(() => call("busy", one));
    await clock.advance(30);
    const patient = call("patient", other);
    await clock.advance(30);
    const late = Array.from({ length: 20 }, () => call("busy", one));
    await clock.advance(30);
    await one.limits.release(first, "success");
    await until(Promise.all([...early, patient, ...late]));
    assert.ok(order.indexOf("patient") < 10, `it came as number ${order.indexOf("patient")}`);
  },
  "does not hold back calls that need other places": async ({ clock, one, other, until }) => {
    const all = { key: "all", limit: 3 };
    const slow = { places: [{ key: "slow", limit: 1 }, all], waitMs: FAR };
    await admitted(one, slow);
    const stuck = new AbortController();
    const waiting = Array.from({ length: 10 }, (_, index) => admit(index % 2 === 0 ? one : other, slow, stuck.signal));
    await clock.advance(50);
    await until(admitted(other, { places: [{ key: "quick", limit: 1 }, all], waitMs: FAR }));
    stuck.abort();
    for (const answer of await until(Promise.all(waiting))) assert.equal(answer.admitted, false);
  },
  "frees the places of a process that disappeared, at their time and not before": async ({
    clock,
    one,
    other,
    stop,
    until,
  }) => {
    const places = [{ key: "p", limit: 1 }];
    const lost = await admit(one, { places, holdMs: 5_000 });
    assert.ok(lost.admitted);
    stop();
    await refused(other, { places }, "places");
    const from = clock.now();
    const pass = await until(admitted(other, { places, waitMs: FAR }));
    assert.ok(clock.now() >= from + 5_000, "a place was given twice");
    assert.ok(clock.now() <= from + 6_000, "a place came free too late");
    // The late report must not release the slot of another call.
    await one.limits.release(lost.pass, "success");
    await refused(other, { places }, "places");
    await other.limits.release(pass, "success");
    await admitted(other, { places });
  },
  "gives no place for long to a process that disappeared while it waited": async (handles) => {
    const { clock, one, other, single, stop, until } = handles;
    // A single process cannot disappear.
    if (single) return;
    const request = { places: [{ key: "p", limit: 1 }], waitMs: FAR };
    await one.presence.enter();
    const held = await admitted(other, request);
    const suspended = admitted(one, request);
    await clock.advance(50);
    const resume = stop();
    await other.limits.release(held, "success");
    const from = clock.now();
    const next = await until(admitted(other, request));
    assert.ok(clock.now() <= from + 5_000, `it came after ${clock.now() - from} ms`);
    // The process was only suspended. It gets its turn, and must not take another call's slot.
    resume();
    await clock.advance(5_000);
    await refused(other, { places: request.places }, "places");
    await other.limits.release(next, "success");
    await one.limits.release(await until(suspended), "success");
    await admitted(other, { places: request.places });
  },
  "keeps nothing for calls that gave up waiting, at whatever moment": async ({ clock, slow, one, until }) => {
    const random = createRandom(11);
    const places = [{ key: "p", limit: 2 }];
    const calls = Array.from({ length: 80 }, async (_, index) => {
      const state = slow(index);
      const controller = new AbortController();
      clock.after(random() * 200, () => controller.abort());
      const waitMs = random() * 200;
      const answer = await admit(state, { places, waitMs }, controller.signal);
      if (!answer.admitted) return assert.ok(answer.because === "places" || answer.because === "aborted");
      await new Promise<void>((resolve) => void clock.after(random() * 40, resolve));
      await state.limits.release(answer.pass, "success");
    });
    await until(Promise.all(calls));
    await clock.advance(300);
    for (let turn = 0; turn < 20; turn++) await clock.advance(1);
    for (let call = 0; call < 2; call++) await admitted(one, { places });
    await refused(one, { places }, "places");
  },
  "says why a wait ended, at its time": async ({ clock, one, other, until }) => {
    const places = [{ key: "p", limit: 1 }];
    await admitted(one, { places });
    const from = clock.now();
    const late = await until(admit(other, { places, waitMs: 1_000 }), 50);
    assert.partialDeepStrictEqual(late, { admitted: false, because: "places" });
    assert.ok(clock.now() >= from + 1_000);
    const controller = new AbortController();
    const gone = admit(other, { places, waitMs: FAR }, controller.signal);
    await clock.advance(50);
    controller.abort();
    assert.partialDeepStrictEqual(await until(gone), { admitted: false, because: "aborted" });
    const never = await admit(other, { places, waitMs: FAR }, AbortSignal.abort());
    assert.partialDeepStrictEqual(never, { admitted: false, because: "aborted" });
  },
  "releases a place once, however often it is reported": async ({ one, other }) => {
    const places = [{ key: "p", limit: 2 }];
    const [first] = [await admitted(one, { places }), await admitted(other, { places })];
    await one.limits.release(first, "success");
    await one.limits.release(first, "success");
    await other.limits.release(first, "success");
    await admitted(one, { places });
    await refused(other, { places }, "places");
  },
};
