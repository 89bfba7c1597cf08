import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readTraceparent, toTraceparent } from "./trace-context.ts";

const hex = (digits: number) =>
  fc
    .array(fc.constantFrom(..."0123456789abcdef"), { minLength: digits, maxLength: digits })
    .map((each) => each.join(""))
    .filter((text) => !/^0+$/.test(text));

describe("traceparent", () => {
  it("is read as it was written", () => {
    fc.assert(
      fc.property(hex(32), hex(16), (traceId, spanId) => {
        expect(readTraceparent(toTraceparent(traceId, spanId))).toEqual({ traceId, parentSpanId: spanId });
      }),
    );
  });

  it("of a later version is read, and what is not one is ignored", () => {
    const [trace, span] = ["a".repeat(32), "b".repeat(16)];
    expect(readTraceparent(`01-${trace}-${span}-01-more`)).toEqual({ traceId: trace, parentSpanId: span });
    const wrong = [`ff-${trace}-${span}-01`, `00-${"0".repeat(32)}-${span}-01`, `00-${trace}-${"0".repeat(16)}-01`];
    for (const header of [...wrong, `00-${trace}-${span}`, `00-${trace.toUpperCase()}-${span}-01`, "", undefined, 5])
      expect(readTraceparent(header), String(header)).toBe(undefined);
  });
});
