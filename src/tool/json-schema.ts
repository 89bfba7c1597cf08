/** A JSON Schema as a plain object. The canonical tool keeps schemas as they came; this type only names the common keywords. */
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

/** The top-level parameters of a schema, in its order. Anything malformed inside is skipped, never thrown on. */
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
