/** A JSON Schema as a plain object. Canonical tools keep schemas unchanged; this type only declares the common keywords. */
export interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: { readonly [name: string]: JsonSchema | boolean };
  readonly required?: readonly string[];
  readonly items?: JsonSchema | boolean | readonly JsonSchema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly [keyword: string]: unknown;
}

/** One parameter of a tool: a top-level property of its schema. */
export interface Parameter {
  readonly name: string;
  readonly description: string;
  readonly required: boolean;
}

/** Returns the top-level parameters of a schema, in order. Skips malformed ones and never throws. */
export function listParameters(schema: JsonSchema): readonly Parameter[] {
  const { properties, required } = schema;
  if (!isPlainObject(properties)) return [];
  const requiredNames = new Set(Array.isArray(required) ? required : []);
  return Object.entries(properties).map(([name, property]) => ({
    name,
    description: isPlainObject(property) && typeof property["description"] === "string" ? property["description"] : "",
    required: requiredNames.has(name),
  }));
}

/** True for an object that is neither null nor an array. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns the value if it is an object, otherwise an empty object. For data from third parties, which may not have its documented form. */
export function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return isPlainObject(value) ? value : {};
}

/** Returns the value if it is an array, otherwise an empty array. */
export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns the objects in a list; empty if the value is not a list. */
export function asRecords(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return asList(value).filter(isPlainObject);
}

/** Returns the strings in a list; empty if the value is not a list. */
export function asTexts(value: unknown): readonly string[] {
  return asList(value).filter((each) => typeof each === "string");
}

/** Returns the value if it is a nonempty string, otherwise undefined. */
export function asText(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

export function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}
