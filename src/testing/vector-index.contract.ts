import assert from "node:assert/strict";
import type { VectorIndex } from "../catalog/vector-index.port.ts";
import { contract, type ContractCase, type Make } from "./contract.ts";

/** What every vector index must do. Vectors have three dimensions. */
export function vectorIndexContract(make: Make<VectorIndex>): readonly ContractCase[] {
  const entries = [
    { id: "x", vector: unit(1, 0, 0) },
    { id: "y", vector: unit(0, 1, 0) },
    { id: "xy", vector: unit(1, 1, 0) },
    { id: "minus", vector: unit(-1, 0, 0) },
  ];
  return contract(make, {
    "orders by cosine, best first": async (index) => {
      await index.upsert(entries);
      const found = await index.nearest(unit(1, 0.2, 0), { limit: 3 });
      assert.deepEqual(
        found.map(({ id }) => id),
        ["x", "xy", "y"],
      );
    },
    "gives cosines in [-1, 1]": async (index) => {
      await index.upsert(entries);
      const found = await index.nearest(unit(1, 0, 0), { limit: 4 });
      const scores = Object.fromEntries(found.map(({ id, score }) => [id, score]));
      assert.ok(Math.abs((scores["x"] ?? 0) - 1) < 0.01);
      assert.ok(Math.abs((scores["minus"] ?? 0) + 1) < 0.01);
      assert.ok(Math.abs((scores["xy"] ?? 0) - Math.SQRT1_2) < 0.01);
    },
    "filters before it cuts": async (index) => {
      await index.upsert(entries);
      const found = await index.nearest(unit(1, 0, 0), { limit: 1, among: new Set(["y", "minus"]) });
      assert.deepEqual(
        found.map(({ id }) => id),
        ["y"],
      );
    },
    "replaces a vector of the same id": async (index) => {
      await index.upsert(entries);
      await index.upsert([{ id: "x", vector: unit(0, 0, 1) }]);
      assert.equal(await index.count(), 4);
      assert.equal((await index.nearest(unit(0, 0, 1), { limit: 1 }))[0]?.id, "x");
    },
    "forgets what was deleted and nothing else": async (index) => {
      await index.upsert(entries);
      await index.delete(["x", "nowhere"]);
      assert.equal(await index.count(), 3);
      const found = await index.nearest(unit(1, 0, 0), { limit: 10 });
      assert.deepEqual(
        found.map(({ id }) => id),
        ["xy", "y", "minus"],
      );
    },
    "gives vectors back in the order asked": async (index) => {
      await index.upsert(entries);
      const [y, nothing, x] = await index.vectors(["y", "nowhere", "x"]);
      assert.ok(Math.abs((y?.[1] ?? 0) - 1) < 0.01);
      assert.equal(nothing, undefined);
      assert.ok(Math.abs((x?.[0] ?? 0) - 1) < 0.01);
    },
    "answers nothing when empty": async (index) => {
      assert.deepEqual(await index.nearest(unit(1, 0, 0), { limit: 5 }), []);
    },
  });
}

function unit(...values: readonly number[]): Float32Array {
  const length = Math.hypot(...values);
  return Float32Array.from(values, (value) => value / length);
}
