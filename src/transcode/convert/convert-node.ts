import { pointerSteps } from "../../tool/schema/keywords.ts";
import { isPlainObject, type JsonSchema } from "../../tool/json-schema.ts";
import { lose, type SchemaPosition } from "./conversion.ts";
import { convertArray, convertObject } from "./convert-container.ts";
import { cutRecursion, NEVER, nothingFits, nothingKnown } from "./convert-anything.ts";
import { convertLiterals } from "./convert-literals.ts";
import { convertTyped } from "./convert-typed.ts";
import { convertBranches } from "./convert-union.ts";
import { ANNOTATIONS, PLACES, type SchemaNode } from "../schema/keywords.ts";
import { assemble, isConstraining, keepKeywords } from "./keep-keywords.ts";
import { mergeAllOf } from "./merge-schemas.ts";
import { spellModern } from "./spell-modern.ts";
import { addNotes, describeWhole } from "./describe-constraint.ts";
import type { ReferenceTarget } from "../schema/find-reference.ts";
import { typesOf } from "../schema/types-of.ts";

/** Beyond this depth, a schema accepts anything. Handwritten schemas are not this deep. */
const MAX_DEPTH = 80;

/** Converts one schema and all schemas inside it. */
export function convertNode(raw: unknown, place: SchemaPosition): JsonSchema {
  // The `JsonSchema` type covers only objects. Targets that accept booleans accept them everywhere.
  if (typeof raw === "boolean" && place.has("booleanSchemas")) return raw as unknown as JsonSchema;
  if (raw === false) return nothingFits(place);
  if (!isPlainObject(raw)) {
    if (place.target.typed !== true) place.record(place.path, "true", "resolved", "as an empty schema");
    return nothingKnown({}, place);
  }
  return convertSpelled(spellModern(raw, place), place);
}

/** Like `convertNode`, for a schema in modern spelling. */
export function convertSpelled(node: SchemaNode, place: SchemaPosition): JsonSchema {
  if (place.depth > MAX_DEPTH || !place.spend()) {
    place.record(place.path, "depth", "widened", "too deep or too large: cut here");
    return nothingKnown({}, place);
  }
  const { allOf, $ref } = node;
  if (Array.isArray(allOf) && $ref === undefined) {
    const { allOf: _allOf, ...rest } = node;
    const [only] = allOf;
    if (allOf.length === 1 && isPlainObject(only) && !isConstraining(rest) && !place.has("allOf")) {
      lose(place, "allOf", "resolved", "as the one schema in it");
      return convertNode({ ...only, ...rest }, { ...place, depth: place.depth + 1 });
    }
  }
  if ($ref !== undefined) {
    const { $ref: _ref, ...rest } = node;
    if (!isConstraining(rest)) return convertReference(node, place);
  }
  const isTyped = place.target.typed === true;
  const canStandBeside = place.has("ref") && place.target.bareReferences !== true;
  if ((allOf !== undefined && !place.has("allOf")) || ($ref !== undefined && !canStandBeside))
    return convertMerged(node, place);
  return isTyped ? convertTyped(node, place) : convertLoose(node, place);
}

function convertMerged(node: SchemaNode, place: SchemaPosition): JsonSchema {
  const [keyword, message] =
    node["allOf"] === undefined ? ["$ref", "merged with the keywords next to it"] : ["allOf", "merged into one schema"];
  lose(place, keyword, "resolved", message);
  const merged = mergeAllOf(node, place);
  if (merged.node === false) return nothingFits(place);
  return convertSpelled(merged.node, { ...place, following: merged.following });
}

/** Converts each keyword independently. For a target that supports JSON Schema except some keywords. */
function convertLoose(node: SchemaNode, place: SchemaPosition): JsonSchema {
  const { type, $ref } = node;
  const types = type === undefined ? [] : ([type].flat() as string[]);
  const literals = convertLiterals(node, types, place);
  const kept = keepKeywords(node, [], place);
  const object = convertObject(node, place);
  const array = types.includes("array") || node["items"] !== undefined || node["prefixItems"] !== undefined;
  const items = array ? [convertArray(node, place)] : [];
  const branches = convertBranches(node, place);
  const reference = { structure: $ref === undefined ? {} : convertReference({ $ref }, place), notes: [] };
  const given = type === undefined ? {} : { type: Array.isArray(type) ? [...type] : type };
  return assemble(node, given, kept, reference, literals, object, ...items, branches);
}

