import { configInvalid, type LocatedIssue } from "../../errors/arsenal-error.ts";
import { nearest, showValue } from "../../errors/show-value.ts";
import { isPlainObject, type JsonSchema } from "../../tool/json-schema.ts";
import { CLIENT_KEYS, toSnake } from "./key-style.ts";
import { CONFIG_SCHEMA } from "../schema.ts";
import { describeExpected } from "./setting.ts";
import type { Spelling } from "../../tool/shape/shape.ts";
import { present } from "../../base/present.ts";

/** The style of keys: snake_case in files, camelCase in code. */
export type KeyStyle = "snake" | "camel";

export interface Origin {
  /** Returns the position of a key, to start a message with: `arsenal.yaml:3:5 `. */
  locate(path: readonly string[]): string;
  /** Returns the reference that a text was read from, such as `${API_KEY}`. Such values are never shown, and may be converted to numbers. */
  reference(value: unknown): string | undefined;
}

const FROM_CODE: Origin = { locate: () => "", reference: () => undefined };

/** Validates a configuration. Returns it in camelCase with every default. Reports all problems at once, each with the key, the value and the fix. */
export function checkConfig(value: unknown, style: KeyStyle, origin: Origin = FROM_CODE): Record<string, unknown> {
  if (!isPlainObject(value)) {
    throw configInvalid([
      {
        field: "config",
        message: `must be an object, not ${inWords(value)}`,
        value: shownValue(value),
        fix: "Start with a key such as `execution:`.",
        at: origin.locate([]),
      },
    ]);
  }
  const reading: Reading = { style, origin, fills: true, unknown: [], wrong: [] };
  const config = readSetting(value, CONFIG_SCHEMA, [], reading);
  const issues = [...reading.unknown, ...reading.wrong];
  if (issues.length > 0) throw configInvalid(issues);
  return config as Record<string, unknown>;
}

interface Reading {
  readonly style: KeyStyle;
  readonly origin: Origin;
  /** True if defaults are filled in, including defaults inside the items of a list. */
  readonly fills: boolean;
  readonly unknown: LocatedIssue[];
  readonly wrong: LocatedIssue[];
}

/** Reads a value according to its schema. Settings use few keywords of JSON Schema, so starting needs no validator. */
function readSetting(given: unknown, schema: JsonSchema, path: readonly string[], reading: Reading): unknown {
  const { items, properties, additionalProperties } = schema;
  const alternatives = alternativesOf(schema);
  const value = fromText(given, schema, reading.origin);
  const refuse = (): unknown => {
    reading.wrong.push(toIssue(value, schema, path, reading.origin));
    return value;
  };
  if (alternatives.length > 0 && properties !== undefined && isPlainObject(value)) {
    const named = namedAlternative(schema, value);
    if (named !== undefined) return readSetting(value, named, path, reading);
    // The type is unknown, so the other settings cannot be validated.
    return readMembers(present({ type: value["type"] }), schema, path, reading);
  }
  if (alternatives.length > 0 && properties === undefined) {
    for (const choice of alternatives) {
      const attempt: Reading = { ...reading, unknown: [], wrong: [] };
      const read = readSetting(value, choice, path, attempt);
      if (attempt.unknown.length + attempt.wrong.length === 0) return read;
    }
    return refuse();
  }
  if (!fits(value, schema)) return refuse();
  if (Array.isArray(value) && isPlainObject(items))
    return value.map((item, index) =>
      readSetting(item, items as JsonSchema, [...path, String(index)], { ...reading, fills: false }),
    );
  if (isPlainObject(value) && properties !== undefined) return readMembers(value, schema, path, reading);
  if (!isPlainObject(value) || !isPlainObject(additionalProperties)) return value;
  const members = Object.entries(value).map(([key, member]) => {
    return [key, readSetting(member, additionalProperties as JsonSchema, [...path, key], reading)] as const;
  });
  return Object.fromEntries(members);
}

/** Reads the members of an object under the keys of its schema. Unknown keys are reported and skipped, so that one typo causes one problem. */
function readMembers(
  value: Readonly<Record<string, unknown>>,
  { properties = {}, required = [] }: JsonSchema,
  path: readonly string[],
  reading: Reading,
): Record<string, unknown> {
  const { style, origin, unknown, wrong, fills } = reading;
  const schemas = properties as Readonly<Record<string, JsonSchema>>;
  const spell = (key: string): string => (style === "snake" ? toSnake(key) : key);
  for (const key of required)
    if ((value[spell(key)] ?? undefined) === undefined)
      wrong.push(toIssue(undefined, schemas[key] ?? {}, [...path, spell(key)], origin));
  const spelled = new Map(Object.entries(schemas).map(([key, schema]) => [spell(key), { key, schema }]));
  const read: Record<string, unknown> = {};
  for (const [written, member] of Object.entries(value)) {
    const at = [...path, written];
    const known = spelled.get(written);
    if (known === undefined) {
      // Keys of MCP clients are allowed only at the top level of a file.
      const keys = [...spelled.keys(), ...(path.length === 0 && style === "snake" ? CLIENT_KEYS : [])];
      const meant = nearest(written, keys);
      const fix = meant ? `Did you mean "${meant}"?` : `Known keys here: ${keys.join(", ")}.`;
      const message = `unknown key "${written}"`;
      unknown.push({ field: at.join("."), message, value: written, fix, at: origin.locate(at) });
    } else if (member !== undefined && member !== null)
      read[known.key] = readSetting(member, known.schema, at, reading);
  }
  const members = resolveSpellings(read, schemas);
  if (!fills) return members;
  const filled = Object.entries(schemas).map(([key, schema]) => {
    if (Object.hasOwn(members, key) || schema.default === undefined) return [key, members[key]] as const;
    return [key, readSetting(structuredClone(schema.default), schema, [...path, key], reading)] as const;
  });
  return Object.fromEntries(filled.filter(([, member]) => member !== undefined));
}

