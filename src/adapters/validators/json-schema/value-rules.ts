import { isOfType, isSame } from "../../../tool/schema/keywords.ts";
import { canonicalJson } from "../../../tool/json/canonical-json.ts";
import { isPlainObject } from "../../../tool/json-schema.ts";
import { countCharacters } from "../../../tool/limits.ts";
import { measureSchema } from "../../../tool/schema/schema-limits.ts";
import { fail, matches, type Rule, type Run, type SchemaObject, spend } from "./evaluate.ts";
import { formatOf } from "./formats.ts";
import type { Patterns } from "./patterns.ts";
import { listed, show } from "./problems.ts";

export function valueRules(schema: SchemaObject, patterns: Patterns): readonly Rule[] {
  const rules: Rule[] = [];
  const add = (expected: () => string, holds: (value: unknown, run: Run) => boolean): void => {
    rules.push(
      (value, place, run) => value === undefined || holds(value, run) || fail(run, { place, value, expected }),
    );
  };
  const { type, enum: allowed, pattern, format } = schema;

  if (type !== undefined) {
    // `nullable` is OpenAPI's notation for null.
    const types = [type, ...(schema["nullable"] === true ? ["null"] : [])].flat() as string[];
    add(
      () => [type].flat().join(" or "),
      (value) => types.some((name) => isOfType(value, name)),
    );
  }
  if (Array.isArray(allowed)) {
    const plain = new Set(allowed.filter((one) => typeof one !== "object" || one === null));
    const others = allowed.filter((one) => typeof one === "object" && one !== null);
    const cost = sizeOf(others);
    add(
      () => `one of ${listed(allowed, show)}`,
      (value, run) => {
        if (typeof value !== "object" || value === null) return plain.has(value);
        spend(run, cost);
        return others.some((one) => isSame(one, value));
      },
    );
  }
  if (Object.hasOwn(schema, "const")) {
    const wanted = schema["const"];
    const cost = sizeOf(wanted);
    add(
      () => show(wanted),
      (value, run) => (spend(run, cost), isSame(wanted, value)),
    );
  }
  rules.push(...limitRules(schema, "number"), ...limitRules(schema, "string"));
  if (typeof pattern === "string") {
    const read = patterns.get(pattern);
    add(
      () => `a text that matches ${pattern.slice(0, 200)}`,
      (value, run) => typeof value !== "string" || matches(read, value, run),
    );
  }
  const known = typeof format === "string" ? formatOf(format) : undefined;
  if (known) {
    add(
      () => `a valid ${String(format)}`,
      (value) => typeof value !== known.type || known.test(value as string | number),
    );
  }
  rules.push(...limitRules(schema, "array"));
  if (schema["uniqueItems"] === true) {
    rules.push((value, place, run) => {
      if (!Array.isArray(value)) return true;
      spend(run, sizeOf(value, run.maxSteps));
      const found = findDuplicate(value);
      const expected = (): string => `a list without duplicates (items ${found?.join(" and ")} are equal)`;
      return !found || fail(run, { place, value, expected });
    });
  }
  return rules;
}

type Kind = "number" | "string" | "array" | "object";

interface Limit {
  readonly kind: Kind;
  /** Receives the value itself if it is a number, otherwise its length. */
  holds(size: number, limit: number): boolean;
  expected(limit: number): string;
}

const atLeast = (size: number, limit: number): boolean => size >= limit;
const atMost = (size: number, limit: number): boolean => size <= limit;

const LIMITS: Readonly<Record<string, Limit>> = {
  minimum: { kind: "number", holds: atLeast, expected: (limit) => `>= ${limit}` },
  maximum: { kind: "number", holds: atMost, expected: (limit) => `<= ${limit}` },
  exclusiveMinimum: { kind: "number", holds: (value, limit) => value > limit, expected: (limit) => `> ${limit}` },
  exclusiveMaximum: { kind: "number", holds: (value, limit) => value < limit, expected: (limit) => `< ${limit}` },
  multipleOf: { kind: "number", holds: isMultiple, expected: (limit) => `a multiple of ${limit}` },
  minLength: { kind: "string", holds: atLeast, expected: (limit) => `a text of at least ${limit} characters` },
  maxLength: { kind: "string", holds: atMost, expected: (limit) => `a text of at most ${limit} characters` },
  minItems: { kind: "array", holds: atLeast, expected: (limit) => `a list of at least ${limit} items` },
  maxItems: { kind: "array", holds: atMost, expected: (limit) => `a list of at most ${limit} items` },
  minProperties: { kind: "object", holds: atLeast, expected: (limit) => `an object of at least ${limit} members` },
  maxProperties: { kind: "object", holds: atMost, expected: (limit) => `an object of at most ${limit} members` },
};

/** Creates rules from the keywords that compare a number or a length with a limit. */
export function limitRules(schema: SchemaObject, kind: Kind): readonly Rule[] {
  return Object.entries(LIMITS).flatMap(([keyword, { kind: of, holds, expected }]) => {
    // In draft 4, `exclusiveMinimum` is a flag, and the limit is in `minimum`.
    const isFlag = keyword.startsWith("exclusive") && schema[keyword] === true;
    const limit = isFlag ? schema[keyword === "exclusiveMinimum" ? "minimum" : "maximum"] : schema[keyword];
    if (of !== kind || typeof limit !== "number") return [];
    const rule: Rule = (value, place, run) => {
      const size = sizeFor(kind, value, run);
      return size === undefined || holds(size, limit) || fail(run, { place, value, expected: () => expected(limit) });
    };
    return [rule];
  });
}

/** Returns the number or length to compare; undefined for a value of another kind. */
function sizeFor(kind: Kind, value: unknown, run: Run): number | undefined {
  switch (kind) {
    case "number":
      return typeof value === "number" ? value : undefined;
    case "string":
      if (typeof value !== "string") return undefined;
      spend(run, value.length / 64);
      return countCharacters(value);
    case "array":
      return Array.isArray(value) ? value.length : undefined;
    case "object": {
      if (!isPlainObject(value)) return undefined;
      const { length } = Object.keys(value);
      spend(run, length / 8);
      return length;
    }
  }
}

/** Tolerates rounding of decimal fractions: 0.3 counts as a multiple of 0.1. */
function isMultiple(value: number, divisor: number): boolean {
  const quotient = value / divisor;
  if (Number.isInteger(quotient)) return true;
  const distance = Math.abs(quotient - Math.round(quotient));
  return Number.isFinite(quotient) && !Number.isInteger(divisor) && distance < 1e-9 * Math.max(1, Math.abs(quotient));
}

/** Counts the values within a value. Returns Infinity above the limit. */
export function sizeOf(value: unknown, limit: number = Infinity): number {
  const { tooLarge, values } = measureSchema(value, { characters: Infinity, values: limit, depth: Infinity });
  return tooLarge === undefined ? values : Infinity;
}

/** Returns the indexes of two equal items, in linear time; undefined if all differ. */
function findDuplicate(items: readonly unknown[]): readonly [number, number] | undefined {
  const seen = new Map<unknown, number>();
  for (const [index, item] of items.entries()) {
    // The letter distinguishes a text from an object with the same JSON.
    const isObject = typeof item === "object" && item !== null;
    const key = isObject ? `o${canonicalJson(item)}` : typeof item === "string" ? `s${item}` : item;
    const before = seen.get(key);
    if (before !== undefined) return [before, index];
    seen.set(key, index);
  }
  return undefined;
}
