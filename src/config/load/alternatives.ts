import { isPlainObject, type JsonSchema } from "../../tool/json-schema.ts";

/** The alternatives of a schema; none if it has no `anyOf`. */
export function alternativesOf({ anyOf }: JsonSchema): readonly JsonSchema[] {
  return Array.isArray(anyOf) ? (anyOf as readonly JsonSchema[]) : [];
}

/** The alternative that the `type` of a value names. Undefined if the schema has none for it. */
export function namedAlternative(schema: JsonSchema, value: unknown): JsonSchema | undefined {
  if (!isPlainObject(value) || schema.properties?.["type"] === undefined) return undefined;
  const isNamed = ({ properties = {} }: JsonSchema): boolean =>
    (properties["type"] as JsonSchema | undefined)?.enum?.includes(value["type"]) === true;
  return alternativesOf(schema).find(isNamed);
}

/** The schema of an object: the alternative that its type names or that has its keys, else the schema itself. */
export function schemaOf(schema: JsonSchema, value: Readonly<Record<string, unknown>>): JsonSchema {
  const hasKeys = ({ properties }: JsonSchema): boolean =>
    properties !== undefined && Object.keys(value).every((key) => Object.hasOwn(properties, key));
  return namedAlternative(schema, value) ?? alternativesOf(schema).find(hasKeys) ?? schema;
}
