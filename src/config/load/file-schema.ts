import { isPlainObject, type JsonSchema } from "../../tool/json-schema.ts";
import { present } from "../../tool/present.ts";
import { CONFIG_SCHEMA } from "../schema.ts";
import { toSnake } from "./key-style.ts";

/** The schema a configuration file is checked against, with its keys in snake_case: what editors get. */
export function fileSchema(): JsonSchema {
  const own = renameProperties(CONFIG_SCHEMA);
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "arsenal.yaml",
    ...own,
    properties: { ...own.properties, ...CLIENT_BLOCKS },
  };
}

/** What MCP clients have in their own files may stand in ours as it is. */
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

/** In a file, any value may be a reference to the environment: editors must not call `${PORT}` a mistake because it is not a number. */
const REFERENCE: JsonSchema = { type: "string", pattern: "^\\$\\{" };

function renameProperties(schema: JsonSchema): JsonSchema {
  const { description, default: fallback, ...rules } = schema;
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
  if (isPlainObject(schema.items)) renamed["items"] = renameProperties(schema.items as JsonSchema);
  return renamed;
}
