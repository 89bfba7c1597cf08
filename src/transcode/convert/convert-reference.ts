import { isPlainObject, type JsonSchema } from "../../tool/json-schema.ts";
import type { Conversion, Place } from "./conversion.ts";
import { cutRecursion, NEVER, nothingFits, nothingKnown } from "./convert-anything.ts";
import { addNotes } from "./describe-constraint.ts";
import { describeWhole } from "./describe-whole.ts";
import { convertNode } from "./convert-node.ts";
import type { Found } from "../schema/find-reference.ts";
import { tokensOf } from "../schema/json-pointer.ts";
import { typesOf } from "../schema/types-of.ts";
import { spellModern } from "./spell-modern.ts";
import { isConstraining, keepKeywords } from "./keep-keywords.ts";
import { PLACES, type SchemaNode } from "../schema/keywords.ts";

const MAX_ALIASES = 50;

/** Converts a `$ref` beside which nothing but annotations stand: kept where the target has references, copied out where not. */
export function convertReference(node: SchemaNode, place: Place, conversion: Conversion): JsonSchema {
  const { $ref, ...beside } = node;
  const found = resolveAliases(String($ref), conversion);
  if (found === undefined) {
    conversion.loseAt(place, "$ref", "dropped", "refers to nothing inside this schema; nothing is read from elsewhere");
    return nothingKnown(beside, place, conversion);
  }
  if (found.node === false && conversion.target.typed === true) return nothingFits(place, conversion);
  if (place.following.has(found.pointer) && !conversion.has("recursion")) {
    return cutRecursion(beside, found, place, conversion);
  }
  const types = typesOf(found.node, conversion.references);
  // What is null and nothing else is said as it is wherever null is said.
  const isNull = conversion.target.typed === true && types.size === 1 && types.has("null");
  if (conversion.has("ref") && !isNull) return keepReference(String($ref), beside, found, place, conversion);
  conversion.loseAt(place, "$ref", "resolved", "copied out");
  const copied = copyOut(found, place, conversion);
  return copied === NEVER ? NEVER : annotate(copied, beside, place, conversion);
}

function keepReference(
  reference: string,
  beside: SchemaNode,
  found: Found,
  place: Place,
  conversion: Conversion,
): JsonSchema {
  // What is encoded as text or as a list must not be taken for another branch of the union around it, so such uses have definitions of their own.
  const other = ["string", "array"].filter((type) => place.otherTypes.has(type));
  const wanted = tokensOf(found.pointer)?.at(-1) ?? "";
  const name = conversion.define([found.pointer, ...other].join(" "), wanted === "" ? "root" : wanted, () =>
    copyOut(found, place, conversion),
  );
  const written = conversion.definitions.get(name);
  if (written === NEVER) return NEVER;
  const kept = `#/$defs/${name}`;
  if (written?.["$ref"] === kept) {
    conversion.loseAt(place, "$ref", "dropped", "refers to nothing but itself");
    return nothingKnown(beside, place, conversion);
  }
  if (kept !== reference) conversion.loseAt(place, "$ref", "resolved", `as ${kept}`);
  const described = annotate({ $ref: kept }, beside, place, conversion);
  if (described["anyOf"] !== undefined)
    conversion.loseAt(place, "$ref", "resolved", "in a union of one, which can be described");
  return described;
}

function copyOut(found: Found, place: Place, conversion: Conversion): JsonSchema {
  const following = new Set([...place.following, found.pointer]);
  return convertNode(found.node, { ...place, path: found.pointer, depth: place.depth + 1, following }, conversion);
}

/** What is said beside a reference is about this use of it, and comes first. */
function annotate(schema: JsonSchema, beside: SchemaNode, place: Place, conversion: Conversion): JsonSchema {
  const { keywords, notes } = keepKeywords(beside, [], place, conversion);
  return describeWhole(schema, addNotes(beside["description"], notes), keywords, conversion.target);
}

/** Follows references that are nothing but references; undefined where they lead nowhere or in a circle. */
function resolveAliases(reference: string, conversion: Conversion): Found | undefined {
  const start = conversion.references.find(reference);
  let end = start;
  let last = start;
  for (let count = 0; count < MAX_ALIASES; count++) {
    if (end === undefined) return undefined;
    if (!isPlainObject(end.node) || end.node["$ref"] === undefined) return last;
    const { $ref, ...beside } = spellModern(end.node, end.pointer, conversion);
    if ($ref === undefined || isConstraining(beside)) return last;
    const next = conversion.references.find(String($ref));
    // One that says more than where to look is a definition of its own.
    if (Object.keys(beside).every((keyword) => PLACES.has(keyword)) && last === end) last = next;
    end = next;
  }
  return undefined;
}
