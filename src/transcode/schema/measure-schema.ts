import { isPlainObject, type JsonSchema } from "../../tool/json-schema.ts";
import { childrenOf, type SchemaNode } from "./keywords.ts";

/** What providers count in a schema that was converted for them. */
export interface SchemaSize {
  readonly properties: number;
  /** Properties that may be left out. */
  readonly optionalParameters: number;
  /** Properties that are a union or of several types. */
  readonly unionParameters: number;
  readonly enumValues: number;
  /** Of names and listed values together. */
  readonly characters: number;
  /** The most characters of any list with more than 250 values. */
  readonly longListCharacters: number;
  /** Levels of objects and arrays. A schema inside itself is counted once. */
  readonly depth: number;
}

const LONG_LIST = 250;

/** Counts what is in a converted schema, each definition once. */
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
