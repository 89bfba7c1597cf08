import { isPlainObject, type JsonSchema } from "../tool/json-schema.ts";
import { type SchemaPosition, rootOf } from "./convert/conversion.ts";
import { convertRoot } from "./convert/convert-root.ts";
import { SCHEMA_FEATURES, type SchemaFeature } from "./features.ts";
import type { Loss } from "./dialect.port.ts";
import { childrenOf, type SchemaNode } from "./schema/keywords.ts";

/** The JSON Schema features that a provider accepts, as declared by its dialect. */
export interface SchemaTarget {
  readonly features: ReadonlySet<SchemaFeature>;
  /** The notation for nullable types. Defaults to a list of types. */
  readonly nullable?: "any-of" | "nullable-keyword";
  /** The accepted formats. Defaults to all. */
  readonly formats?: ReadonlySet<string>;
  /** Keywords that are rejected even though their feature is accepted. */
  readonly without?: ReadonlySet<string>;
  /** Every object must list all its properties and allow no others. */
  readonly closedObjects?: boolean;
  /** Every property must be required. Optional properties become nullable. */
  readonly allRequired?: boolean;
  /** Every schema must have a type, or be a plain union or reference. A schema that accepts any type must be rewritten. */
  readonly typed?: boolean;
  /** A `$ref` must have no other keywords. */
  readonly bareReferences?: boolean;
  /** An `anyOf` must have no other keywords, so its description moves to the branches. */
  readonly bareUnions?: boolean;
  /** An `enum` or `const` must have no `type`. */
  readonly untypedLiterals?: boolean;
  /** The values that an `enum` may list. Defaults to all. */
  readonly enumValues?: "strings" | "primitives";
  /** The largest accepted `minItems`. */
  readonly maxMinItems?: number;
  /** The accepted names of the tool's own parameters. Defaults to any. */
  readonly parameterNames?: RegExp;
  /** The maximum nesting of objects and arrays. The parameters themselves are the first level. */
  readonly maxDepth?: number;
  readonly maxProperties?: number;
  readonly maxEnumValues?: number;
  /** The maximum number of characters in all names and listed values together. */
  readonly maxCharacters?: number;
  /** The maximum number of characters in one list with more than 250 values. */
  readonly maxLongListCharacters?: number;
}

export interface ConvertedSchema {
  readonly schema: JsonSchema;
  readonly losses: readonly Loss[];
  /** False if the target cannot express the schema. `losses` then contains a `refused`. */
  readonly possible: boolean;
}

/** Converts a schema to one that a target accepts, and records every change. Accepts any JSON value. Pure and deterministic. */
export function convertSchema(schema: JsonSchema, target: SchemaTarget): ConvertedSchema {
  const takesEverything = target.features.size === SCHEMA_FEATURES.length && target.parameterNames === undefined;
  if (takesEverything && isPlainObject(schema) && schema.type === "object")
    return { schema, losses: [], possible: true };
  const root = rootOf(schema, target);
  const converted = convertRoot(schema, root);
  checkLimits(converted, root);
  return { schema: converted, losses: root.losses(), possible: !root.isRefused() };
}

/** A measured size, its limit, and the keyword and text for messages. */
const LIMITS: readonly (readonly [keyof SchemaSize, keyof SchemaTarget, keyword: string, words: string])[] = [
  ["properties", "maxProperties", "properties", "properties"],
  ["depth", "maxDepth", "type", "levels of objects and lists"],
  ["enumValues", "maxEnumValues", "enum", "listed values"],
  ["longListCharacters", "maxLongListCharacters", "enum", "characters in one long list of values"],
  ["characters", "maxCharacters", "properties", "characters of names and listed values"],
];

/** Refuses a schema that exceeds a limit of the target. */
function checkLimits(schema: JsonSchema, { target, record }: SchemaPosition): void {
  if (LIMITS.every(([, limit]) => target[limit] === undefined)) return;
  const size = measureSchema(schema);
  for (const [counted, limit, keyword, words] of LIMITS) {
    const [count, most] = [size[counted], target[limit]];
    if (typeof most === "number" && count > most)
      record("", keyword, "refused", `${count} ${words}; at most ${most} are accepted`);
  }
}

/** The sizes of a converted schema that providers limit. */
export interface SchemaSize {
  readonly properties: number;
  readonly optionalParameters: number;
  /** The number of properties with a union or several types. */
  readonly unionParameters: number;
  readonly enumValues: number;
  /** The number of characters in all names and listed values together. */
  readonly characters: number;
  /** The largest number of characters in a list with more than 250 values. */
  readonly longListCharacters: number;
  /** The nesting of objects and arrays. A recursive schema counts once. */
  readonly depth: number;
}

const LONG_LIST = 250;

/** Measures a converted schema. Counts each definition once. */
export function measureSchema(schema: JsonSchema): SchemaSize {
  const size = {
    properties: 0,
    optionalParameters: 0,
    unionParameters: 0,
    enumValues: 0,
    characters: 0,
    longListCharacters: 0,
  };
  const waiting: unknown[] = [schema];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (!isPlainObject(node)) continue;
    const { properties, required, enum: values, $defs } = node;
    const names = isPlainObject(properties) ? Object.entries(properties) : [];
    const mustBe = new Set(Array.isArray(required) ? required : []);
    size.properties += names.length;
    for (const [name, property] of names) {
      if (!mustBe.has(name)) size.optionalParameters += 1;
      if (isUnion(property)) size.unionParameters += 1;
      size.characters += name.length;
    }
    const listed = Array.isArray(values) ? values : Object.hasOwn(node, "const") ? [node["const"]] : [];
    const characters = listed.reduce<number>((sum, value) => sum + lengthOf(value), 0);
    size.enumValues += Array.isArray(values) ? values.length : 0;
    size.characters += characters;
    if (listed.length > LONG_LIST) size.longListCharacters = Math.max(size.longListCharacters, characters);
    for (const name of isPlainObject($defs) ? Object.keys($defs) : []) size.characters += name.length;
    for (const [, child] of childrenOf(node)) waiting.push(child);
  }
  return { ...size, depth: depthOf(schema) };
}

function isUnion(property: unknown): boolean {
  return isPlainObject(property) && (Array.isArray(property["anyOf"]) || Array.isArray(property["type"]));
}

function lengthOf(value: unknown): number {
  return typeof value === "string" ? value.length : String(JSON.stringify(value)).length;
}

function depthOf(schema: JsonSchema): number {
  const definitions = isPlainObject(schema["$defs"]) ? schema["$defs"] : {};
  const known = new Map<string, number>();

  function definition(name: string): number {
    const depth = known.get(name);
    if (depth !== undefined) return depth;
    known.set(name, 0);
    const measured = visit(Object.hasOwn(definitions, name) ? definitions[name] : undefined);
    known.set(name, measured);
    return measured;
  }

  function visit(node: unknown): number {
    if (!isPlainObject(node)) return 0;
    const { type, $ref } = node as SchemaNode;
    const types = [type].flat();
    const own = types.includes("object") || types.includes("array") ? 1 : 0;
    const inside = childrenOf(node)
      .filter(([[keyword]]) => keyword !== "$defs")
      .map(([, child]) => visit(child));
    const referred = typeof $ref === "string" ? definition($ref.replace("#/$defs/", "")) : 0;
    return own + inside.reduce((most, depth) => Math.max(most, depth), referred);
  }

  return visit(schema);
}
