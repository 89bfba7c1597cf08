import { isPlainObject } from "../../tool/json-schema.ts";
import type { SchemaFeature } from "../features.ts";

/** A schema being worked on: keywords and their values, all of them still unproven. */
export type SchemaNode = Readonly<Record<string, unknown>>;

/** Keywords that hold one schema; `items` may also hold a list of them, in older drafts. */
export const HOLDS_SCHEMA: ReadonlySet<string> = new Set([
  "items",
  "additionalItems",
  "additionalProperties",
  "unevaluatedItems",
  "unevaluatedProperties",
  "contains",
  "propertyNames",
  "not",
  "if",
  "then",
  "else",
  "contentSchema",
]);

/** Keywords that hold a list of schemas. */
export const HOLDS_LIST: ReadonlySet<string> = new Set(["allOf", "anyOf", "oneOf", "prefixItems", "items"]);

/** Keywords that hold schemas under names which their author chose. */
export const HOLDS_NAMED: ReadonlySet<string> = new Set([
  "properties",
  "patternProperties",
  "$defs",
  "definitions",
  "dependentSchemas",
  "dependencies",
]);

/** Which feature a keyword belongs to. Keywords of structure, such as `type` and `properties`, belong to none. */
export const FEATURE_OF: ReadonlyMap<string, SchemaFeature> = new Map<string, SchemaFeature>([
  ["enum", "enums"],
  ["const", "const"],
  ["pattern", "pattern"],
  ["format", "format"],
  ["default", "default"],
  ["examples", "examples"],
  ["example", "examples"],
  ["title", "titles"],
  ["minimum", "numericLimits"],
  ["maximum", "numericLimits"],
  ["exclusiveMinimum", "numericLimits"],
  ["exclusiveMaximum", "numericLimits"],
  ["multipleOf", "numericLimits"],
  ["minLength", "lengthLimits"],
  ["maxLength", "lengthLimits"],
  ["minItems", "arrayLimits"],
  ["maxItems", "arrayLimits"],
  ["uniqueItems", "uniqueItems"],
  ["contains", "contains"],
  ["minContains", "contains"],
  ["maxContains", "contains"],
  ["unevaluatedItems", "contains"],
  ["minProperties", "propertyLimits"],
  ["maxProperties", "propertyLimits"],
  ["patternProperties", "patternProperties"],
  ["propertyNames", "propertyNames"],
  ["unevaluatedProperties", "propertyNames"],
  ["dependencies", "dependencies"],
  ["dependentRequired", "dependencies"],
  ["dependentSchemas", "dependencies"],
  ["if", "conditionals"],
  ["then", "conditionals"],
  ["else", "conditionals"],
  ["not", "not"],
]);

/** Keywords that say something about the reader's understanding, not about the value. */
export const ANNOTATIONS: ReadonlySet<string> = new Set([
  "title",
  "description",
  "default",
  "examples",
  "example",
  "deprecated",
  "readOnly",
  "writeOnly",
  "$comment",
  "$schema",
  "$id",
  "id",
  "$anchor",
  "$dynamicAnchor",
  "$recursiveAnchor",
  "$vocabulary",
  "$defs",
  "definitions",
]);

/** What a keyword constrains. Keywords of no type constrain values of all types. */
export const TYPE_OF: ReadonlyMap<string, string> = new Map([
  ...["pattern", "minLength", "maxLength", "contentEncoding", "contentMediaType", "contentSchema"].map(
    (keyword) => [keyword, "string"] as const,
  ),
  ...["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"].map(
    (keyword) => [keyword, "number"] as const,
  ),
  ...[
    "items",
    "prefixItems",
    "minItems",
    "maxItems",
    "uniqueItems",
    "contains",
    "minContains",
    "maxContains",
    "unevaluatedItems",
  ].map((keyword) => [keyword, "array"] as const),
  ...[
    "properties",
    "required",
    "additionalProperties",
    "minProperties",
    "maxProperties",
    "patternProperties",
    "propertyNames",
    "unevaluatedProperties",
    "dependentRequired",
    "dependentSchemas",
  ].map((keyword) => [keyword, "object"] as const),
]);

/** The schemas directly inside a schema, with the steps to each. */
export function childrenOf(node: SchemaNode): readonly (readonly [tokens: readonly string[], child: unknown])[] {
  const children: (readonly [readonly string[], unknown])[] = [];
  for (const [keyword, value] of Object.entries(node)) {
    if (Array.isArray(value)) {
      if (HOLDS_LIST.has(keyword)) value.forEach((child, index) => children.push([[keyword, String(index)], child]));
    } else if (HOLDS_NAMED.has(keyword) && isPlainObject(value)) {
      for (const [name, child] of Object.entries(value)) {
        // Draft 7's dependencies may also be lists of names.
        if (!Array.isArray(child)) children.push([[keyword, name], child]);
      }
    } else if (HOLDS_SCHEMA.has(keyword)) children.push([[keyword], value]);
  }
  return children;
}
