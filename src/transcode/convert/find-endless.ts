import { isPlainObject, type JsonSchema } from "../../tool/json-schema.ts";

/** A definition that refers to itself without anything in between, so that no value ever ends it; undefined where there is none. */
export function findEndless(definitions: ReadonlyMap<string, JsonSchema>): string | undefined {
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
