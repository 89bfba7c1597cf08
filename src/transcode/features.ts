import type { JsonSchema } from "../tool/json-schema.ts";

/** Features of JSON Schema that not every provider takes. */
export const SCHEMA_FEATURES = [
  "nestedObjects", "arrays", "tuples", "enums", "const", "typeArrays", "nullable", "pattern", "format", "default", "examples", "numericLimits",
  "lengthLimits", "arrayLimits", "uniqueItems", "contains", "propertyLimits", "additionalProperties", "patternProperties", "propertyNames",
  "dependencies", "conditionals", "not", "anyOf", "oneOf", "allOf", "rootCombinators", "ref", "recursion", "booleanSchemas",
  "optionalProperties", "titles", "unknownKeywords",
] as const;

/** One of them. */
export type SchemaFeature = (typeof SCHEMA_FEATURES)[number];

/** The features a schema uses. */
export function featuresOf(_schema: JsonSchema): ReadonlySet<SchemaFeature> {
  return new Set();
}
