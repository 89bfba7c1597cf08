import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { documentOf } from "../../../../../test/e2e/openapi-echo.ts";
import type { JsonSchema } from "../../../../tool/json-schema.ts";
import { compileSchema } from "../../../validators/json-schema/compile-schema.ts";
import { fitSchema, type WriteRoot } from "./fit-schema.ts";
import { openapiSource } from "../openapi.ts";
import { createReferences, type JsonObject } from "../read/references.ts";
import { repeats } from "../../../../../test/kit/effort.ts";

const { signal } = new AbortController();
const ROOT = { depth: 0, required: true, nesting: 0 } as const;
const request = (maxBytes: number) => ({ direction: "request", maxBytes }) as const;

function fit(schema: object, maxBytes: number, schemas: JsonObject = {}): ReturnType<typeof fitSchema> {
  return fitSchema(
    (writer) => writer.write(schema, ROOT),
    createReferences({ components: { schemas } }),
    request(maxBytes),
  );
}

describe("a schema", () => {
  it("that fits is whole, with what it refers to and nothing else", () => {
    const schemas = {
      A: { type: "object", properties: { b: { $ref: "#/components/schemas/B" } } },
      B: { type: "string" },
      C: {},
    };
    expect(fit({ $ref: "#/components/schemas/A", description: "An A." }, 1000, schemas)).toEqual({
      schema: {
        $ref: "#/$defs/A",
        description: "An A.",
        $defs: { A: { type: "object", properties: { b: { $ref: "#/$defs/B" } } }, B: { type: "string" } },
      },
      shortened: false,
      external: [],
    });
  });

  it("names two definitions of the same name apart", () => {
    const paths = { "/a": { x: { schema: { type: "string" } } } };
    const references = createReferences({ components: { schemas: { schema: { type: "number" } } }, paths });
    const root: WriteRoot = (writer) =>
      writer.write({ anyOf: [{ $ref: "#/components/schemas/schema" }, { $ref: "#/paths/~1a/x/schema" }] }, ROOT);
    expect(fitSchema(root, references, request(Infinity))?.schema).toEqual({
      anyOf: [{ $ref: "#/$defs/schema" }, { $ref: "#/$defs/schema_2" }],
      $defs: { schema: { type: "number" }, schema_2: { type: "string" } },
    });
  });

  it("that does not fit loses what is optional and deep, and keeps what is required", () => {
    const deep = (depth: number): object =>
      depth === 0
        ? { type: "string" }
        : { type: "object", required: ["must"], properties: { must: deep(depth - 1), may: deep(depth - 1) } };
    const fitted = fit(deep(8), 1500);
    expect(fitted?.shortened).toBe(true);
    let at = fitted?.schema as JsonSchema | undefined;
    for (let depth = 0; depth < 8; depth++) at = at?.properties?.["must"] as JsonSchema | undefined;
    expect(at).toEqual({ type: "string" });
    expect(JSON.stringify(fitted?.schema)).toContain('"may":{"type":"object","description":"(shortened)"}');
  });

  it("loses what is required only where nothing else helps, and is given up where not even that does", () => {
    const schema = {
      type: "object",
      required: ["a"],
      properties: {
        a: { type: "object", required: ["b"], properties: { b: { enum: Array.from({ length: 500 }, String) } } },
      },
    };
    expect(fit(schema, 200)?.schema).toEqual({
      type: "object",
      properties: { a: { type: "object", description: "(shortened)" } },
      required: ["a"],
    });
    expect(fit(schema, 20)).toBe(undefined);
  });

  it("says what JSON Schema understands, whatever its author wrote", () => {
    const schema = {
      type: "any",
      required: true,
      properties: {
        a: { type: "string", pattern: "([", minLength: -1, xml: {}, example: 1, "x-a": 1, discriminator: {} },
        b: { nullable: true, oneOf: [{ type: "string" }] },
        c: { type: ["string", "null"], enum: ["x"] },
        d: { items: [{ type: "string" }] },
        constructor: { type: "integer", default: 3 },
      },
    };
    const written = fit(schema, 5000)?.schema ?? {};
    expect(written).toEqual({
      properties: {
        a: { type: "string" },
        b: { anyOf: [{ oneOf: [{ type: "string" }] }, { type: "null" }] },
        c: { type: ["string", "null"], enum: ["x", null] },
        d: { prefixItems: [{ type: "string" }] },
        constructor: { type: "integer", description: "Default: 3." },
      },
    });
    expect(compileSchema(written)({ b: null, c: null }).valid).toBe(true);
  });

  it("never refuses, shortened, what it takes whole", () => {
    const leaf = fc.constantFrom(
      { type: "string" },
      { type: "integer" },
      { type: "boolean" },
      { type: "string", enum: ["a", "b"] },
    );
    const { tree } = fc.letrec<{ tree: object }>((tie) => ({
      tree: fc.oneof(
        { depthSize: "small", withCrossShrink: true },
        leaf,
        fc
          .tuple(fc.dictionary(fc.constantFrom("a", "b", "c"), tie("tree"), { minKeys: 1 }), fc.boolean())
          .map(([properties, all]) => ({
            type: "object",
            properties,
            ...(all ? { required: Object.keys(properties) } : {}),
            additionalProperties: false,
          })),
        tie("tree").map((items) => ({ type: "array", items })),
        fc.tuple(tie("tree"), tie("tree")).map((anyOf) => ({ anyOf })),
        fc.constantFrom({ $ref: "#/components/schemas/one" }, { $ref: "#/components/schemas/two" }),
      ),
    }));
    fc.assert(
      fc.property(
        tree,
        tree,
        tree,
        fc.integer({ min: 40, max: 600 }),
        fc.infiniteStream(fc.nat(5)),
        (schema, one, two, maxBytes, choices) => {
          const schemas: JsonObject = {
            one: { type: "object", properties: { x: one } },
            two: { type: "object", properties: { y: two } },
          };
          const short = fit(schema, maxBytes, schemas);
          fc.pre(short !== undefined);
          const whole = fit(schema, Infinity, schemas)?.schema ?? {};
          const value = instanceOf(whole, whole, choices, 0);
          expect(compileSchema(whole)(value).valid).toBe(true);
          expect(compileSchema(short.schema)(value)).toMatchObject({ valid: true });
          expect(Buffer.byteLength(JSON.stringify(short.schema))).toBeLessThanOrEqual(maxBytes);
        },
      ),
      { numRuns: repeats(100) },
    );
  });
});

