import type { JsonSchema } from "../../src/tool/json-schema.ts";

const object = (properties: Record<string, unknown>, rest: Record<string, unknown> = {}): JsonSchema =>
  ({ type: "object", properties, ...rest }) as JsonSchema;

/** Schemas that real tools have and that are hard to say in a strict mode, all of which can be said without loss. */
export const HARD_SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  "an optional number": object({ limit: { type: "integer" } }),
  "an optional that may be null": object({ limit: { type: ["integer", "null"] } }),
  "null only by type, not by enum": object(
    { sort: { type: ["string", "null"], enum: ["asc", "desc"] } },
    { required: ["sort"] },
  ),
  "nullable as OpenAPI 3.0 has it": object({ when: { type: "string", nullable: true } }, { required: ["when"] }),
  "a map of text": object({ labels: { type: "object", additionalProperties: { type: "string" } } }),
  "a map of maps": object({
    labels: { type: "object", additionalProperties: { type: "object", additionalProperties: { type: "integer" } } },
  }),
  "a map of objects with optional members": object({
    users: { type: "object", additionalProperties: object({ name: { type: "string" }, age: { type: "integer" } }) },
  }),
  "a map or nothing": object({
    labels: { anyOf: [{ type: "object", additionalProperties: { type: "number" } }, { type: "null" }] },
  }),
  "a map beside a number": object({
    value: { anyOf: [{ type: "object", additionalProperties: { type: "string" } }, { type: "number" }] },
  }),
  "alternatives at the root": {
    type: "object",
    oneOf: [
      object({ kind: { const: "url" }, url: { type: "string" } }, { required: ["kind", "url"] }),
      object(
        { kind: { const: "text" }, text: { type: "string" }, language: { type: "string" } },
        { required: ["kind", "text"] },
      ),
    ],
  } as JsonSchema,
  "alternatives at the root beside shared properties": {
    type: "object",
    properties: { id: { type: "integer" } },
    required: ["id"],
    anyOf: [
      { properties: { by: { const: "name" }, name: { type: "string" } }, required: ["by", "name"] },
      { properties: { by: { const: "mail" }, mail: { type: "string" } }, required: ["by", "mail"] },
    ],
  } as JsonSchema,
  "a root by reference": {
    $ref: "#/definitions/Root",
    definitions: { Root: object({ a: { $ref: "#/definitions/Leaf" } }), Leaf: { type: "string", enum: ["x", "y"] } },
  } as JsonSchema,
  "a root of parts": {
    allOf: [
      object({ a: { type: "string" } }, { required: ["a"] }),
      { properties: { b: { type: "integer" } }, required: ["b"] },
    ],
  } as JsonSchema,
  "parts that narrow each other": object({
    port: { allOf: [{ type: "integer", minimum: 1 }, { maximum: 10 }, { enum: [0, 5, 7, 20] }] },
  }),
  "a part with a closed object": object({
    point: {
      allOf: [
        object({ x: { type: "number" }, y: { type: "number" } }, { additionalProperties: false }),
        { required: ["x"] },
      ],
    },
  }),
  "one part and a description": object(
    { mode: { allOf: [{ $ref: "#/$defs/Mode" }], description: "How" } },
    { $defs: { Mode: { enum: ["fast", "slow"] } } },
  ),
  "a tree": object(
    { root: { $ref: "#/$defs/Node" } },
    {
      $defs: {
        Node: object(
          { name: { type: "string" }, children: { type: "array", items: { $ref: "#/$defs/Node" } } },
          { required: ["name"] },
        ),
      },
      required: ["root"],
    },
  ),
  "a schema inside itself by the root": object({ value: { type: "string" }, next: { $ref: "#" } }),
  "a reference into properties": object({ from: { type: "integer" }, to: { $ref: "#/properties/from" } }),
  "a reference by anchor": object({ a: { $ref: "#word" } }, { $defs: { Word: { $anchor: "word", type: "string" } } }),
  "constants as titles": object({
    level: {
      oneOf: [
        { const: "low", title: "Low" },
        { const: "high", title: "High" },
      ],
    },
  }),
  "types in a list": object({ id: { type: ["string", "integer"] } }),
  "types of structure in a list": object({ ids: { type: ["array", "integer"], items: { type: "integer" } } }),
  "one item or a list": object({ ids: { anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }] } }),
  "union in union": object({ v: { anyOf: [{ anyOf: [{ type: "integer" }, { type: "boolean" }] }, { type: "null" }] } }),
  "objects told apart by a tag": object({
    shape: {
      anyOf: [
        object({ kind: { const: "circle" }, radius: { type: "number" } }, { required: ["kind", "radius"] }),
        object(
          { kind: { const: "square" }, side: { type: "number" }, turned: { type: "boolean" } },
          { required: ["kind", "side"] },
        ),
      ],
    },
  }),
  "draft 4": {
    $schema: "http://json-schema.org/draft-04/schema#",
    type: "object",
    properties: { n: { type: "integer", minimum: 0, exclusiveMinimum: true } },
  } as JsonSchema,
  "no type, but keywords": object({ o: { properties: { a: { type: "string" } } }, n: { minimum: 3 } }),
  "names that providers refuse": object(
    { "filter[id]": { type: "integer" }, $top: { type: "integer" }, "@type": { type: "string" } },
    { required: ["$top"] },
  ),
  "names of JavaScript": object(
    { toString: { type: "string" }, constructor: { type: "integer" } },
    { required: ["toString"] },
  ),
  "no parameters": { type: "object" },
  "a closed root": object({ q: { type: "string" } }, { required: ["q"], additionalProperties: false }),
  "a list of equal places": object(
    { range: { type: "array", items: [{ type: "integer" }, { type: "integer" }], minItems: 2, maxItems: 2 } },
    { $schema: "http://json-schema.org/draft-07/schema#" },
  ),
  "numbers to choose from": object(
    { size: { type: "integer", enum: [1, 2, 4] }, ratio: { enum: [0.5, 1.5] } },
    { required: ["size"] },
  ),
};
