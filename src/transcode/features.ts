/** JSON Schema features that some providers do not support. */
export const SCHEMA_FEATURES = [
  "nestedObjects",
  "arrays",
  "tuples",
  "enums",
  "const",
  "typeArrays",
  "nullable",
  "pattern",
  "format",
  "default",
  "examples",
  "numericLimits",
  "lengthLimits",
  "arrayLimits",
  "uniqueItems",
  "contains",
  "propertyLimits",
  "additionalProperties",
  "patternProperties",
  "propertyNames",
  "dependencies",
  "conditionals",
  "not",
  "anyOf",
  "oneOf",
  "allOf",
  "rootCombinators",
  "ref",
  "recursion",
  "booleanSchemas",
  "optionalProperties",
  "titles",
  "unknownKeywords",
] as const;

export type SchemaFeature = (typeof SCHEMA_FEATURES)[number];

/** Every feature: for a target that supports all of JSON Schema. */
export const ALL_FEATURES: ReadonlySet<SchemaFeature> = new Set(SCHEMA_FEATURES);

/** The features of a target that requires a plain object at the root, and supports everything below it. */
export const ALL_BELOW_ROOT: ReadonlySet<SchemaFeature> = new Set(
  SCHEMA_FEATURES.filter((feature) => feature !== "rootCombinators"),
);

/** Returns the features that every provider supports, plus the named ones, which are separated by spaces. */
export function plainAnd(names: string): ReadonlySet<SchemaFeature> {
  return new Set(["nestedObjects", "arrays", "enums", "nullable", ...(names.split(" ") as SchemaFeature[])]);
}
