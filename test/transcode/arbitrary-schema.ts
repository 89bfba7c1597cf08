import * as fc from "fast-check";
import type { JsonSchema } from "../../src/tool/json-schema.ts";

type Node = Record<string, unknown>;

const NAMES = [
  "a",
  "b",
  "c",
  "name",
  "kind",
  "filter[id]",
  "$top",
  "a/b",
  "~x",
  "toString",
  "__proto__",
  "input",
  "x".repeat(70),
];
const name = fc.constantFrom(...NAMES);
const description = fc.constantFrom("What it is", "What it is.", "");

/** Objects by name; `__proto__` stays a name like any other. */
function named<Value>(value: fc.Arbitrary<Value>, maxLength: number): fc.Arbitrary<Record<string, Value>> {
  return fc
    .uniqueArray(fc.tuple(name, value), { maxLength, selector: ([key]) => key })
    .map((entries) => Object.fromEntries(entries) as Record<string, Value>);
}

const constraint: fc.Arbitrary<Node> = fc.oneof(
  fc.constantFrom<Node>(
    { minimum: 1 },
    { maximum: 9 },
    { exclusiveMinimum: 0 },
    { exclusiveMinimum: true, minimum: 2 },
    { multipleOf: 2 },
    { minLength: 1 },
    { maxLength: 3 },
    { pattern: "^a" },
    { pattern: "(" },
    { format: "date-time" },
    { format: "made-up" },
    { minItems: 1 },
    { minItems: 2 },
    { maxItems: 3 },
    { uniqueItems: true },
    { minProperties: 1 },
    { default: null },
    { default: 3 },
    { examples: ["a"] },
    { example: 1 },
    { title: "T" },
    { nullable: true },
    { deprecated: true },
    { "x-vendor": 1 },
    { $comment: "c" },
    { $anchor: "here" },
    { contentEncoding: "base64" },
    { dependentRequired: { a: ["b"] } },
    { dependencies: { a: ["b"], b: { required: ["c"] } } },
    { if: { required: ["a"] }, ["then" as string]: { required: ["b"] } },
    { not: { required: ["a"] } },
    { propertyNames: { pattern: "^a" } },
    { unevaluatedProperties: false },
    // What real servers get wrong.
    { required: true },
    { enum: [] },
    { enum: "a" },
    { type: "any" },
    { type: "STRING" },
    { type: [] },
    { properties: [] },
    { anyOf: {} },
    { minimum: "1" },
    { items: 3 },
    { $ref: 5 },
    { description: 7 },
  ),
  description.map((text): Node => ({ description: text })),
);

const type: fc.Arbitrary<Node> = fc.constantFrom<Node>(
  {},
  { type: "string" },
  { type: "number" },
  { type: "integer" },
  { type: "boolean" },
  { type: "null" },
  { type: "object" },
  { type: "array" },
  { type: ["string", "null"] },
  { type: ["object", "null"] },
  { type: ["string", "number"] },
  { type: ["array", "string"] },
  { const: "a" },
  { const: 1 },
  { const: { a: 1 } },
  { enum: ["a", "b"] },
  { enum: [1, 2] },
  { enum: ["a", null] },
  { enum: ["a", 1, { b: 2 }] },
  { type: "string", enum: ["a", "b"] },
);

const reference: fc.Arbitrary<Node> = fc
  .constantFrom(
    "#",
    "#/$defs/a",
    "#/$defs/b",
    "#/definitions/a",
    "#/properties/a",
    "#here",
    "#/nowhere",
    "https://example.com/schema.json",
    "file:///etc/passwd",
    "%",
  )
  .map((target) => ({ $ref: target }));

const { schema } = fc.letrec<{ schema: Node | boolean }>((tie) => {
  const inner = tie("schema");
  const list = fc.array(inner, { minLength: 1, maxLength: 3 });
  const required = fc.uniqueArray(name, { maxLength: 3 });
  const structure: fc.Arbitrary<Node> = fc.oneof(
    fc.record({ properties: named(inner, 3) }),
    fc.record({ properties: named(inner, 3), required }),
    fc.record({ additionalProperties: inner }),
    fc.record({ patternProperties: fc.record({ "^x": inner }) }),
    fc.record({ items: fc.oneof(inner, list) }),
    fc.record({ prefixItems: list, items: inner }),
    fc.record({ anyOf: list }),
    fc.record({ oneOf: list }),
    fc.record({ allOf: list }),
    fc.record({ not: inner }),
    fc.record({ $defs: fc.record({ a: inner, b: inner }) }),
    fc.record({ definitions: fc.record({ a: inner }) }),
  );
  const node = fc
    .tuple(type, fc.array(constraint, { maxLength: 2 }), fc.array(structure, { maxLength: 2 }))
    .map(([first, constraints, structures]): Node => Object.assign({}, first, ...constraints, ...structures));
  return {
    schema: fc.oneof(
      { maxDepth: 4, depthIdentifier: "schema" },
      fc.oneof(type, reference, fc.boolean()),
      { weight: 6, arbitrary: node },
      { weight: 1, arbitrary: fc.tuple(reference, constraint).map(([one, two]): Node => ({ ...two, ...one })) },
    ),
  };
});

