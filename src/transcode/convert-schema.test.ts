import { describe, expect, it } from "vitest";
import type { JsonSchema } from "../tool/json-schema.ts";
import { convertSchema } from "./convert-schema.ts";
import { SCHEMA_TARGETS } from "../../test/transcode/targets.ts";

const { openai, openaiStrict, anthropic, anthropicStrict, gemini, geminiParameters, mcp, ollama } = SCHEMA_TARGETS;

/** A tool with one required parameter. */
const withOne = (property: unknown): JsonSchema =>
  ({ type: "object", properties: { it: property }, required: ["it"], additionalProperties: false }) as JsonSchema;

const oneIn = ({ schema }: { readonly schema: JsonSchema }): unknown => schema.properties?.["it"];

describe("convertSchema for OpenAI strict", () => {
  it("closes objects, requires every property, and lets the optional ones be null", () => {
    const schema: JsonSchema = {
      type: "object",
      properties: { city: { type: "string" }, days: { type: "integer", description: "How many" } },
      required: ["city"],
    };
    expect(convertSchema(schema, openaiStrict)).toEqual({
      schema: {
        type: "object",
        properties: { city: { type: "string" }, days: { type: ["integer", "null"], description: "How many" } },
        required: ["city", "days"],
        additionalProperties: false,
      },
      losses: [
        { path: "/properties/days", keyword: "required", action: "resolved", message: "null where it is left out" },
        {
          path: "/additionalProperties",
          keyword: "additionalProperties",
          action: "dropped",
          message: "only the named properties can be given",
        },
      ],
      possible: true,
    });
  });

  it("says in the description what the grammar does not hold [003-adapter-patterns]", () => {
    const converted = convertSchema(
      withOne({ type: "string", description: "A code", minLength: 2, format: "iban", default: "DE" }),
      openaiStrict,
    );
    expect(oneIn(converted)).toEqual({
      type: "string",
      description: 'A code. At least 2 characters. Format: iban. Default: "DE".',
    });
    expect(converted.losses.map(({ path, action }) => [path, action])).toEqual([
      ["/properties/it/minLength", "described"],
      ["/properties/it/format", "described"],
      ["/properties/it/default", "described"],
    ]);
  });

  it("writes an object with free names as keys and values", () => {
    const converted = convertSchema(
      withOne({ type: "object", additionalProperties: { type: "number" } }),
      openaiStrict,
    );
    expect(oneIn(converted)).toEqual({
      type: "array",
      description: "A list of keys, each once, and their values.",
      items: {
        type: "object",
        properties: { key: { type: "string" }, value: { type: "number" } },
        required: ["key", "value"],
        additionalProperties: false,
      },
    });
  });

  it("writes an object with free names beside lists as JSON text, which no list can be taken for", () => {
    const map = { type: "object", additionalProperties: { type: "string" } };
    const converted = convertSchema(
      withOne({ anyOf: [map, { type: "array", items: { type: "integer" } }] }),
      openaiStrict,
    );
    expect(oneIn(converted)).toEqual({
      anyOf: [
        { type: "string", description: 'JSON text of an object that fits {"additionalProperties":{"type":"string"}}.' },
        { type: "array", items: { type: "integer" } },
      ],
    });
  });

  it("writes an object of which nothing is known as JSON text, and says that this is wider", () => {
    const converted = convertSchema(withOne({ type: "object", description: "Anything" }), openaiStrict);
    expect(oneIn(converted)).toEqual({ type: "string", description: "Anything. JSON text of an object." });
    expect(converted.losses).toEqual([
      {
        path: "/properties/it",
        keyword: "additionalProperties",
        action: "widened",
        message: "as JSON text, which is read back",
      },
    ]);
  });

  it.each([
    ["a value of any type", {}, "/properties/it", "accepts values of any type, which cannot be expressed here"],
    [
      "an object of any content beside text",
      { anyOf: [{ type: "string" }, { type: "object" }] },
      "/properties/it/anyOf/1",
      "takes objects or lists of any content as well as text, which cannot be distinguished here",
    ],
    [
      "a list of more than 1,000 values",
      { type: "string", enum: Array.from({ length: 1_001 }, (_, index) => `v${index}`) },
      "",
      "1001 listed values; at most 1000 are accepted",
    ],
  ])("refuses %s, naming the place", (_what, property, path, message) => {
    const { possible, losses } = convertSchema(withOne(property), openaiStrict);
    expect(possible).toBe(false);
    expect(losses.filter(({ action }) => action === "refused").map((loss) => [loss.path, loss.message])).toContainEqual(
      [path, message],
    );
  });

  it("refuses a tool that takes parameters of any name", () => {
    expect(convertSchema({ type: "object", additionalProperties: true }, openaiStrict).possible).toBe(false);
    expect(convertSchema({ type: "object" }, openaiStrict).possible).toBe(true);
  });

  it("keeps references and recursion, in $defs, and describes a reference in a union of one", () => {
    const schema = {
      type: "object",
      properties: { tree: { $ref: "#/definitions/Tree", description: "The tree" } },
      required: ["tree"],
      definitions: {
        Tree: { type: "object", properties: { next: { $ref: "#/definitions/Tree" } }, additionalProperties: false },
      },
    } as JsonSchema;
    expect(convertSchema(schema, openaiStrict).schema).toEqual({
      type: "object",
      properties: { tree: { description: "The tree", anyOf: [{ $ref: "#/$defs/Tree" }] } },
      required: ["tree"],
      additionalProperties: false,
      $defs: {
        Tree: {
          type: "object",
          properties: { next: { anyOf: [{ $ref: "#/$defs/Tree" }, { type: "null" }] } },
          required: ["next"],
          additionalProperties: false,
        },
      },
    });
  });

  it("writes what is deeper than ten levels as JSON text", () => {
    let property: JsonSchema = { type: "string" };
    for (let level = 0; level < 12; level++) property = withOne(property);
    const { schema, possible } = convertSchema(withOne(property), openaiStrict);
    expect(possible).toBe(true);
    expect(JSON.stringify(schema).split('"type":"object"')).toHaveLength(11);
    expect(JSON.stringify(schema)).toContain("JSON text of an object");
  });

  it("puts alternatives at the root into one parameter, where that can be taken off again", () => {
    const branch = (name: string): JsonSchema => ({
      type: "object",
      properties: { [name]: { type: "string" } },
      required: [name],
      additionalProperties: false,
    });
    const closed = convertSchema({ anyOf: [branch("url"), branch("path")] }, openaiStrict);
    expect(closed.schema).toEqual({
      type: "object",
      properties: { input: { anyOf: [branch("url"), branch("path")] } },
      required: ["input"],
      additionalProperties: false,
    });
    const open = convertSchema({ anyOf: [{ properties: { url: { type: "string" } } }, branch("path")] }, openaiStrict);
    expect(Object.keys(open.schema.properties ?? {})).toEqual(["url", "path"]);
    expect(open.losses).toContainEqual(expect.objectContaining({ path: "/anyOf", action: "widened" }));
  });
});

