/** Features of JSON Schema that not every provider takes. */
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

/** One of them. */
export type SchemaFeature = (typeof SCHEMA_FEATURES)[number];

/** Every feature: for a target that takes JSON Schema as it is. */
export const ALL_FEATURES: ReadonlySet<SchemaFeature> = new Set(SCHEMA_FEATURES);

/** For a target that wants a plain object at the root, and takes anything below it. */
export const ALL_BELOW_ROOT: ReadonlySet<SchemaFeature> = new Set(
  SCHEMA_FEATURES.filter((feature) => feature !== "rootCombinators"),
);

/** What every provider takes, and the features with these names, separated by spaces. */
export function plainAnd(names: string): ReadonlySet<SchemaFeature> {
  return new Set(["nestedObjects", "arrays", "enums", "nullable", ...(names.split(" ") as SchemaFeature[])]);
}
