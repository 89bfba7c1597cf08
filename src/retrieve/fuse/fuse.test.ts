import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { calibrateLexical, denseScale } from "./calibrate.ts";
import { fuse } from "./fuse.ts";

const plain = denseScale();

describe("fuse", () => {
  it("orders by four parts meaning and one part words, in proportion to the best [003-canonical-hybrid]", () => {
    const hits = fuse(
      [
        { id: "meant", lexical: 0, cosine: 0.8 },
        { id: "worded", lexical: 0.5, cosine: 0.4 },
        { id: "neither", lexical: 0, cosine: 0 },
      ],
      plain,
    );
    expect(hits.map(({ id }) => id)).toEqual(["meant", "worded", "neither"]);
    expect(hits[0]?.semanticScore).toBeCloseTo(0.8, 6);
    expect(hits[1]?.semanticScore).toBeCloseTo(((0.8 * 0.5 + 0.2) / 0.8) * 0.8, 6);
    expect(hits[2]?.semanticScore).toBe(0);
  });

  it("keeps the lesser of two good tools worth showing in a catalog of two", () => {
    const hits = fuse(
      [
        { id: "good", lexical: 0.2, cosine: 0.7 },
        { id: "also", lexical: 0.2, cosine: 0.68 },
      ],
      plain,
    );
    expect(hits[0]?.semanticScore).toBeCloseTo(0.7, 6);
    expect(hits[1]?.semanticScore).toBeGreaterThan(0.6);
  });

  it("lets meaning decide alone where no word matches", () => {
    expect(fuse([{ id: "a", lexical: 0, cosine: 0.6 }], plain)[0]?.semanticScore).toBeCloseTo(0.6, 6);
  });

  it("judges a tool without a vector by its words", () => {
    const hits = fuse(
      [
        { id: "vectorless", lexical: 0.4, cosine: undefined },
        { id: "near", lexical: 0.1, cosine: 0.5 },
      ],
      plain,
    );
    expect(hits[0]).toEqual({ id: "vectorless", semanticScore: calibrateLexical(0.4) });
  });

  it("puts the tool whose name was asked for first, whatever the vectors say", () => {
    const hits = fuse(
      [
        { id: "near", lexical: 0.6, cosine: 0.9 },
        { id: "named", lexical: 1, cosine: 0.1 },
      ],
      plain,
    );
    expect(hits[0]?.id).toBe("named");
    expect(hits[0]?.semanticScore).toBeGreaterThan(0.95);
    const rival = { id: "equal", lexical: 0.6, cosine: 1 };
    expect(fuse([rival, { id: "named", lexical: 1, cosine: 0.1 }], plain)[0]?.id).toBe("named");
  });

  it("reads cosines as the embedder does, from the point where they mean something", () => {
    const scale = denseScale((cosine) => (cosine < 0.7 ? 0 : Math.min(1, (cosine - 0.7) * 4)));
    expect(scale.floor).toBeCloseTo(0.70025, 4);
    const hits = fuse([{ id: "a", lexical: 0, cosine: 0.9 }], scale);
    expect(hits[0]?.semanticScore).toBeCloseTo(0.8, 6);
  });

  it("gives meaning the share that the embedder's scale says", () => {
    const candidates = [
      { id: "meant", lexical: 0.1, cosine: 0.8 },
      { id: "worded", lexical: 0.5, cosine: 0.6 },
    ];
    expect(fuse(candidates, denseScale(undefined, 0.95))[0]?.id).toBe("meant");
    expect(fuse(candidates, denseScale(undefined, 0.6))[0]?.id).toBe("worded");
  });

  it("calibrates the best tool's cosine, and the others in proportion to it", () => {
    const scale = denseScale((cosine) => 1 / (1 + Math.exp(16 * (0.24 - cosine))));
    const hits = fuse(
      [
        { id: "best", lexical: 0, cosine: 0.6 },
        { id: "half", lexical: 0, cosine: 0.3 },
      ],
      scale,
    );
    expect(hits[0]?.semanticScore).toBeCloseTo(scale.calibrate(0.6), 6);
    expect(hits[1]?.semanticScore).toBeCloseTo(scale.calibrate(0.3), 6);
  });

  it("lets a clause bring up its tool where the request asks for several things", () => {
    const candidates = [
      { id: "whole", lexical: 0, cosine: 0.6, clauseCosine: 0.5 },
      { id: "step", lexical: 0, cosine: 0.5, clauseCosine: 0.9 },
    ];
    expect(fuse(candidates, plain)[0]?.id).toBe("whole");
    expect(fuse(candidates, plain, { clauseShare: 0.5 })[0]?.id).toBe("step");
  });

  it("prefers the tool of the nearer namespace among equals, as far as the namespace hangs together", () => {
    const pair = (trust: number): readonly string[] =>
      fuse(
        [
          { id: "a", lexical: 0, cosine: 0.61, namespace: { cosine: 0.2, trust } },
          { id: "b", lexical: 0, cosine: 0.6, namespace: { cosine: 0.6, trust } },
        ],
        plain,
      ).map(({ id }) => id);
    expect(pair(1)).toEqual(["b", "a"]);
    expect(pair(0)).toEqual(["a", "b"]);
  });

  it("neither lifts nor lowers a tool whose namespace says nothing", () => {
    const near = { id: "near", lexical: 0, cosine: 0.6, namespace: { cosine: 0.7, trust: 1 } };
    const loner = { id: "loner", lexical: 0, cosine: 0.6 };
    const scores = fuse([near, loner], plain).map(({ semanticScore }) => semanticScore);
    expect(scores).toEqual([0.6, 0.6]);
  });

  it("prefers a tool, and a product, that the request names", () => {
    const order = (named: { tool?: boolean; namespace?: boolean }): readonly string[] =>
      fuse(
        [
          { id: "a", lexical: 0.2, cosine: 0.62 },
          { id: "b", lexical: 0.2, cosine: 0.6, named },
        ],
        plain,
      ).map(({ id }) => id);
    expect(order({})).toEqual(["a", "b"]);
    expect(order({ tool: true })).toEqual(["b", "a"]);
    expect(order({ namespace: true })).toEqual(["b", "a"]);
  });

  it("does not let a name beat a much better tool", () => {
    const hits = fuse(
      [
        { id: "right", lexical: 0.2, cosine: 0.7 },
        { id: "named", lexical: 0.2, cosine: 0.4, named: { tool: true, namespace: true } },
      ],
      plain,
    );
    expect(hits[0]?.id).toBe("right");
  });

  it("stays in [0, 1] and in order [000-4.2-semantic-score]", () => {
    const candidate = fc.record({
      id: fc.uuid(),
      lexical: fc.double({ min: 0, max: 1, noNaN: true }),
      cosine: fc.option(fc.double({ min: -1, max: 1, noNaN: true }), { nil: undefined }),
      clauseCosine: fc.option(fc.double({ min: -1, max: 1, noNaN: true }), { nil: undefined }),
      namespace: fc.option(
        fc.record({
          cosine: fc.double({ min: -1, max: 1, noNaN: true }),
          trust: fc.double({ min: 0, max: 1, noNaN: true }),
        }),
        { nil: undefined },
      ),
      named: fc.record({ tool: fc.boolean(), namespace: fc.boolean() }),
    });
    fc.assert(
      fc.property(fc.array(candidate, { maxLength: 20 }), (candidates) => {
        const scores = fuse(candidates, plain, { clauseShare: 0.3 }).map(({ semanticScore }) => semanticScore);
        expect(scores).toEqual([...scores].sort((a, b) => b - a));
        expect(scores.every((score) => score >= 0 && score <= 1)).toBe(true);
      }),
    );
  });
});

describe("calibrateLexical", () => {
  it("rises from 0 to nearly 1, with one half where a tool becomes worth showing", () => {
    expect(calibrateLexical(0)).toBe(0);
    expect(calibrateLexical(0.025)).toBe(0.5);
    expect(calibrateLexical(1)).toBeGreaterThan(0.97);
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1, noNaN: true }), fc.double({ min: 0, max: 1, noNaN: true }), (a, b) => {
        expect(calibrateLexical(Math.min(a, b))).toBeLessThanOrEqual(calibrateLexical(Math.max(a, b)));
      }),
    );
  });
});
