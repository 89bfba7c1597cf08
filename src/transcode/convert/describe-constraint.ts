import { isPlainObject, type JsonSchema } from "../../tool/json-schema.ts";
import { canonicalJson } from "../../tool/json/canonical-json.ts";
import type { SchemaTarget } from "../convert-schema.ts";

const MAX_SHOWN = 400;
const MAX_SHOWN_DEPTH = 20;

/** Formats a value as JSON and shortens it if it is long. Reads no more of the value than it shows. */
export function showJson(value: unknown): string {
  let text = "";

  function write(given: unknown, depth: number): void {
    if (text.length > MAX_SHOWN) return;
    if (typeof given !== "object" || given === null) text += JSON.stringify(given) ?? "null";
    else if (depth > MAX_SHOWN_DEPTH) text += "…".repeat(MAX_SHOWN);
    else if (Array.isArray(given)) writeAll("[", given, "]", (item) => write(item, depth + 1));
    else
      writeAll("{", Object.entries(given), "}", ([name, member]) => {
        text += `${JSON.stringify(name)}:`;
        write(member, depth + 1);
      });
  }

  function writeAll<Item>(start: string, items: readonly Item[], end: string, each: (item: Item) => void): void {
    text += start;
    for (const [index, item] of items.entries()) {
      if (text.length > MAX_SHOWN) return;
      if (index > 0) text += ",";
      each(item);
    }
    text += end;
  }

  write(value, 0);
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN).replace(/…+$/, "")}…`;
}

type Describe = (value: unknown) => string | undefined;

const plain =
  (before: string): Describe =>
  (value) =>
    `${before} ${String(value)}.`;
const json =
  (before: string): Describe =>
  (value) =>
    `${before} ${showJson(value)}.`;
const counted =
  (before: string, one: string, many = `${one}s`): Describe =>
  (count) =>
    `${before} ${String(count)} ${count === 1 ? one : many}.`;
const each =
  (write: (name: string, member: unknown) => string): Describe =>
  (value) =>
    isPlainObject(value)
      ? Object.entries(value)
          .map(([name, member]) => write(name, member))
          .join(" ")
      : undefined;
const listed = (values: readonly unknown[]): string => values.map(showJson).join(", ");

const WORDS: Readonly<Record<string, Describe>> = {
  pattern: (value) => `Must match the regular expression \`${String(value)}\`.`,
  format: plain("Format:"),
  const: json("Must be"),
  enum: (value) => `One of: ${Array.isArray(value) ? listed(value) : showJson(value)}.`,
  default: (value) => (value === null ? undefined : `Default: ${showJson(value)}.`),
  examples: (value) => (Array.isArray(value) && value.length > 0 ? `Examples: ${listed(value)}.` : undefined),
  example: json("Example:"),
  minimum: json("At least"),
  maximum: json("At most"),
  exclusiveMinimum: json("More than"),
  exclusiveMaximum: json("Less than"),
  multipleOf: json("A multiple of"),
  minLength: counted("At least", "character"),
  maxLength: counted("At most", "character"),
  minItems: counted("At least", "item"),
  maxItems: counted("At most", "item"),
  minProperties: counted("At least", "property", "properties"),
  maxProperties: counted("At most", "property", "properties"),
  uniqueItems: (value) => (value === true ? "No item twice." : undefined),
  contains: json("At least one item fits"),
  minContains: counted("At least", "such item"),
  maxContains: counted("At most", "such item"),
  propertyNames: json("Property names fit"),
  not: json("Must not fit"),
  contentEncoding: plain("Encoded as"),
  contentMediaType: plain("Content of the type"),
  patternProperties: each((name, schema) => `Properties that match ${name} fit ${showJson(schema)}.`),
  dependentRequired: each((name, others) => `With ${name}, also give ${[others].flat().join(", ")}.`),
  dependentSchemas: each((name, schema) => `With ${name}, the whole fits ${showJson(schema)}.`),
  additionalProperties: (value) => (isPlainObject(value) ? `Other properties fit ${showJson(value)}.` : undefined),
};

/** Describes a constraint in words, for a model whose grammar cannot express it. Returns undefined if there is nothing to describe. */
export function describeConstraint(keyword: string, value: unknown): string | undefined {
  return Object.hasOwn(WORDS, keyword) ? WORDS[keyword]?.(value) : undefined;
}

export function describeCondition(condition: unknown, then: unknown, otherwise: unknown): string {
  const parts = [
    then === undefined ? "" : `If it fits ${showJson(condition)}, it also fits ${showJson(then)}.`,
    otherwise === undefined ? "" : `If it does not fit ${showJson(condition)}, it fits ${showJson(otherwise)}.`,
  ];
  return parts.filter((part) => part !== "").join(" ");
}

export function addNotes(description: unknown, notes: readonly string[]): string | undefined {
  const given = typeof description === "string" ? description : undefined;
  const added = notes.filter((note) => note !== "" && given?.includes(note) !== true).join(" ");
  if (added === "") return given;
  const start = given?.trimEnd() ?? "";
  if (start === "") return added;
  return /[.!?:;)\]]$/.test(start) ? `${start} ${added}` : `${start}. ${added}`;
}

/** Prepends a description to the description of a converted schema, at a position that the target supports. */
export function describeWhole(
  schema: JsonSchema,
  description: string | undefined,
  keywords: Readonly<Record<string, unknown>>,
  target: SchemaTarget,
): JsonSchema {
  const { anyOf, $ref } = schema;
  const own = schema.description;
  if (Array.isArray(anyOf) && target.bareUnions === true) {
    const branches = anyOf.map((branch: JsonSchema) => describeWhole(branch, description, {}, target));
    // Branches may have differed only in text that now describes the whole schema.
    const different = [...new Map(branches.map((branch) => [canonicalJson(branch), branch])).values()];
    const [only] = different;
    return only !== undefined && different.length === 1 ? only : { anyOf: different };
  }
  const whole = description === undefined ? own : addNotes(description, own === undefined ? [] : [own]);
  const added = { ...(whole === undefined ? {} : { description: whole }), ...keywords };
  if (Object.keys(added).length === 0) return schema;
  return $ref === undefined || target.bareReferences !== true ? { ...schema, ...added } : { ...added, anyOf: [schema] };
}
