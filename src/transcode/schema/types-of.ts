import { typeOfValue } from "../../tool/schema/keywords.ts";
import { isPlainObject } from "../../tool/json-schema.ts";
import type { References } from "./find-reference.ts";
import { type SchemaNode, TYPE_OF } from "./keywords.ts";
import { remember } from "../../base/remember.ts";

/** The types of JSON values. Integers are numbers here. */
export const VALUE_TYPES: readonly string[] = ["string", "number", "boolean", "object", "array", "null"];

/** Returns the type that the keywords of a schema without `type` imply; undefined if there are several or none. */
export function impliedType(node: SchemaNode): string | undefined {
  const allowed = new Set(Object.keys(node).flatMap((keyword) => TYPE_OF.get(keyword) ?? []));
  const [only] = allowed;
  return allowed.size === 1 ? only : undefined;
}

const MAX_VISITS = 2_000;
const MAX_DEPTH = 60;

type Reading = "meant" | "said";

/** Caches the types of a schema's parts, which are read repeatedly. */
const knownTo = remember((_references: References): Record<Reading, WeakMap<object, ReadonlySet<string>>> => {
  return { meant: new WeakMap(), said: new WeakMap() };
});

/** Returns the types of a schema's values: as its author probably meant (`meant`; `properties` implies an object), or literally (`says`). */
export function typesOf(schema: unknown, references: References, reading: Reading = "meant"): ReadonlySet<string> {
  const found = knownTo(references)[reading];
  const open = new Set<unknown>();
  let visits = 0;

  function visit(node: unknown): ReadonlySet<string> {
    if (node === false) return new Set();
    if (!isPlainObject(node)) return new Set(VALUE_TYPES);
    const before = found.get(node);
    if (before !== undefined) return before;
    visits += 1;
    if (visits > MAX_VISITS || open.size > MAX_DEPTH || open.has(node)) return new Set(VALUE_TYPES);
    open.add(node);
    const types = evaluate(node);
    open.delete(node);
    // An inner schema that is too large to check counts as accepting anything, which is safe.
    found.set(node, types);
    return types;
  }

  function evaluate(node: SchemaNode): ReadonlySet<string> {
    const allowed = constraints(node);
    if (allowed.length > 0) return allowed.reduce(both);
    const implied = reading === "meant" ? impliedType(node) : undefined;
    return new Set(implied === undefined ? VALUE_TYPES : [implied]);
  }

  function constraints(node: SchemaNode): readonly ReadonlySet<string>[] {
    const { type, nullable, enum: values, $ref, anyOf, oneOf, allOf } = node;
    const allowed: ReadonlySet<string>[] = [];
    if (type !== undefined) allowed.push(declaredTypes(type, nullable));
    if (Array.isArray(values)) allowed.push(new Set(values.map(typeOfValue)));
    if (Object.hasOwn(node, "const")) allowed.push(new Set([typeOfValue(node["const"])]));
    const target = typeof $ref === "string" ? references.find($ref) : undefined;
    if (target !== undefined) allowed.push(visit(target.node));
    for (const union of [anyOf, oneOf])
      if (Array.isArray(union)) allowed.push(new Set(union.flatMap((branch) => [...visit(branch)])));
    if (Array.isArray(allOf)) allowed.push(...allOf.map(visit));
    return allowed;
  }

  return visit(schema);
}

function declaredTypes(type: unknown, nullable: unknown): ReadonlySet<string> {
  const names = [type]
    .flat()
    .map((name) => (String(name).toLowerCase() === "integer" ? "number" : String(name).toLowerCase()));
  const valid = names.filter((name) => VALUE_TYPES.includes(name));
  if (valid.length === 0) return new Set(VALUE_TYPES);
  return new Set(nullable === true ? [...valid, "null"] : valid);
}

function both(left: ReadonlySet<string>, right: ReadonlySet<string>): ReadonlySet<string> {
  return new Set([...left].filter((name) => right.has(name)));
}
