import assert from "node:assert/strict";
import type { ContractCase } from "./contract.ts";
import { type Claims, type StateBackend, stateCases, type TwoHandles } from "./state/backend.ts";
import { presenceClaims } from "./state/presence-claims.ts";

/** The contract of a change feed, leases and presence that several processes share. */
export function changesContract(make: () => StateBackend | Promise<StateBackend>): readonly ContractCase[] {
  return stateCases(make, { ...changeClaims, ...leaseClaims, ...presenceClaims });
}

const changeClaims: Claims = {
  "notifies every process, including the publisher, within a second": async ({ clock, one, other }) => {
    const heard: unknown[] = [];
    one.changes.subscribe("t", (data) => void heard.push(["one", data]));
    other.changes.subscribe("t", (data) => void heard.push(["other", data]));
    other.changes.subscribe("another", (data) => void heard.push(data));
    await one.changes.publish("t", { list: [1, null, "ä"] });
    await clock.advance(1_000);
    assert.deepEqual(heard.toSorted(), [
      ["one", { list: [1, null, "ä"] }],
      ["other", { list: [1, null, "ä"] }],
    ]);
  },
  "delivers every message to everyone in one order, however many publish": async ({
    clock,
    one,
    other,
    slow,
    until,
  }) => {
    const heard = [listenTo(one), listenTo(other)];
    await until(Promise.all(Array.from({ length: 100 }, (_, index) => slow(index).changes.publish("t", index))));
    await clock.advance(1_000);
    const [first = [], second = []] = heard.map((all) => [...new Set(all)]);
    assert.equal(first.length, 100);
    assert.deepEqual(first, second);
  },
  "keeps the order in which one process published": async ({ clock, one, other }) => {
    const heard = listenTo(other);
    for (let index = 0; index < 20; index++) await one.changes.publish("t", index);
    await clock.advance(1_000);
    const published = Array.from({ length: 20 }, (_, index) => index);
    assert.deepEqual(heard, published);
  },
  "gives each listener a value of its own, and none of them the failure of another": async ({ clock, one, other }) => {
    const heard: unknown[] = [];
    for (const state of [one, other]) {
      state.changes.subscribe("t", () => {
        throw new Error("broken listener");
      });
      state.changes.subscribe("t", (data) => void (data as number[]).push(2));
      state.changes.subscribe("t", (data) => void heard.push(data));
    }
    const given = [1];
    await one.changes.publish("t", given);
    await clock.advance(1_000);
    assert.deepEqual(heard, [[1], [1]]);
    assert.deepEqual(given, [1]);
  },
  "delivers nothing to a listener after it has ended": async ({ clock, one, other }) => {
    const heard: unknown[] = [];
    const listener = (data: unknown): void => void heard.push(data);
    const [end] = [other.changes.subscribe("t", listener), other.changes.subscribe("t", listener)];
    end();
    end();
    await one.changes.publish("t", 1);
    await clock.advance(1_000);
    assert.deepEqual(heard, [1]);
  },
};

/** Collects the messages that a handle receives on topic `t` from now on. */
function listenTo({ changes }: TwoHandles["one"]): readonly unknown[] {
  const heard: unknown[] = [];
  changes.subscribe("t", (data) => void heard.push(data));
  return heard;
}

const TTL = { ttlMs: 3_000 };

const leaseClaims: Claims = {
  "gives a lease to exactly one of many, and to the next once it is released": async ({ one, other, slow }) => {
    const asked = await Promise.all(Array.from({ length: 40 }, (_, index) => slow(index).leases.acquire("l", TTL)));
    const [lease, ...others] = asked.filter((held) => held !== undefined);
    assert.ok(lease);
    assert.equal(others.length, 0);
    assert.equal(lease.name, "l");
    assert.ok(await one.leases.acquire("another", TTL));
    await lease.release();
    await lease.release();
    assert.ok(await other.leases.acquire("l", TTL));
    assert.equal(await one.leases.acquire("l", TTL), undefined);
    await lease.release();
    assert.equal(await one.leases.acquire("l", TTL), undefined);
  },
  "keeps a lease for as long as its process lives": async ({ clock, one, other }) => {
    const lease = await one.leases.acquire("l", TTL);
    for (let time = 0; time < 40; time++) {
      await clock.advance(500);
      assert.equal(await other.leases.acquire("l", TTL), undefined);
    }
    assert.equal(lease?.lost.aborted, false);
  },
  "takes a lease from a process that stopped, after its time and not before, and tells it so": async ({
    clock,
    one,
    other,
    single,
    stop,
  }) => {
    const lease = await one.leases.acquire("l", TTL);
    assert.ok(lease);
    const resume = stop();
    await clock.advance(2_900);
    assert.equal(await other.leases.acquire("l", TTL), undefined);
    await clock.advance(100);
    const next = await other.leases.acquire("l", TTL);
    if (single) return assert.equal(next, undefined);
    assert.ok(next);
    resume();
    await clock.advance(3_000);
    assert.equal(lease.lost.aborted, true);
    await lease.release();
    assert.equal(next.lost.aborted, false);
    assert.equal(await one.leases.acquire("l", TTL), undefined);
  },
  "gives nothing to a caller that has given up": async ({ one, other }) => {
    const signal = AbortSignal.abort(new Error("given up"));
    await assert.rejects(one.leases.acquire("l", { ...TTL, signal }), /given up/);
    await assert.rejects(one.changes.publish("t", 1, { signal }), /given up/);
    assert.ok(await other.leases.acquire("l", TTL));
  },
};
