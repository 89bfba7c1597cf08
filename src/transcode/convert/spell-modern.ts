import { TYPES, WELL_FORMED } from "../../tool/schema/keywords.ts";
import { isPlainObject } from "../../tool/json-schema.ts";
import { lose, type SchemaPosition } from "./conversion.ts";
import type { SchemaNode } from "../schema/keywords.ts";

type Draft = Record<string, unknown>;

const isSchema = (value: unknown): boolean => typeof value === "boolean" || isPlainObject(value);

/** Rewrites one schema of any draft or OpenAPI version, without its children, as draft 2020-12. */
export function spellModern(raw: SchemaNode, place: SchemaPosition): SchemaNode {
  const node: Draft = {};
  for (const [keyword, value] of Object.entries(raw)) if (value !== undefined) node[keyword] = value;
  const resolve = (keyword: string, message: string): void => lose(place, keyword, "resolved", message);

  spellReferences(node, resolve);
  spellLimits(node, resolve);
  spellTuples(node, place.has("tuples") ? resolve : () => {});
  spellDependencies(node, place.has("dependencies") ? resolve : () => {});
  for (const [keyword, value] of Object.entries(node)) {
    if (WELL_FORMED.get(keyword)?.(value) !== false) continue;
    delete node[keyword];
    lose(place, keyword, "dropped", `its value has no meaning for ${keyword}`);
  }
  spellTypes(node, place);
  spellNullable(node, place.target.nullable === "nullable-keyword", resolve);
  return node;
}

type Resolve = (keyword: string, message: string) => void;

function spellReferences(node: Draft, resolve: Resolve): void {
  for (const keyword of ["$dynamicRef", "$recursiveRef"]) {
    const reference = node[keyword];
    if (typeof reference !== "string" || node["$ref"] !== undefined) continue;
    delete node[keyword];
    node["$ref"] = reference;
    resolve(keyword, "written as $ref");
  }
}

/** Draft 4 marks an exclusive limit with a flag next to it. */
function spellLimits(node: Draft, resolve: Resolve): void {
  for (const [flag, limit] of [
    ["exclusiveMinimum", "minimum"],
    ["exclusiveMaximum", "maximum"],
  ] as const) {
    if (typeof node[flag] !== "boolean") continue;
    const isExclusive = node[flag] && typeof node[limit] === "number";
    delete node[flag];
    if (isExclusive) {
      node[flag] = node[limit];
      delete node[limit];
    }
    resolve(flag, `the flag of draft 4 as a number`);
  }
}

function spellTuples(node: Draft, resolve: Resolve): void {
  if (!Array.isArray(node["items"])) {
    delete node["additionalItems"];
    return;
  }
  node["prefixItems"] = node["items"];
  delete node["items"];
  if (isSchema(node["additionalItems"])) node["items"] = node["additionalItems"];
  delete node["additionalItems"];
  resolve("items", "the list of items as prefixItems");
}

function spellDependencies(node: Draft, resolve: Resolve): void {
  if (!isPlainObject(node["dependencies"])) return;
  const members = Object.entries(node["dependencies"]);
  const names = members.filter(([, value]) => Array.isArray(value));
  const schemas = members.filter(([, value]) => isSchema(value));
  delete node["dependencies"];
  if (names.length > 0) node["dependentRequired"] = Object.fromEntries(names);
  if (schemas.length > 0) node["dependentSchemas"] = Object.fromEntries(schemas);
  resolve("dependencies", "as dependentRequired and dependentSchemas");
}

function spellTypes(node: Draft, place: SchemaPosition): void {
  const given = node["type"];
  if (given === undefined) return;
  const names = (Array.isArray(given) ? given : [given]).map((name) => String(name).toLowerCase());
  const types = [...new Set(names)].filter((name) => TYPES.has(name));
  // Every integer is a number.
  const distinct = types.includes("number") ? types.filter((name) => name !== "integer") : types;
  const [first] = distinct;
  const isWhole = distinct.length === new Set(names).size;
  if (first === undefined || (!isWhole && names.includes("any"))) delete node["type"];
  else node["type"] = distinct.length === 1 ? first : distinct;
  if (first === undefined) lose(place, "type", "dropped", "no type of JSON Schema");
  else if (JSON.stringify(node["type"]) !== JSON.stringify(given))
    lose(place, "type", "resolved", "the types it names, each once and as JSON Schema has them");
}

/** OpenAPI 3.0 marks nullable schemas with a flag. */
function spellNullable(node: Draft, keeps: boolean, resolve: Resolve): void {
  const { nullable, type, anyOf } = node;
  if (typeof nullable !== "boolean") return;
  delete node["nullable"];
  if (nullable && type !== undefined) {
    // Kept for a target with the same notation, whose lists cannot contain null.
    if (keeps) node["nullable"] = true;
    const { enum: values } = node;
    if (keeps && Array.isArray(values) && !values.includes(null)) node["enum"] = [...values, null];
    const types = [type].flat();
    if (!types.includes("null")) node["type"] = [...types, "null"];
  } else if (nullable && Array.isArray(anyOf)) node["anyOf"] = [...anyOf, { type: "null" }];
  if (!keeps) resolve("nullable", "as a type of its own");
}
