import { present } from "../../base/present.ts";
import { isSame } from "../../tool/schema/keywords.ts";
import { canonicalJson } from "../../tool/json/canonical-json.ts";
import { isPlainObject, type JsonSchema } from "../../tool/json-schema.ts";
import { lose, type SchemaPart, type SchemaPosition, within } from "./conversion.ts";
import { NEVER, nothingFits } from "./convert-anything.ts";
import { annotationsOf, convertNode, convertSpelled } from "./convert-node.ts";
import { addNotes, describeWhole, showJson } from "./describe-constraint.ts";
import { assemble, isConstraining, keepKeywords } from "./keep-keywords.ts";
import { ANNOTATIONS, type SchemaNode } from "../schema/keywords.ts";
import { mergeAllOf } from "./merge-schemas.ts";
import { takesNull, withNull } from "./nullable.ts";
import { spellModern } from "./spell-modern.ts";
import { typesOf } from "../schema/types-of.ts";
import type { References } from "../schema/find-reference.ts";

/** Converts each branch independently. For a target that accepts unions next to other keywords. */
export function convertBranches(node: SchemaNode, place: SchemaPosition): SchemaPart {
  const structure: Record<string, unknown> = {};
  const notes: string[] = [];
  for (const keyword of ["allOf", "anyOf", "oneOf"] as const) {
    const branches = node[keyword];
    if (!Array.isArray(branches)) continue;
    const target = keyword !== "oneOf" || place.has("oneOf") ? keyword : "anyOf";
    if (!place.has(target) || structure[target] !== undefined) {
      lose(place, keyword, "described", "not supported: moved to the description");
      notes.push(describeBranches(branches));
      continue;
    }
    if (target !== keyword) loseExclusion(branches, place);
    structure[target] = branches.map((branch, index) => convertNode(branch, within(place, branch, keyword, index)));
  }
  return { structure, notes };
}

/** Converts a union so that no keywords remain next to it. */
export function convertUnion(
  node: SchemaNode,
  place: SchemaPosition,
  record: "recorded" | "silent" = "recorded",
): JsonSchema {
  const keyword = node["anyOf"] === undefined ? "oneOf" : "anyOf";
  const { [keyword]: given, ...rest } = node;
  const raw = given as readonly unknown[];
  if (record === "recorded" && keyword === "oneOf") loseExclusion(raw, place);
  if (raw.every(isOnlyAboutNames) && isConstraining(rest)) {
    lose(place, keyword, "described", "which names go together: moved to the description");
    const description = addNotes(node["description"], [describeBranches(raw)]);
    return convertSpelled({ ...rest, description }, place);
  }
  const branches = distribute(raw, keyword, rest, place);
  if (branches === undefined) return nothingFits(place);
  const about = annotationsOf(rest);
  return writeUnion(branches, about, keyword, record, place);
}

interface Branch {
  readonly node: SchemaNode | boolean;
  readonly place: SchemaPosition;
}

/** Returns the branches that any value can fit, with the keywords next to the union merged into each. */
function distribute(
  raw: readonly unknown[],
  keyword: string,
  rest: SchemaNode,
  place: SchemaPosition,
): readonly Branch[] | undefined {
  const own = Object.fromEntries(
    Object.entries(rest).filter(([name]) => !ANNOTATIONS.has(name) && name !== "nullable"),
  );
  const hasOwn = Object.keys(own).length > 0;
  if (hasOwn) lose(place, keyword, "resolved", "the keywords next to it are written into each branch");
  const branches = raw.flatMap((branch, index): readonly Branch[] => {
    const inside = within(place, branch, keyword, index);
    if (branch === false) return [];
    if (!isPlainObject(branch)) return [{ node: hasOwn ? own : true, place: inside }];
    const spelled = spellModern(branch, inside);
    if (!hasOwn) return [{ node: spelled, place: inside }];
    const merged = mergeAllOf({ allOf: [spelled, own] }, inside);
    return merged.node === false ? [] : [{ node: merged.node, place: { ...inside, following: merged.following } }];
  });
  return branches.length === 0 ? undefined : branches;
}

