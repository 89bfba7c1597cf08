import { typeOfValue } from "../../tool/schema/keywords.ts";
import { isPlainObject, type JsonSchema } from "../../tool/json-schema.ts";
import type { Conversion, Place } from "./conversion.ts";
import { encodeAsText, keepNever, NEVER, nothingKnown } from "./convert-anything.ts";
import { convertArray, convertObject, namedProperties } from "./convert-container.ts";
import { convertLiterals, type Part } from "./convert-literals.ts";
import { convertUnion } from "./convert-union.ts";
import { assemble, keepKeywords } from "./keep-keywords.ts";
import { type SchemaNode, TYPE_OF } from "../schema/keywords.ts";
import { withNull } from "./nullable.ts";
import { impliedType } from "../schema/types-of.ts";
import { convertNode } from "./convert-node.ts";

/** For a target in which every schema has one type, or is a union or a reference. */
export function convertTyped(node: SchemaNode, place: Place, conversion: Conversion): JsonSchema {
  if (node["anyOf"] !== undefined || node["oneOf"] !== undefined) return convertUnion(node, place, conversion);
  const given = findTypes(node, place, conversion);
  if (given.length === 0) return nothingKnown(node, place, conversion);
  const literals = convertLiterals(node, given, place, conversion);
  const hasNull = literals.types.includes("null");
  const types = literals.types.filter((type) => type !== "null");
  const [type] = types;
  if (type === undefined) return assemble(node, keepKeywords(node, ["null"], place, conversion), { type: "null" });
  if (types.length > 1 && (!conversion.has("typeArrays") || types.some(isContainer)))
    return splitTypes(node, literals.types, place, conversion);
  const schema =
    types.length === 1
      ? convertOne(node, type, literals, place, conversion)
      : convertSimple(node, types, literals, place, conversion);
  if (!hasNull || !takesNullToo(node)) return schema;
  if (conversion.target.nullable !== undefined && node["nullable"] !== true)
    conversion.loseAt(place, "type", "resolved", "that it may be null, said as it is said here");
  return withNull(schema, conversion.target);
}

/** A type beside a list of values takes null only if the list has it. */
function takesNullToo(node: SchemaNode): boolean {
  if (Object.hasOwn(node, "const")) return node["const"] === null;
  return !Array.isArray(node["enum"]) || node["enum"].includes(null);
}

/** The types a schema names, or the only ones it can mean; none if it takes anything. */
function findTypes(node: SchemaNode, place: Place, conversion: Conversion): readonly string[] {
  const { type, enum: values } = node;
  if (type !== undefined) return [type].flat() as string[];
  const listed = Object.hasOwn(node, "const") ? [node["const"]] : values;
  const told = Array.isArray(listed)
    ? [...new Set(listed.map((value) => (Number.isInteger(value) ? "integer" : typeOfValue(value))))]
    : [impliedType(node)].filter((implied) => implied !== undefined);
  const types = told.includes("number") ? told.filter((name) => name !== "integer") : told;
  const isSilent = conversion.target.untypedLiterals === true && Array.isArray(listed);
  if (types.length > 0 && !isSilent)
    conversion.loseAt(place, "type", "resolved", `${types.join(" or ")}, as its keywords mean`);
  return types;
}

function convertOne(node: SchemaNode, type: string, literals: Part, place: Place, conversion: Conversion): JsonSchema {
  if (!isContainer(type)) return convertSimple(node, [type], literals, place, conversion);
  const isTooDeep = place.level + 1 > (conversion.target.maxDepth ?? Infinity);
  const written = isTooDeep
    ? undefined
    : conversion.attempt(() => (type === "array" ? writeArray : writeObject)(node, literals, place, conversion));
  return written ?? encodeAsText(node, new Set([type]), "type", place, conversion);
}

function writeArray(node: SchemaNode, literals: Part, place: Place, conversion: Conversion): JsonSchema {
  const kept = keepKeywords(node, ["array"], place, conversion);
  const { structure, notes } = convertArray(node, place, conversion);
  return assemble(
    node,
    { ...kept, notes: [...kept.notes, ...literals.notes, ...notes] },
    { type: "array", ...structure },
  );
}

function writeObject(node: SchemaNode, literals: Part, place: Place, conversion: Conversion): JsonSchema {
  const { additionalProperties, unevaluatedProperties } = node;
  const isOpen = additionalProperties !== false && unevaluatedProperties !== false;
  const named = namedProperties(node, true).filter(([, child]) => child !== false);
  // Where an object cannot be said to be closed, an empty one is taken for an open one.
  if (named.length === 0 && (isOpen || conversion.target.closedObjects !== true)) {
    const isMap = isPlainObject(additionalProperties) && Object.keys(additionalProperties).length > 0;
    if (isMap) return encodeAsPairs(node, literals.notes, place, conversion);
    return encodeAsText(node, new Set(["object"]), "additionalProperties", place, conversion);
  }
  const written = writeNamed(node, literals.notes, place, conversion);
  const isEmpty = written !== NEVER && Object.keys(written.properties ?? {}).length === 0;
  if (!isEmpty || conversion.target.closedObjects === true) return written;
  return encodeAsText(node, new Set(["object"]), "properties", place, conversion);
}