/** A value that a schema takes, by a stream of choices. */
function instanceOf(schema: JsonSchema, root: JsonSchema, choices: Iterator<number>, depth: number): unknown {
  const pick = (): number => (choices.next().value as number | undefined) ?? 0;
  const reference = schema["$ref"];
  if (typeof reference === "string") {
    const $defs = root["$defs"] as Readonly<Record<string, JsonSchema>>;
    return instanceOf($defs[reference.slice("#/$defs/".length)] ?? {}, root, choices, depth + 1);
  }
  const anyOf = schema["anyOf"] as readonly JsonSchema[] | undefined;
  if (anyOf !== undefined) return instanceOf(anyOf[pick() % 2] ?? {}, root, choices, depth);
  if (schema.enum !== undefined) return schema.enum[0];
  switch (schema.type) {
    case "object": {
      const entries = Object.entries(schema.properties ?? {}) as [string, JsonSchema][];
      const wanted = entries.filter(([name]) => schema.required?.includes(name) === true || (depth < 6 && pick() > 2));
      return Object.fromEntries(wanted.map(([name, each]) => [name, instanceOf(each, root, choices, depth + 1)]));
    }
    case "array":
      return depth < 6 && pick() > 2 ? [instanceOf(schema.items as JsonSchema, root, choices, depth + 1)] : [];
    case "integer":
      return 1;
    case "boolean":
      return true;
    default:
      return "text";
  }
}

describe("a tool of a hostile document", () => {
  let nested: object = { type: "string" };
  for (let depth = 0; depth < 1000; depth++) nested = { type: "object", properties: { a: nested } };
  const body = (schema: object): object => ({
    post: { requestBody: { required: true, content: { "application/json": { schema } } } },
  });

  it("stays small or is left out, and the others are there", async () => {
    const paths = {
      "/deep": body(nested),
      "/enum": body({
        type: "object",
        properties: { a: { enum: Array.from({ length: 1_000_000 }, (_, index) => index) } },
      }),
      "/loop": body({ $ref: "#/components/schemas/loop" }),
      "/wide": body({
        type: "object",
        properties: Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`p${index}`, {}])),
      }),
      "/long": {
        get: {
          description: "x".repeat(100_000),
          parameters: [{ name: "q", in: "query", description: "y".repeat(100_000), schema: {} }],
        },
      },
      "/good": { get: {} },
    };
    const schemas = { loop: { $ref: "#/components/schemas/pool" }, pool: { $ref: "#/components/schemas/loop" } };
    const source = openapiSource({ name: "x", document: documentOf(paths, { components: { schemas } }) });
    await source.connect({ signal });
    const offered = await source.list({ signal });
    expect(offered.map(({ draft }) => draft.name)).toEqual(["POST /deep", "POST /enum", "GET /long", "GET /good"]);
    for (const { draft } of offered) expect(JSON.stringify(draft).length).toBeLessThan(32_768);
    expect(source.problems.map(({ operation, reason }) => [operation, reason])).toEqual([
      ["POST /loop", "the schema at #/components/schemas/loop refers to itself and to nothing else"],
      ["POST /wide", "its tool needs more than 32768 bytes, even when it is shortened"],
    ]);
  });

  it("has its whole schema on demand", async () => {
    const properties = Object.fromEntries(
      Array.from({ length: 300 }, (_, index) => [
        `p${index}`,
        { type: "object", properties: { a: { description: "z".repeat(200) } } },
      ]),
    );
    const source = openapiSource({ name: "x", document: documentOf({ "/big": body({ type: "object", properties }) }) });
    await source.connect({ signal });
    const [tool] = await source.list({ signal });
    expect(tool?.draft.sourceMeta?.["openapi"]).toMatchObject({ shortened: true });
  });
});