function writeUnion(
  branches: readonly Branch[],
  about: SchemaNode,
  keyword: string,
  record: "recorded" | "silent",
  place: SchemaPosition,
): JsonSchema {
  const { references, target } = place;
  const types = branches.map(({ node }) => typesOf(node, references));
  const isNull = types.map((each) => each.size === 1 && each.has("null"));
  const kept = keepKeywords(about, [], place);
  const counts = new Map<string, number>();
  for (const type of types.flatMap((each) => [...each])) counts.set(type, (counts.get(type) ?? 0) + 1);
  const separate = new Map<string, JsonSchema>();
  branches.forEach(({ node, place: inside }, index) => {
    if (isNull[index] === true || types[index]?.size === 0) return;
    const own = types[index];
    const others = [...counts].filter(([type, count]) => count > (own?.has(type) === true ? 1 : 0));
    const otherTypes = new Set([...place.otherTypes, ...others.map(([type]) => type)]);
    const schema =
      typeof node === "boolean"
        ? convertNode(node, { ...inside, otherTypes })
        : convertSpelled(node, { ...inside, otherTypes });
    // A nested union is flattened.
    const members = isBareUnion(schema) ? schema.anyOf : schema === NEVER ? [] : [schema];
    for (const member of members) separate.set(canonicalJson(member), member);
  });
  const converted = withOneList([...separate.values()]);
  const hasNull = isNull.includes(true);
  const [only] = converted;
  if (only === undefined) return hasNull ? assemble(about, { type: "null" }, kept) : nothingFits(place);
  const changed = (message: string): void => {
    if (record === "recorded") lose(place, keyword, "resolved", message);
  };
  if (converted.length === 1) {
    changed(hasNull ? "that it may be null, in this format's notation" : "as the one schema in it");
    const schema = describeWhole(only, addNotes(about["description"], kept.notes), kept.structure, target);
    return hasNull ? withNull(schema, target) : schema;
  }
  if (converted.length < branches.length - (hasNull ? 1 : 0)) changed("without duplicate branches");
  if (target.bareUnions !== true) {
    const union = assemble(about, {}, kept, { structure: { anyOf: converted }, notes: [] });
    return hasNull ? withNull(union, target) : union;
  }
  if (hasNull) changed("that it may be null, in this format's notation");
  const union = describeWhole({ anyOf: converted }, addNotes(about["description"], kept.notes), {}, target);
  return hasNull ? withNull(union, target) : union;
}

function isBareUnion(schema: JsonSchema): schema is JsonSchema & { readonly anyOf: readonly JsonSchema[] } {
  const { anyOf } = schema;
  const isUnion = Array.isArray(anyOf) && anyOf.length > 1 && Object.keys(schema).length === 1;
  return isUnion && !takesNull(schema);
}

/** Merges the branches that only list values of one type into one list, at the position of the first such branch. */
function withOneList(members: readonly JsonSchema[]): readonly JsonSchema[] {
  const lists = Map.groupBy(members.filter(isList), ({ type }) => JSON.stringify(type));
  const merged = new Set<string>();
  return members.flatMap((member) => {
    const key = JSON.stringify(member.type);
    const group = isList(member) ? lists.get(key) : undefined;
    if (group === undefined || group.length < 2) return [member];
    if (merged.has(key)) return [];
    merged.add(key);
    return [mergeLists(group)];
  });
}

function isList(member: JsonSchema): boolean {
  const { const: _constant, enum: listed, type: _type, title: _title, description: _description, ...rest } = member;
  return Object.keys(rest).length === 0 && (Array.isArray(listed) || Object.hasOwn(member, "const"));
}

