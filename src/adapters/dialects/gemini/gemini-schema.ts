import { isPlainObject } from "../../../tool/json-schema.ts";

/** A schema in the closed subset that Gemini's `parameters` take. */
export type GeminiSchema = {
  type?: "STRING" | "NUMBER" | "INTEGER" | "BOOLEAN" | "ARRAY" | "OBJECT" | "NULL";
  title?: string;
  description?: string;
  format?: string;
  nullable?: boolean;
  default?: unknown;
  example?: unknown;
  enum?: string[];
  items?: GeminiSchema;
  minItems?: string;
  maxItems?: string;
  properties?: { [name: string]: GeminiSchema };
  required?: string[];
  propertyOrdering?: string[];
  minProperties?: string;
  maxProperties?: string;
  minimum?: number;
  maximum?: number;
  minLength?: string;
  maxLength?: string;
  pattern?: string;
  anyOf?: GeminiSchema[];
};

/** Counts, which 64-bit fields of the protocol hold as text. */
const COUNTS = ["minItems", "maxItems", "minProperties", "maxProperties", "minLength", "maxLength"];

/** A schema that is already within the subset, in the protocol's own spelling. */
export function toGeminiSchema(schema: Readonly<Record<string, unknown>>): GeminiSchema {
  return walk(schema, (key, value) => {
    if (key === "type" && typeof value === "string") return [key, value.toUpperCase()];
    if (COUNTS.includes(key) && typeof value === "number") return [key, String(value)];
    return [key, value];
  }) as GeminiSchema;
}

/** JSON Schema from the protocol's spelling, as somebody else wrote it. */
export function fromGeminiSchema(schema: unknown): unknown {
  return walk(schema, (key, value, { nullable, type }) => {
    if (key === "type" && typeof value === "string") {
      const name = value.toLowerCase();
      if (name === "type_unspecified") return undefined;
      return [key, nullable === true ? [name, "null"] : name];
    }
    // In JSON Schema an enum holds for null as well.
    if (key === "enum" && Array.isArray(value))
      return [key, nullable === true ? [...(value as unknown[]), null] : value];
    if (key === "nullable") return typeof type === "string" ? undefined : [key, value];
    if (key === "propertyOrdering") return undefined;
    if (key === "example") return ["examples", [value]];
    if (COUNTS.includes(key) && typeof value === "string" && /^\d+$/.test(value)) return [key, Number(value)];
    return [key, value];
  });
}

type Rewrite = (
  key: string,
  value: unknown,
  schema: Readonly<Record<string, unknown>>,
) => readonly [string, unknown] | undefined;

/** Rewrites the keywords of a schema and of every schema within it; values such as defaults stay as they are. */
function walk(schema: unknown, rewrite: Rewrite): unknown {
  if (!isPlainObject(schema)) return schema;
  const entries = Object.entries(schema).flatMap(([key, value]) => {
    const rewritten = rewrite(key, inner(key, value, rewrite), schema);
    return rewritten === undefined ? [] : [rewritten];
  });
  return Object.fromEntries(entries);
}

function inner(key: string, value: unknown, rewrite: Rewrite): unknown {
  if (key === "items") return walk(value, rewrite);
  if (key === "anyOf" && Array.isArray(value)) return value.map((each) => walk(each, rewrite));
  if (key === "properties" && isPlainObject(value))
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, walk(each, rewrite)]));
  return value;
}
