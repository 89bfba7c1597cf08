import { isOfType, isSame } from "../../tool/schema/keywords.ts";
import { isPlainObject } from "../../tool/json-schema.ts";
import { ANNOTATIONS, type SchemaNode } from "../schema/keywords.ts";
import { lose, type SchemaPosition, within } from "./conversion.ts";
import { below } from "../schema/find-reference.ts";
import { isConstraining } from "./keep-keywords.ts";
import { spellModern } from "./spell-modern.ts";
import { requiredOf } from "./convert-container.ts";
import { addNotes } from "./describe-constraint.ts";

const MAX_PRODUCT = 16;

type Combine = (first: unknown, second: unknown) => unknown;

const larger: Combine = (first, second) => Math.max(first as number, second as number);
const smaller: Combine = (first, second) => Math.min(first as number, second as number);
const each: Combine = (first, second) => ({ allOf: [first, second] });

/** Combines two values of a keyword. Returns undefined if that is impossible. */
const COMBINE: Readonly<Record<string, Combine>> = {
  minimum: larger,
  exclusiveMinimum: larger,
  minLength: larger,
  minItems: larger,
  minProperties: larger,
  maximum: smaller,
  exclusiveMaximum: smaller,
  maxLength: smaller,
  maxItems: smaller,
  maxProperties: smaller,
  multipleOf: (first, second) => {
    const [low, high] = [smaller(first, second) as number, larger(first, second) as number];
    return Number.isInteger(high / low) ? high : undefined;
  },
  uniqueItems: (first, second) => first === true || second === true,
  required: (first, second) => [...new Set([...(first as string[]), ...(second as string[])])],
  items: each,
  contains: (first, second) => (isSame(first, second) ? first : undefined),
  propertyNames: each,
  not: (first, second) => ({ anyOf: [first, second] }),
  anyOf: (first, second) => product(first as unknown[], second as unknown[]),
};

/** Merges two schemas in modern spelling. `false` means that no value fits both. `left` lists keywords of the second schema that were lost. */
function mergeSchemas(first: SchemaNode, second: SchemaNode) {
  const result: Record<string, unknown> = { ...first };
  const left: string[] = [];
  for (const [keyword, value] of Object.entries(second)) {
    if (!Object.hasOwn(first, keyword)) result[keyword] = value;
    else if (!ANNOTATIONS.has(keyword) && !OBJECT_KEYWORDS.has(keyword) && !isSame(first[keyword], value)) {
      const combined = combine(keyword, first[keyword], value);
      if (combined === undefined) left.push(keyword);
      else result[keyword] = combined;
    }
  }
  mergeObjects(first, second, result);
  const types = Object.hasOwn(result, "type") ? [result["type"]].flat() : undefined;
  const listed = Array.isArray(result["enum"]) ? result["enum"] : undefined;
  const values = listed?.filter((value) => types === undefined || types.some((type) => isOfType(value, String(type))));
  if (values !== undefined) result["enum"] = values;
  if (types?.length === 0 || values?.length === 0 || requiresTheImpossible(result))
    return { node: false as const, left };
  if (types?.length === 1) result["type"] = types[0];
  return { node: result, left };
}

function requiresTheImpossible({ type, properties, required }: SchemaNode): boolean {
  if (type !== "object" || !isPlainObject(properties) || !Array.isArray(required)) return false;
  return required.some((name) => Object.hasOwn(properties, String(name)) && properties[String(name)] === false);
}

const OBJECT_KEYWORDS = new Set(["properties", "additionalProperties"]);

function combine(keyword: string, first: unknown, second: unknown): unknown {
  if (keyword === "type") return sharedTypes([first].flat() as string[], [second].flat() as string[]);
  if (keyword === "enum")
    return (first as unknown[]).filter((value) => (second as unknown[]).some((other) => isSame(value, other)));
  return COMBINE[keyword]?.(first, second);
}

function sharedTypes(first: readonly string[], second: readonly string[]): readonly string[] {
  return first.flatMap((type) => {
    if (second.includes(type)) return [type];
    const isInteger =
      (type === "integer" && second.includes("number")) || (type === "number" && second.includes("integer"));
    return isInteger ? ["integer"] : [];
  });
}