describe("convertSchema for Anthropic", () => {
  it("renames parameters whose names the API refuses", () => {
    const schema: JsonSchema = {
      type: "object",
      properties: { "filter[id]": { type: "integer" } },
      required: ["filter[id]"],
    };
    expect(convertSchema(schema, anthropic)).toEqual({
      schema: { type: "object", properties: { filter_id_: { type: "integer" } }, required: ["filter_id_"] },
      losses: [
        {
          path: "/properties/filter[id]",
          keyword: "properties",
          action: "resolved",
          message: "named filter_id_ here, and filter[id] again in the call",
        },
      ],
      possible: true,
    });
  });

  it("cuts recursion in strict mode, and leaves optional parameters optional", () => {
    const tree = { type: "object", properties: { next: { $ref: "#" } }, additionalProperties: false };
    expect(convertSchema(tree as JsonSchema, anthropicStrict).schema).toEqual({
      type: "object",
      properties: { next: { $ref: "#/$defs/root" } },
      additionalProperties: false,
      $defs: {
        root: {
          type: "object",
          properties: { next: { type: "string", description: "JSON text of an object." } },
          additionalProperties: false,
        },
      },
    });
  });

  it("says null as a branch in strict mode, and lists values without a type", () => {
    expect(oneIn(convertSchema(withOne({ type: ["string", "null"], format: "date" }), anthropicStrict))).toEqual({
      anyOf: [{ type: "string", format: "date" }, { type: "null" }],
    });
    expect(oneIn(convertSchema(withOne({ type: "string", enum: ["a", "b"] }), anthropicStrict))).toEqual({
      enum: ["a", "b"],
    });
  });
});

describe("convertSchema for Gemini", () => {
  it("writes the closed subset for parameters: nullable, values as text, no references [003-adapter-refs]", () => {
    const schema = {
      type: "object",
      properties: {
        size: { type: "integer", enum: [1, 2] },
        when: { anyOf: [{ type: "string", format: "date-time" }, { type: "null" }] },
        where: { $ref: "#/$defs/Point" },
        who: { anyOf: [{ type: "string" }, { type: "integer" }], description: "A name or an id" },
      },
      $defs: { Point: { type: "object", properties: { x: { type: "number", exclusiveMinimum: 0 } } } },
    } as JsonSchema;
    expect(convertSchema(schema, geminiParameters).schema).toEqual({
      type: "object",
      properties: {
        size: { type: "string", enum: ["1", "2"] },
        when: { type: "string", format: "date-time", nullable: true },
        where: { type: "object", properties: { x: { type: "number", description: "More than 0." } } },
        who: {
          anyOf: [
            { type: "string", description: "A name or an id" },
            { type: "integer", description: "A name or an id" },
          ],
        },
      },
    });
  });

  it("keeps recursion and maps where JSON Schema is taken", () => {
    const property = { type: "object", additionalProperties: { $ref: "#" } };
    expect(convertSchema(withOne(property), gemini).losses.map(({ action }) => action)).not.toContain("widened");
  });
});

