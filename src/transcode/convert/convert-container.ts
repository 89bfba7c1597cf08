import { isSame } from "../../tool/schema/keywords.ts";
import { isPlainObject, type JsonSchema } from "../../tool/json-schema.ts";
import { lose, type SchemaPart, type SchemaPosition, within, withinContainer } from "./conversion.ts";
import { keepNever, NEVER } from "./convert-anything.ts";
import { convertNode } from "./convert-node.ts";
import { describeConstraint, showJson } from "./describe-constraint.ts";
import type { SchemaNode } from "../schema/keywords.ts";
import { takesNull, withNull } from "./nullable.ts";

/** Converts `properties`, `required` and `additionalProperties` for the target. */
export function convertObject(node: SchemaNode, place: SchemaPosition): SchemaPart {
  const { target } = place;
  const { properties, notes, isNever } = convertProperties(node, place);
  const names = Object.keys(properties);
  const required = requiredOf(node);
  const others = convertOthers(node, place);
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

export function requiredOf(node: SchemaNode): readonly string[] {
  return Array.isArray(node["required"]) ? [...new Set(node["required"] as string[])] : [];
}

/** Returns the named properties of a schema. Includes properties that are only required if the target must have them named. */
export function namedProperties(node: SchemaNode, isTyped: boolean): readonly (readonly [string, unknown])[] {
  const { properties, additionalProperties = true } = node;
  const named: (readonly [string, unknown])[] = isPlainObject(properties) ? Object.entries(properties) : [];
  if (!isTyped) return named;
  const known = new Set(named.map(([name]) => name));
  const missing = requiredOf(node).filter((name) => !known.has(name));
  return [...named, ...missing.map((name) => [name, additionalProperties] as const)];
}

function convertProperties(node: SchemaNode, place: SchemaPosition) {
  const { target } = place;
  const isTyped = target.typed === true;
  const required = new Set(requiredOf(node));
  const notes: string[] = [];
  const converted: (readonly [string, JsonSchema])[] = [];
  let isNever = false;
  for (const [name, child] of namedProperties(node, isTyped)) {
    const at = withinContainer(place, child, "properties", name);
    if (child === false && (isTyped || !place.has("booleanSchemas"))) {
      place.record(at.path, "false", isTyped ? "dropped" : "described", "can never be given: left out");
      notes.push(`${name} must not be given.`);
      isNever ||= isTyped && required.has(name);
      continue;
    }
    const schema = convertNode(child, at);
    if (schema === NEVER && !required.has(name)) continue;
    isNever ||= schema === NEVER;
    const mayBeAbsent = target.allRequired === true && !required.has(name);
    if (mayBeAbsent) {
      const message = takesNull(schema) ? "given always, though it may be left out" : "null where it is left out";
      place.record(at.path, "required", "resolved", message);
    }
    converted.push([name, mayBeAbsent ? withNull(schema, target) : schema]);
  }
  return {
    properties: Object.fromEntries(converted),
    notes: isTyped && target.closedObjects === true ? [] : notes,
    isNever,
  };
}

function convertOthers(node: SchemaNode, place: SchemaPosition): SchemaPart {
  const { target } = place;
  const { additionalProperties: given, unevaluatedProperties } = node;
  if (target.closedObjects === true) {
    if (given !== false && unevaluatedProperties !== false)
      lose(place, "additionalProperties", "dropped", "only the named properties can be given");
    else if (node["properties"] === undefined) lose(place, "properties", "resolved", "now states that it has none");
    return { structure: { additionalProperties: false }, notes: [] };
  }
  if (given === undefined) return { structure: {}, notes: [] };
  if (place.has("additionalProperties")) {
    const inside = { ...within(place, given, "additionalProperties"), level: place.level + 1 };
    const schema = typeof given === "boolean" ? given : convertNode(given, inside);
    return { structure: { additionalProperties: schema }, notes: [] };
  }
  if (given === false) {
    lose(place, "additionalProperties", "widened", "that there are no others cannot be expressed here");
    return { structure: {}, notes: [] };
  }
  const words = describeConstraint("additionalProperties", given);
  const action = words === undefined ? "dropped" : "described";
  lose(place, "additionalProperties", action, "that there may be others cannot be expressed here");
  return { structure: {}, notes: words === undefined ? [] : [words] };
}

/** Converts `items` and `prefixItems` for the target. */
export function convertArray(node: SchemaNode, place: SchemaPosition): SchemaPart {
  const { prefixItems, items } = node;
  const inside = (child: unknown, ...tokens: readonly (string | number)[]): unknown => {
    const at = withinContainer(place, child, ...tokens);
    return keepNever(convertNode(child, at), at);
  };
  if (Array.isArray(prefixItems)) {
    if (!place.has("tuples")) return widenTuple(node, prefixItems, inside, place);
    const prefix = prefixItems.map((child, index) => inside(child, "prefixItems", index));
    const rest = items === undefined ? {} : { items: typeof items === "boolean" ? items : inside(items, "items") };
    return { structure: { prefixItems: prefix, ...rest }, notes: [] };
  }
  if (items === false) {
    if (place.has("booleanSchemas")) return { structure: { items }, notes: [] };
    lose(place, "items", "described", "accepts no items: moved to the description");
    const nothing = place.target.typed === true ? { type: "string" } : {};
    return { structure: { items: nothing }, notes: ["Always empty."] };
  }
  if (items === undefined && place.target.typed !== true)
    lose(place, "items", "resolved", "now states that items may be anything");
  return { structure: { items: inside(items ?? {}, "items") }, notes: [] };
}

/** Converts a tuple to a list that accepts the items of all positions. */
function widenTuple(
  node: SchemaNode,
  prefix: readonly unknown[],
  inside: (child: unknown, ...tokens: readonly (string | number)[]) => unknown,
  place: SchemaPosition,
): SchemaPart {
  const { items, maxItems } = node;
  const all = typeof items === "object" && items !== null ? [...prefix, items] : prefix;
  const kinds = all.filter((schema, index) => all.findIndex((other) => isSame(other, schema)) === index);
  const canLimit = place.has("arrayLimits") && place.target.without?.has("maxItems") !== true;
  const isUniform = kinds.length === 1 && (items !== false || maxItems !== undefined || canLimit);
  const isOpen = items !== undefined && items !== false;
  const limit = isOpen || maxItems !== undefined || !canLimit ? {} : { maxItems: prefix.length };
  if (isUniform) lose(place, "prefixItems", "resolved", "as a list of one kind of item");
  else lose(place, "prefixItems", "widened", "as a list in which each item is of any of these kinds");
  return {
    structure: { items: inside(kinds.length === 1 ? kinds[0] : { anyOf: kinds }, "prefixItems"), ...limit },
    notes: isUniform ? [] : [`Items in this order: ${prefix.map(showJson).join(", ")}.`],
  };
}
