import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createVectorRows, type RowFormat } from "./vector-rows.ts";

describe.each<[RowFormat, number]>([
  ["float32", 1e-6],
  ["int8", 0.01],
])("createVectorRows with %s rows", (format, tolerance) => {
  it("scores every row with its dot product, also where the dimension is no multiple of sixteen", () => {
    for (const dimension of [1, 5, 16, 50, 384]) {
      const rows = createVectorRows(dimension, format);
      const vectors = Array.from({ length: 23 }, (_, seed) => unitVector(dimension, seed));
      for (const [row, vector] of vectors.entries()) rows.set(row, vector);
      const query = unitVector(dimension, 99);
      const scores = rows.scores(query, 23);
      expect(scores).toHaveLength(23);
      for (const [row, vector] of vectors.entries()) {
        expect(Math.abs((scores[row] ?? Number.NaN) - dot(query, vector))).toBeLessThan(tolerance);
      }
    }
  });

  it("scores only the selected rows, in the order of the selection", () => {
    const rows = createVectorRows(16, format);
    for (let row = 0; row < 10; row++) rows.set(row, unitVector(16, row));
    const query = unitVector(16, 4);
    const all = rows.scores(query, 10).slice();
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 90 }), (selection) => {
        const scores = rows.scores(query, Uint32Array.from(selection));
        expect([...scores]).toEqual(selection.map((row) => all[row]));
      }),
    );
    expect(all.indexOf(Math.max(...all))).toBe(4);
  });

  it("keeps what was set while it grows, row by row", () => {
    const rows = createVectorRows(20, format);
    const query = unitVector(20, 7);
    for (let row = 0; row < 3_000; row++) {
      rows.set(row, unitVector(20, row));
      // Scores and selections lie where rows will lie later.
      if (row % 500 === 0) rows.scores(query, Uint32Array.of(row));
    }
    const scores = rows.scores(query, 3_000);
    for (let row = 0; row < 3_000; row++) {
      expect(Math.abs((scores[row] ?? Number.NaN) - dot(query, unitVector(20, row)))).toBeLessThan(tolerance);
    }
  });

  it("has zeros in rows that were never set, also where scores used to lie", () => {
    const rows = createVectorRows(16, format);
    for (let row = 0; row < 64; row++) rows.set(row, unitVector(16, row));
    rows.scores(
      unitVector(16, 1),
      Uint32Array.from({ length: 64 }, (_, i) => i),
    );
    rows.set(500, unitVector(16, 3));
    const unset = Array.from({ length: 436 }, (_, i) => rows.get(64 + i));
    expect(unset.every((vector) => vector.every((component) => component === 0))).toBe(true);
    expect(
      rows
        .scores(unitVector(16, 1), 500)
        .slice(64)
        .every((score) => score === 0),
    ).toBe(true);
  });

  it("replaces, reads back and moves rows", () => {
    const rows = createVectorRows(16, format);
    rows.set(0, unitVector(16, 1));
    rows.set(1, unitVector(16, 2));
    rows.set(0, unitVector(16, 3));
    const kept = rows.get(0);
    expect(Math.abs(dot(kept, unitVector(16, 3)) - 1)).toBeLessThan(tolerance);
    rows.move(0, 1);
    expect(rows.get(1)).toEqual(kept);
    rows.set(2, new Float32Array(16));
    expect([...rows.get(2)]).toEqual(Array.from({ length: 16 }, () => 0));
    expect([...rows.scores(unitVector(16, 3), Uint32Array.of(2))]).toEqual([0]);
  });

  it("refuses vectors of another dimension and rows that do not exist", () => {
    const rows = createVectorRows(16, format);
    expect(() => rows.set(0, new Float32Array(8))).toThrow("A vector has 8 components and these rows 16");
    expect(() => rows.scores(new Float32Array(17), 1)).toThrow("A vector has 17 components");
    expect(() => rows.scores(new Float32Array(16), Uint32Array.of(64))).toThrow("Row 64 does not exist");
    expect(() => rows.set(-1, new Float32Array(16))).toThrow("Row -1 does not exist");
    expect(() => rows.get(64)).toThrow("Row 64 does not exist");
    expect(() => createVectorRows(0, format)).toThrow("positive integer, not 0");
  });
});

function unitVector(dimension: number, seed: number): Float32Array {
  let state = seed * 7919 + 1;
  const vector = Float32Array.from({ length: dimension }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return state / 2 ** 31;
  });
  const length = Math.hypot(...vector);
  return vector.map((x) => x / length);
}

function dot(a: Float32Array, b: Float32Array): number {
  return a.reduce((total, x, i) => total + x * (b[i] ?? 0), 0);
}
