import type { JsonSchema } from "../../../src/tool/json-schema.ts";

const object = (properties: object, rest: object = {}): JsonSchema =>
  ({ type: "object", properties, ...rest }) as JsonSchema;

/** Schemas that ask something of a dialect, by what they ask. */
export const SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  empty: { type: "object" },
  "no properties": object({}, { additionalProperties: false }),
  plain: object(
    {
      city: { type: "string", description: "The city to look at." },
      days: { type: "integer", minimum: 1, maximum: 14, default: 3 },
      exact: { type: "boolean" },
    },
    { required: ["city"] },
  ),
  nested: object(
    {
      filter: object({ owner: object({ name: { type: "string" } }, { required: ["name"] }) }, { required: ["owner"] }),
    },
    { required: ["filter"] },
  ),
  "list of objects": object({
    rows: {
      type: "array",
      minItems: 1,
      maxItems: 100,
      items: object({ id: { type: "integer" } }, { required: ["id"] }),
    },
  }),
  tuple: object({ point: { type: "array", prefixItems: [{ type: "number" }, { type: "number" }], items: false } }),
  "tuple, draft-07": object({
    range: { type: "array", items: [{ type: "string" }, { type: "integer" }], additionalItems: false },
  }),
  "list of anything": object({ values: { type: "array" } }),
  "enum of texts": object({ unit: { type: "string", enum: ["celsius", "fahrenheit"] } }, { required: ["unit"] }),
  "enum of numbers": object({ size: { type: "integer", enum: [1, 2, 4, 8] } }),
  "enum of mixed values": object({ level: { enum: ["low", 5, true, null] } }),
  "huge enum": object({ code: { enum: Array.from({ length: 1100 }, (_, index) => `code_${index}`) } }),
  const: object({ kind: { const: "refund" }, version: { const: 2 } }, { required: ["kind"] }),
  "nullable, list of types": object({ note: { type: ["string", "null"] }, count: { type: ["integer", "null"] } }),
  "nullable, anyOf": object({ note: { anyOf: [{ type: "string" }, { type: "null" }] } }),
  "nullable, OpenAPI 3.0": object({ note: { type: "string", nullable: true } }),
  "several types": object({ id: { type: ["string", "integer"], description: "A number or a name." } }),
  "text limits": object({ code: { type: "string", pattern: "^[A-Z]{3}$", minLength: 3, maxLength: 3 } }),
  formats: object({
    on: { type: "string", format: "date" },
    at: { type: "string", format: "date-time" },
    mail: { type: "string", format: "email" },
    link: { type: "string", format: "uri" },
    weight: { type: "number", format: "float" },
  }),
  "number limits": object({ ratio: { type: "number", exclusiveMinimum: 0, exclusiveMaximum: 1, multipleOf: 0.25 } }),
  "draft-04": object(
    { amount: { type: "number", minimum: 0, exclusiveMinimum: true }, when: { type: "string", required: true } },
    { id: "http://example.com/schema#", $schema: "http://json-schema.org/draft-04/schema#" },
  ),
  "set of values": object({
    tags: { type: "array", items: { type: "string" }, uniqueItems: true, contains: { const: "a" } },
  }),
  "free form": object({ data: { type: "object", additionalProperties: true } }),
  map: object({ labels: { type: "object", additionalProperties: { type: "string" } } }),
  "names by pattern": object({
    headers: {
      type: "object",
      patternProperties: { "^X-": { type: "string" } },
      propertyNames: { maxLength: 40 },
      maxProperties: 10,
    },
  }),
  oneOf: object(
    {
      by: {
        oneOf: [
          object({ email: { type: "string" } }, { required: ["email"] }),
          object({ id: { type: "integer" } }, { required: ["id"] }),
        ],
      },
    },
    { required: ["by"] },
  ),
  "discriminated union": object({
    shape: {
      discriminator: { propertyName: "type" },
      oneOf: [
        object({ type: { const: "circle" }, radius: { type: "number" } }, { required: ["type", "radius"] }),
        object({ type: { const: "square" }, side: { type: "number" } }, { required: ["type", "side"] }),
      ],
    },
  }),
  allOf: object({
    user: {
      allOf: [object({ name: { type: "string" } }, { required: ["name"] }), object({ age: { type: "integer" } })],
    },
  }),
  "anyOf at the root": object(
    { id: { type: "string" }, name: { type: "string" } },
    { anyOf: [{ required: ["id"] }, { required: ["name"] }] },
  ),
  not: object({ port: { type: "integer", not: { enum: [22, 25] } } }),
  "if and then": JSON.parse(`{
    "type": "object",
    "properties": { "paid": { "type": "boolean" }, "invoice": { "type": "string" } },
    "if": { "properties": { "paid": { "const": true } } },
    "then": { "required": ["invoice"] }
  }`) as JsonSchema,
  dependencies: object(
    { card: { type: "string" }, address: { type: "string" } },
    { dependentRequired: { card: ["address"] } },
  ),
  references: object(
    { from: { $ref: "#/$defs/place" }, to: { $ref: "#/$defs/place", description: "Where to." } },
    { required: ["from"], $defs: { place: object({ city: { type: "string" } }, { required: ["city"] }) } },
  ),
  "references, draft-07": object(
    { owner: { $ref: "#/definitions/user" } },
    {
      definitions: {
        user: object({ name: { type: "string" }, team: { $ref: "#/definitions/team" } }),
        team: { enum: ["a", "b"] },
      },
    },
  ),
  recursion: object(
    { tree: { $ref: "#/$defs/node" } },
    {
      $defs: {
        node: object({ value: { type: "string" }, children: { type: "array", items: { $ref: "#/$defs/node" } } }),
      },
    },
  ),
  "recursion to the root": object({ name: { type: "string" }, parts: { type: "array", items: { $ref: "#" } } }),
  "reference to nothing": object({ lost: { $ref: "#/$defs/nowhere" } }),
  "boolean schemas": object({ anything: true, nothing: false }),
  "no types": object({ value: {}, note: { description: "Whatever you like." } }),
  "odd names": object(
    {
      "with space": { type: "string" },
      ünïcode: { type: "string" },
      "a/b~c": { type: "number" },
      __proto: { type: "string" },
    },
    { required: ["with space"] },
  ),
  "examples and titles": object(
    { q: { type: "string", title: "Query", examples: ["cats"], deprecated: true, "x-order": 1 } },
    { title: "SearchInput", $comment: "generated" },
  ),
  "content in text": object({ file: { type: "string", contentEncoding: "base64", contentMediaType: "image/png" } }),
};
