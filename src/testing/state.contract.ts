import assert from "node:assert/strict";
import type { State } from "../state/state.port.ts";
import { contract, type ContractCase, type Make } from "./contract.ts";
import { createManualClock, type ManualClock } from "./manual-clock.ts";

/** What every state must do. `make` is given the clock that the state must tell expiry by. */
export function stateContract(make: (clock: ManualClock) => ReturnType<Make<State>>): readonly ContractCase[] {
  let clock = createManualClock();
  const fresh: Make<State> = () => {
    clock = createManualClock(1_000);
    return make(clock);
  };
  return contract(fresh, {
    "has a name": async (state) => {
      assert.ok(state.name.length > 0);
    },
    "gives back what was kept, and nothing for what was not": async (state) => {
      const value = { text: "ä\u0000\uD83D\uDE00", list: [1, null, true], nested: { "": -0.5 } };
      assert.equal(await state.set("a", value), true);
      assert.deepEqual((await state.get("a"))?.value, value);
      assert.equal(await state.get("b"), undefined);
    },
    "keeps a value apart from the object it was given and the one it gave": async (state) => {
      const given = { list: [1] };
      await state.set("a", given);
      given.list.push(2);
      const got = (await state.get("a"))?.value as { list: number[] };
      assert.deepEqual(got, { list: [1] });
      try {
        got.list.push(3);
      } catch {
        // Frozen is as good as copied.
      }
      assert.deepEqual((await state.get("a"))?.value, { list: [1] });
    },
    "refuses what JSON cannot say": async (state) => {
      const cycle: Record<string, unknown> = {};
      cycle["self"] = cycle;
      await assert.rejects(state.set("a", cycle), { code: "STORE_FAILED" });
      assert.equal(await state.get("a"), undefined);
    },
    "changes an entry only from the version that is named": async (state) => {
      assert.equal(await state.set("a", 1, { ifVersion: "absent" }), true);
      assert.equal(await state.set("a", 2, { ifVersion: "absent" }), false);
      const first = await state.get("a");
      assert.equal(first?.value, 1);
      assert.equal(await state.set("a", 3, { ifVersion: first.version }), true);
      assert.equal(await state.set("a", 4, { ifVersion: first.version }), false);
      assert.equal((await state.get("a"))?.value, 3);
      assert.equal(await state.set("a", 5), true);
      assert.equal((await state.get("a"))?.value, 5);
    },
    "never gives a version twice, not even to a key that came back": async (state) => {
      await state.set("a", 1);
      const before = await state.get("a");
      await state.delete("a");
      await state.set("a", 1);
      assert.equal(await state.set("a", 2, { ifVersion: before?.version ?? 0 }), false);
    },
    "lets one of many succeed that change an entry at once": async (state) => {
      await state.set("a", 0);
      const version = (await state.get("a"))?.version ?? 0;
      const wrote = await Promise.all(
        Array.from({ length: 50 }, (_, index) => state.set("a", index, { ifVersion: version })),
      );
      assert.equal(wrote.filter(Boolean).length, 1);
      const claimed = await Promise.all(
        Array.from({ length: 50 }, (_, index) => state.set("b", index, { ifVersion: "absent" })),
      );
      assert.equal(claimed.filter(Boolean).length, 1);
    },
    "removes an entry, from the version that is named where one is": async (state) => {
      await state.set("a", 1);
      const { version } = (await state.get("a")) ?? { version: 0 };
      assert.equal(await state.delete("a", { ifVersion: version + 1 }), false);
      assert.equal(await state.delete("a", { ifVersion: version }), true);
      assert.equal(await state.delete("a"), false);
      assert.equal(await state.get("a"), undefined);
    },
    "lists what begins with a prefix, taken literally": async (state) => {
      for (const key of ["x:1", "x:2", "X:1", "y:1", "x%", "x_", "x"]) await state.set(key, key);
      const keys = async (prefix: string): Promise<readonly string[]> =>
        (await state.list(prefix)).map(({ key, value }) => (key === value ? key : "wrong")).sort();
      assert.deepEqual(await keys("x:"), ["x:1", "x:2"]);
      assert.deepEqual(await keys("x%"), ["x%"]);
      assert.deepEqual(await keys(""), ["X:1", "x", "x%", "x:1", "x:2", "x_", "y:1"]);
      assert.deepEqual(await keys("z"), []);
      const [listed] = await state.list("y");
      assert.equal(listed?.version, (await state.get("y:1"))?.version);
    },
    "forgets what has expired, at that very millisecond": async (state) => {
      await state.set("a", 1, { expiresAt: 2_000 });
      await state.set("b", 1);
      await clock.advance(999);
      assert.equal((await state.get("a"))?.value, 1);
      await clock.advance(1);
      assert.equal(await state.get("a"), undefined);
      assert.deepEqual(
        (await state.list("")).map(({ key }) => key),
        ["b"],
      );
      assert.equal(await state.delete("a"), false);
      assert.equal(await state.set("a", 2, { ifVersion: "absent" }), true);
    },
    "stops where the caller has given up": async (state) => {
      const signal = AbortSignal.abort(new Error("given up"));
      await assert.rejects(state.set("a", 1, { signal }), /given up/);
      await assert.rejects(state.get("a", { signal }), /given up/);
      await assert.rejects(state.list("", { signal }), /given up/);
      await assert.rejects(state.delete("a", { signal }), /given up/);
      assert.equal(await state.get("a"), undefined);
    },
    "keeps nothing once it is closed, and closes twice": async (state) => {
      await state.set("a", 1);
      await state.close();
      await state.close();
      await assert.rejects(state.set("a", 2), { code: "CLOSED" });
      await assert.rejects(state.get("a"), { code: "CLOSED" });
    },
  });
}