/** An object with the properties it names. */
export function writeNamed(
  node: SchemaNode,
  said: readonly string[],
  place: Place,
  conversion: Conversion,
): JsonSchema {
  const kept = keepKeywords(node, ["object"], place, conversion);
  const { structure, notes, isNever } = convertObject(node, place, conversion);
  if (isNever === true && place.depth > 0) return NEVER;
  if (isNever === true) keepNever(NEVER, place, conversion);
  return assemble(node, { ...kept, notes: [...kept.notes, ...said, ...notes] }, { type: "object", ...structure });
}

function convertSimple(
  node: SchemaNode,
  types: readonly string[],
  literals: Part,
  place: Place,
  conversion: Conversion,
): JsonSchema {
  const isListed = Object.keys(literals.structure).length > 0;
  const isUntyped = isListed && conversion.target.untypedLiterals === true;
  const kept = keepKeywords(node, types, place, conversion, isUntyped ? "annotations" : "all");
  if (isUntyped && node["type"] !== undefined)
    conversion.loseAt(place, "type", "resolved", "left to the values that are listed");
  const type = isUntyped ? {} : { type: types.length === 1 ? types[0] : [...types] };
  return assemble(
    node,
    { ...kept, notes: [...literals.notes, ...kept.notes] },
    { ...type, ...withoutNull(literals.structure) },
  );
}

/** Null is added to a list again where the whole is made nullable. */
function withoutNull(structure: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { enum: values } = structure;
  if (!Array.isArray(values) || values.length < 2) return structure;
  return { ...structure, enum: values.filter((value) => value !== null) };
}

/** A schema of several types as a union of schemas of one type. */
function splitTypes(node: SchemaNode, types: readonly string[], place: Place, conversion: Conversion): JsonSchema {
  conversion.loseAt(place, "type", "resolved", "as a union of its types");
  const { type: _type, description, title, ...rest } = node;
  const branches = types.map((type) => ({
    type,
    ...Object.fromEntries(Object.entries(rest).filter(([keyword]) => isAbout(keyword, type))),
  }));
  const notes = { ...(title === undefined ? {} : { title }), ...(description === undefined ? {} : { description }) };
  return convertUnion({ ...notes, anyOf: branches }, place, conversion, "silent");
}

function isAbout(keyword: string, type: string): boolean {
  const about = TYPE_OF.get(keyword);
  if (keyword === "default" || keyword === "examples" || keyword === "example") return false;
  return about === undefined || about === (type === "integer" ? "number" : type);
}

function isContainer(type: string): boolean {
  return type === "object" || type === "array";
}

/** An object whose names are free as a list of names and values, where the target has no such objects. `repairArguments` reads it back. */
function encodeAsPairs(node: SchemaNode, said: readonly string[], place: Place, conversion: Conversion): JsonSchema {
  const { additionalProperties, ...rest } = node;
  const { maxDepth = Infinity, closedObjects } = conversion.target;
  const isTooDeep = place.level + 2 > maxDepth;
  if (place.otherTypes.has("array") || isTooDeep)
    return encodeAsText(node, new Set(["object"]), "additionalProperties", place, conversion);
  const pairs = conversion.attempt(() => {
    conversion.loseAt(place, "additionalProperties", "resolved", "as a list of keys and values, which is read back");
    const kept = keepKeywords(rest, ["object"], place, conversion);
    const at = conversion.inside(place, additionalProperties, "additionalProperties");
    const inside = { ...at, otherTypes: new Set<string>(), level: place.level + 2 };
    const value = keepNever(convertNode(additionalProperties, inside, conversion), inside, conversion);
    const pair = {
      type: "object",
      properties: { key: { type: "string" }, value },
      required: ["key", "value"],
      ...(closedObjects === true ? { additionalProperties: false } : {}),
    };
    const notes = [...kept.notes, ...said, "A list of keys, each once, and their values."];
    // What is about the object's properties is not about the list.
    const keywords = Object.fromEntries(Object.entries(kept.keywords).filter(([keyword]) => keyword === "title"));
    return assemble(rest, { keywords, notes }, { type: "array", items: pair });
  });
  return pairs ?? encodeAsText(node, new Set(["object"]), "additionalProperties", place, conversion);
}
