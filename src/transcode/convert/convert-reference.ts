import { isPlainObject, type JsonSchema } from "../../tool/json-schema.ts";
import type { Conversion, Place } from "./conversion.ts";
import { cutRecursion, nothingKnown } from "./convert-anything.ts";
import { convertNode } from "./convert-node.ts";
import type { Found } from "../schema/find-reference.ts";
import { below, tokensOf } from "../schema/json-pointer.ts";
import { assemble, isConstraining, keepKeywords } from "./keep-keywords.ts";
import type { SchemaNode } from "../schema/keywords.ts";

const MAX_ALIASES = 50;

/** Converts a `$ref` beside which nothing but annotations stand: kept where the target has references, copied out where not. */
export function convertReference(node: SchemaNode, place: Place, conversion: Conversion): JsonSchema {
  const { $ref, ...beside } = node;
  const { path, following } = place;
  const at = below(path, "$ref");
  const found = resolveAliases(String($ref), conversion);
  if (found === undefined) {
    conversion.lose(at, "$ref", "dropped", "refers to nothing inside this schema; nothing is read from elsewhere");
    return nothingKnown(beside, place, conversion);
  }
  if (following.has(found.pointer) && !conversion.has("recursion")) {
    return cutRecursion(beside, found, place, conversion);
  }
  if (conversion.has("ref")) return keepReference(String($ref), beside, found, place, conversion);
  conversion.lose(at, "$ref", "resolved", "copied out");
  return annotate(copyOut(found, place, conversion), beside, place, conversion);
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
  const kept = `#/$defs/${name}`;
  if (kept !== reference) conversion.lose(below(place.path, "$ref"), "$ref", "resolved", `as ${kept}`);
  const told = assemble(beside, keepKeywords(beside, [], place, conversion), {});
  if (Object.keys(told).length === 0) return { $ref: kept };
  if (conversion.target.bareReferences !== true) return { $ref: kept, ...told };
  conversion.lose(below(place.path, "$ref"), "$ref", "resolved", "in a union of one, beside which it can be described");
  return { ...told, anyOf: [{ $ref: kept }] };
}

function copyOut(found: Found, place: Place, conversion: Conversion): JsonSchema {
  const following = new Set([...place.following, found.pointer]);
  return convertNode(found.node, { ...place, path: found.pointer, depth: place.depth + 1, following }, conversion);
}

/** What is said beside a reference is about this use of it, and comes first. */
function annotate(schema: JsonSchema, beside: SchemaNode, place: Place, conversion: Conversion): JsonSchema {
  const kept = keepKeywords(beside, [], place, conversion);
  const inner = schema.description === undefined ? [] : [schema.description];
  return { ...schema, ...assemble(beside, { ...kept, notes: [...kept.notes, ...inner] }, {}) };
}

/** Follows references that are nothing but references; undefined where they lead nowhere or in a circle. */
function resolveAliases(reference: string, { references }: Conversion): Found | undefined {
  const start = references.find(reference);
  let end = start;
  let last = start;
  for (let count = 0; count < MAX_ALIASES; count++) {
    const node = end?.node;
    if (!isPlainObject(node) || node["$ref"] === undefined || isConstraining({ ...node, $ref: undefined }))
      return end === undefined ? undefined : last;
    end = references.find(String(node["$ref"]));
    // One that says more than where to look is a definition of its own.
    if (Object.keys(node).length === 1 && last?.node === node) last = end;
  }
  return undefined;
}
