import { describe, expect, it } from "vitest";
import { defineTool } from "../tool/define-tool.ts";
import type { Tool } from "../tool/tool.ts";
import { convertSet } from "./convert-set.ts";
import type { Converted, Dialect } from "./dialect.port.ts";

const TOOLS: readonly Tool[] = ["one", "two", "three"].map((name) =>
  defineTool({ name, description: "A tool of a small set.", parameters: { type: "object", properties: {} } }),
);

/** A dialect in which the tool "two" cannot be strict. */
const DIALECT: Pick<Dialect, "name" | "convert" | "toCanonical"> = {
  name: "sample",
  convert: (tool, { strict = false, name = tool.name } = {}): Converted => {
    const possible = strict && tool.name !== "two";
    return { definition: { name, schema: tool.parameters, strict: possible }, strict: possible, losses: [] };
  },
  toCanonical: (definition) => ({ parameters: (definition as { readonly schema: Tool["parameters"] }).schema }),
};
const dialect = DIALECT as Dialect;

const strictOf = (converted: readonly Converted[]): readonly boolean[] => converted.map(({ strict }) => strict);

describe("convertSet", () => {
  it("asks for strict mode only where it is wanted", () => {
    expect(strictOf(convertSet(TOOLS, dialect))).toEqual([false, false, false]);
    expect(strictOf(convertSet(TOOLS, dialect, { strict: true }))).toEqual([true, false, true]);
  });

  it("gives it to the first tools that one request holds, and says so of the others", () => {
    const converted = convertSet(TOOLS, dialect, { strict: true, limits: { maxStrictTools: 1 } });
    expect(strictOf(converted)).toEqual([true, false, false]);
    expect(converted.map(({ definition }) => definition["strict"])).toEqual([true, false, false]);
    expect(converted[1]?.losses).toEqual([]); // its own refusal is the dialect's to tell
    expect(converted[2]?.losses).toMatchObject([{ path: "", keyword: "strict", action: "refused" }]);
    expect(converted[2]?.losses[0]?.message).toMatch(/^not strict in this set: ./);
  });

  it("writes the names it is told to", () => {
    const converted = convertSet(TOOLS, dialect, { nameOf: ({ name }) => `x_${name}` });
    expect(converted.map(({ definition }) => definition["name"])).toEqual(["x_one", "x_two", "x_three"]);
  });
});
