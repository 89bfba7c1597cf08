import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { vectorIndexContract } from "../../testing/vector-index.contract.ts";
import { memoryVectors } from "./memory-vectors.ts";
import { simdVectors } from "./simd-vectors.ts";

function unit(...values: readonly number[]): Float32Array {
  const length = Math.hypot(...values) || 1;
  return Float32Array.from(values, (value) => value / length);
}

/** The same numbers every time. */
function randomVectors(count: number, dimension: number): Float32Array[] {
  let state = 7;
  const random = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return (state >>> 8) / 2 ** 24 - 0.5;
  };
  return Array.from({ length: count }, () => unit(...Array.from({ length: dimension }, random)));
}

describe.each(["int8", "float32"] as const)("simd vectors of %s [000-5.1-nearest]", (format) => {
  for (const { name, run } of vectorIndexContract(() => ({ adapter: simdVectors({ format }) }))) it(name, run);

  it("finds what plain arithmetic finds, whatever came and went before, with and without a filter", async () => {
    const change = fc.record({
      id: fc.constantFrom("a", "b", "c", "d", "e", "f"),
      values: fc.option(fc.array(fc.integer({ min: -3, max: 3 }), { minLength: 4, maxLength: 4 }), { nil: undefined }),
    });
    const wanted = fc.option(fc.uniqueArray(fc.constantFrom<string>("a", "b", "c", "d", "x")), { nil: undefined });
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 30 }), wanted, async (changes, ids) => {
        const index = simdVectors({ format });
        const plain = memoryVectors();
        for (const { id, values } of changes) {
          for (const each of [index, plain]) {
            if (values) await each.upsert([{ id, vector: unit(...values) }]);
            else await each.delete([id]);
          }
        }
        const query = unit(1, 2, 3, -1);
        const options = { limit: 10, ...(ids ? { among: new Set(ids) } : {}) };
        const found = new Map((await index.nearest(query, options)).map(({ id, score }) => [id, score]));
        const expected = await plain.nearest(query, options);
        expect([...found.keys()].sort()).toEqual(expected.map(({ id }) => id).sort());
        for (const { id, score } of expected) expect(Math.abs((found.get(id) ?? 9) - score)).toBeLessThan(0.01);
        const known = await index.cosines?.(query, ["a", "x", "b"]);
        expect(known?.[0] === undefined).toBe((await plain.vectors(["a"]))[0] === undefined);
        expect(known?.[1]).toBeUndefined();
        expect(await index.count()).toBe(await plain.count());
      }),
    );
  });

  it.each([
    ["few of many", 20],
    ["most of many", 900],
  ])("finds the same as all would, where it may look at %s", async (_, count) => {
    const index = simdVectors({ format });
    const plain = memoryVectors();
    const entries = randomVectors(1000, 40).map((vector, row) => ({ id: `row-${row}`, vector }));
    await index.upsert(entries);
    await plain.upsert(entries);
    const among = new Set(entries.slice(-count).map(({ id }) => id));
    const query = randomVectors(1001, 40)[1000] ?? new Float32Array();
    const found = await index.nearest(query, { limit: 15, among });
    const expected = await plain.nearest(query, { limit: 15, among });
    expect(found.every(({ id }) => among.has(id))).toBe(true);
    found.forEach(({ score }, rank) => expect(Math.abs(score - (expected[rank]?.score ?? 9))).toBeLessThan(0.01));
    const scores = found.map(({ score }) => score);
    expect(scores).toEqual([...scores].sort((a, b) => b - a));
  });

  it("gives the cosines of ids in the order asked, once an id asked twice", async () => {
    const index = simdVectors({ format });
    await index.upsert([
      { id: "x", vector: unit(1, 0) },
      { id: "y", vector: unit(0, 1) },
    ]);
    const [y, nothing, x, again] = (await index.cosines?.(unit(1, 0), ["y", "nowhere", "x", "y"])) ?? [];
    expect([y, nothing, again]).toEqual([0, undefined, 0]);
    expect(x).toBeCloseTo(1, 2);
    expect(await simdVectors({ format }).cosines?.(unit(1, 0), ["x"])).toEqual([undefined]);
  });

  it("refuses vectors of another dimension, and keeps none of that batch", async () => {
    const index = simdVectors({ format });
    await index.upsert([{ id: "a", vector: unit(1, 0) }]);
    const mixed = [
      { id: "b", vector: unit(0, 1) },
      { id: "c", vector: unit(0, 1, 0) },
    ];
    await expect(index.upsert(mixed)).rejects.toMatchObject({ code: "STORE_FAILED" });
    await expect(index.nearest(unit(1, 0, 0), { limit: 1 })).rejects.toThrow("The query's vector has 3 dimensions");
    expect(await index.count()).toBe(1);
  });

  it("takes another dimension once it is empty", async () => {
    const index = simdVectors({ format });
    await index.upsert([{ id: "a", vector: unit(1, 0) }]);
    await index.delete(["a"]);
    await index.upsert([{ id: "b", vector: unit(0, 0, 1) }]);
    expect((await index.nearest(unit(0, 0, 1), { limit: 1 }))[0]?.score).toBeCloseTo(1, 2);
  });
});
