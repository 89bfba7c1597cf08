import assert from "node:assert/strict";
import { admit, admitted, BREAKER, FAR, openBreaker, refused } from "./ask-limits.ts";
import type { Claims, TwoHandles } from "./backend.ts";

/** How long a stopped process may keep its slots and leases, in milliseconds. */
const FREE_WITHIN_MS = 15_000;

/** Keeps `other` running until everything that a stopped process held must be free. */
const untilFree = ({ clock }: TwoHandles): Promise<void> => clock.advance(FREE_WITHIN_MS);

/** Requirements on presence, and on the resources of a dead process. */
export const presenceClaims: Claims = {
  "knows each process by an id of its own, and nobody else": async ({ one, other, single }) => {
    const [id, otherId] = [await one.presence.enter(), await other.presence.enter()];
    assert.equal(await one.presence.enter(), id);
    assert.equal(id === otherId, single);
    for (const state of [one, other])
      for (const known of [id, otherId]) assert.equal(await state.presence.isPresent(known), true);
    assert.equal(await one.presence.isPresent("nobody"), false);
  },
  "answers without a promise once the process is known": async ({ one }) => {
    const id = await one.presence.enter();
    assert.equal(one.presence.enter(), id);
  },
  "knows a process for as long as it lives, whether or not it holds something": async ({ clock, one, other }) => {
    const id = await one.presence.enter();
    for (let second = 0; second < 60; second++) {
      await clock.advance(1_000);
      assert.equal(await other.presence.isPresent(id), true);
    }
  },
  "knows that a process is gone ten seconds after it stopped and not before, and knows it again": async (handles) => {
    const { clock, one, other, single, stop } = handles;
    if (single) return;
    await other.presence.enter();
    await clock.advance(10_000);
    const id = await one.presence.enter();
    const resume = stop();
    for (let second = 0; second < 10; second++) {
      assert.equal(await other.presence.isPresent(id), true, `gone after ${second} s`);
      await clock.advance(1_000);
    }
    await clock.advance(FREE_WITHIN_MS - 10_000);
    assert.equal(await other.presence.isPresent(id), false);
    resume();
    await clock.advance(1_000);
    assert.equal(await other.presence.isPresent(await one.presence.enter()), true);
  },
  "knows within a second that a process has closed": async ({ clock, one, other, open, single }) => {
    if (single) return;
    const leaving = open();
    const id = await leaving.presence.enter();
    for (const state of [one, other]) assert.equal(await state.presence.isPresent(id), true);
    await leaving.close();
    await clock.advance(1_000);
    assert.equal(await one.presence.isPresent(id), false);
  },
  "does not consider a process gone that could not renew because the store was unavailable": async (handles) => {
    const { clock, one, other, open, single, stop } = handles;
    if (single) return;
    const id = await one.presence.enter();
    await other.presence.enter();
    await clock.advance(20_000);
    // Leaves the store unused for a while: all handles are closed, and then a new one is opened.
    const resume = stop();
    await other.close();
    await clock.advance(20_000);
    const back = open();
    await back.presence.enter();
    assert.equal(await back.presence.isPresent(id), true);
    resume();
    await clock.advance(20_000);
    assert.equal(await back.presence.isPresent(id), true);
  },
  "frees the places of a process that stopped, however long it may hold them": async (handles) => {
    const { clock, one, other, single, stop, until } = handles;
    if (single) return;
    const places = [{ key: "p", limit: 2 }];
    const lost = [await admitted(one, { places }), await admitted(one, { places, breaker: BREAKER })];
    await other.presence.enter();
    const resume = stop();
    await refused(other, { places }, "places");
    const from = clock.now();
    const next = await until(admitted(other, { places, waitMs: FAR }), 50);
    assert.ok(clock.now() - from <= FREE_WITHIN_MS, `it came after ${clock.now() - from} ms`);
    await admitted(other, { places });
    // The process was only suspended. Its late reports must not release anything of another process.
    resume();
    for (const pass of lost) await one.limits.release(pass, "success");
    await refused(one, { places }, "places");
    await other.limits.release(next, "success");
    await admitted(one, { places });
    await refused(other, { places }, "places");
  },
  "keeps the places of a process that lives, for as long as it may hold them": async ({ clock, one, other }) => {
    const places = [{ key: "p", limit: 1 }];
    await admitted(one, { places });
    await other.presence.enter();
    for (let minute = 0; minute < 5; minute++) {
      await clock.advance(60_000);
      await refused(other, { places }, "places");
    }
  },
  "frees the probe of a process that stopped, however long it may hold it": async (handles) => {
    const { clock, one, other, single, stop } = handles;
    if (single) return;
    await openBreaker(one);
    await other.presence.enter();
    await clock.advance(1_000);
    const lost = await admitted(one, { breaker: BREAKER });
    assert.equal(lost.probe, true);
    stop();
    await refused(other, { breaker: BREAKER }, "breaker");
    await untilFree(handles);
    const probe = await admitted(other, { breaker: BREAKER });
    assert.deepEqual(await one.limits.release(lost, "failure"), {});
    assert.deepEqual(await other.limits.release(probe, "success"), { breaker: "closed" });
  },
  "frees the leases of a process that stopped, however long they last, and tells it so": async (handles) => {
    const { clock, one, other, single, stop } = handles;
    if (single) return;
    const lease = await one.leases.acquire("l", { ttlMs: FAR });
    await other.presence.enter();
    const resume = stop();
    assert.equal(await other.leases.acquire("l", { ttlMs: FAR }), undefined);
    await untilFree(handles);
    const next = await other.leases.acquire("l", { ttlMs: FAR });
    assert.ok(next);
    resume();
    await clock.advance(5_000);
    assert.equal(lease?.lost.aborted, true);
    assert.equal(next.lost.aborted, false);
  },
  "gives nothing to the waiting calls of a process that stopped, and their turn to those of one that comes back":
    async (handles) => {
      const { clock, one, other, single, stop, until } = handles;
      if (single) return;
      const request = { places: [{ key: "p", limit: 1 }], waitMs: FAR };
      await one.presence.enter();
      const held = await admitted(other, request);
      const waiting = admit(one, request);
      await clock.advance(50);
      const resume = stop();
      await untilFree(handles);
      await other.limits.release(held, "success");
      // No call may wait for a slot that is assigned to another process.
      const next = await admitted(other, { places: request.places });
      resume();
      await clock.advance(5_000);
      await refused(other, { places: request.places }, "places");
      await other.limits.release(next, "success");
      const answer = await until(waiting, 50);
      assert.ok(answer.admitted);
      await refused(other, { places: request.places }, "places");
      await one.limits.release(answer.pass, "success");
      await admitted(other, { places: request.places });
    },
};
