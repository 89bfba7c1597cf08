import { isPlainObject, type JsonSchema } from "../../tool/json-schema.ts";
import { childrenOf, HOLDS_LIST, HOLDS_NAMED, HOLDS_SCHEMA, type SchemaNode } from "../schema/keywords.ts";
import { type Conversion, ROOT } from "./conversion.ts";

const PREFIX = "#/$defs/";

/** Definitions by name. */
type Definitions = ReadonlyMap<string, JsonSchema>;

/** A converted schema with the definitions that it uses. */
export function withDefinitions(given: SchemaNode, written: JsonSchema, conversion: Conversion): JsonSchema {
  const [converted, all] = dropAliases(written, conversion.definitions);
  const definitions = usedBy(converted, all);
  for (const keyword of ["$defs", "definitions"]) {
    const named = given[keyword];
    const count = isPlainObject(named) ? Object.keys(named).length : 0;
    if (count > definitions.size || (keyword === "definitions" && named !== undefined))
      conversion.loseAt(ROOT, keyword, "resolved", "only what is used, as $defs or copied out");
  }
  if (definitions.size === 0) return converted;
  const endless = conversion.target.closedObjects === true ? findEndless(definitions) : undefined;
  if (endless !== undefined)
    conversion.lose("/$defs", "$ref", "refused", `the definition ${endless} refers to itself without end`);
  return { ...converted, $defs: Object.fromEntries(definitions) };
}

/** The definitions that a schema refers to, directly or through others: some were written for what is left out now. */
function usedBy(schema: JsonSchema, definitions: Definitions): Definitions {
  const used = new Set<string>();
  const waiting: unknown[] = [schema];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (!isPlainObject(node)) continue;
    const name = typeof node["$ref"] === "string" ? node["$ref"].replace("#/$defs/", "") : undefined;
    if (name !== undefined && !used.has(name)) {
      used.add(name);
      waiting.push(definitions.get(name));
    }
    for (const [, child] of childrenOf(node)) waiting.push(child);
  }
  return new Map([...definitions].filter(([name]) => used.has(name)));
}

/** A schema that refers past definitions which have become nothing but a reference. */
function dropAliases(schema: JsonSchema, definitions: Definitions): readonly [JsonSchema, Definitions] {
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

/** A definition that refers to itself without anything in between, so that no value ever ends it; undefined where there is none. */
function findEndless(definitions: ReadonlyMap<string, JsonSchema>): string | undefined {
  const done = new Set<string>();
  const open = new Set<string>();

  function isEndless(name: string): boolean {
    if (open.has(name)) return true;
    if (done.has(name)) return false;
    open.add(name);
    const found = directReferences(definitions.get(name)).some(isEndless);
    open.delete(name);
    done.add(name);
    return found;
  }

  return [...definitions.keys()].find(isEndless);
}

/** What a value of a schema must fit as a whole: what it refers to, and what the branches of its union refer to. */
function directReferences(schema: unknown): readonly string[] {
  if (!isPlainObject(schema)) return [];
  const { $ref, anyOf } = schema;
  const own = typeof $ref === "string" ? [$ref.replace("#/$defs/", "")] : [];
  return Array.isArray(anyOf) ? [...own, ...anyOf.flatMap(directReferences)] : own;
}
