import { isPlainObject } from "../../tool/json-schema.ts";
import type { SchemaFeature } from "../features.ts";

/** A schema being worked on: keywords and their values, all of them still unproven. */
export type SchemaNode = Readonly<Record<string, unknown>>;

/** The words of a text. */
export function words(text: string): readonly string[] {
  return text.split(" ");
}

/** Which row of a table a keyword is in. */
export function byKeyword<Row>(rows: readonly (readonly [row: Row, keywords: string])[]): ReadonlyMap<string, Row> {
  return new Map(rows.flatMap(([row, keywords]) => words(keywords).map((keyword) => [keyword, row] as const)));
}

/** Keywords that hold one schema; `items` may also hold a list of them, in older drafts. */
export const HOLDS_SCHEMA: ReadonlySet<string> = new Set(
  words(
    "items additionalItems additionalProperties unevaluatedItems unevaluatedProperties contains propertyNames not if then else contentSchema",
  ),
);

/** Keywords that hold a list of schemas. */
export const HOLDS_LIST: ReadonlySet<string> = new Set(words("allOf anyOf oneOf prefixItems items"));

/** Keywords that hold schemas under names which their author chose. */
export const HOLDS_NAMED: ReadonlySet<string> = new Set(
  words("properties patternProperties $defs definitions dependentSchemas dependencies"),
);

/** Which feature a keyword belongs to. Keywords of structure, such as `type` and `properties`, belong to none. */
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

/** Names of places. References are rewritten, so none is needed. */
export const PLACES: ReadonlySet<string> = new Set(
  words("$defs definitions $anchor $dynamicAnchor $recursiveAnchor $id id $vocabulary"),
);

/** Keywords that are for the reader, and constrain no value. */
export const ANNOTATIONS: ReadonlySet<string> = new Set([
  ...words("title description default examples example deprecated readOnly writeOnly $comment $schema"),
  ...PLACES,
]);

/** What a keyword constrains. Keywords of no type constrain values of all types. */
export const TYPE_OF: ReadonlyMap<string, string> = byKeyword([
  ["string", "pattern minLength maxLength contentEncoding contentMediaType contentSchema"],
  ["number", "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf"],
  ["array", "items prefixItems minItems maxItems uniqueItems contains minContains maxContains unevaluatedItems"],
  ["object", "properties required additionalProperties minProperties maxProperties patternProperties propertyNames"],
  ["object", "unevaluatedProperties dependentRequired dependentSchemas"],
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
