import { isPlainObject, type JsonSchema } from "../../tool/json-schema.ts";
import { toSnake } from "./key-style.ts";
import { CONFIG_SCHEMA } from "../schema.ts";

/** One key of the configuration. */
export interface Setting {
  /** Dotted, in snake_case as files spell it. What stands in a list is marked by `[]`. */
  readonly path: string;
  readonly schema: JsonSchema;
}

/** Every key of the configuration, in the order of the schema, sections before what is in them. */
export function listSettings(): readonly Setting[] {
  return settingsIn(CONFIG_SCHEMA, "");
}

/** Every key below a schema; `prefix` goes before each path. */
export function settingsIn(schema: JsonSchema, prefix: string): readonly Setting[] {
  return Object.entries(schema.properties ?? {}).flatMap(([key, member]) => {
    const path = prefix + toSnake(key);
    const property = member as JsonSchema;
    const items = isPlainObject(property.items) ? settingsIn(property.items as JsonSchema, `${path}[].`) : [];
    return [{ path, schema: property }, ...settingsIn(property, `${path}.`), ...items];
  });
}

/** What a value must be, in words that follow "must be" and "to". */
export function describeExpected(schema: JsonSchema): string {
  const { type, enum: values, items } = schema;
  const [minimum, maximum] = [schema["minimum"], schema["maximum"]].map(String);
  if (values !== undefined) return `one of ${values.map(String).join(", ")}`;
  if (Array.isArray(schema["anyOf"])) return (schema["anyOf"] as JsonSchema[]).map(describeExpected).join(", or ");
  switch (type) {
    case "integer":
      return `a whole number from ${minimum} to ${maximum}`;
    case "number":
      return `a number from ${minimum} to ${maximum}`;
    case "boolean":
      return "true or false";
    case "string":
      return schema["minLength"] === 1 ? "a text that is not empty" : "a text";
    case "array":
      if (!isPlainObject(items) || (items as JsonSchema).type !== "string") return "a list";
      return schema["minItems"] === 1 ? "a list of at least one text" : "a list of texts";
    default:
      return "a mapping of keys to values";
  }
}
