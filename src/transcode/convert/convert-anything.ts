import { isPlainObject, type JsonSchema } from "../../tool/json-schema.ts";
import { lose, type SchemaPosition } from "./conversion.ts";
import { addNotes, showJson } from "./describe-constraint.ts";
import type { ReferenceTarget } from "../schema/find-reference.ts";
import type { SchemaNode } from "../schema/keywords.ts";
import { typesOf } from "../schema/types-of.ts";

/** Returns a schema that accepts anything, if the target supports it; otherwise a refusal or the simple types. */
export function nothingKnown(node: SchemaNode, place: SchemaPosition): JsonSchema {
  const { description } = node;
  const described = typeof description === "string" ? { description } : {};
  const { target } = place;
  if (target.typed !== true) return described;
  if (target.closedObjects === true || place.isAttempting()) {
    place.record(place.path, "type", "refused", "accepts values of any type, which cannot be expressed here");
    return described;
  }
  place.record(place.path, "type", "dropped", "accepts values of any type: objects and lists can no longer be given");
  const note = target.bareUnions === true ? described : {};
  return {
    ...(target.bareUnions === true ? {} : described),
    anyOf: [
      { type: "string", ...note },
      { type: "number", ...note },
      { type: "boolean", ...note },
    ],
  };
}

/** Represents a schema that rejects every value, in targets that cannot express it. The parent omits it if that means the same. */
export const NEVER: JsonSchema = Object.freeze({ type: "string", description: "Never given." });

export function nothingFits(place: SchemaPosition): JsonSchema {
  if (place.target.typed === true) {
    place.record(place.path, "not", "resolved", "no value fits this: left out");
    return NEVER;
  }
  place.record(place.path, "not", "widened", "no value fits this, which cannot be expressed here");
  return {};
}

/** Keeps a schema that rejects every value if it cannot be omitted. */
export function keepNever(schema: JsonSchema, place: SchemaPosition): JsonSchema {
  if (schema === NEVER)
    place.record(place.path, "not", "widened", "no value fits this, which cannot be expressed here");
  return schema;
}

/** Cuts a schema that would be copied into itself endlessly. */
export function cutRecursion(beside: SchemaNode, found: ReferenceTarget, place: SchemaPosition): JsonSchema {
  const types = typesOf(found.node, place.references);
  const node = { ...(isPlainObject(found.node) ? { description: found.node["description"] } : {}), ...beside };
  if (place.target.typed === true) return encodeAsText(node, types, "$ref", place);
  const message = "the schema contains itself: cut here";
  lose(place, "$ref", "widened", message);
  const description = addNotes(node.description, [
    `Fits ${found.pointer === "" ? "the whole" : showJson(found.pointer)} again.`,
  ]);
  const [type] = types;
  const described = description === undefined ? {} : { description };
  if (types.size !== 1 || type === undefined) return described;
  return { type, ...described, ...(type === "array" ? { items: {} } : {}) };
}

/** Encodes an object or list as JSON text if the target cannot describe its content. `repairArguments` decodes it. */
export function encodeAsText(
  node: SchemaNode,
  types: ReadonlySet<string>,
  keyword: string,
  place: SchemaPosition,
): JsonSchema {
  const { path, otherTypes } = place;
  const kinds = ["object", "array"].filter((type) => types.has(type));
  const isOnlyThese = [...types].every((type) => kinds.includes(type) || type === "null");
  if (kinds.length === 0 || !isOnlyThese || otherTypes.has("string")) {
    if (place.target.closedObjects !== true && !place.isAttempting()) {
      place.record(path, keyword, "dropped", "objects and lists can no longer be given, only text");
      return { type: "string" };
    }
    const message = "takes objects or lists of any content as well as text, which cannot be distinguished here";
    place.record(path, keyword, "refused", message);
    return {};
  }
  place.record(path, keyword, "widened", "as JSON text, which is read back");
  const description = addNotes(node["description"], [hint(node, kinds)]) ?? "";
  return { type: "string", description };
}

function hint(node: SchemaNode, kinds: readonly string[]): string {
  const what = kinds.map((kind) => (kind === "array" ? "a list" : "an object")).join(" or ");
  const { description: _description, title: _title, type: _type, ...rest } = node;
  const fits = Object.keys(rest).length === 0 ? "" : showJson(rest);
  const isReadable = fits !== "" && !fits.endsWith("…") && !fits.includes('"$ref"');
  return isReadable ? `JSON text of ${what} that fits ${fits}.` : `JSON text of ${what}.`;
}