/** Replaces alternative spellings by the settings that they mean. */
function resolveSpellings(
  members: Record<string, unknown>,
  schemas: Readonly<Record<string, JsonSchema>>,
): Record<string, unknown> {
  let section = members;
  for (const [key, { spellings }] of Object.entries(schemas)) {
    if (spellings === undefined) continue;
    const { [key]: written, ...others } = section;
    const [, resolve] = Object.entries(spellings as Record<string, Spelling>).find(([name]) => name === written) ?? [];
    if (resolve !== undefined) section = { ...resolve(others) };
  }
  return section;
}

function fits(value: unknown, schema: JsonSchema): boolean {
  const { type, enum: values, minLength = 0, minItems = 0, minimum, maximum } = schema;
  if (values !== undefined) return values.includes(value);
  switch (type) {
    case "string":
      return typeof value === "string" && value.length >= Number(minLength);
    case "boolean":
      return typeof value === "boolean";
    case "integer":
    case "number": {
      const isNumber = type === "integer" ? Number.isInteger(value) : Number.isFinite(value);
      return isNumber && Number(value) >= Number(minimum ?? -Infinity) && Number(value) <= Number(maximum ?? Infinity);
    }
    case "array":
      return Array.isArray(value) && value.length >= Number(minItems);
    case "object":
      return isPlainObject(value);
    default:
      return true;
  }
}

function toIssue(held: unknown, schema: JsonSchema, keys: readonly string[], origin: Origin): LocatedIssue {
  const field = keys.join(".");
  const reference = origin.reference(held);
  const secret = isSecret(keys) && schema.type !== "number" && schema.type !== "integer";
  const shown = reference ? `the value of ${reference}` : secret ? "the given value" : inWords(held);
  const expected = describeExpected(schema);
  const near = typeof held === "string" ? nearest(held, (schema.enum ?? []).map(String)) : undefined;
  const fix =
    near !== undefined && reference === undefined ? `Did you mean "${near}"?` : `Set ${field} to ${expected}.`;
  return {
    field,
    message: held === undefined ? `is missing; it must be ${expected}` : `must be ${expected}, not ${shown}`,
    ...(held === undefined || secret ? {} : { value: reference ?? shownValue(held) }),
    fix,
    at: origin.locate(keys),
  };
}

/** Users choose the keys inside these settings, so any of their values may be a secret. */
const USERS_OWN: ReadonlySet<string> = new Set(["headers", "env", "options", "tokens", "credentials"]);

function isSecret(path: readonly string[]): boolean {
  return (
    path.some((part) => USERS_OWN.has(part)) ||
    /key|token|secret|password|credential|authorization/i.test(path.at(-1) ?? "")
  );
}

/** Describes lists and objects without their content, which may be a secret. */
function inWords(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  return isPlainObject(value) ? "an object" : showValue(value);
}

function shownValue(value: unknown): unknown {
  return typeof value === "object" && value !== null ? inWords(value) : value;
}

/** Environment variables are text. Converts the text if a number or a flag is expected. */
function fromText(value: unknown, { type }: JsonSchema, origin: Origin): unknown {
  if (typeof value !== "string" || origin.reference(value) === undefined) return value;
  if (type === "boolean" && (value === "true" || value === "false")) return value === "true";
  if ((type === "integer" || type === "number") && /^-?\d+(?:\.\d+)?$/.test(value)) return Number(value);
  return value;
}

export function alternativesOf({ anyOf }: JsonSchema): readonly JsonSchema[] {
  return Array.isArray(anyOf) ? (anyOf as readonly JsonSchema[]) : [];
}

/** Returns the alternative that the `type` of a value names; undefined if there is none. */
function namedAlternative(schema: JsonSchema, value: unknown): JsonSchema | undefined {
  if (!isPlainObject(value) || schema.properties?.["type"] === undefined) return undefined;
  const isNamed = ({ properties = {} }: JsonSchema): boolean =>
    (properties["type"] as JsonSchema | undefined)?.enum?.includes(value["type"]) === true;
  return alternativesOf(schema).find(isNamed);
}

/** Returns the schema for an object: the alternative that its type names or that has its keys, or else the schema itself. */
export function schemaOf(schema: JsonSchema, value: Readonly<Record<string, unknown>>): JsonSchema {
  const hasKeys = ({ properties }: JsonSchema): boolean =>
    properties !== undefined && Object.keys(value).every((key) => Object.hasOwn(properties, key));
  return namedAlternative(schema, value) ?? alternativesOf(schema).find(hasKeys) ?? schema;
}
