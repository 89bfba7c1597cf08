import { isPlainObject } from "../../tool/json-schema.ts";
import type { References } from "../schema/find-reference.ts";
import type { SchemaNode } from "../schema/keywords.ts";

const MAX_PARTS = 100;

/** The schemas that a value must all fit: a schema, what it refers to, and what is in its `allOf`. */
export function partsOf(schema: unknown, references: References): readonly SchemaNode[] {
  const parts = new Set<SchemaNode>();
  const waiting: unknown[] = [schema];
  for (let node = waiting.pop(); node !== undefined && parts.size < MAX_PARTS; node = waiting.pop()) {
    if (!isPlainObject(node) || parts.has(node)) continue;
    parts.add(node);
    const { $ref, allOf } = node;
    const target = typeof $ref === "string" ? references.find($ref) : undefined;
    if (Array.isArray(allOf)) waiting.push(...allOf.toReversed());
    if (target !== undefined) waiting.push(target.node);
  }
  return [...parts];
}

/** What a property must fit, and whether the schemas know its name. */
export function propertyIn(
  parts: readonly SchemaNode[],
  name: string,
): { readonly isNamed: boolean; readonly schema: unknown } {
  let isNamed = false;
  const told = parts.flatMap(({ properties, additionalProperties, patternProperties }) => {
    const isHere = isPlainObject(properties) && Object.hasOwn(properties, name);
    isNamed ||= isHere;
    if (isHere) return [properties[name]];
    return additionalProperties === undefined || patternProperties !== undefined ? [] : [additionalProperties];
  });
  return { isNamed, schema: told.length > 1 ? { allOf: told } : told[0] };
}

/** What one keyword's schemas say together; undefined where no part has it. */
export function together(parts: readonly SchemaNode[], keyword: string): unknown {
  const told = parts.map((part) => part[keyword]).filter((schema) => isPlainObject(schema));
  return told.length > 1 ? { allOf: told } : told[0];
}

/** Every name that a tool's parameters may have, those of alternatives included, always in the same order. */
export function parameterNames(schema: unknown, references: References): readonly string[] {
  const names = new Set<string>();
  const seen = new Set<unknown>();
  const waiting: unknown[] = [schema];
  for (let at = 0; at < waiting.length && at < MAX_PARTS; at++) {
    const node = waiting[at];
    if (!isPlainObject(node) || seen.has(node)) continue;
    seen.add(node);
    const { $ref, allOf, anyOf, oneOf, properties, required } = node;
    for (const name of isPlainObject(properties) ? Object.keys(properties) : []) names.add(name);
    for (const name of Array.isArray(required) ? required : []) if (typeof name === "string") names.add(name);
    for (const list of [allOf, anyOf, oneOf]) if (Array.isArray(list)) waiting.push(...list);
    if (typeof $ref === "string") waiting.push(references.find($ref)?.node);
  }
  return [...names];
}
