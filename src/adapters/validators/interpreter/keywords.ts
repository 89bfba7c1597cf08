import { isPlainObject } from "../../../tool/json-schema.ts";
import { brokenSchema, joinField } from "./problems.ts";

/** A schema within a schema, where it stands, and whether it speaks of the same value as the one around it. */
export interface Subschema {
  readonly path: string;
  readonly schema: unknown;
  readonly inPlace: boolean;
}

type Kind = (value: unknown) => string | undefined;

const TYPES: ReadonlySet<unknown> = new Set(["string", "number", "integer", "boolean", "object", "array", "null"]);

const text: Kind = (value) => (typeof value === "string" ? undefined : "must be string");
const number: Kind = (value) => (typeof value === "number" ? undefined : "must be number");
const list: Kind = (value) => (Array.isArray(value) ? undefined : "must be array");
const flag: Kind = (value) => (typeof value === "boolean" ? undefined : "must be boolean");
const count: Kind = (value) =>
  typeof value === "number" && value >= 0 && Number.isInteger(value) ? undefined : "must be a whole number >= 0";
const names: Kind = (value) =>
  Array.isArray(value) && value.every((name) => typeof name === "string") ? undefined : "must be array of strings";
const namesByName: Kind = (value) =>
  isPlainObject(value) && Object.values(value).every((each) => names(each) === undefined)
    ? undefined
    : "must be object of arrays of strings";
const type: Kind = (value) =>
  [value].flat().every((name) => TYPES.has(name)) ? undefined : "must be equal to one of the allowed values";
const positive: Kind = (value) => (typeof value === "number" && value > 0 ? undefined : "must be > 0");
/** Draft 4 has a flag here. */
const bound: Kind = (value) => (typeof value === "boolean" ? undefined : number(value));

/** What the keywords that hold no schemas must be. Keywords that are not named here or below mean nothing. */
const PLAIN: Readonly<Record<string, Kind>> = {
  $ref: text,
  $dynamicRef: text,
  $recursiveRef: text,
  type,
  enum: list,
  required: names,
  dependentRequired: namesByName,
  minProperties: count,
  maxProperties: count,
  minItems: count,
  maxItems: count,
  minContains: count,
  maxContains: count,
  uniqueItems: flag,
  minLength: count,
  maxLength: count,
  pattern: text,
  format: text,
  minimum: number,
  maximum: number,
  exclusiveMinimum: bound,
  exclusiveMaximum: bound,
  multipleOf: positive,
};

const IN_PLACE = new Set(["not", "if", "then", "else", "allOf", "anyOf", "oneOf", "dependentSchemas", "dependencies"]);
const ONE = new Set([
  "additionalItems",
  "additionalProperties",
  "contains",
  "propertyNames",
  "unevaluatedItems",
  "unevaluatedProperties",
  "not",
  "if",
  "then",
  "else",
]);
const SEVERAL = new Set(["allOf", "anyOf", "oneOf", "prefixItems"]);
const BY_NAME = new Set(["properties", "patternProperties", "definitions", "$defs", "dependentSchemas"]);

/** The schemas directly in a schema. Throws TOOL_INVALID where a keyword is not what it must be. */
export function subschemas(schema: Readonly<Record<string, unknown>>, path: string): readonly Subschema[] {
  const found: Subschema[] = [];
  for (const keyword of Object.keys(schema)) {
    const value = schema[keyword];
    const at = joinField(path, keyword);
    const inPlace = IN_PLACE.has(keyword);
    const add = (within: string | number | undefined, each: unknown): void => {
      found.push({ path: within === undefined ? at : joinField(at, within), schema: each, inPlace });
    };
    const wrong = Object.hasOwn(PLAIN, keyword) ? PLAIN[keyword]?.(value) : undefined;
    if (wrong !== undefined) throw brokenSchema(at, wrong, value);
    if (ONE.has(keyword) || (keyword === "items" && !Array.isArray(value))) add(undefined, value);
    else if (SEVERAL.has(keyword) || keyword === "items") {
      if (!Array.isArray(value)) throw brokenSchema(at, "must be array", value);
      value.forEach((each, index) => add(index, each));
    } else if (BY_NAME.has(keyword) || keyword === "dependencies") {
      if (!isPlainObject(value)) throw brokenSchema(at, "must be object", value);
      for (const [name, each] of Object.entries(value)) {
        if (keyword !== "dependencies" || names(each) !== undefined) add(name, each);
      }
    }
  }
  return found;
}

/** The keywords that make a check remember which members it has looked at. */
export function hasUnevaluated(schema: Readonly<Record<string, unknown>>): boolean {
  return Object.hasOwn(schema, "unevaluatedProperties") || Object.hasOwn(schema, "unevaluatedItems");
}