/** A property must match both schemas: the schema for its name in each, or else the schema for other properties. */
function mergeObjects(first: SchemaNode, second: SchemaNode, result: Record<string, unknown>): void {
  const [one, two] = [membersOf(first), membersOf(second)];
  if (one === undefined && two === undefined) return;
  const properties = new Map<string, unknown>();
  for (const name of [...Object.keys(one ?? {}), ...Object.keys(two ?? {})]) {
    const both = [
      [one, first],
      [two, second],
    ].map(([members, node]) =>
      members !== undefined && Object.hasOwn(members, name) ? members[name] : othersOf(node ?? {}),
    );
    properties.set(name, bothOf(both[0], both[1]));
  }
  if (first["properties"] !== undefined || second["properties"] !== undefined)
    result["properties"] = Object.fromEntries(properties);
  const others = [first["additionalProperties"], second["additionalProperties"]].filter((given) => given !== undefined);
  if (others.length === 2) result["additionalProperties"] = bothOf(others[0], others[1]);
}

function membersOf(node: SchemaNode): SchemaNode | undefined {
  const { properties, additionalProperties } = node;
  if (isPlainObject(properties)) return properties;
  return additionalProperties === undefined ? undefined : {};
}

/** Returns the schema for properties that are not named. */
function othersOf(node: SchemaNode): unknown {
  return node["patternProperties"] === undefined ? (node["additionalProperties"] ?? true) : true;
}

function bothOf(first: unknown, second: unknown): unknown {
  if (first === false || second === false) return false;
  if (isAnything(first) || isSame(first, second)) return isAnything(second) && isPlainObject(first) ? first : second;
  return isAnything(second) ? first : each(first, second);
}

function isAnything(schema: unknown): boolean {
  return schema === true || (isPlainObject(schema) && Object.keys(schema).length === 0);
}

function product(first: readonly unknown[], second: readonly unknown[]): readonly unknown[] | undefined {
  if (first.length * second.length > MAX_PRODUCT) return undefined;
  return first.flatMap((one) => second.map((two) => each(one, two)));
}

const MAX_NESTING = 64;

/** Merges `allOf`, and references next to other keywords; `false` if no value fits. Keywords that cannot be merged are omitted and recorded. */
export function mergeAllOf(
  node: SchemaNode,
  place: SchemaPosition,
): { readonly node: SchemaNode | false; readonly following: ReadonlySet<string> } {
  const following = new Set(place.following);

  function gather(part: SchemaNode, at: SchemaPosition, nesting: number): readonly (SchemaNode | false)[] {
    const { allOf: branches, $ref: reference, ...own } = part;
    const parts: (SchemaNode | false)[] = [own];
    if (typeof reference === "string") parts.push(...follow(reference, at, nesting));
    if (Array.isArray(branches))
      branches.forEach((branch, index) => parts.push(...enter(branch, below(at.path, "allOf", index), nesting)));
    return parts;
  }

  function enter(branch: unknown, fallback: string, nesting: number): readonly (SchemaNode | false)[] {
    if (branch === false) return [false];
    if (!isPlainObject(branch)) return [];
    const at = { ...place, path: place.references.pointerOf(branch) ?? fallback };
    if (nesting > MAX_NESTING || !place.spend()) {
      place.record(at.path, "allOf", "widened", "too much to merge: the rest is left out");
      return [];
    }
    return gather(spellModern(branch, at), at, nesting + 1);
  }

  function follow(reference: string, at: SchemaPosition, nesting: number): readonly (SchemaNode | false)[] {
    const found = place.references.find(reference);
    if (found === undefined) {
      lose(at, "$ref", "dropped", "refers to nothing inside this schema");
      return [];
    }
    if (following.has(found.pointer)) {
      lose(at, "$ref", "widened", "a schema merged with itself is cut here");
      return [];
    }
    following.add(found.pointer);
    return enter(found.node, found.pointer, nesting);
  }

  /** Merges recursively by halves, so that many small schemas take no longer than a few large ones. */
  function merge(parts: readonly (SchemaNode | false)[]): SchemaNode | false {
    if (parts.length <= 1) return parts[0] ?? {};
    const middle = parts.length >> 1;
    const [first, second] = [merge(parts.slice(0, middle)), merge(parts.slice(middle))];
    if (first === false || second === false) return false;
    const isPlain = !isConstraining(first) || !isConstraining(second);
    const merged = isPlain ? mergeSchemas(first, second) : mergeSchemas(withLiterals(first), withLiterals(second));
    for (const keyword of merged.left) lose(place, keyword, "widened", "two values cannot be merged: one is omitted");
    return merged.node;
  }

  return { node: merge(gather(node, place, 0)), following };
}

