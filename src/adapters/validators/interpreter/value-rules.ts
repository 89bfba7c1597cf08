import { countCharacters } from "../../../tool/limits.ts";
import { safeFormats } from "./formats.ts";
import { measureSchema } from "../../../tool/schema-limits.ts";
import type { Patterns, SafePattern } from "./patterns.ts";
import { fail, spend, type Place, type Run } from "./run.ts";
import { duplicates, findDuplicate } from "./unique-items.ts";
import { equals } from "./equals.ts";

type SchemaObject = Readonly<Record<string, unknown>>;

/** One keyword about a value alone. */
export type ValueRule = (value: unknown, place: Place | undefined, run: Run) => boolean;

/** Makes rules of the keywords that hold no schemas. */
export function valueRules(schema: SchemaObject, patterns: Patterns): readonly ValueRule[] {
  const rules: ValueRule[] = [];
  /** Adds a rule for values of one kind. The message may depend on the value. */
  const add = <Value>(
    keyword: string,
    isMeant: (value: unknown) => value is Value,
    holds: (value: Value, run: Run) => boolean,
    message: string | ((value: Value) => string),
    params: SchemaObject = {},
  ): void => {
    rules.push((value, place, run) => {
      if (!isMeant(value) || holds(value, run)) return true;
      const said = typeof message === "string" ? message : message(value);
      return fail(run, place, { keyword, params, message: said, data: value, parentSchema: schema });
    });
  };
  const has = (keyword: string): boolean => Object.hasOwn(schema, keyword) && schema[keyword] !== undefined;
  const limit = (keyword: string): number => Number(schema[keyword]);

  if (has("type")) {
    const types = [schema["type"]].flat() as string[];
    // OpenAPI's way to allow null.
    if (schema["nullable"] === true && !types.includes("null")) types.push("null");
    add("type", isAny, (value) => types.some((type) => isOfType(value, type)), "", { type: schema["type"] });
  }
  if (has("enum")) {
    const allowed = schema["enum"] as readonly unknown[];
    const plain = new Set(allowed.filter((one) => typeof one !== "object" || one === null));
    const others = allowed.filter((one) => typeof one === "object" && one !== null);
    const cost = sizeOf(others);
    const holds = (value: unknown, run: Run): boolean => {
      if (typeof value !== "object" || value === null) return plain.has(value);
      spend(run, cost);
      return others.some((one) => equals(one, value));
    };
    add("enum", isAny, holds, "", { allowedValues: allowed });
  }
  if (Object.hasOwn(schema, "const")) {
    const cost = sizeOf(schema["const"]);
    const holds = (value: unknown, run: Run): boolean => (spend(run, cost), equals(schema["const"], value));
    add("const", isAny, holds, "", { allowedValue: schema["const"] });
  }

  addNumberRules();
  if (has("maxLength")) {
    const max = limit("maxLength");
    add(
      "maxLength",
      isText,
      (value, run) => value.length <= max || characters(value, run) <= max,
      tooMany(max, "characters"),
    );
  }
  if (has("minLength")) {
    const min = limit("minLength");
    add(
      "minLength",
      isText,
      (value, run) => value.length >= min && characters(value, run) >= min,
      tooFew(min, "characters"),
    );
  }
  if (has("pattern")) {
    const source = String(schema["pattern"]);
    const pattern = patterns.get(source);
    add("pattern", isText, (value, run) => matches(pattern, value, run), `must match pattern "${source}"`);
  }
  const format = has("format") ? safeFormats().get(String(schema["format"])) : undefined;
  if (format) {
    const isMeant = (value: unknown): value is string | number => typeof value === format.type;
    add("format", isMeant, (value) => format.test(value), "", { format: schema["format"] });
  }

  if (has("maxItems"))
    add("maxItems", isList, ({ length }) => length <= limit("maxItems"), tooMany(limit("maxItems"), "items"));
  if (has("minItems"))
    add("minItems", isList, ({ length }) => length >= limit("minItems"), tooFew(limit("minItems"), "items"));
  if (schema["uniqueItems"] === true) {
    const message = (value: readonly unknown[]): string => duplicates(findDuplicate(value) ?? [0, 0]);
    add(
      "uniqueItems",
      isList,
      (value, run) => (spend(run, sizeOf(value, run.maxSteps)), !findDuplicate(value)),
      message,
    );
  }
  return rules;

  function addNumberRules(): void {
    const { exclusiveMinimum, exclusiveMaximum } = schema;
    // Draft 4 has the limit in `minimum`, and only a flag here.
    const above = exclusiveMinimum === true ? schema["minimum"] : exclusiveMinimum;
    const below = exclusiveMaximum === true ? schema["maximum"] : exclusiveMaximum;
    if (typeof above === "number") add("exclusiveMinimum", isNumber, (value) => value > above, `must be > ${above}`);
    if (has("minimum") && exclusiveMinimum !== true) {
      add("minimum", isNumber, (value) => value >= limit("minimum"), `must be >= ${limit("minimum")}`);
    }
    if (typeof below === "number") add("exclusiveMaximum", isNumber, (value) => value < below, `must be < ${below}`);
    if (has("maximum") && exclusiveMaximum !== true) {
      add("maximum", isNumber, (value) => value <= limit("maximum"), `must be <= ${limit("maximum")}`);
    }
    if (has("multipleOf")) {
      const divisor = limit("multipleOf");
      add("multipleOf", isNumber, (value) => isMultiple(value, divisor), `must be multiple of ${divisor}`);
    }
  }
}

/** In words, as Ajv puts it. */
export function tooMany(limit: number, what: string): string {
  return `must NOT have more than ${limit} ${what}`;
}

/** In words, as Ajv puts it. */
export function tooFew(limit: number, what: string): string {
  return `must NOT have fewer than ${limit} ${what}`;
}

function isOfType(value: unknown, type: string): boolean {
  switch (type) {
    case "null":
      return value === null;
    case "array":
      return Array.isArray(value);
    case "object":
      return typeof value === "object" && value !== null && !Array.isArray(value);
    case "integer":
      return Number.isInteger(value);
    case "number":
      return Number.isFinite(value);
    default:
      return typeof value === type;
  }
}

/** Decimal fractions are not exact: 0.3 is three times 0.1 all the same. */
function isMultiple(value: number, divisor: number): boolean {
  const quotient = value / divisor;
  if (Number.isInteger(quotient)) return true;
  return (
    Number.isFinite(quotient) &&
    Math.abs(quotient - Math.round(quotient)) < 1e-9 * Math.max(1, Math.abs(quotient)) &&
    !Number.isInteger(divisor)
  );
}

/** Whether a text matches, counted as what reading it costs. A pattern that was not read accepts everything. */
export function matches(pattern: SafePattern | undefined, text: string, run: Run): boolean {
  if (!pattern) return true;
  spend(run, ((text.length + 16) * pattern.size) / 16);
  return pattern.test(text);
}

function characters(text: string, run: Run): number {
  spend(run, text.length / 64);
  return countCharacters(text);
}

/** How many values a value is; counted no further than up to a limit, beyond which there are infinitely many. */
export function sizeOf(value: unknown, limit: number = Infinity): number {
  const { tooLarge, values } = measureSchema(value, { characters: Infinity, values: limit, depth: Infinity });
  return tooLarge === undefined ? values : Infinity;
}

function isAny(value: unknown): value is unknown {
  return value !== undefined;
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isNumber(value: unknown): value is number {
  return typeof value === "number";
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}
