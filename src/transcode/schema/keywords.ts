import { byKeyword, HOLDS_LIST, HOLDS_NAMED, HOLDS_SCHEMA, words } from "../../tool/schema/keywords.ts";
import { isPlainObject } from "../../tool/json-schema.ts";
import type { SchemaFeature } from "../features.ts";

/** A schema during conversion: keywords with unchecked values. */
export type SchemaNode = Readonly<Record<string, unknown>>;

/** The feature of each keyword. Structural keywords, such as `type` and `properties`, have none. */
export const FEATURE_OF: ReadonlyMap<string, SchemaFeature> = byKeyword<SchemaFeature>([
  ["enums", "enum"],
  ["const", "const"],
  ["pattern", "pattern"],
  ["format", "format"],
  ["default", "default"],
  ["examples", "examples example"],
  ["titles", "title"],
  ["numericLimits", "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf"],
  ["lengthLimits", "minLength maxLength"],
  ["arrayLimits", "minItems maxItems"],
  ["uniqueItems", "uniqueItems"],
  ["contains", "contains minContains maxContains unevaluatedItems"],
  ["propertyLimits", "minProperties maxProperties"],
  ["patternProperties", "patternProperties"],
  ["propertyNames", "propertyNames unevaluatedProperties"],
  ["dependencies", "dependencies dependentRequired dependentSchemas"],
  ["conditionals", "if then else"],
  ["not", "not"],
]);

/** Keywords that name positions. They are not needed, because references are rewritten. */
export const PLACES: ReadonlySet<string> = words(
  "$defs definitions $anchor $dynamicAnchor $recursiveAnchor $id id $vocabulary",
);

/** Keywords that describe a schema without constraining values. */
export const ANNOTATIONS: ReadonlySet<string> = new Set([
  ...words("title description default examples example deprecated readOnly writeOnly $comment $schema"),
  ...PLACES,
]);

/** The type that each keyword constrains. Keywords without an entry constrain values of all types. */
export const TYPE_OF: ReadonlyMap<string, string> = byKeyword([
  ["string", "pattern minLength maxLength contentEncoding contentMediaType contentSchema"],
  ["number", "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf"],
  ["array", "items prefixItems minItems maxItems uniqueItems contains minContains maxContains unevaluatedItems"],
  ["object", "properties required additionalProperties minProperties maxProperties patternProperties propertyNames"],
  ["object", "unevaluatedProperties dependentRequired dependentSchemas"],
]);

/** Returns the schemas directly inside a schema, with their paths. */
export function childrenOf(node: SchemaNode): readonly (readonly [tokens: readonly string[], child: unknown])[] {
  const children: (readonly [readonly string[], unknown])[] = [];
  for (const [keyword, value] of Object.entries(node)) {
    if (Array.isArray(value)) {
      if (HOLDS_LIST.has(keyword)) value.forEach((child, index) => children.push([[keyword, String(index)], child]));
    } else if (HOLDS_NAMED.has(keyword) && isPlainObject(value)) {
      for (const [name, child] of Object.entries(value)) {
        // In draft 7, dependencies may also be lists of names.
        if (!Array.isArray(child)) children.push([[keyword, name], child]);
      }
    } else if (HOLDS_SCHEMA.has(keyword)) children.push([[keyword], value]);
  }
  return children;
}
