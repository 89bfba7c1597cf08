import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readTracestate } from "../base/trace-headers.ts";
import { readTraceContext } from "./trace-context.ts";

const hex = (digits: number) =>
  fc
    .array(fc.constantFrom(..."0123456789abcdef"), { minLength: digits, maxLength: digits })
    .map((each) => each.join(""))
    .filter((text) => !/^0+$/.test(text));

const [TRACE, SPAN] = ["a".repeat(32), "b".repeat(16)];
const traceparent = `00-${TRACE}-${SPAN}-01`;

describe("traceparent", () => {
  it("is read as it was written", () => {
    fc.assert(
      fc.property(hex(32), hex(16), fc.constantFrom(undefined, false as const), (traceId, parentSpanId, sampled) => {
        const context = { traceId, parentSpanId, ...(sampled === false && { sampled }) };
        const header = `00-${traceId}-${parentSpanId}-${sampled === false ? "00" : "01"}`;
        expect(readTraceContext({ traceparent: header })).toEqual(context);
      }),
    );
  });

  it("of a later version is read, and an invalid one is ignored", () => {
    expect(readTraceContext({ traceparent: `01-${TRACE}-${SPAN}-01-more` })).toEqual({
      traceId: TRACE,
      parentSpanId: SPAN,
    });
    const wrong = [`ff-${TRACE}-${SPAN}-01`, `00-${"0".repeat(32)}-${SPAN}-01`, `00-${TRACE}-${"0".repeat(16)}-01`];
    const malformed = [`${traceparent}-more`, `00-${TRACE}-${SPAN}`, traceparent.toUpperCase(), "", undefined, 5];
    for (const header of [...wrong, ...malformed])
      expect(readTraceContext({ traceparent: header }), String(header)).toBe(undefined);
    expect(readTraceContext(undefined)).toBe(undefined);
  });
});

describe("tracestate", () => {
  it("travels with traceparent, and never without it", () => {
    const context = { traceId: TRACE, parentSpanId: SPAN, tracestate: "rojo=1,congo=t61" };
    expect(readTraceContext({ traceparent, tracestate: "rojo=1,congo=t61" })).toEqual(context);
    expect(readTraceContext({ traceparent: "no", tracestate: "rojo=1" })).toBe(undefined);
    expect(readTraceContext({ traceparent, tracestate: "not valid" })).toEqual({ traceId: TRACE, parentSpanId: SPAN });
  });

  it.each([
    ["spaces around members, and empty members", " rojo=1 ,\t congo=2, ,", "rojo=1,congo=2"],
    ["keys of tenants", "0tenant-1@vendor=1,a_b-c*d/e=2", "0tenant-1@vendor=1,a_b-c*d/e=2"],
    ["every character that a value may have", "a=! ~x", "a=! ~x"],
    ["the first of two members with one key", "a=1,b=2,a=3", "a=1,b=2"],
    ["32 members", members(32), members(32)],
  ])("keeps %s", (_what, given, kept) => {
    expect(readTracestate(given)).toBe(kept);
  });

  it.each([
    ["33 members", members(33)],
    ["an upper-case key", "Foo=1"],
    ["a key with a space", "foo =1"],
    ["a key of two systems", "foo@bar@baz=1"],
    ["a key without a system", "foo@=1"],
    ["a key of more than 256 characters", `${"k".repeat(257)}=1`],
    ["an empty value", "foo=,bar=3"],
    ["a value with =", "foo=bar=baz"],
    ["a value of more than 256 characters", `foo=${"v".repeat(257)}`],
    ["a line break", "foo=1\r\nx-evil: 1"],
    ["one bad member among good ones", "foo=1,bar"],
    ["nothing", ""],
    ["no text", 7],
  ])("is dropped as a whole for %s", (_what, given) => {
    expect(readTracestate(given)).toBe(undefined);
  });

  it("is cut to 512 characters: long members first, then the last", () => {
    const long = `long=${"x".repeat(200)}`;
    const short = (at: number): string => `k${at}=${"y".repeat(100)}`;
    const given = [short(1), long, short(2), short(3), short(4)].join(",");
    expect(readTracestate(given)).toBe([short(1), short(2), short(3), short(4)].join(","));
    const many = [1, 2, 3, 4, 5, 6].map(short).join(",");
    expect(readTracestate(many)).toBe([1, 2, 3, 4].map(short).join(","));
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 2000 }), (text) => {
        const read = readTracestate(text);
        expect(read?.length ?? 0).toBeLessThanOrEqual(512);
        if (read !== undefined) expect(readTracestate(read)).toBe(read);
      }),
    );
  });
});

function members(count: number): string {
  return Array.from({ length: count }, (_, at) => `k${at}=1`).join(",");
}