/** Converts a constant to a list of one, so that constants and lists can be merged. */
function withLiterals(node: SchemaNode): SchemaNode {
  if (!Object.hasOwn(node, "const")) return node;
  const { const: value, ...rest } = node;
  const { enum: values } = rest;
  if (!Array.isArray(values)) return { ...rest, enum: [value] };
  return mergeSchemas(rest, { enum: [value] }).node || { not: {} };
}

/** The keywords that are copied from each alternative. */
const KEPT: ReadonlySet<string> = new Set(["type", "properties", "required", "additionalProperties", ...ANNOTATIONS]);

/** Merges alternative parameters into one object with the properties of all. A description states which go together. */
export function mergeBranches(node: SchemaNode, keyword: "anyOf" | "oneOf", root: SchemaPosition): SchemaNode {
  const { [keyword]: given, ...rest } = node;
  const own = Object.fromEntries(Object.entries(rest).filter(([name]) => !ANNOTATIONS.has(name)));
  const forms = (given as readonly unknown[]).flatMap((branch, index): readonly SchemaNode[] => {
    const place = { ...within(root, branch, keyword, index), depth: 0 };
    const merged = mergeAllOf({ allOf: [own, branch] }, place).node;
    return merged === false ? [] : [merged];
  });
  const isWhole = forms.length === 1 && forms.every((form) => Object.keys(form).every((name) => KEPT.has(name)));
  if (isWhole) lose(root, keyword, "resolved", "as its only alternative");
  else {
    const message = "its alternatives as one object; the description states which go together";
    lose(root, keyword, "widened", message);
  }
  const required = forms.map(requiredOf);
  const inAll = (required[0] ?? []).filter((name) => required.every((names) => names.includes(name)));
  const isClosed = forms.length > 0 && forms.every((form) => form["additionalProperties"] === false);
  const properties = sharedProperties(forms);
  const isMap = Object.keys(properties).length === 0 && forms.some((form) => Boolean(form["additionalProperties"]));
  const words = `Give the parameters of one of these: ${forms.map(inWords).join("; ")}.`;
  const description = addNotes(rest["description"], forms.length > 1 ? [words] : []);
  return {
    ...rest,
    ...(description === undefined ? {} : { description }),
    type: "object",
    properties,
    required: inAll,
    ...(isClosed ? { additionalProperties: false } : {}),
    ...(isMap ? { additionalProperties: true } : {}),
  };
}

function sharedProperties(forms: readonly SchemaNode[]): Readonly<Record<string, unknown>> {
  const found = new Map<string, unknown[]>();
  for (const { properties } of forms) {
    for (const [name, schema] of isPlainObject(properties) ? Object.entries(properties) : []) {
      const known = found.get(name) ?? [];
      if (schema !== false && !known.some((other) => isSame(other, schema))) known.push(schema);
      found.set(name, known);
    }
  }
  const entries = [...found].filter(([, schemas]) => schemas.length > 0);
  return Object.fromEntries(
    entries.map(([name, schemas]) => [name, schemas.length === 1 ? schemas[0] : { anyOf: schemas }]),
  );
}

function inWords(form: SchemaNode): string {
  const required = new Set(requiredOf(form));
  const { properties } = form;
  const names = new Set([...required, ...(isPlainObject(properties) ? Object.keys(properties) : [])]);
  const shown = [...names].map((name) => (required.has(name) ? name : `${name} (optional)`));
  return shown.length === 0 ? "none" : shown.join(", ");
}
