import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createTopK } from "./top-k.ts";

describe("top-k", () => {
  it("keeps what sorting everything and cutting would keep, in that order", () => {
    const scores = fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 60 });
    fc.assert(
      fc.property(scores, fc.integer({ min: 0, max: 12 }), (given, limit) => {
        const top = createTopK(limit, (a, b) => a < b);
        given.forEach((score, row) => top.offer(score, row));
        const expected = given
          .map((score, row) => ({ row, score }))
          .sort((a, b) => b.score - a.score || a.row - b.row)
          .slice(0, limit);
        expect(top.take()).toEqual(expected);
      }),
    );
  });

  it("is empty after it was taken", () => {
    const top = createTopK(2, (a, b) => a < b);
    top.offer(1, 7);
    top.take();
    expect(top.take()).toEqual([]);
  });
});
