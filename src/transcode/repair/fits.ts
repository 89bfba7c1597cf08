import { isOfType, isSame } from "../../tool/schema/keywords.ts";
import { isPlainObject } from "../../tool/json-schema.ts";
import { countCharacters } from "../../tool/limits.ts";
import type { References } from "../schema/find-reference.ts";
import type { SchemaNode } from "../schema/keywords.ts";

const MAX_DEPTH = 200;

/** The remaining budget of checks, shared by all checks of one repair. */
export interface Effort {
  steps: number;
}

/** Enough for real arguments, and takes milliseconds. Values beyond the budget are not repaired. */
export function startEffort(): Effort {
  return { steps: 20_000 };
}

/** Returns false only if a value certainly does not fit a schema. Patterns, formats, conditions and long checks are left to the validator. */
export function fits(value: unknown, schema: unknown, references: References, effort: Effort = startEffort()): boolean {
  function visit(given: unknown, node: unknown, depth: number): boolean {
    effort.steps -= 1;
    if (node === false) return false;
    if (!isPlainObject(node) || effort.steps < 0 || depth > MAX_DEPTH) return true;
    const { $ref, anyOf, oneOf, allOf } = node;
    const target = typeof $ref === "string" ? references.find($ref) : undefined;
    if (target !== undefined && !visit(given, target.node, depth + 1)) return false;
    if (Array.isArray(allOf) && !allOf.every((branch) => visit(given, branch, depth + 1))) return false;
    for (const union of [anyOf, oneOf])
      if (Array.isArray(union) && !union.some((branch) => visit(given, branch, depth + 1))) return false;
    if (!fitsItself(given, node)) return false;
    if (Array.isArray(given)) return fitsItems(given, node, depth);
    return !isPlainObject(given) || fitsMembers(given, node, depth);
  }

  function fitsItems(items: readonly unknown[], node: SchemaNode, depth: number): boolean {
    const isTuple = Array.isArray(node["items"]);
    const prefix = isTuple ? node["items"] : node["prefixItems"];
    const rest = isTuple ? node["additionalItems"] : node["items"];
    const first: readonly unknown[] = Array.isArray(prefix) ? prefix : [];
    return items.every((item, index) => visit(item, index < first.length ? first[index] : rest, depth + 1));
  }

  function fitsMembers(members: SchemaNode, node: SchemaNode, depth: number): boolean {
    const { properties, required, additionalProperties, patternProperties } = node;
    if (Array.isArray(required) && !required.every((name) => Object.hasOwn(members, String(name)))) return false;
    const named = isPlainObject(properties) ? properties : {};
    const others = patternProperties === undefined ? additionalProperties : undefined;
    return Object.entries(members).every(([name, member]) =>
      visit(member, Object.hasOwn(named, name) ? named[name] : others, depth + 1),
    );
  }

  return visit(value, schema, 0);
}

function fitsItself(value: unknown, node: SchemaNode): boolean {
  const { type, nullable, enum: values } = node;
  const types = type === undefined ? [] : [type].flat().map((name) => String(name).toLowerCase());
  const isKnown = types.length > 0 && types.every((name) => name !== "any");
  if (isKnown && !types.some((name) => isOfType(value, name)) && !(nullable === true && value === null)) return false;
  if (Array.isArray(values) && !values.some((other) => isSame(other, value))) return false;
  if (Object.hasOwn(node, "const") && !isSame(node["const"], value)) return false;
  const within = (low: string, high: string, count: number): boolean =>
    !(Number(node[low]) > count) && !(Number(node[high]) < count);
  if (typeof value === "number") return within("minimum", "maximum", value);
  if (typeof value === "string") {
    const isBounded = node["minLength"] !== undefined || node["maxLength"] !== undefined;
    return !isBounded || within("minLength", "maxLength", countCharacters(value));
  }
  return !Array.isArray(value) || within("minItems", "maxItems", value.length);
}

const MAX_PARTS = 100;

/** Returns the schemas that a value must all fit: a schema, its references, and its `allOf`. */
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

/** Returns the schema of a property, and whether the schemas name the property. */
export function propertyIn(parts: readonly SchemaNode[], name: string) {
  let isNamed = false;
  const schemas = parts.flatMap(({ properties, additionalProperties, patternProperties }) => {
    const isHere = isPlainObject(properties) && Object.hasOwn(properties, name);
    isNamed ||= isHere;
    if (isHere) return [properties[name]];
    return additionalProperties === undefined || patternProperties !== undefined ? [] : [additionalProperties];
  });
  return { isNamed, schema: schemas.length > 1 ? { allOf: schemas } : schemas[0] };
}

/** Combines the schemas of one keyword. Returns undefined if no part has it. */
export function together(parts: readonly SchemaNode[], keyword: string): unknown {
  const schemas = parts.map((part) => part[keyword]).filter((schema) => isPlainObject(schema));
  return schemas.length > 1 ? { allOf: schemas } : schemas[0];
}

/** Returns every name that a tool's parameters may have, including names in alternatives, in a stable order. */
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
