import { typeOfValue } from "../../tool/schema/keywords.ts";
import { isPlainObject, type JsonSchema } from "../../tool/json-schema.ts";
import { lose, type SchemaPart, type SchemaPosition, withinContainer } from "./conversion.ts";
import { encodeAsText, keepNever, NEVER, nothingKnown } from "./convert-anything.ts";
import { convertArray, convertObject, namedProperties } from "./convert-container.ts";
import { convertLiterals } from "./convert-literals.ts";
import { convertUnion } from "./convert-union.ts";
import { assemble, keepKeywords } from "./keep-keywords.ts";
import { type SchemaNode, TYPE_OF } from "../schema/keywords.ts";
import { withNull } from "./nullable.ts";
import { impliedType } from "../schema/types-of.ts";
import { convertNode } from "./convert-node.ts";

/** Converts a schema for a target in which every schema has one type, or is a union or a reference. */
export function convertTyped(node: SchemaNode, place: SchemaPosition): JsonSchema {
  if (node["anyOf"] !== undefined || node["oneOf"] !== undefined) return convertUnion(node, place);
  const given = findTypes(node, place);
  if (given.length === 0) return nothingKnown(node, place);
  const literals = convertLiterals(node, given, place);
  const hasNull = literals.types.includes("null");
  const types = literals.types.filter((type) => type !== "null");
  const [type] = types;
  if (type === undefined) return assemble(node, { type: "null" }, keepKeywords(node, ["null"], place));
  if (types.length > 1 && (!place.has("typeArrays") || types.some(isContainer)))
    return splitTypes(node, literals.types, place);
  const schema =
    types.length === 1 ? convertOne(node, type, literals, place) : convertSimple(node, types, literals, place);
  if (!hasNull || !takesNullToo(node)) return schema;
  if (place.target.nullable !== undefined && node["nullable"] !== true)
    lose(place, "type", "resolved", "that it may be null, in this format's notation");
  return withNull(schema, place.target);
}

/** A type next to a list of values accepts null only if the list contains null. */
function takesNullToo(node: SchemaNode): boolean {
  if (Object.hasOwn(node, "const")) return node["const"] === null;
  return !Array.isArray(node["enum"]) || node["enum"].includes(null);
}

/** Returns the types that a schema names or implies; empty if it accepts anything. */
function findTypes(node: SchemaNode, place: SchemaPosition): readonly string[] {
  const { type, enum: values } = node;
  if (type !== undefined) return [type].flat() as string[];
  const listed = Object.hasOwn(node, "const") ? [node["const"]] : values;
  const found = Array.isArray(listed)
    ? [...new Set(listed.map((value) => (Number.isInteger(value) ? "integer" : typeOfValue(value))))]
    : [impliedType(node)].filter((implied) => implied !== undefined);
  const types = found.includes("number") ? found.filter((name) => name !== "integer") : found;
  const isSilent = place.target.untypedLiterals === true && Array.isArray(listed);
  if (types.length > 0 && !isSilent) lose(place, "type", "resolved", `${types.join(" or ")}, as its keywords mean`);
  return types;
}

function convertOne(node: SchemaNode, type: string, literals: SchemaPart, place: SchemaPosition): JsonSchema {
  if (!isContainer(type)) return convertSimple(node, [type], literals, place);
  const isTooDeep = place.level + 1 > (place.target.maxDepth ?? Infinity);
  const written = isTooDeep
    ? undefined
    : place.attempt(() => (type === "array" ? writeArray : writeObject)(node, literals, place));
  return written ?? encodeAsText(node, new Set([type]), "type", place);
}

function writeArray(node: SchemaNode, { notes }: SchemaPart, place: SchemaPosition): JsonSchema {
  const kept = keepKeywords(node, ["array"], place);
  return assemble(node, { type: "array" }, kept, { structure: {}, notes }, convertArray(node, place));
}

function writeObject(node: SchemaNode, literals: SchemaPart, place: SchemaPosition): JsonSchema {
  const { additionalProperties, unevaluatedProperties } = node;
  const isOpen = additionalProperties !== false && unevaluatedProperties !== false;
  const named = namedProperties(node, true).filter(([, child]) => child !== false);
  // Without a way to mark an object as closed, an empty object counts as open.
  if (named.length === 0 && (isOpen || place.target.closedObjects !== true)) {
    const isMap = isPlainObject(additionalProperties) && Object.keys(additionalProperties).length > 0;
    if (isMap) return encodeAsPairs(node, literals.notes, place);
    return encodeAsText(node, new Set(["object"]), "additionalProperties", place);
  }
  const written = writeNamed(node, literals.notes, place);
  const isEmpty = written !== NEVER && Object.keys(written.properties ?? {}).length === 0;
  if (!isEmpty || place.target.closedObjects === true) return written;
  return encodeAsText(node, new Set(["object"]), "properties", place);
}

