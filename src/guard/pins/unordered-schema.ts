import { canonicalJson } from "../../tool/canonical-json.ts";
import { isPlainObject } from "../../tool/json-schema.ts";

/** Keywords whose lists are sets: their order means nothing. */
const SETS: ReadonlySet<string> = new Set(["required", "enum", "type", "anyOf", "oneOf", "allOf", "examples"]);

/** Keywords whose members are named by the author and lead to a schema. */
const MAPS: ReadonlySet<string> = new Set([
  "properties",
  "patternProperties",
  "$defs",
  "definitions",
  "dependentSchemas",
]);

/** Keywords whose members are sets of names, or schemas. */
const DEPENDENCIES: ReadonlySet<string> = new Set(["dependentRequired", "dependencies"]);

/** Keywords that lead to a schema, or to a list of them. What others have is data, in which every order may mean something. */
const SCHEMAS: ReadonlySet<string> = new Set([
  "anyOf",
  "oneOf",
  "allOf",
  "not",
  "if",
  "then",
  "else",
  "items",
  "prefixItems",
  "additionalItems",
  "unevaluatedItems",
  "contains",
  "additionalProperties",
  "unevaluatedProperties",
  "propertyNames",
  "contentSchema",
]);

/** Lists that never say something of the members of a set beside them, as `enumNames` does one by one. */
const LISTS: ReadonlySet<string> = new Set([...SETS, "items", "prefixItems", "const", "default"]);

/** A JSON Schema in which the lists that JSON Schema does not order stand in one fixed order. */
export function unorderedSchema(schema: unknown): unknown {
  return countsPlaces(schema) ? schema : unordered(schema);
}

/** Whether a reference leads to the first, second … of a list (`#/$defs/a/anyOf/0`), so that orders decide what is meant. */
function countsPlaces(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(([keyword, inner]) =>
    typeof inner === "string" ? /^\$(ref|dynamicRef)$/.test(keyword) && /\/(\d|%3)/.test(inner) : countsPlaces(inner),
  );
}

function unordered(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(unordered);
  if (!isPlainObject(schema)) return schema;
  const members = Object.entries(schema);
  const isNumbered = members.some(([keyword, value]) => Array.isArray(value) && !LISTS.has(keyword));
  return Object.fromEntries(
    members.map(([keyword, value]) => {
      const inner = withinKeyword(keyword, value);
      return [keyword, SETS.has(keyword) && Array.isArray(inner) && !isNumbered ? sorted(inner) : inner];
    }),
  );
}

function withinKeyword(keyword: string, value: unknown): unknown {
  if (SCHEMAS.has(keyword)) return unordered(value);
  if (!isPlainObject(value)) return value;
  if (DEPENDENCIES.has(keyword)) return mapped(value, namesOrSchema);
  return MAPS.has(keyword) ? mapped(value, unordered) : value;
}

function mapped(members: Readonly<Record<string, unknown>>, to: (value: unknown) => unknown): object {
  return Object.fromEntries(Object.entries(members).map(([name, value]) => [name, to(value)]));
}

function namesOrSchema(value: unknown): unknown {
  return Array.isArray(value) ? sorted(value) : unordered(value);
}

function sorted(values: readonly unknown[]): readonly unknown[] {
  const texts = values.map(canonicalJson).sort();
  return texts.map((text): unknown => JSON.parse(text));
}
