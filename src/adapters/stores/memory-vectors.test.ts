import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { vectorIndexContract } from "../../testing/vector-index.contract.ts";
import { memoryVectors } from "./memory-vectors.ts";

function unit(...values: readonly number[]): Float32Array {
  const length = Math.hypot(...values) || 1;
  return Float32Array.from(values, (value) => value / length);
}

describe("memory vectors [000-5.1-nearest] [000-5.1-memory]", () => {
  for (const { name, run } of vectorIndexContract(() => ({ adapter: memoryVectors() }))) it(name, run);

  it("finds what comparing with everything finds, whatever came and went before", async () => {
    const change = fc.record({
      id: fc.constantFrom("a", "b", "c", "d", "e", "f"),
      values: fc.option(fc.array(fc.integer({ min: -3, max: 3 }), { minLength: 4, maxLength: 4 }), { nil: undefined }),
    });
    const wanted = fc.option(fc.uniqueArray(fc.constantFrom<string>("a", "b", "c", "d", "x")), { nil: undefined });
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 30 }), wanted, async (changes, ids) => {
        const index = memoryVectors();
        const expected = new Map<string, Float32Array>();
        for (const { id, values } of changes) {
          if (values) {
            await index.upsert([{ id, vector: unit(...values) }]);
            expected.set(id, unit(...values));
          } else {
            await index.delete([id]);
            expected.delete(id);
          }
        }
        const query = unit(1, 2, 3, -1);
        const scored = [...expected]
          .filter(([id]) => !ids || ids.includes(id))
          .map(([id, vector]) => ({ id, score: vector.reduce((sum, value, at) => sum + value * (query[at] ?? 0), 0) }))
          .sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1))
          .slice(0, 3);
        const found = await index.nearest(query, { limit: 3, ...(ids ? { among: new Set(ids) } : {}) });
        expect(found.map(({ id }) => id)).toEqual(scored.map(({ id }) => id));
        expect(await index.count()).toBe(expected.size);
        const known = [...expected.keys()];
        expect(await index.vectors(known)).toEqual(known.map((id) => expected.get(id)));
      }),
    );
  });

  it("hands out copies, which later changes do not reach", async () => {
    const index = memoryVectors();
    await index.upsert([{ id: "a", vector: unit(1, 0) }]);
    const [before] = await index.vectors(["a"]);
    await index.upsert([{ id: "a", vector: unit(0, 1) }]);
    expect(before).toEqual(unit(1, 0));
  });

  it("refuses vectors of another dimension, and keeps none of that batch", async () => {
    const index = memoryVectors();
    await index.upsert([{ id: "a", vector: unit(1, 0) }]);
    const mixed = [
      { id: "b", vector: unit(0, 1) },
      { id: "c", vector: unit(0, 1, 0) },
    ];
    await expect(index.upsert(mixed)).rejects.toMatchObject({ code: "STORE_FAILED" });
    await expect(memoryVectors().upsert(mixed)).rejects.toThrow("The vector of c has 3 dimensions");
    await expect(index.nearest(unit(1, 0, 0), { limit: 1 })).rejects.toThrow("The query's vector has 3 dimensions");
    expect(await index.count()).toBe(1);
  });

  it("takes another dimension once it is empty", async () => {
    const index = memoryVectors();
    await index.upsert([{ id: "a", vector: unit(1, 0) }]);
    await index.delete(["a"]);
    await index.upsert([{ id: "b", vector: unit(0, 0, 1) }]);
    expect((await index.nearest(unit(0, 0, 1), { limit: 1 }))[0]?.score).toBeCloseTo(1, 6);
  });
});
