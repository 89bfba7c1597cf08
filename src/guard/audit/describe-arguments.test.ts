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
  });
});

describe("the hash of arguments", () => {
  it("is the same for the same arguments in another order, and another for others", () => {
    const hashOf = (args: Record<string, unknown>): string => describeArguments(args, "shape", asIs).sha256;
    expect(hashOf({ a: 1, b: 2 })).toBe(hashOf({ b: 2, a: 1 }));
    expect(hashOf({ a: 1, b: 2 })).not.toBe(hashOf({ a: 2, b: 1 }));
  });
});
