import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createStaticTable, sixBitRows } from "./static.ts";

const rows = [
  [1, 0],
  [0, 2],
  [-3, 4],
  [100, 100],
].map((row) => Int8Array.from(row));
const rowOf = (id: number): Int8Array => rows[id] ?? new Int8Array(2);
const scales = Float32Array.from([1, 0.5, 2, 1]);
const uneven = Float32Array.from([0.1, 0.7, 0.3, 1]);

describe("createStaticTable", () => {
  it("adds each token's row times its scale and gives the sum length one", () => {
    const table = createStaticTable({ rowOf, scales, dimension: 2 });
    // [1, 0] + [0, 1] + [-6, 8] = [-5, 9]
    const vector = table.embed(Int32Array.from([0, 1, 2]));
    expect(vector[0]).toBeCloseTo(-5 / Math.sqrt(106), 6);
    expect(vector[1]).toBeCloseTo(9 / Math.sqrt(106), 6);
  });

  it("leaves out the tokens it is told to ignore", () => {
    const table = createStaticTable({ rowOf, scales, dimension: 2, ignore: [3] });
    expect([...table.embed(Int32Array.from([3, 0, 3]))]).toEqual([1, 0]);
  });

  it("gives zeros where no token counts", () => {
    const table = createStaticTable({ rowOf, scales, dimension: 2, ignore: [3] });
    expect([...table.embed(Int32Array.from([3]))]).toEqual([0, 0]);
    expect([...table.embed(new Int32Array())]).toEqual([0, 0]);
  });

  it("gives a text the same vector whatever came before it, to the last bit", () => {
    const tokens = fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 6 });
    const many = fc.array(tokens, { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(many, (texts) => {
        const table = createStaticTable({ rowOf, scales: uneven, dimension: 2, ignore: [3] });
        // Each goes on where the one before ended, as a tool's second text does, up to the [SEP] behind it.
        const growing = texts.map((_, index) => Int32Array.from([...texts.slice(0, index + 1).flat(), 3]));
        const alone = texts.map((ids) => Int32Array.from(ids));
        for (const ids of [...growing, ...growing.toReversed(), ...alone]) {
          const fresh = createStaticTable({ rowOf, scales: uneven, dimension: 2, ignore: [3] });
          expect([...table.embed(ids)]).toEqual([...fresh.embed(ids)]);
        }
      }),
    );
  });

  it("does not change the caller's scales", () => {
    createStaticTable({ rowOf, scales, dimension: 2, ignore: [0] });
    expect([...scales]).toEqual([1, 0.5, 2, 1]);
  });
});

/** Packs numbers from -32 to 31 as the file has them. */
function packed(numbers: readonly number[]): Uint8Array {
  const bits = numbers.map((number) => (number + 32).toString(2).padStart(6, "0"));
  const groups = Array.from({ length: bits.length / 4 }, (_, group) => bits.slice(4 * group, 4 * group + 4));
  return Uint8Array.from(
    groups.flatMap((group) => {
      const value = Number.parseInt(group.toReversed().join(""), 2);
      return [value & 255, (value >> 8) & 255, value >> 16];
    }),
  );
}

describe("sixBitRows", () => {
  it("reads the numbers that were packed", () => {
    const row = fc.array(fc.integer({ min: -32, max: 31 }), { minLength: 8, maxLength: 8 });
    fc.assert(
      fc.property(fc.array(row, { minLength: 1, maxLength: 5 }), (table) => {
        const read = sixBitRows(packed(table.flat()), { rows: table.length, dimension: 8 });
        expect(table.map((_, id) => [...read(id)])).toEqual(table);
      }),
    );
  });

  it("refuses a table of another size", () => {
    expect(() => sixBitRows(new Uint8Array(11), { rows: 2, dimension: 8 })).toThrow(
      "11 bytes, but 2 rows of 8 need 12",
    );
  });
});
