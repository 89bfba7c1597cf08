import type { JsonSchema } from "../../../src/tool/json-schema.ts";

export interface Property {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly required: boolean;
}

/** Returns whether a part of a schema is a schema object. `true` and `false` cannot be shown. */
export function isSchema(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns the members of an object, in the order of the schema. Empty unless the schema is an object with named members. */
export function propertiesOf(schema: JsonSchema): readonly Property[] {
  const { properties, required } = schema;
  if (!isSchema(properties)) return [];
  return Object.entries(properties).map(([name, own]) => ({
    name,
    schema: isSchema(own) ? own : {},
    required: Array.isArray(required) && required.includes(name),
  }));
}

/** Returns the type of a value as text: `one of "a", "b"`, `list of string`. */
export function typeOf(schema: JsonSchema): string {
  const { type, enum: choices, items } = schema;
  if (Array.isArray(choices)) return `one of ${choices.map((choice) => JSON.stringify(choice)).join(", ")}`;
  if (type === "array") return `list of ${isSchema(items) ? typeOf(items) : "anything"}`;
  return typeof type === "string" ? type : Array.isArray(type) ? type.join(" or ") : "any JSON";
}