export function annotationsOf(node: SchemaNode): SchemaNode {
  return Object.fromEntries(Object.entries(node).filter(([keyword]) => ANNOTATIONS.has(keyword)));
}

const MAX_ALIASES = 50;

/** Converts a `$ref` that has only annotations next to it. Keeps it if the target supports references, and copies its target otherwise. */
function convertReference(node: SchemaNode, place: SchemaPosition): JsonSchema {
  const { $ref, ...beside } = node;
  const found = resolveAliases(String($ref), place);
  if (found === undefined) {
    lose(place, "$ref", "dropped", "refers to nothing inside this schema; nothing is read from elsewhere");
    return nothingKnown(beside, place);
  }
  if (found.node === false && place.target.typed === true) return nothingFits(place);
  if (place.following.has(found.pointer) && !place.has("recursion")) {
    return cutRecursion(beside, found, place);
  }
  const types = typesOf(found.node, place.references);
  // A schema that only accepts null is kept if the target supports null.
  const isNull = place.target.typed === true && types.size === 1 && types.has("null");
  if (place.has("ref") && !isNull) return keepReference(String($ref), beside, found, place);
  lose(place, "$ref", "resolved", "copied out");
  const copied = copyOut(found, place);
  return copied === NEVER ? NEVER : annotate(copied, beside, place);
}

function keepReference(
  reference: string,
  beside: SchemaNode,
  found: ReferenceTarget,
  place: SchemaPosition,
): JsonSchema {
  // A value encoded as text or as a list must not look like another branch of the surrounding union, so such uses get their own definitions.
  const other = ["string", "array"].filter((type) => place.otherTypes.has(type));
  const wanted = pointerSteps(found.pointer)?.at(-1) ?? "";
  const name = place.define([found.pointer, ...other].join(" "), wanted === "" ? "root" : wanted, () =>
    copyOut(found, place),
  );
  const written = place.definitions.get(name);
  if (written === NEVER) return NEVER;
  const kept = `#/$defs/${name}`;
  if (written?.["$ref"] === kept) {
    lose(place, "$ref", "dropped", "refers only to itself");
    return nothingKnown(beside, place);
  }
  if (kept !== reference) lose(place, "$ref", "resolved", `as ${kept}`);
  const described = annotate({ $ref: kept }, beside, place);
  if (described["anyOf"] !== undefined) lose(place, "$ref", "resolved", "in a union of one, which can be described");
  return described;
}

function copyOut(found: ReferenceTarget, place: SchemaPosition): JsonSchema {
  const following = new Set([...place.following, found.pointer]);
  return convertNode(found.node, { ...place, path: found.pointer, depth: place.depth + 1, following });
}

/** Adds the keywords next to a reference. They describe this use of it, so they take precedence. */
function annotate(schema: JsonSchema, beside: SchemaNode, place: SchemaPosition): JsonSchema {
  const { structure, notes } = keepKeywords(beside, [], place);
  return describeWhole(schema, addNotes(beside["description"], notes), structure, place.target);
}

/** Follows references to schemas that are only references. Returns undefined if a reference is dangling or circular. */
function resolveAliases(reference: string, place: SchemaPosition): ReferenceTarget | undefined {
  const start = place.references.find(reference);
  let end = start;
  let last = start;
  for (let count = 0; count < MAX_ALIASES; count++) {
    if (end === undefined) return undefined;
    if (!isPlainObject(end.node) || end.node["$ref"] === undefined) return last;
    const { $ref, ...beside } = spellModern(end.node, { ...place, path: end.pointer });
    if ($ref === undefined || isConstraining(beside)) return last;
    const next = place.references.find(String($ref));
    // A reference with other keywords is a separate definition.
    if (Object.keys(beside).every((keyword) => PLACES.has(keyword)) && last === end) last = next;
    end = next;
  }
  return undefined;
}
