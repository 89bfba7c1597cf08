import type { JsonSchema } from "../../tool/json-schema.ts";
import type { SchemaTarget } from "../convert-schema.ts";

const NULL = { type: "null" } as const;

/** Makes a converted schema accept null, in the target's notation. */
export function withNull(schema: JsonSchema, target: SchemaTarget): JsonSchema {
  const { type, anyOf, enum: values, nullable } = schema;
  if (takesNull(schema)) return schema;
  if (target.nullable === "nullable-keyword") {
    if (!Array.isArray(anyOf) || target.bareUnions !== true) return { ...schema, nullable: true };
    return { ...schema, anyOf: anyOf.map((branch: JsonSchema) => withNull(branch, target)) };
  }
  if (Array.isArray(anyOf)) return { ...schema, anyOf: [...anyOf, NULL] };
  if (Object.hasOwn(schema, "const") && nullable === undefined) {
    const { const: value, ...rest } = schema;
    return withNull({ ...rest, enum: [value] }, target);
  }
  // A list of values must include null, and the type next to it must allow it.
  if (Array.isArray(values) && type === undefined) return { ...schema, enum: [...values, null] };
  if (target.nullable === undefined && type !== undefined) {
    const listed = Array.isArray(values) ? { enum: [...values, null] } : {};
    return { ...schema, type: [...[type].flat(), "null"], ...listed };
  }
  const { description, ...rest } = schema;
  return { ...(description === undefined ? {} : { description }), anyOf: [rest, NULL] };
}

export function takesNull(schema: JsonSchema): boolean {
  const { type, anyOf, enum: values, nullable } = schema;
  if (nullable === true) return true;
  if (Object.hasOwn(schema, "const")) return schema.const === null;
  if (Array.isArray(values)) return values.includes(null) && (type === undefined || [type].flat().includes("null"));
  if (Array.isArray(anyOf)) return anyOf.some((branch: JsonSchema) => takesNull(branch));
  return type !== undefined && [type].flat().includes("null");
}