describe("convertSchema for targets that are not strict", () => {
  it("gives MCP the schema itself", () => {
    const schema = withOne({ not: { type: "null" }, if: {} });
    expect(convertSchema(schema, mcp).schema).toBe(schema);
  });

  it("merges the parts of a root into one object for OpenAI, and says which alternatives go together [003-adapter-any-of]", () => {
    const schema = {
      allOf: [{ properties: { a: { type: "string" } }, required: ["a"] }],
      oneOf: [
        { properties: { b: { type: "string" } }, required: ["b"] },
        { properties: { c: { type: "string" } }, required: ["c"] },
      ],
    } as JsonSchema;
    expect(convertSchema(schema, openai).schema).toEqual({
      type: "object",
      description: "Give the parameters of one of these: a, b; a, c.",
      properties: { a: { type: "string" }, b: { type: "string" }, c: { type: "string" } },
      required: ["a"],
    });
  });

  it("rewrites what older drafts say otherwise", () => {
    const range = { type: "array", items: [{ type: "integer" }], additionalItems: false };
    const schema = withOne({ type: "number", minimum: 0, exclusiveMinimum: true });
    expect(oneIn(convertSchema(schema, anthropic))).toEqual({ type: "number", exclusiveMinimum: 0 });
    expect(oneIn(convertSchema(withOne(range), anthropic))).toEqual({
      type: "array",
      prefixItems: [{ type: "integer" }],
      items: false,
    });
  });

  it("puts conditions into words where they are not taken", () => {
    const schema = withOne({ type: "object", properties: { a: { type: "string" } }, dependentRequired: { a: ["b"] } });
    expect(oneIn(convertSchema(schema, ollama))).toEqual({
      type: "object",
      description: "With a, also give b.",
      properties: { a: { type: "string" } },
    });
  });
});

describe("convertSchema with hostile schemas", () => {
  const targets = Object.values(SCHEMA_TARGETS);

  function deep(levels: number, wrap: (inner: JsonSchema) => unknown): JsonSchema {
    let schema: JsonSchema = { type: "string" };
    for (let level = 0; level < levels; level++) schema = wrap(schema) as JsonSchema;
    return withOne(schema);
  }

  /** A definition that is twice the next, twenty-two times. */
  function doubled(keyword: "allOf" | "anyOf"): JsonSchema {
    const definitions = Array.from({ length: 22 }, (_, index) => {
      const next = { $ref: `#/$defs/d${index + 1}` };
      return [`d${index}`, { [keyword]: [next, { type: "object", properties: { a: next, b: next } }] }] as const;
    });
    return {
      ...withOne({ $ref: "#/$defs/d0" }),
      $defs: { ...Object.fromEntries(definitions), d22: { type: "object" } },
    };
  }

  const itself: Record<string, unknown> = { type: "object" };
  itself["properties"] = { itself, other: { default: itself } };

  it.each<[string, JsonSchema]>([
    ["100,000 objects deep", deep(100_000, (inner) => ({ type: "object", properties: { a: inner } }))],
    ["100,000 unions deep", deep(100_000, (inner) => ({ anyOf: [inner, inner] }))],
    ["100,000 parts deep", deep(100_000, (inner) => ({ allOf: [inner, inner] }))],
    ["2^22 parts", doubled("allOf")],
    ["2^22 branches", doubled("anyOf")],
    ["references in a circle", { $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } } }],
    ["an object in itself", itself as JsonSchema],
    ["a million values", withOne({ enum: Array.from({ length: 1_000_000 }, (_, index) => index) })],
  ])("gives an object for %s", (_what, schema) => {
    for (const target of targets) expect(convertSchema(schema, target).schema.type).toBe("object");
  });

  it.each(["https://example.com/schema.json", "file:///etc/passwd", "other.json#/$defs/a"])(
    "drops a reference to %s, with nothing read",
    (reference) => {
      const { schema, losses } = convertSchema(withOne({ $ref: reference }), openai);
      expect(schema.properties).toEqual({ it: {} });
      expect(losses).toEqual([
        {
          path: "/properties/it/$ref",
          keyword: "$ref",
          action: "dropped",
          message: "refers to nothing inside this schema; nothing is read from elsewhere",
        },
      ]);
    },
  );
});
