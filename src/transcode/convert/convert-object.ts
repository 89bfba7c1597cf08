import { isPlainObject, type JsonSchema } from "../../tool/json-schema.ts";
import type { Conversion, Place } from "./conversion.ts";
import type { Part } from "./convert-literals.ts";
import { NEVER } from "./convert-anything.ts";
import { convertNode } from "./convert-node.ts";
import { describeConstraint } from "./describe-constraint.ts";
import type { SchemaNode } from "../schema/keywords.ts";
import { takesNull, withNull } from "./nullable.ts";

/** `properties`, `required` and `additionalProperties` as the target takes them. */
export function convertObject(node: SchemaNode, place: Place, conversion: Conversion): Part {
  const { target } = conversion;
  const { properties, notes, isNever } = convertProperties(node, place, conversion);
  const names = Object.keys(properties);
  const required = requiredOf(node);
  const others = convertOthers(node, place, conversion);
  const isObject = target.closedObjects === true || names.length > 0 || node["properties"] !== undefined;
  const listed =
    target.allRequired === true ? names : required.filter((name) => target.typed !== true || names.includes(name));
  const hasList = listed.length > 0 || target.allRequired === true || node["required"] !== undefined;
  return {
    structure: {
      ...(isObject ? { properties } : {}),
      ...(hasList ? { required: listed } : {}),
      ...others.structure,
    },
    notes: [...notes, ...others.notes],
    isNever,
  };
}

/** The names an object must have, each once. */
export function requiredOf(node: SchemaNode): readonly string[] {
  return Array.isArray(node["required"]) ? [...new Set(node["required"] as string[])] : [];
}

/** The properties a schema names, those included that it only requires, where the target asks that each be named. */
export function namedProperties(node: SchemaNode, isTyped: boolean): readonly (readonly [string, unknown])[] {
  const { properties, additionalProperties = true } = node;
  const named: (readonly [string, unknown])[] = isPlainObject(properties) ? Object.entries(properties) : [];
  if (!isTyped) return named;
  const known = new Set(named.map(([name]) => name));
  const missing = requiredOf(node).filter((name) => !known.has(name));
  return [...named, ...missing.map((name) => [name, additionalProperties] as const)];
}

function convertProperties(
  node: SchemaNode,
  place: Place,
  conversion: Conversion,
): {
  readonly properties: Readonly<Record<string, JsonSchema>>;
  readonly notes: readonly string[];
  readonly isNever: boolean;
} {
  const { target } = conversion;
  const isTyped = target.typed === true;
  const required = new Set(requiredOf(node));
  const notes: string[] = [];
  const converted: (readonly [string, JsonSchema])[] = [];
  let isNever = false;
  for (const [name, child] of namedProperties(node, isTyped)) {
    const at = conversion.inside(place, child, "properties", name);
    if (child === false && (isTyped || !conversion.has("booleanSchemas"))) {
      conversion.lose(at.path, "false", isTyped ? "dropped" : "described", "can never be given: left out");
      notes.push(`${name} must not be given.`);
      isNever ||= isTyped && required.has(name);
      continue;
    }
    const inside = { ...at, otherTypes: new Set<string>(), level: place.level + 1 };
    const schema = convertNode(child, inside, conversion);
    if (schema === NEVER && !required.has(name)) continue;
    isNever ||= schema === NEVER;
    const mayBeAbsent = target.allRequired === true && !required.has(name);
    if (mayBeAbsent) {
      const message = takesNull(schema) ? "given always, though it may be left out" : "null where it is left out";
      conversion.lose(at.path, "required", "resolved", message);
    }
    converted.push([name, mayBeAbsent ? withNull(schema, target) : schema]);
  }
  return {
    properties: Object.fromEntries(converted),
    notes: isTyped && target.closedObjects === true ? [] : notes,
    isNever,
  };
}

function convertOthers(node: SchemaNode, place: Place, conversion: Conversion): Part {
  const { target } = conversion;
  const { additionalProperties: given, unevaluatedProperties } = node;
  const lose = (action: "dropped" | "described" | "widened", message: string): void =>
    conversion.loseAt(place, "additionalProperties", action, message);
  if (target.closedObjects === true) {
    if (given !== false && unevaluatedProperties !== false) lose("dropped", "only the named properties can be given");
    else if (node["properties"] === undefined)
      conversion.loseAt(place, "properties", "resolved", "that it names none is said");
    return { structure: { additionalProperties: false }, notes: [] };
  }
  if (given === undefined) return { structure: {}, notes: [] };
  if (conversion.has("additionalProperties")) {
    const inside = { ...conversion.inside(place, given, "additionalProperties"), level: place.level + 1 };
    const schema = typeof given === "boolean" ? given : convertNode(given, inside, conversion);
    return { structure: { additionalProperties: schema }, notes: [] };
  }
  if (given === false) {
    lose("widened", "that there are no others cannot be said here");
    return { structure: {}, notes: [] };
  }
  const words = describeConstraint("additionalProperties", given);
  lose(words === undefined ? "dropped" : "described", "that there may be others cannot be said here");
  return { structure: {}, notes: words === undefined ? [] : [words] };
}
