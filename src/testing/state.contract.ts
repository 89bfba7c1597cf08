import assert from "node:assert/strict";
import type { State } from "../state/state.port.ts";
import type { ContractCase } from "./contract.ts";
import { type StateBackend, stateCases } from "./state/backend.ts";

/** The contract of every state's documents, with several concurrent processes. */
export function stateContract(make: () => StateBackend | Promise<StateBackend>): readonly ContractCase[] {
  return stateCases(make, {
    "has a name, and works": async ({ one, other }) => {
      assert.ok(one.name.length > 0);
      assert.equal(await other.healthCheck(), true);
    },
    "gives back what was kept, and nothing for what was not": async ({ one: { documents: state } }) => {
      const value = { text: "ä\u0000\uD83D\uDE00", list: [1, null, true], nested: { "": -0.5 } };
      assert.equal(await state.set("a", value), true);
      assert.deepEqual((await state.get("a"))?.value, value);
      assert.equal(await state.get("b"), undefined);
    },
    "keeps a value apart from the object it was given and the one it gave": async ({ one: { documents: state } }) => {
      const given = { list: [1] };
      await state.set("a", given);
      given.list.push(2);
      const got = (await state.get("a"))?.value as { list: number[] };
      assert.deepEqual(got, { list: [1] });
      try {
        got.list.push(3);
      } catch {
        // A frozen value needs no copy.
      }
      assert.deepEqual((await state.get("a"))?.value, { list: [1] });
    },
    "refuses what JSON cannot say": async ({ one: { documents: state } }) => {
      const cycle: Record<string, unknown> = {};
      cycle["self"] = cycle;
      await assert.rejects(state.set("a", cycle), { code: "STORE_FAILED" });
      assert.equal(await state.get("a"), undefined);
    },
    "changes an entry only from the version that is named": async ({ one: { documents: state } }) => {
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
    "never gives a version twice, not even to a key that came back": async ({ one: { documents: state }, other }) => {
      await state.set("a", 1);
      const before = await state.get("a");
      await other.documents.delete("a");
      await other.documents.set("a", 1);
      assert.equal(await state.set("a", 2, { ifVersion: before?.version ?? 0 }), false);
    },
    "lets one of many succeed that change an entry at once, in whatever process": async ({ one, slow }) => {
      await one.documents.set("a", 0);
      const version = (await one.documents.get("a"))?.version ?? 0;
      const succeeded = async (change: (state: State, index: number) => Promise<boolean>): Promise<number> => {
        const changes = Array.from({ length: 50 }, (_, index) => change(slow(index).documents, index));
        return (await Promise.all(changes)).filter(Boolean).length;
      };
      assert.equal(await succeeded((state, index) => state.set("a", index, { ifVersion: version })), 1);
      assert.equal(await succeeded((state, index) => state.set("b", index, { ifVersion: "absent" })), 1);
      assert.equal(await succeeded((state) => state.delete("b")), 1);
    },
    "loses no step of two processes that count up together": async ({ one, slow }) => {
      await Promise.all(
        [slow(0), slow(1)].map(async ({ documents }) => {
          for (let done = 0; done < 25;) {
            const entry = await documents.get("count");
            const next = Number(entry?.value ?? 0) + 1;
            if (await documents.set("count", next, { ifVersion: entry?.version ?? "absent" })) done++;
          }
        }),
      );
      assert.equal((await one.documents.get("count"))?.value, 50);
    },
    "shows at once what another process wrote": async ({ one, other }) => {
      await one.documents.set("a", "here");
      assert.equal((await other.documents.get("a"))?.value, "here");
      await other.documents.delete("a");
      assert.equal(await one.documents.get("a"), undefined);
    },
    "removes an entry, if it has the version that is named": async ({ one: { documents: state } }) => {
      await state.set("a", 1);
      const { version } = (await state.get("a")) ?? { version: 0 };
      assert.equal(await state.delete("a", { ifVersion: version + 1 }), false);
      assert.equal(await state.delete("a", { ifVersion: version }), true);
      assert.equal(await state.delete("a"), false);
      assert.equal(await state.get("a"), undefined);
    },
    "lists what begins with a prefix, taken literally": async ({ one: { documents: state } }) => {
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
    "lists a page at a time, ordered by key": async ({ clock, one: { documents: state } }) => {
      const keys = async (after?: string): Promise<readonly string[]> =>
        (await state.list("p:", { limit: 2, ...(after !== undefined && { after }) })).map(({ key }) => key);
      for (const key of ["p:5", "p:1", "q", "p:3", "a", "p:2", "p:4"])
        await state.set(key, key, key === "p:2" ? { expiresAt: clock.now() + 1_000 } : {});
      assert.deepEqual(
        (await state.list("p:")).map(({ key }) => key),
        ["p:1", "p:2", "p:3", "p:4", "p:5"],
      );
      assert.deepEqual(await keys(), ["p:1", "p:2"]);
      assert.deepEqual(await keys("a"), ["p:1", "p:2"]);
      assert.deepEqual(await keys("p:2"), ["p:3", "p:4"]);
      assert.deepEqual(await keys("p:4"), ["p:5"]);
      assert.deepEqual(await keys("p:5"), []);
      await clock.advance(1_000);
      assert.deepEqual(await keys(), ["p:1", "p:3"]);
      assert.deepEqual(await keys("p:2"), ["p:3", "p:4"]);
    },
    "lists the keys of what begins with a prefix": async ({ clock, one: { documents: state } }) => {
      for (const key of ["x:1", "x:2", "X:1", "x%", "x"]) await state.set(key, key);
      await state.set("x:3", "x:3", { expiresAt: clock.now() + 1_000 });
      assert.deepEqual([...(await state.keys("x:"))].sort(), ["x:1", "x:2", "x:3"]);
      await clock.advance(1_000);
      assert.deepEqual([...(await state.keys("x:"))].sort(), ["x:1", "x:2"]);
      assert.deepEqual(await state.keys("x%"), ["x%"]);
      assert.deepEqual(await state.keys("z"), []);
    },
    "forgets what has expired, at that very millisecond": async ({ clock, one: { documents: state } }) => {
      await state.set("a", 1, { expiresAt: clock.now() + 1_000 });
      await state.set("b", 1);
      await clock.advance(999);
      assert.equal((await state.get("a"))?.value, 1);
      await clock.advance(1);
      assert.equal(await state.get("a"), undefined);
      const kept = await state.list("");
      assert.deepEqual([kept.length, kept[0]?.key], [1, "b"]);
      assert.equal(await state.delete("a"), false);
      assert.equal(await state.set("a", 2, { ifVersion: "absent" }), true);
    },
    "stops if the caller has given up": async ({ one: { documents: state } }) => {
      const signal = AbortSignal.abort(new Error("given up"));
      await assert.rejects(state.set("a", 1, { signal }), /given up/);
      await assert.rejects(state.get("a", { signal }), /given up/);
      await assert.rejects(state.list("", { signal }), /given up/);
      await assert.rejects(state.delete("a", { signal }), /given up/);
      assert.equal(await state.get("a"), undefined);
    },
    "keeps nothing once it is closed, and closes twice": async ({ one }) => {
      const state = one.documents;
      await state.set("a", 1);
      await one.close();
      await one.close();
      assert.equal(await one.healthCheck(), false);
      await assert.rejects(state.set("a", 2), { code: "CLOSED" });
      await assert.rejects(state.get("a"), { code: "CLOSED" });
    },
  });
}
