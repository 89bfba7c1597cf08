import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { measureJson } from "./measure-json.ts";

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

describe("measureJson", () => {
  it("says of every JSON value exactly whether it fits", () => {
    const offset = fc.oneof(fc.constant(0), fc.constant(-1), fc.constant(1), fc.integer({ max: 200, min: -200 }));
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4, stringUnit: "binary" }), offset, (value, by) => {
        const limit = Math.max(0, bytesOf(value) + by);
        const measured = measureJson(value, limit);
        expect(measured.fits).toBe(bytesOf(value) <= limit);
        if (!measured.fits) {
          expect(measured.bytes).toBeLessThanOrEqual(bytesOf(value));
          if (measured.atLeast !== true) expect(measured.bytes).toBe(bytesOf(value));
        }
      }),
    );
  });

  it("counts what JSON makes of an object", () => {
    const shown = { toJSON: () => "x".repeat(50) };
    expect(measureJson({ shown }, 61)).toEqual({ fits: false, bytes: 62 });
    expect(measureJson({ shown }, 62)).toMatchObject({ fits: true });
    expect(measureJson(new Date(0), 26)).toMatchObject({ fits: true });
    expect(measureJson(undefined, 0)).toMatchObject({ fits: true });
  });

  it("measures long texts exactly, whatever is in them", () => {
    for (const unit of ["a", "\u00e4", "\u200b", '"', "\u0001", "\u{1F680}", "\uD800"]) {
      const text = unit.repeat(70_000);
      const bytes = Buffer.byteLength(JSON.stringify({ text }));
      expect(measureJson({ text }, bytes)).toEqual({ fits: true, isLarge: true });
      expect(measureJson({ text }, bytes - 1)).toMatchObject({ fits: false });
    }
  });

  it("does not write out what is plainly too large", () => {
    let written = 0;
    const late = { toJSON: () => (written++, "") };
    expect(measureJson(["x".repeat(1_000), late], 100)).toMatchObject({ fits: false, atLeast: true });
    expect(measureJson(new Uint8Array(1_000), 100)).toMatchObject({ fits: false, atLeast: true });
    expect(written).toBe(0);
  });

  it("measures what is nested deeply, and has no size for what has no end or throws", () => {
    let deep: unknown = "x";
    for (let level = 0; level < 500; level++) deep = [deep];
    expect(measureJson(deep, 1_003)).toMatchObject({ fits: true });
    expect(measureJson(deep, 1_002)).toEqual({ fits: false, bytes: 1_003 });
    const circle: unknown[] = [];
    circle.push(circle);
    expect(measureJson(circle, 1_000)).toEqual({ fits: false });
    const hostile = Object.defineProperty({}, "a", { enumerable: true, get: () => JSON.parse("?") as unknown });
    expect(measureJson(hostile, 1_000)).toEqual({ fits: false });
  });
});
