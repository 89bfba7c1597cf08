import { isPlainObject, type JsonSchema } from "../../tool/json-schema.ts";
import { HOLDS_LIST, HOLDS_NAMED, HOLDS_SCHEMA } from "../schema/keywords.ts";

const PREFIX = "#/$defs/";

/** Definitions by name. */
export type Definitions = ReadonlyMap<string, JsonSchema>;

/** A schema that refers past definitions which have become nothing but a reference. */
export function dropAliases(schema: JsonSchema, definitions: Definitions): readonly [JsonSchema, Definitions] {
  const isAlias = (node: JsonSchema | undefined): boolean =>
    typeof node?.["$ref"] === "string" && Object.keys(node).length === 1;
  if (![...definitions.values()].some(isAlias)) return [schema, definitions];

  /** Where a reference ends; where it started if it goes in a circle. */
  function endOf(reference: string): string {
    let end = reference;
    for (let hops = 0; hops <= definitions.size; hops++) {
      const node = definitions.get(end.slice(PREFIX.length));
      if (node === undefined || !isAlias(node)) return end;
      end = String(node["$ref"]);
    }
    return reference;
  }

  function rewrite(node: unknown): unknown {
    if (!isPlainObject(node)) return node;
    return Object.fromEntries(Object.entries(node).map(([keyword, value]) => [keyword, inside(keyword, value)]));
  }

  function inside(keyword: string, value: unknown): unknown {
    if (keyword === "$ref" && typeof value === "string") return endOf(value);
    if (Array.isArray(value)) return HOLDS_LIST.has(keyword) ? value.map(rewrite) : value;
    if (HOLDS_NAMED.has(keyword) && isPlainObject(value))
      return Object.fromEntries(Object.entries(value).map(([name, child]) => [name, rewrite(child)]));
    return HOLDS_SCHEMA.has(keyword) ? rewrite(value) : value;
  }

  const rewritten = [...definitions].map(([name, node]) => [name, rewrite(node) as JsonSchema] as const);
  return [rewrite(schema) as JsonSchema, new Map(rewritten)];
}