/** Schemas of every kind, right and wrong, for a tool's parameters. */
export const arbitrarySchema: fc.Arbitrary<JsonSchema> = fc.oneof(
  { weight: 8, arbitrary: schema.map((node) => node as JsonSchema) },
  {
    weight: 8,
    arbitrary: fc
      .record({
        properties: named(schema, 4),
        required: fc.uniqueArray(name, { maxLength: 2 }),
        $defs: fc.record({ a: schema, b: schema }),
      })
      .map((node): JsonSchema => ({ type: "object", ...node }) as JsonSchema),
  },
  { weight: 1, arbitrary: fc.jsonValue().map((value) => value as unknown as JsonSchema) },
);

const scalar: fc.Arbitrary<Node> = fc.constantFrom<Node>(
  { type: "string" },
  { type: "string", enum: ["a", "b", "c"] },
  { const: "only" },
  { type: "integer", enum: [1, 2, 3] },
  { type: "integer", minimum: 1, maximum: 5 },
  { type: "number" },
  { type: "boolean" },
  { type: ["string", "null"] },
  { anyOf: [{ type: "integer" }, { type: "null" }] },
  { type: "string", enum: ["a", null], nullable: true },
  { type: ["integer", "boolean"] },
  { allOf: [{ type: "string" }, { enum: ["x", "y"] }] },
  { oneOf: [{ const: "p" }, { const: "q" }] },
  { $ref: "#/$defs/point" },
  { $ref: "#/$defs/tree", description: "A tree" },
);

const { plain } = fc.letrec<{ plain: Node }>((tie) => {
  const inner = tie("plain");
  const properties = fc
    .uniqueArray(fc.tuple(fc.constantFrom("a", "b", "c", "d"), inner), {
      minLength: 1,
      maxLength: 3,
      selector: ([key]) => key,
    })
    .chain((entries) =>
      fc
        .subarray(entries.map(([key]) => key))
        .map((required): Node => ({ properties: Object.fromEntries(entries), required })),
    );
  const object = fc
    .tuple(properties, fc.constantFrom<Node>({}, { additionalProperties: false }))
    .map(([first, second]): Node => ({ type: "object", ...first, ...second }));
  const tagged = fc.tuple(object, object).map(([one, two]): Node => ({ oneOf: [tag(one, "one"), tag(two, "two")] }));
  return {
    plain: fc.oneof(
      { maxDepth: 3, depthIdentifier: "plain" },
      scalar,
      object,
      tagged,
      fc.record({ type: fc.constant("array"), items: inner }) as fc.Arbitrary<Node>,
      fc.record({ type: fc.constant("object"), additionalProperties: inner }) as fc.Arbitrary<Node>,
      fc.tuple(object, object).map(([one, two]): Node => ({
        allOf: [
          { ...one, additionalProperties: undefined },
          { ...two, additionalProperties: undefined },
        ],
      })),
      inner.map((node): Node => ({ anyOf: [node, { type: "null" }] })),
    ),
  };
});

function tag(node: Node, kind: string): Node {
  const { properties, required } = node as { properties: object; required: string[] };
  return { ...node, properties: { kind: { const: kind }, ...properties }, required: ["kind", ...required] };
}

/** Well-formed schemas of the sort that most tools have, of which strict modes can hold all or nearly all. */
export const arbitraryPlainSchema: fc.Arbitrary<JsonSchema> = fc
  .record({
    properties: fc
      .uniqueArray(fc.tuple(fc.constantFrom("q", "page", "options", "filter[id]"), plain), {
        maxLength: 3,
        selector: ([key]) => key,
      })
      .map((entries) => Object.fromEntries(entries)),
    required: fc.subarray(["q", "page"]),
  })
  .map(({ properties, required }): JsonSchema => ({
    type: "object",
    properties: properties as Record<string, JsonSchema>,
    required: required.filter((key) => Object.hasOwn(properties, key)),
    $defs: {
      point: { type: "object", properties: { x: { type: "number" }, y: { type: "number" } }, required: ["x"] },
      tree: { type: "object", properties: { children: { type: "array", items: { $ref: "#/$defs/tree" } } } },
    },
  }))
  .map((node) => JSON.parse(JSON.stringify(node)) as JsonSchema);