export function writeNamed(node: SchemaNode, notesBefore: readonly string[], place: SchemaPosition): JsonSchema {
  const kept = keepKeywords(node, ["object"], place);
  const object = convertObject(node, place);
  if (object.isNever === true && place.depth > 0) return NEVER;
  if (object.isNever === true) keepNever(NEVER, place);
  return assemble(node, { type: "object" }, kept, { structure: {}, notes: notesBefore }, object);
}

function convertSimple(
  node: SchemaNode,
  types: readonly string[],
  literals: SchemaPart,
  place: SchemaPosition,
): JsonSchema {
  const isListed = Object.keys(literals.structure).length > 0;
  const isUntyped = isListed && place.target.untypedLiterals === true;
  const kept = keepKeywords(node, types, place, isUntyped ? "annotations" : "all");
  if (isUntyped && node["type"] !== undefined) lose(place, "type", "resolved", "left to the values that are listed");
  const type = isUntyped ? {} : { type: types.length === 1 ? types[0] : [...types] };
  const { structure } = kept;
  const notes = [...literals.notes, ...kept.notes];
  return assemble(node, type, { structure, notes }, { structure: withoutNull(literals.structure), notes: [] });
}

/** Removes null from a list of values. It is added again if the whole schema becomes nullable. */
function withoutNull(structure: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { enum: values } = structure;
  if (!Array.isArray(values) || values.length < 2) return structure;
  return { ...structure, enum: values.filter((value) => value !== null) };
}

/** Splits a schema of several types into a union of schemas of one type. */
function splitTypes(node: SchemaNode, types: readonly string[], place: SchemaPosition): JsonSchema {
  lose(place, "type", "resolved", "as a union of its types");
  const { type: _type, description, title, ...rest } = node;
  const branches = types.map((type) => ({
    type,
    ...Object.fromEntries(Object.entries(rest).filter(([keyword]) => isAbout(keyword, type))),
  }));
  const notes = { ...(title === undefined ? {} : { title }), ...(description === undefined ? {} : { description }) };
  return convertUnion({ ...notes, anyOf: branches }, place, "silent");
}

function isAbout(keyword: string, type: string): boolean {
  const about = TYPE_OF.get(keyword);
  if (keyword === "default" || keyword === "examples" || keyword === "example") return false;
  return about === undefined || about === (type === "integer" ? "number" : type);
}

function isContainer(type: string): boolean {
  return type === "object" || type === "array";
}

/** Encodes an object with arbitrary names as a list of names and values, if the target does not support such objects. `repairArguments` decodes it. */
function encodeAsPairs(node: SchemaNode, notesBefore: readonly string[], place: SchemaPosition): JsonSchema {
  const { additionalProperties, ...rest } = node;
  const { maxDepth = Infinity, closedObjects } = place.target;
  if (place.otherTypes.has("array") || place.level + 2 > maxDepth)
    return encodeAsText(node, new Set(["object"]), "additionalProperties", place);
  const pairs = place.attempt(() => {
    lose(place, "additionalProperties", "resolved", "as a list of keys and values, which is read back");
    const kept = keepKeywords(rest, ["object"], place);
    const at = withinContainer(place, additionalProperties, "additionalProperties");
    const inside = { ...at, level: place.level + 2 };
    const value = keepNever(convertNode(additionalProperties, inside), inside);
    const pair = {
      type: "object",
      properties: { key: { type: "string" }, value },
      required: ["key", "value"],
      ...(closedObjects === true ? { additionalProperties: false } : {}),
    };
    const notes = [...kept.notes, ...notesBefore, "A list of keys, each once, and their values."];
    // Keywords about the object's properties do not apply to the list.
    const { title } = kept.structure;
    return assemble(rest, { type: "array", items: pair }, { structure: { title }, notes });
  });
  return pairs ?? encodeAsText(node, new Set(["object"]), "additionalProperties", place);
}
