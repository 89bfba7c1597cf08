import { describe, expect, it } from "vitest";
import { declaredInputs, withGivenInput } from "./program-input.ts";

describe("the inputs that a program declares", () => {
  it.each([
    [
      "{ a: string; b?: number }",
      {
        type: "object",
        properties: { a: { type: "string" }, b: { type: "number" } },
        required: ["a"],
        additionalProperties: false,
      },
    ],
    [
      "{ readonly list: string[]; of: Array<{ x: boolean }> }",
      {
        properties: {
          list: { type: "array", items: { type: "string" } },
          of: { type: "array", items: { properties: { x: { type: "boolean" } } } },
        },
      },
    ],
    [
      "{ state: 'open' | \"closed\"; size: 1 | 2; maybe: string | null }",
      {
        properties: {
          state: { enum: ["open", "closed"] },
          size: { enum: [1, 2] },
          maybe: { anyOf: [{ type: "string" }, { type: "null" }] },
        },
      },
    ],
    [
      "{\n  /** A name. */\n  name: string,\n  rest: Record<string, number> }",
      {
        properties: {
          name: { type: "string", description: "A name." },
          rest: { type: "object", additionalProperties: { type: "number" } },
        },
      },
    ],
  ])("are read from the type %s", (type, schema) => {
    expect(declaredInputs(`const input: ${type} = {};\n1`)).toMatchObject(schema);
  });

  it.each([
    ["{ a: Date }", /has "Date", which is not known/],
    ["{ f: () => void }", /The type of input has "\)"/],
  ])("are refused with the part that cannot be read: %s", (type, message) => {
    expect(() => declaredInputs(`const input: ${type} = {};`)).toThrow(message);
  });

  it("are none if the program declares none", () => {
    expect(declaredInputs("const inputs = 1; inputs")).toBeUndefined();
  });

  it("are replaced in their place, and no line moves", () => {
    expect(withGivenInput('let a;\nconst input: { f: "=" } = { f: "=" };\ninput')).toBe(
      'let a;\nconst input: { f: "=" } = globalThis.input ?? { f: "=" };\ninput',
    );
    expect(withGivenInput("const inputs = 1;")).toBe("const inputs = 1;");
  });
});
