import { isPlainObject } from "../../tool/json-schema.ts";
import { isOfType } from "../schema/types-of.ts";
import { ANNOTATIONS, type SchemaNode } from "../schema/keywords.ts";

/** Two schemas as one that takes what both take. */
export interface Merged {
  /** False where no value fits both. */
  readonly node: SchemaNode | false;
  /** Keywords of the second that could not be kept beside the first's. */
  readonly left: readonly string[];
}

/** Unions that are multiplied out hold at most this many branches. */
const MAX_PRODUCT = 16;

type Combine = (first: unknown, second: unknown) => unknown;

const larger: Combine = (first, second) => Math.max(first as number, second as number);
const smaller: Combine = (first, second) => Math.min(first as number, second as number);
const each: Combine = (first, second) => ({ allOf: [first, second] });

/** How two values of a keyword become one; undefined where they cannot. */
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

/** The values that both of two schemas take, as one schema. Both are in modern spelling; what is inside them is merged when it is met. */
export function mergeSchemas(first: SchemaNode, second: SchemaNode): Merged {
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
  if (types?.length === 0 || values?.length === 0 || requiresTheImpossible(result)) return { node: false, left };
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

/** A property must fit what each side says of it: its own schema there, or what that side says of other properties. */
function mergeObjects(first: SchemaNode, second: SchemaNode, result: Record<string, unknown>): void {
  const [one, two] = [membersOf(first), membersOf(second)];
  if (one === undefined && two === undefined) return;
  const properties = new Map<string, unknown>();
  for (const name of [...Object.keys(one ?? {}), ...Object.keys(two ?? {})]) {
    const told = [
      [one, first],
      [two, second],
    ].map(([members, node]) =>
      members !== undefined && Object.hasOwn(members, name) ? members[name] : othersOf(node ?? {}),
    );
    properties.set(name, bothOf(told[0], told[1]));
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

/** What a schema says of a property that it does not name. */
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

/** Whether two JSON values are equal, the order of members aside. Deep ones count as different. */
export function isSame(left: unknown, right: unknown, depth = 0): boolean {
  if (left === right) return true;
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null || depth > 50)
    return false;
  if (Array.isArray(left) !== Array.isArray(right)) return false;
  const names = Object.keys(left);
  if (names.length !== Object.keys(right).length) return false;
  return names.every(
    (name) => Object.hasOwn(right, name) && isSame((left as SchemaNode)[name], (right as SchemaNode)[name], depth + 1),
  );
}
