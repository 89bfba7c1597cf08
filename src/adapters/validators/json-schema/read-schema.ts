import {
  byKeyword,
  decodePercent,
  follow,
  HOLDS_NAMED,
  pointerSteps,
  TYPES,
  words,
} from "../../../tool/schema/keywords.ts";
import { showValue } from "../../../errors/show-value.ts";
import { isPlainObject, isTexts } from "../../../tool/json-schema.ts";
import type { SchemaObject } from "./evaluate.ts";
import { brokenSchema, unusableSchema } from "./problems.ts";

export interface ReadSchema {
  /** Schemas within this one that apply to the same value, including the targets of references. */
  readonly inPlace: unknown[];
  /** The targets of `$ref` and similar keywords. */
  readonly references: unknown[];
}

/** A schema with its own address: the root, or a part with an `$id`. */
interface Resource {
  readonly root: SchemaObject;
  readonly address: string;
  readonly anchors: Map<string, SchemaObject>;
}

/** A schema that is not yet read, or has unresolved references. */
interface PendingSchema<Schema = SchemaObject> {
  readonly schema: Schema;
  readonly resource: Resource;
  readonly path: string;
}

/** The most schemas that apply to one value, including references. */
const MAX_EXPANDED = 10_000;
const REFERENCES = ["$ref", "$dynamicRef", "$recursiveRef"] as const;
const NO_ADDRESS = "schema:/";
const META_SCHEMA = /^https?:\/\/json-schema\.org\/draft/;

const isText = (value: unknown): boolean => typeof value === "string";
const isNumber = (value: unknown): boolean => typeof value === "number";
const isFlag = (value: unknown): boolean => typeof value === "boolean";
const isNamesByName = (value: unknown): boolean => isPlainObject(value) && Object.values(value).every(isTexts);

/** The valid values of keywords without subschemas. Keywords that are not listed here or below are ignored. */
const PLAIN = byKeyword<{ isRight(value: unknown): boolean; readonly what: string }>([
  [{ isRight: isText, what: "a string" }, "$ref $dynamicRef $recursiveRef pattern format"],
  [{ isRight: (value) => [value].flat().every((name) => TYPES.has(name)), what: "a type of JSON Schema" }, "type"],
  [{ isRight: Array.isArray, what: "an array" }, "enum"],
  [{ isRight: isTexts, what: "an array of strings" }, "required"],
  [{ isRight: isNamesByName, what: "an object of arrays of strings" }, "dependentRequired"],
  [{ isRight: isFlag, what: "a boolean" }, "uniqueItems"],
  [{ isRight: isNumber, what: "a number" }, "minimum maximum"],
  // These keywords are flags in draft 4.
  [{ isRight: (value) => isFlag(value) || isNumber(value), what: "a number" }, "exclusiveMinimum exclusiveMaximum"],
  [{ isRight: (value) => Number(value) > 0 && isNumber(value), what: "a number > 0" }, "multipleOf"],
  [
    { isRight: (value) => Number.isInteger(value) && Number(value) >= 0, what: "a whole number >= 0" },
    "minProperties maxProperties minItems maxItems minContains maxContains minLength maxLength",
  ],
]);

const IN_PLACE = words("not if then else allOf anyOf oneOf dependentSchemas dependencies");
const ONE = words(
  "items additionalItems additionalProperties contains propertyNames unevaluatedItems unevaluatedProperties not if then else",
);
const SEVERAL = words("allOf anyOf oneOf prefixItems");

/**
 * Walks a schema and returns every subschema, with the targets of references and notes on unresolved ones. Fetches nothing: an external reference is
 * an error, except to JSON Schema's own schema, which accepts anything. Throws TOOL_INVALID if the schema is malformed or expands too far.
 */
