import { isPlainObject } from "../../tool/json-schema.ts";
import { isOfType } from "../schema/types-of.ts";
import type { References } from "../schema/find-reference.ts";
import type { SchemaNode } from "../schema/keywords.ts";
import { isSame } from "../convert/merge-schemas.ts";

const MAX_DEPTH = 200;

/** How much may still be looked at; shared by the checks of one repair, and counted down. */
export interface Effort {
  steps: number;
}

/** Enough for any real arguments, and done in milliseconds. */
export function startEffort(): Effort {
  return { steps: 100_000 };
}

/**
 * Whether a value may fit a schema: false where it is certain that it does not. Patterns, formats and conditions are left to the validator,
 * and so is what takes too long: a value that is valid always fits.
 */
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
  if (typeof value === "string") return within("minLength", "maxLength", [...value].length);
  return !Array.isArray(value) || within("minItems", "maxItems", value.length);
}
