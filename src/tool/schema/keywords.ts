import { isPlainObject } from "../json-schema.ts";

export function words(text: string): ReadonlySet<string> {
  return new Set(text.split(" "));
}

/** Maps each keyword to its row of a table. */
export function byKeyword<Row>(rows: readonly (readonly [row: Row, keywords: string])[]): ReadonlyMap<string, Row> {
  return new Map(rows.flatMap(([row, keywords]) => keywords.split(" ").map((keyword) => [keyword, row] as const)));
}

export const TYPES: ReadonlySet<unknown> = words("string number integer boolean object array null");

/** Keywords that contain one schema. In older drafts, `items` may also contain a list of schemas. */
export const HOLDS_SCHEMA: ReadonlySet<string> = words(
  "items additionalItems additionalProperties unevaluatedItems unevaluatedProperties contains propertyNames not if then else contentSchema",
);

export const HOLDS_LIST: ReadonlySet<string> = words("allOf anyOf oneOf prefixItems items");

/** Keywords that contain schemas under names that their author chose. */
export const HOLDS_NAMED: ReadonlySet<string> = words(
  "properties patternProperties $defs definitions dependentSchemas dependencies",
);

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === "string";
const isNumber: Check = (value) => typeof value === "number" && Number.isFinite(value);
const isSchema: Check = (value) => typeof value === "boolean" || isPlainObject(value);

/** Checks for valid values of a keyword. Providers reject all other values. */
export const WELL_FORMED: ReadonlyMap<string, Check> = byKeyword<Check>([
  [isNumber, "minimum maximum exclusiveMinimum exclusiveMaximum"],
  [(value) => isNumber(value) && Number(value) > 0, "multipleOf"],
  [
    (value) => Number.isSafeInteger(value) && Number(value) >= 0,
    "minLength maxLength minItems maxItems minProperties maxProperties minContains maxContains",
  ],
  [(value) => typeof value === "boolean", "uniqueItems"],
  [(value) => typeof value === "string" && nativePattern(value) !== undefined, "pattern"],
  [isText, "format title description $ref"],
  [(value) => Array.isArray(value) && value.length > 0, "enum anyOf oneOf allOf prefixItems"],
  [(value) => Array.isArray(value) && value.every(isText), "required"],
  [isPlainObject, "properties patternProperties dependentRequired dependentSchemas"],
  [
    isSchema,
    "items additionalProperties unevaluatedItems unevaluatedProperties contains propertyNames not if then else",
  ],
]);

/** Compiles the regular expression of a pattern. Many real patterns, such as `[\w-.]`, are valid only without the `u` flag. */
export function nativePattern(source: string): RegExp | undefined {
  for (const flags of ["u", ""]) {
    try {
      return new RegExp(source, flags);
    } catch {
      // Try the other flags.
    }
  }
  return undefined;
}

/** Returns the type of a JSON value: `null`, `array`, or its `typeof`. */
export function typeOfValue(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

export function isOfType(value: unknown, type: string): boolean {
  if (type === "integer") return Number.isInteger(value);
  return type === "number" ? Number.isFinite(value) : typeOfValue(value) === type;
}

/** Deeper values count as different, because comparing them would overflow the stack. */
const MAX_COMPARED_DEPTH = 1_000;

/** Returns true if two JSON values are equal. The order of object members is irrelevant. */
export function isSame(left: unknown, right: unknown, depth = 0): boolean {
  if (left === right) return true;
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) return false;
  if (depth > MAX_COMPARED_DEPTH || Array.isArray(left) !== Array.isArray(right)) return false;
  const names = Object.keys(left) as (keyof typeof left)[];
  if (names.length !== Object.keys(right).length) return false;
  return names.every((name) => Object.hasOwn(right, name) && isSame(left[name], right[name], depth + 1));
}

/** Parses a JSON Pointer into steps. Returns undefined if it is invalid. */
export function pointerSteps(pointer: string): readonly string[] | undefined {
  if (pointer !== "" && !pointer.startsWith("/")) return undefined;
  return pointer
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** Returns the value at a path; undefined if there is none. */
export function follow(root: unknown, steps: readonly string[]): unknown {
  let found = root;
  for (const step of steps) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, step)) return undefined;
    found = (found as Readonly<Record<string, unknown>>)[step];
  }
  return found;
}

/** Decodes `%XX`; returns invalid text unchanged. */
export function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
