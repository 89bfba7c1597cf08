import { describe, expect, it } from "vitest";
import { describeArguments } from "./describe-arguments.ts";

const asIs = (text: string): string => text;

describe("the shape of arguments", () => {
  it("has names and types, and no value", () => {
    const args = { text: "secret", count: 1, none: null, yes: true, list: ["a", "b", 1, { id: 1 }], empty: [] };
    expect(describeArguments(args, "shape", asIs)).toMatchObject({
      shape: {
        text: "string",
        count: "number",
        none: "null",
        yes: "boolean",
        list: ["string", "number", { id: "number" }],
        empty: [],
      },
    });
  });

  it("has no secret that is a name", () => {
    const redact = (text: string): string => text.replace("s3cr3t", "…");
    const args = { "x-s3cr3t": [{ s3cr3t: "s3cr3t" }] };
    expect(describeArguments(args, "shape", redact)).toMatchObject({ shape: { "x-…": [{ "…": "string" }] } });
    expect(describeArguments(args, "full", redact)).toMatchObject({ value: { "x-…": [{ "…": "…" }] } });
  });

  it("ends at six levels, and at sixty-four members", () => {
    const deep = { a: { b: { c: { d: { e: { f: { g: 1 } } } } } } };
    expect(describeArguments(deep, "shape", asIs)).toMatchObject({
      shape: { a: { b: { c: { d: { e: { f: "object" } } } } } },
    });
    const wide = Object.fromEntries(Array.from({ length: 70 }, (_, index) => [`key${index}`, index]));
    const { shape } = describeArguments(wide, "shape", asIs) as { readonly shape: Record<string, unknown> };
    expect(Object.keys(shape)).toHaveLength(65);
    expect(shape["…"]).toBe("6 more");
    const { key64: _64, key65: _65, key66: _66, key67: _67, key68: _68, key69: _69, ...full } = wide;
    expect(Object.keys((describeArguments(full, "shape", asIs) as { readonly shape: object }).shape)).toHaveLength(64);
  });

  it("ends at six levels of lists too, and at sixty-four elements", () => {
    const list = [...Array.from({ length: 64 }, (_, index) => index), "sixty-fifth"];
    const deep = { a: [[[[[[1]]]]]] };
    expect(describeArguments({ list, deep }, "shape", asIs)).toMatchObject({
      shape: { list: ["number"], deep: { a: [[[["array"]]]] } },
    });
  });
});

describe("the shape of arguments", () => {
  it("stays small, whatever was sent", () => {
    const nest = (depth: number): unknown =>
      depth === 0 ? 1 : Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`key${index}`, nest(depth - 1)]));
    const described = describeArguments({ wide: nest(4), ["k".repeat(100_000)]: 1 }, "shape", asIs);
    expect(JSON.stringify(described).length).toBeLessThan(50_000);
  });
});

describe("the hash of arguments", () => {
  it("is the same for the same arguments in another order, and another for others", () => {
    const hashOf = (args: Record<string, unknown>): string => describeArguments(args, "shape", asIs).sha256;
    expect(hashOf({ a: 1, b: 2 })).toBe(hashOf({ b: 2, a: 1 }));
    expect(hashOf({ a: 1, b: 2 })).not.toBe(hashOf({ a: 2, b: 1 }));
    expect(hashOf({ a: 1, b: 2 })).toBe("43258cff783fe7036d8a43033f830adfc60ec037382473548ac742b888292777");
  });
});
