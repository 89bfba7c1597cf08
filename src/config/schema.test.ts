import { expect, it } from "vitest";
import { isPlainObject, type JsonSchema } from "../tool/json-schema.ts";
import { toSnake } from "./load/key-style.ts";
import { fileSchema, listSettings } from "./load/setting.ts";

it("the schema for files spells every key in snake_case, and those of MCP clients as they have them", () => {
  const keys = (schema: JsonSchema, prefix = ""): readonly string[] =>
    Object.entries(schema.properties ?? {}).flatMap(([key, member]) => {
      const property = member as JsonSchema;
      const items = isPlainObject(property.items) ? keys(property.items as JsonSchema, `${prefix}${key}[].`) : [];
      return [prefix + key, ...keys(property, `${prefix}${key}.`), ...items];
    });
  const ours = listSettings().map(({ path }) => path);
  expect(keys(fileSchema())).toEqual([...ours, "mcpServers", "servers", "inputs"]);
});

it("the schema for files requires only keys that it has", () => {
  const unknown = (schema: JsonSchema): readonly string[] => [
    ...(schema.required ?? []).filter((key) => !Object.hasOwn(schema.properties ?? {}, key)),
    ...Object.values(schema.properties ?? {}).flatMap((member) => unknown(member as JsonSchema)),
    ...(isPlainObject(schema.items) ? unknown(schema.items as JsonSchema) : []),
  ];
  expect(unknown(fileSchema())).toEqual([]);
});

it("the schema for files lets a reference to the environment stand for a number", () => {
  const { execution } = fileSchema().properties as Record<string, JsonSchema>;
  expect(execution?.properties?.["max_retries"]).toEqual({
    description: "Maximum number of attempts for a call that is safe to retry, including the first.",
    default: 3,
    anyOf: [
      { type: "integer", minimum: 1, maximum: 5 },
      { type: "string", pattern: "^\\$\\{" },
    ],
  });
});

it("every key has a description", () => {
  expect(listSettings().filter(({ schema }) => !schema.description)).toEqual([]);
});

it.each([
  ["maxRetries", "max_retries"],
  ["a2aPort", "a2a_port"],
  ["serveA2a", "serve_a2a"],
  ["circuitBreakerTimeoutS", "circuit_breaker_timeout_s"],
  ["url", "url"],
])("%s is %s in a file", (camel, snake) => {
  expect(toSnake(camel)).toBe(snake);
});
