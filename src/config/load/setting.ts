import { isPlainObject, type JsonSchema } from "../../tool/json-schema.ts";
import { present } from "../../base/present.ts";
import { toSnake } from "./key-style.ts";
import { CONFIG_SCHEMA } from "../schema.ts";

export interface Setting {
  /** The path with dots, in snake_case as in files. `[]` marks the items of a list. */
  readonly path: string;
  readonly schema: JsonSchema;
}

/** Lists every key of the configuration, in the order of the schema, sections before their keys. */
export function listSettings(): readonly Setting[] {
  return settingsIn(CONFIG_SCHEMA, "");
}

/** Lists every key below a schema, with `prefix` before each path. */
export function settingsIn(schema: JsonSchema, prefix: string): readonly Setting[] {
  return Object.entries(schema.properties ?? {}).flatMap(([key, member]) => {
    const path = prefix + toSnake(key);
    const property = member as JsonSchema;
    const items = isPlainObject(property.items) ? settingsIn(property.items as JsonSchema, `${path}[].`) : [];
    return [{ path, schema: property }, ...settingsIn(property, `${path}.`), ...items];
  });
}

/** Describes a valid value in words that can follow "must be" and "to". */
export function describeExpected(schema: JsonSchema): string {
  const { type, enum: values, items } = schema;
  const [minimum, maximum] = [schema["minimum"], schema["maximum"]].map(String);
  if (values !== undefined) return `one of ${values.map(String).join(", ")}`;
  if (Array.isArray(schema["anyOf"]) && schema.properties === undefined)
    return [...new Set((schema["anyOf"] as JsonSchema[]).map(describeExpected))].join(", or ");
  switch (type) {
    case "integer":
      return `a whole number from ${minimum} to ${maximum}`;
    case "number":
      return `a number from ${minimum} to ${maximum}`;
    case "boolean":
      return "true or false";
    case "string":
      return schema["minLength"] === 1 ? "a non-empty string" : "a string";
    case "array":
      if (!isPlainObject(items) || (items as JsonSchema).type !== "string") return "a list";
      return schema["minItems"] === 1 ? "a list of at least one string" : "a list of strings";
    default:
      return "an object";
  }
}

/** Returns the schema of configuration files, with keys in snake_case. For editors. */
export function fileSchema(): JsonSchema {
  const own = renameProperties(CONFIG_SCHEMA);
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "arsenal.yaml",
    ...own,
    properties: { ...own.properties, ...CLIENT_BLOCKS },
  };
}

/** Blocks from MCP clients' files that a configuration may contain unchanged. */
const CLIENT_BLOCKS: Readonly<Record<string, JsonSchema>> = {
  mcpServers: {
    description: "MCP servers as Claude Desktop, Cursor, Windsurf and .mcp.json have them.",
    type: "object",
    additionalProperties: { type: "object" },
  },
  servers: {
    description: "MCP servers as VS Code has them.",
    type: "object",
    additionalProperties: { type: "object" },
  },
  inputs: { description: "What VS Code asks for; here it comes from the environment.", type: "array" },
};

/** In a file, any value may be a reference to the environment. Editors must not report `${PORT}` as an invalid number. */
const REFERENCE: JsonSchema = { type: "string", pattern: "^\\$\\{" };

function renameProperties(schema: JsonSchema): JsonSchema {
  const { description, default: fallback, spellings: _spellings, ...rules } = schema;
  if (rules.enum || ["integer", "number", "boolean"].includes(String(rules.type))) {
    return present({ description, default: fallback, anyOf: [rules, REFERENCE] });
  }
  const renamed: Record<string, unknown> = { ...schema };
  if (isPlainObject(schema.properties)) {
    renamed["properties"] = Object.fromEntries(
      Object.entries(schema.properties).map(([key, property]) => [
        toSnake(key),
        renameProperties(property as JsonSchema),
      ]),
    );
  }
  if (schema.required) renamed["required"] = schema.required.map(toSnake);
  for (const key of ["items", "additionalProperties"] as const)
    if (isPlainObject(schema[key])) renamed[key] = renameProperties(schema[key] as JsonSchema);
  if (Array.isArray(schema["anyOf"])) renamed["anyOf"] = (schema["anyOf"] as JsonSchema[]).map(renameProperties);
  return renamed;
}
