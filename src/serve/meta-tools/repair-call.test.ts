import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { defineTool } from "../../tool/define-tool.ts";
import type { JsonSchema } from "../../tool/json-schema.ts";
import type { Tool } from "../../tool/tool.ts";
import { repairCall } from "./repair-call.ts";

const toolWith = (parameters: JsonSchema): Tool =>
  defineTool({ name: "read", namespace: "files", description: "Reads a file from disk.", parameters });

const plain = toolWith({ type: "object", properties: { path: { type: "string" }, lines: { type: "integer" } } });
const names = new Set(["files.read", "files-read", "files.read:1.0.0", "read"]);
const finding =
  (tool: Tool) =>
  (name: string): Tool | undefined =>
    names.has(name) ? tool : undefined;
const repair = (given: unknown, tool = plain): unknown => repairCall(given, finding(tool))?.arguments;

const right = { path: "a", lines: 2 };
const json = JSON.stringify;

describe("what models get wrong in a call", () => {
  it.each<[string, unknown]>([
    ["right", { tool_name: "files-read", arguments: right }],
    ["the whole call as JSON", json({ tool_name: "files-read", arguments: right })],
    ["arguments as JSON", { tool_name: "files-read", arguments: json(right) }],
    ["arguments as JSON of JSON", { tool_name: "files-read", arguments: json(json(right)) }],
    ["nested", { tool_name: "files-read", arguments: { arguments: right } }],
    ["nested twice, as JSON", { tool_name: "files-read", arguments: { params: json({ input: right }) } }],
    ["the call inside its arguments", { tool_name: "files-read", arguments: { tool_name: "read", arguments: right } }],
    ["the call inside nothing but arguments", { arguments: { tool_name: "files.read", arguments: right } }],
    [
      "the call of execute_tool itself",
      { tool_name: "execute_tool", arguments: { tool_name: "read", arguments: right } },
    ],
    ["params", { tool_name: "files-read", params: right }],
    ["parameters", { tool_name: "files-read", parameters: right }],
    ["input", { tool_name: "files-read", input: right }],
    ["args, as JSON", { tool_name: "files-read", args: json(right) }],
    ["flat", { tool_name: "files-read", ...right }],
    ["flat beside empty arguments", { tool_name: "files-read", arguments: {}, ...right }],
    ["another word for the name", { name: "files-read", arguments: right }],
  ])("is fixed: %s", (_what, given) => {
    expect(repair(given)).toEqual(right);
  });

  it.each([null, undefined, "", "  "])("is fixed: %j for no arguments", (nothing) => {
    expect(repair({ tool_name: "files-read", arguments: nothing })).toEqual({});
    expect(repair({ tool_name: "files-read" })).toEqual({});
  });

  it.each(["files.read", "files-read", "files.read:1.0.0", "read", "functions.read", " functions.files-read "])(
    "is fixed: the name %j",
    (name) => {
      expect(repairCall({ tool_name: name, arguments: right }, finding(plain))).toEqual({
        tool: plain,
        toolName: name.trim(),
        arguments: right,
      });
    },
  );

  it("is left as it is where it cannot be fixed", () => {
    expect(repair({ tool_name: "files-read", arguments: "not json" })).toBe("not json");
    expect(repair({ tool_name: "files-read", arguments: [1] })).toEqual([1]);
    expect(repair({ tool_name: "files-read", arguments: { tool_name: "other", arguments: right } })).toEqual({
      tool_name: "other",
      arguments: right,
    });
    expect(repairCall({ tool_name: "unknown", arguments: { a: 1 } }, finding(plain))).toEqual({
      tool: undefined,
      toolName: "unknown",
      arguments: { a: 1 },
    });
  });

  it("is none where no tool is named, and what a tool takes is never taken for its name", () => {
    for (const given of [undefined, null, 3, "text", [], {}, { arguments: right }, { arguments: { name: "read" } }]) {
      expect(repairCall(given, finding(plain))).toBeUndefined();
    }
  });
});

