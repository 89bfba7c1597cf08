import { isPlainObject, type JsonSchema } from "../../tool/json-schema.ts";
import type { Conversion, Place } from "./conversion.ts";
import { convertArray } from "./convert-array.ts";
import { nothingFits, nothingKnown } from "./convert-anything.ts";
import { convertLiterals } from "./convert-literals.ts";
import { convertObject } from "./convert-object.ts";
import { convertReference } from "./convert-reference.ts";
import { convertTyped } from "./convert-typed.ts";
import { convertBranches } from "./convert-union.ts";
import { ANNOTATIONS, type SchemaNode } from "../schema/keywords.ts";
import { assemble, isConstraining, keepKeywords } from "./keep-keywords.ts";
import { mergeAllOf } from "./merge-all-of.ts";
import { spellModern } from "./spell-modern.ts";

/** No schema that a person wrote is deeper; the rest of one that is takes anything. */
const MAX_DEPTH = 80;

/** Converts one schema and all that is inside it. */
export function convertNode(raw: unknown, place: Place, conversion: Conversion): JsonSchema {
  // The type of schemas names only objects; the targets that take booleans take them wherever a schema may be.
  if (typeof raw === "boolean" && conversion.has("booleanSchemas")) return raw as unknown as JsonSchema;
  if (raw === false) return nothingFits(place, conversion);
  if (!isPlainObject(raw)) {
    if (conversion.target.typed !== true) conversion.lose(place.path, "true", "resolved", "as an empty schema");
    return nothingKnown({}, place, conversion);
  }
  return convertSpelled(spellModern(raw, place.path, conversion), place, conversion);
}

/** The same for a schema in modern spelling. */
export function convertSpelled(node: SchemaNode, place: Place, conversion: Conversion): JsonSchema {
  if (place.depth > MAX_DEPTH || !conversion.spend()) {
    conversion.lose(place.path, "depth", "widened", "too deep or too large: cut here");
    return nothingKnown({}, place, conversion);
  }
  const { allOf, $ref } = node;
  if (Array.isArray(allOf) && $ref === undefined) {
    const { allOf: _allOf, ...rest } = node;
    const [only] = allOf;
    if (allOf.length === 1 && isPlainObject(only) && !isConstraining(rest) && !conversion.has("allOf")) {
      conversion.loseAt(place, "allOf", "resolved", "as the one schema in it");
      return convertNode({ ...only, ...rest }, { ...place, depth: place.depth + 1 }, conversion);
    }
  }
  if ($ref !== undefined) {
    const { $ref: _ref, ...rest } = node;
    if (!isConstraining(rest)) return convertReference(node, place, conversion);
  }
  const isTyped = conversion.target.typed === true;
  const canStandBeside = conversion.has("ref") && conversion.target.bareReferences !== true;
  if ((allOf !== undefined && !conversion.has("allOf")) || ($ref !== undefined && !canStandBeside))
    return convertMerged(node, place, conversion);
  return isTyped ? convertTyped(node, place, conversion) : convertLoose(node, place, conversion);
}

function convertMerged(node: SchemaNode, place: Place, conversion: Conversion): JsonSchema {
  const [keyword, message] =
    node["allOf"] === undefined ? ["$ref", "merged with the keywords beside it"] : ["allOf", "merged into one schema"];
  conversion.loseAt(place, keyword, "resolved", message);
  const merged = mergeAllOf(node, place, conversion);
  if (merged.node === false) return nothingFits(place, conversion);
  return convertSpelled(merged.node, { ...place, following: merged.following }, conversion);
}

/** For a target that takes JSON Schema with some keywords missing: each keyword on its own. */
function convertLoose(node: SchemaNode, place: Place, conversion: Conversion): JsonSchema {
  const { type, $ref } = node;
  const types = type === undefined ? [] : ([type].flat() as string[]);
  const literals = convertLiterals(node, types, place, conversion);
  const kept = keepKeywords(node, [], place, conversion);
  const object = convertObject(node, place, conversion);
  const array = types.includes("array") || node["items"] !== undefined || node["prefixItems"] !== undefined;
  const items = array ? convertArray(node, place, conversion) : { structure: {}, notes: [] };
  const branches = convertBranches(node, place, conversion);
  const reference = $ref === undefined ? {} : convertReference({ $ref }, place, conversion);
  const notes = [...kept.notes, ...literals.notes, ...object.notes, ...items.notes, ...branches.notes];
  return assemble(
    node,
    { keywords: kept.keywords, notes },
    {
      ...(type === undefined ? {} : { type: Array.isArray(type) ? [...type] : type }),
      ...reference,
      ...literals.structure,
      ...object.structure,
      ...items.structure,
      ...branches.structure,
    },
  );
}

/** The annotations of a schema alone. */
export function annotationsOf(node: SchemaNode): SchemaNode {
  return Object.fromEntries(Object.entries(node).filter(([keyword]) => ANNOTATIONS.has(keyword)));
}
