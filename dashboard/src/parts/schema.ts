import type { JsonSchema } from "../../../src/tool/json-schema.ts";

/** One member of an object that a schema describes. */
export interface Property {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly required: boolean;
}

/** Whether a part of a schema is a schema itself. `true` and `false` say nothing that can be shown. */
export function isSchema(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The members of an object, in the order of the schema. None for anything that is not an object with named members. */
export function propertiesOf(schema: JsonSchema): readonly Property[] {
  const { properties, required } = schema;
  if (!isSchema(properties)) return [];
  return Object.entries(properties).map(([name, own]) => ({
    name,
    schema: isSchema(own) ? own : {},
    required: Array.isArray(required) && required.includes(name),
  }));
}

/** The type of a value in words: `one of "a", "b"`, `list of string`. */
export function typeOf(schema: JsonSchema): string {
  const { type, enum: choices, items } = schema;
  if (Array.isArray(choices)) return `one of ${choices.map((choice) => JSON.stringify(choice)).join(", ")}`;
  if (type === "array") return `list of ${isSchema(items) ? typeOf(items) : "anything"}`;
  return typeof type === "string" ? type : Array.isArray(type) ? type.join(" or ") : "any JSON";
}
