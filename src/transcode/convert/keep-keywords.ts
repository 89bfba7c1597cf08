import { present } from "../../base/present.ts";
import { HOLDS_NAMED, HOLDS_SCHEMA, words } from "../../tool/schema/keywords.ts";
import type { JsonSchema } from "../../tool/json-schema.ts";
import { lose, type SchemaPart, type SchemaPosition, within } from "./conversion.ts";
import { convertNode } from "./convert-node.ts";
import { addNotes, describeCondition, describeConstraint } from "./describe-constraint.ts";
import { ANNOTATIONS, FEATURE_OF, PLACES, type SchemaNode, TYPE_OF } from "../schema/keywords.ts";

/** Keywords that other steps convert. */
const STRUCTURE = words(
  "type nullable description properties required additionalProperties items prefixItems anyOf oneOf allOf $ref enum const",
);

/** Keeps each keyword that the target accepts, describes others in words, and drops the rest. */
export function keepKeywords(
  node: SchemaNode,
  types: readonly string[],
  place: SchemaPosition,
  only: "all" | "annotations" = "all",
): SchemaPart {
  const structure: Record<string, unknown> = {};
  const notes: string[] = [];
  const isAllowed = (keyword: string): boolean => only === "all" || ANNOTATIONS.has(keyword);
  for (const [keyword, value] of Object.entries(node)) {
    const isSaidWithIf = (keyword === "then" || keyword === "else") && !place.has("conditionals");
    const isElsewhere = STRUCTURE.has(keyword) && !isBesideThePoint(keyword, types);
    if (isElsewhere || (isSaidWithIf && node["if"] !== undefined)) continue;
    if (PLACES.has(keyword)) {
      const isRoot = place.path === "" && /defs|definitions/.test(keyword);
      if (!isRoot) lose(place, keyword, "resolved", "references are written without it");
    } else if (isBesideThePoint(keyword, types))
      lose(place, keyword, "resolved", `does not apply to ${types.join(" or ")} values: left out`);
    else if (isAllowed(keyword) && isTaken(keyword, value, types, place))
      structure[keyword] = copyKeyword(keyword, value, place);
    else {
      const note =
        keyword === "if" ? describeCondition(value, node["then"], node["else"]) : describeConstraint(keyword, value);
      if (note === undefined || note === "") lose(place, keyword, "dropped", "not supported");
      else {
        notes.push(note);
        lose(place, keyword, "described", "not supported: moved to the description");
      }
    }
  }
  return { structure, notes };
}

/** Assembles a converted schema from its parts, the type and the description first. */
export function assemble(node: SchemaNode, structure: object, ...parts: readonly SchemaPart[]): JsonSchema {
  const all: Record<string, unknown> = Object.assign({}, structure, ...parts.map((part) => part.structure));
  const { type, title, ...rest } = all;
  const notes = parts.flatMap((part) => part.notes);
  const description = addNotes(node["description"], notes);
  return { ...present({ type: type as string | undefined, title, description }), ...rest };
}

function isBesideThePoint(keyword: string, types: readonly string[]): boolean {
  const about = TYPE_OF.get(keyword);
  if (keyword === "format" && types.length > 0) return !types.some((type) => /^(string|number|integer)$/.test(type));
  if (types.length === 0 || about === undefined) return false;
  return !types.some((type) => (type === "integer" ? "number" : type) === about);
}

/** Formats of numbers. All other formats are of text. */
const NUMBER_FORMAT = /^(u?int\d*|float|double|decimal)$/;

function isTaken(keyword: string, value: unknown, types: readonly string[], { has, target }: SchemaPosition): boolean {
  const feature = FEATURE_OF.get(keyword);
  if (target.without?.has(keyword) === true) return false;
  if (keyword === "default" && value === null && target.allRequired === true) return false;
  if (keyword === "format" && target.formats !== undefined) {
    const isOfItsType = types.length === 0 || types.includes("string") !== NUMBER_FORMAT.test(String(value));
    return has("format") && isOfItsType && target.formats.has(String(value));
  }
  if (keyword === "minItems" && target.maxMinItems !== undefined) return Number(value) <= target.maxMinItems;
  if (feature !== undefined) return has(feature);
  return has("unknownKeywords");
}

/** Values are copied, so that a change of the result does not change the original. */
function copyKeyword(keyword: string, value: unknown, place: SchemaPosition): unknown {
  const inside = (child: unknown, ...tokens: readonly string[]): unknown =>
    convertNode(child, within(place, child, keyword, ...tokens));
  if (HOLDS_SCHEMA.has(keyword)) return typeof value === "boolean" ? value : inside(value);
  if (HOLDS_NAMED.has(keyword) && typeof value === "object" && value !== null)
    return Object.fromEntries(
      Object.entries(value).map(([name, child]) => [name, Array.isArray(child) ? [...child] : inside(child, name)]),
    );
  return copyData(value);
}

const MAX_DATA = 10_000;
const MAX_DATA_DEPTH = 100;

/** Copies JSON data. Omits content that is deeper or larger than real values. */
export function copyData(value: unknown): unknown {
  let copied = 0;

  function copy(given: unknown, depth: number): unknown {
    if (typeof given !== "object" || given === null) return given;
    copied += 1;
    if (depth > MAX_DATA_DEPTH || copied > MAX_DATA) return null;
    if (Array.isArray(given)) return given.map((item) => copy(item, depth + 1));
    return Object.fromEntries(Object.entries(given).map(([name, member]) => [name, copy(member, depth + 1)]));
  }

  return copy(value, 0);
}

/** Returns whether a schema constrains values or only describes them. */
export function isConstraining(node: SchemaNode): boolean {
  return Object.keys(node).some(
    (keyword) => node[keyword] !== undefined && !ANNOTATIONS.has(keyword) && keyword !== "nullable",
  );
}