function mergeLists(members: readonly JsonSchema[]): JsonSchema {
  const type = members[0]?.type;
  const listed = members.map((member) => (Array.isArray(member.enum) ? (member.enum as unknown[]) : [member.const]));
  const notes = members.flatMap(({ description }, index) =>
    description === undefined ? [] : [`${(listed[index] ?? []).map(showJson).join(", ")}: ${description}`],
  );
  const description = addNotes(undefined, notes);
  return { ...present({ type, description }), enum: inOrder(listed.flat()) };
}

function inOrder(values: readonly unknown[]): readonly unknown[] {
  const once = [...new Set(values)];
  return once.includes(null) ? [...once.filter((value) => value !== null), null] : once;
}

/** Returns whether a branch only states which properties are required. */
export function isOnlyAboutNames(branch: unknown): boolean {
  return (
    isPlainObject(branch) &&
    Object.keys(branch).length > 0 &&
    Object.keys(branch).every(
      (keyword) => keyword === "required" || (keyword === "not" && isOnlyAboutNames(branch["not"])),
    )
  );
}

export function describeBranches(branches: readonly unknown[]): string {
  const forms = branches.map((branch) => {
    const names = isPlainObject(branch) && Object.keys(branch).join() === "required" ? branch["required"] : undefined;
    return Array.isArray(names) ? `with ${names.join(" and ")}` : `fits ${showJson(branch)}`;
  });
  return `One of these: ${forms.join("; ")}.`;
}

function loseExclusion(branches: readonly unknown[], place: SchemaPosition): void {
  const isExclusive = areExclusive(branches, place.references);
  const message = isExclusive
    ? "as anyOf: its branches exclude each other"
    : "as anyOf: a value may now fit several branches";
  lose(place, "oneOf", isExclusive ? "resolved" : "widened", message);
}

const MAX_BRANCHES = 50;

/** Returns true if certainly no value fits two of these schemas: their types differ, or the values of a property that all require. */
function areExclusive(branches: readonly unknown[], references: References): boolean {
  if (branches.length > MAX_BRANCHES) return false;
  const nodes = branches.map((branch) => followed(branch, references));
  return nodes.every((one, index) => nodes.slice(index + 1).every((two) => exclude(one, two, references)));
}

function followed(branch: unknown, references: References): unknown {
  const isReference = isPlainObject(branch) && typeof branch["$ref"] === "string" && Object.keys(branch).length === 1;
  return isReference ? references.find(String(branch["$ref"]))?.node : branch;
}

function exclude(one: unknown, two: unknown, references: References): boolean {
  const types = typesOf(two, references, "said");
  if (![...typesOf(one, references, "said")].some((type) => types.has(type))) return true;
  if (!isPlainObject(one) || !isPlainObject(two)) return false;
  const [first, second] = [valuesOf(one), valuesOf(two)];
  if (first !== undefined && second !== undefined) return areApart(first, second);
  const isObject = one["type"] === "object" && two["type"] === "object";
  return (
    isObject &&
    Object.entries(taggedBy(one)).some(([name, values]) => {
      const others = taggedBy(two)[name];
      return others !== undefined && areApart(values, others);
    })
  );
}

/** Returns the values of properties that a schema both requires and lists. */
function taggedBy(node: SchemaNode): Readonly<Record<string, readonly unknown[]>> {
  const { properties, required } = node;
  if (!isPlainObject(properties) || !Array.isArray(required)) return {};
  return Object.fromEntries(
    Object.entries(properties).flatMap(([name, schema]) => {
      const values = isPlainObject(schema) && required.includes(name) ? valuesOf(schema) : undefined;
      return values === undefined ? [] : [[name, values]];
    }),
  );
}

function valuesOf(node: SchemaNode): readonly unknown[] | undefined {
  if (Object.hasOwn(node, "const")) return [node["const"]];
  return Array.isArray(node["enum"]) ? node["enum"] : undefined;
}

function areApart(first: readonly unknown[], second: readonly unknown[]): boolean {
  return !first.some((value) => second.some((other) => isSame(value, other)));
}