describe("a tool that takes a word that models wrap with", () => {
  const words = ["arguments", "params", "parameters", "input", "args", "tool_name", "name"];
  const taking = (word: string): Tool => toolWith({ type: "object", properties: { [word]: {}, path: {} } });

  it.each(words)("gets it: %s", (word) => {
    const tool = taking(word);
    for (const value of [{ path: "a" }, { arguments: {} }, '{"path":"a"}', "read", null]) {
      expect(repair({ tool_name: "read", arguments: { [word]: value } }, tool)).toEqual({ [word]: value });
    }
  });

  it("gets it beside the name where it is no object of arguments", () => {
    expect(repair({ tool_name: "read", arguments: ["-l"], path: "a" }, taking("arguments"))).toEqual({
      arguments: ["-l"],
      path: "a",
    });
    expect(repair({ tool_name: "read", input: { a: 1 } }, taking("input"))).toEqual({ input: { a: 1 } });
  });

  it.each<[string, JsonSchema]>([
    ["in an alternative", { type: "object", properties: {}, anyOf: [{ properties: { input: {} } }] }],
    [
      "by reference",
      {
        type: "object",
        properties: {},
        allOf: [{ $ref: "#/$defs/a~1b" }],
        $defs: { "a/b": { properties: { input: {} } } },
      },
    ],
    ["by pattern", { type: "object", properties: {}, patternProperties: { "^i": {} } }],
    ["under any name", { type: "object", properties: {}, additionalProperties: { type: "object" } }],
    ["by naming nothing", { type: "object" }],
  ])("gets it, declared %s", (_how, schema) => {
    expect(repair({ tool_name: "read", arguments: { input: { a: 1 } } }, toolWith(schema))).toEqual({
      input: { a: 1 },
    });
  });

  it("is not one that refers in circles", () => {
    const circle = toolWith({ type: "object", properties: {}, allOf: [{ $ref: "#" }] });
    expect(repair({ tool_name: "read", arguments: { input: { a: 1 } } }, circle)).toEqual({ a: 1 });
  });
});

describe("any call", () => {
  const key = fc.constantFrom("path", "lines", "arguments", "params", "input", "args", "tool_name", "name", "mode");
  const value = fc.oneof(fc.jsonValue(), fc.constantFrom("read", "files.read", '{"path":1}', "{}"));
  const members = fc.dictionary(key, value, { maxKeys: 5 });
  const toolFor = (args: object): Tool =>
    toolWith({ type: "object", properties: Object.fromEntries(Object.keys(args).map((name) => [name, {}])) });

  it("that is right stays as it is, whatever its arguments are called", () => {
    fc.assert(
      fc.property(members, (args) => {
        expect(repair({ tool_name: "files-read", arguments: args }, toolFor(args))).toEqual(args);
      }),
    );
  });

  const wrap = fc.constantFrom<(args: unknown) => unknown>(
    (args) => args,
    (args) => json(args),
    (args) => ({ arguments: args }),
    (args) => ({ params: args }),
    (args) => ({ tool_name: "files.read", arguments: args }),
  );
  // JSON has no -0, so a call that was written as text cannot have it.
  const written = fc.jsonValue().map((each): unknown => JSON.parse(JSON.stringify(each)));
  const harmless = fc.dictionary(fc.constantFrom("path", "lines", "mode"), written, { minKeys: 1 });

  it("comes out of up to three wrappings as it went in", () => {
    fc.assert(
      fc.property(harmless, fc.array(wrap, { maxLength: 3 }), (args, wrappings) => {
        const wrapped = wrappings.reduce<unknown>((inner, around) => around(inner), args);
        expect(repair({ tool_name: "read", arguments: wrapped }, toolFor(args))).toEqual(args);
      }),
    );
  });

  it("that is fixed is right: fixing it again changes nothing", () => {
    fc.assert(
      fc.property(members, (args) => {
        const tool = toolFor(args);
        const once = repair({ ...args, tool_name: "read" }, tool);
        if (typeof once === "object") expect(repair({ tool_name: "read", arguments: once }, tool)).toEqual(once);
      }),
    );
  });

  it("is answered, however odd it is", () => {
    fc.assert(
      fc.property(fc.anything({ withNullPrototype: true }), (given) => {
        expect(() => repairCall(given, finding(plain))).not.toThrow();
        expect(() => repairCall({ tool_name: "read", arguments: given }, finding(plain))).not.toThrow();
      }),
    );
  });
});
