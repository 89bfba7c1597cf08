import type { JsonSchema } from "../tool/json-schema.ts";

/** A mapping with these keys and no others. */
export function object(
  description: string,
  properties: Record<string, JsonSchema>,
  required: readonly string[] = [],
): JsonSchema {
  const schema = { description, type: "object", properties, additionalProperties: false };
  return required.length > 0 ? { ...schema, required } : { ...schema, default: {} };
}

/** The schema without its default: what nobody wrote stays absent. */
export function optional({ default: _default, ...schema }: JsonSchema): JsonSchema {
  return schema;
}

/** A text that is not empty. */
export function text(description: string, fallback?: string): JsonSchema {
  return { description, type: "string", minLength: 1, ...(fallback === undefined ? {} : { default: fallback }) };
}

/** One of these values. */
export function choice(description: string, values: readonly string[], fallback?: string): JsonSchema {
  return { description, enum: values, ...(fallback === undefined ? {} : { default: fallback }) };
}

/** A whole number in a range. */
export function whole(description: string, minimum: number, maximum: number, fallback?: number): JsonSchema {
  return { description, type: "integer", minimum, maximum, ...(fallback === undefined ? {} : { default: fallback }) };
}

/** A number from 0 to 1. */
export function share(description: string, fallback: number): JsonSchema {
  return { description, type: "number", minimum: 0, maximum: 1, default: fallback };
}

/** True or false. */
export function flag(description: string, fallback: boolean): JsonSchema {
  return { description, type: "boolean", default: fallback };
}

/** A list. */
export function list(description: string, items: JsonSchema, fallback?: readonly unknown[]): JsonSchema {
  return { description, type: "array", items, ...(fallback === undefined ? {} : { default: fallback }) };
}

/** A mapping of the user's own keys to texts. */
export function texts(description: string): JsonSchema {
  return { description, type: "object", additionalProperties: { type: "string" } };
}

/** A mapping that is handed on as it is. */
export function anything(description: string): JsonSchema {
  return { description, type: "object" };
}