export function readSchemas(root: SchemaObject) {
  const schemas = new Map<SchemaObject, ReadSchema>();
  const resources = new Map<string, Resource>();
  const notes = new Set<string>();
  const unresolved: PendingSchema[] = [];

  /** Not recursive, because a schema may have any depth. */
  function walk(start: unknown, from: Resource, startPath: string): void {
    const waiting: PendingSchema<unknown>[] = [{ schema: start, resource: from, path: startPath }];
    for (let next = waiting.pop(); next; next = waiting.pop()) {
      const { schema, path } = next;
      if (typeof schema === "boolean") continue;
      if (!isPlainObject(schema)) throw brokenSchema(path, "must be an object or a boolean", schema);
      if (schemas.has(schema)) continue;
      const resource = resourceOf(schema, next.resource);
      const read: ReadSchema = { inPlace: [], references: [] };
      schemas.set(schema, read);
      if (REFERENCES.some((keyword) => Object.hasOwn(schema, keyword))) unresolved.push({ schema, resource, path });
      forEachSubschema(schema, path, (each, at, keyword) => {
        if (IN_PLACE.has(keyword)) read.inPlace.push(each);
        waiting.push({ schema: each, resource, path: at });
      });
    }
  }

  /** Returns the resource of a schema: its own if it has an `$id`. Also records its anchors. */
  function resourceOf(schema: SchemaObject, around: Resource): Resource {
    const { $id, $anchor, $dynamicAnchor } = schema;
    let resource = around;
    if (typeof $id === "string" && $id.startsWith("#")) around.anchors.set($id.slice(1), schema);
    else if (typeof $id === "string" && $id !== "" && schema !== around.root) {
      resource = { root: schema, address: addressOf($id, around.address) ?? around.address, anchors: new Map() };
      if (!resources.has(resource.address)) resources.set(resource.address, resource);
    }
    for (const name of [$anchor, $dynamicAnchor]) if (typeof name === "string") resource.anchors.set(name, schema);
    return resource;
  }

  function resolve(reference: string, from: Resource): { readonly target: unknown; readonly resource: Resource } {
    const [before = "", fragment = ""] = divide(reference);
    const address = before === "" ? from.address : addressOf(before, from.address);
    const resource = before === "" ? from : resources.get(address ?? "");
    if (!resource) {
      if (META_SCHEMA.test(address ?? "")) {
        notes.add(`The schema at ${showValue(reference)} is not checked: any value is accepted there.`);
        return { target: true, resource: from };
      }
      const shown = showValue(reference, 200);
      throw unusableSchema(`cannot resolve the reference ${shown}: nothing outside a schema is fetched`);
    }
    if (fragment !== "" && !fragment.startsWith("/")) return { target: resource.anchors.get(fragment), resource };
    return { target: follow(resource.root, pointerSteps(fragment) ?? []), resource };
  }

  const { $id } = root;
  const address = (typeof $id === "string" ? addressOf($id, NO_ADDRESS) : undefined) ?? NO_ADDRESS;
  const whole: Resource = { root, address, anchors: new Map() };
  resources.set(address, whole);
  walk(root, whole, "");
  // A reference may lead to a part that was not walked, which may have further references.
  for (let next = unresolved.pop(); next; next = unresolved.pop()) {
    const { schema, resource: from, path } = next;
    for (const keyword of REFERENCES) {
      const reference = schema[keyword];
      if (typeof reference !== "string") continue;
      const { target, resource } = resolve(reference, from);
      if (typeof target !== "boolean" && !isPlainObject(target)) {
        const at = path === "" ? "the top" : path;
        throw unusableSchema(`cannot resolve the reference ${showValue(reference, 200)} at ${at}`);
      }
      schemas.get(schema)?.references.push(target);
      schemas.get(schema)?.inPlace.push(target);
      walk(target, resource, `${path}.${keyword}`);
    }
  }
  refuseExpansion(schemas);
  return { schemas, notes: [...notes] };
}

/** Calls back for each direct subschema. Throws TOOL_INVALID if a keyword is invalid. */
function forEachSubschema(
  schema: SchemaObject,
  path: string,
  found: (schema: unknown, path: string, keyword: string) => void,
): void {
  for (const keyword of Object.keys(schema)) {
    const value = schema[keyword];
    const at = path === "" ? keyword : `${path}.${keyword}`;
    const plain = PLAIN.get(keyword);
    if (plain && !plain.isRight(value)) throw brokenSchema(at, `must be ${plain.what}`, value);
    if (SEVERAL.has(keyword) || (keyword === "items" && Array.isArray(value))) {
      if (!Array.isArray(value)) throw brokenSchema(at, "must be an array", value);
      value.forEach((each, index) => found(each, `${at}.${index}`, keyword));
    } else if (ONE.has(keyword)) found(value, at, keyword);
    else if (HOLDS_NAMED.has(keyword)) {
      if (!isPlainObject(value)) throw brokenSchema(at, "must be an object", value);
      for (const [name, each] of Object.entries(value)) {
        if (keyword !== "dependencies" || !isTexts(each)) found(each, `${at}.${name}`, keyword);
      }
    }
  }
}

/** Refuses circular references, and references that double at each step. Recursion through members is allowed, because the value's depth ends it. */
function refuseExpansion(schemas: ReadonlyMap<SchemaObject, ReadSchema>): void {
  const sizes = new Map<unknown, number>();
  const entered = new Set<unknown>();
  const waiting: unknown[] = [...schemas.keys()];
  while (waiting.length > 0) {
    const schema = waiting.at(-1);
    const read = isPlainObject(schema) ? schemas.get(schema) : undefined;
    if (sizes.has(schema) || read === undefined) waiting.pop();
    else if (entered.has(schema)) {
      // The sizes of all its targets are now known.
      waiting.pop();
      const size = read.inPlace.reduce((total: number, each) => total + (sizes.get(each) ?? 1), 1);
      if (size > MAX_EXPANDED) {
        const limit = MAX_EXPANDED.toLocaleString("en");
        throw unusableSchema(`its references expand to more than ${limit} schemas for a single value`);
      }
      sizes.set(schema, size);
    } else {
      entered.add(schema);
      for (const each of read.inPlace) {
        if (sizes.has(each) || !isPlainObject(each)) continue;
        if (entered.has(each)) throw unusableSchema("its references are circular");
        waiting.push(each);
      }
    }
  }
}

function divide(reference: string): readonly [string, string] {
  const [, before = "", fragment = ""] = /^([^#]*)#?(.*)$/s.exec(reference) ?? [];
  return [before, decodePercent(fragment)];
}

/** Returns the address of a reference, without its fragment. */
function addressOf(reference: string, base: string): string | undefined {
  return URL.parse(reference, base)?.href.split("#")[0];
}
