import { describe, expect, it } from "vitest";
import { toolTexts } from "./tool-texts.ts";

describe("toolTexts", () => {
  it("gives every text of a definition in order, then the names", () => {
    const tool = {
      name: "add",
      inputSchema: {
        type: "object",
        properties: { a: { description: "The first.", enum: ["one", "two"] }, b: { default: 7 } },
      },
      description: "Adds.",
    };
    expect(toolTexts(tool)).toEqual([
      { path: "name", text: "add" },
      { path: "description", text: "Adds." },
      { path: "inputSchema.properties.a.description", text: "The first." },
      { path: "inputSchema.properties.a.enum.0", text: "one" },
      { path: "inputSchema.properties.a.enum.1", text: "two" },
      { path: "names", text: "type\nproperties\na\nb\ndescription\nenum\ndefault" },
    ]);
  });

  it("reads what comes after a thousand texts together, so that none is left out", () => {
    const examples = Array.from({ length: 1_003 }, (_, index) => `Example ${index}.`);
    const texts = toolTexts({ examples });
    expect(texts).toHaveLength(1_001);
    expect(texts.at(-2)).toEqual({ path: "examples.999", text: "Example 999." });
    expect(texts.at(-1)).toEqual({ path: "further texts", text: "Example 1000.\nExample 1001.\nExample 1002." });
  });

  it.each([
    "title",
    "extendedDescription",
    "examples",
    "tags",
    "category",
    "deprecationMessage",
    "instructions",
    "annotations",
    "parameters",
    "input_schema",
    "returns",
    "outputSchema",
    "sourceMeta",
  ])("reads the member %s", (part) => {
    expect(toolTexts({ [part]: "Adds." })).toEqual([{ path: part, text: "Adds." }]);
  });

  it("has no names for a definition of texts alone, and nothing for other members", () => {
    expect(toolTexts({ name: "add", metadata: { note: "x" } })).toEqual([{ path: "name", text: "add" }]);
  });

  it("gives each text once, and each name", () => {
    const sourceMeta = { one: "Adds.", two: { one: "Adds." } };
    expect(toolTexts({ description: "Adds.", sourceMeta })).toEqual([
      { path: "description", text: "Adds." },
      { path: "names", text: "one\ntwo" },
    ]);
  });

  it.each(["$schema", "$id", "$ref", "type", "format", "pattern"])("passes over what %s tells a validator", (key) => {
    const paths = (value: unknown): readonly string[] =>
      toolTexts({ parameters: { [key]: value } }).map(({ path }) => path);
    expect(paths("date-time")).toEqual(["names"]);
    expect(paths("use two words")).toEqual([`parameters.${key}`, "names"]);
    expect(paths(["string", "null"])).toEqual([`parameters.${key}.0`, `parameters.${key}.1`, "names"]);
  });

  it("refuses a definition in more than 50,000 parts", () => {
    const examples = Array.from({ length: 49_999 }, () => 1);
    expect(toolTexts({ examples })).toEqual([]);
    expect(() => toolTexts({ examples: [...examples, 1] })).toThrow("The definition has more than 50000 parts.");
  });
});
