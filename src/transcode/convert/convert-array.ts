import type { Conversion, Place } from "./conversion.ts";
import type { Part } from "./convert-literals.ts";
import { keepNever } from "./convert-anything.ts";
import { convertNode } from "./convert-node.ts";
import { showJson } from "./describe-constraint.ts";
import type { SchemaNode } from "../schema/keywords.ts";
import { isSame } from "./merge-schemas.ts";

/** `items` and `prefixItems` as the target takes them. */
export function convertArray(node: SchemaNode, place: Place, conversion: Conversion): Part {
  const { prefixItems, items } = node;
  const inside = (child: unknown, ...tokens: readonly (string | number)[]): unknown => {
    const at = {
      ...conversion.inside(place, child, ...tokens),
      level: place.level + 1,
      otherTypes: new Set<string>(),
    };
    return keepNever(convertNode(child, at, conversion), at, conversion);
  };
  if (Array.isArray(prefixItems)) {
    if (!conversion.has("tuples")) return widenTuple(node, prefixItems, inside, place, conversion);
    const prefix = prefixItems.map((child, index) => inside(child, "prefixItems", index));
    const rest = items === undefined ? {} : { items: typeof items === "boolean" ? items : inside(items, "items") };
    return { structure: { prefixItems: prefix, ...rest }, notes: [] };
  }
  if (items === false) {
    if (conversion.has("booleanSchemas")) return { structure: { items }, notes: [] };
    conversion.loseAt(place, "items", "described", "takes no items: said in the description");
    return {
      structure: { items: conversion.target.typed === true ? { type: "string" } : {} },
      notes: ["Always empty."],
    };
  }
  if (items === undefined && conversion.target.typed !== true)
    conversion.loseAt(place, "items", "resolved", "said that items may be anything");
  return { structure: { items: inside(items ?? {}, "items") }, notes: [] };
}

/** A list of fixed places as a list of whatever any place takes. */
function widenTuple(
  node: SchemaNode,
  prefix: readonly unknown[],
  inside: (child: unknown, ...tokens: readonly (string | number)[]) => unknown,
  place: Place,
  conversion: Conversion,
): Part {
  const { items, maxItems } = node;
  const all = typeof items === "object" && items !== null ? [...prefix, items] : prefix;
  const kinds = all.filter((schema, index) => all.findIndex((other) => isSame(other, schema)) === index);
  const canLimit = conversion.has("arrayLimits") && conversion.target.without?.has("maxItems") !== true;
  const isUniform = kinds.length === 1 && (items !== false || maxItems !== undefined || canLimit);
  const isOpen = items !== undefined && items !== false;
  const limit = isOpen || maxItems !== undefined || !canLimit ? {} : { maxItems: prefix.length };
  if (isUniform) conversion.loseAt(place, "prefixItems", "resolved", "as a list of one kind of item");
  else conversion.loseAt(place, "prefixItems", "widened", "as a list in which each item is of any of these kinds");
  return {
    structure: { items: inside(kinds.length === 1 ? kinds[0] : { anyOf: kinds }, "prefixItems"), ...limit },
    notes: isUniform ? [] : [`Items in this order: ${prefix.map(showJson).join(", ")}.`],
  };
}
