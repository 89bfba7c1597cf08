import { ArsenalError, type ErrorIssue } from "../../errors/arsenal-error.ts";
import { nearest, showValue } from "../../errors/show-value.ts";
import { isPlainObject, type JsonSchema } from "../../tool/json-schema.ts";
import { CLIENT_KEYS } from "../clients/client-keys.ts";
import { toSnake } from "./key-style.ts";
import { CONFIG_SCHEMA } from "../schema.ts";
import { describeExpected, settingAt } from "./setting.ts";

/** How keys are spelled where the configuration came from: snake in files, camel in code. */
export type KeyStyle = "snake" | "camel";

/** What is known of a configuration that came from a file. */
export interface Origin {
  /** Where a key stands, for the start of a message: `arsenal.yaml:3:5 `. */
  locate(path: readonly string[]): string;
  /** How a text was written where it came from the environment: `${API_KEY}`. Such values are never shown, and may stand for numbers. */
  reference(value: unknown): string | undefined;
}

const FROM_CODE: Origin = { locate: () => "", reference: () => undefined };

/** The paths of what a value has wrong. Settings need a few keywords of JSON Schema only, and a start no validator. */
function wrongFields(value: unknown, schema: JsonSchema, path: readonly string[] = []): readonly string[] {
  const { type, enum: values, items, properties, required = [], anyOf, additionalProperties } = schema;
  const wrong = [path.join(".")];
  if (values !== undefined) return values.includes(value) ? [] : wrong;
  if (Array.isArray(anyOf))
    return anyOf.some((choice) => wrongFields(value, choice as JsonSchema).length === 0) ? [] : wrong;
  const at = (key: string, member: unknown, of: unknown): readonly string[] =>
    isPlainObject(of) ? wrongFields(member, of as JsonSchema, [...path, key]) : [];
  switch (type) {
    case "string":
      return typeof value === "string" && value.length >= Number(schema["minLength"] ?? 0) ? [] : wrong;
    case "boolean":
      return typeof value === "boolean" ? [] : wrong;
    case "integer":
    case "number": {
      const isNumber = type === "integer" ? Number.isInteger(value) : Number.isFinite(value);
      return isNumber && inRange(Number(value), schema) ? [] : wrong;
    }
    case "array":
      if (!Array.isArray(value) || value.length < Number(schema["minItems"] ?? 0)) return wrong;
      return value.flatMap((item, index) => at(String(index), item, items));
    case "object": {
      if (!isPlainObject(value)) return wrong;
      const missing = required.filter((key) => value[key] === undefined).map((key) => [...path, key].join("."));
      const members = Object.entries(value).flatMap(([key, member]) => {
        const known = properties !== undefined && Object.hasOwn(properties, key);
        if (!known && additionalProperties === false) return [[...path, key].join(".")];
        return at(key, member, known ? properties[key] : additionalProperties);
      });
      return [...missing, ...members];
    }
    default:
      return [];
  }
}

function inRange(value: number, { minimum, maximum }: JsonSchema): boolean {
  return value >= Number(minimum ?? -Infinity) && value <= Number(maximum ?? Infinity);
}

/** The value with the schema's defaults where it has nothing. Lists are left as they are. */
function fillDefaults(value: unknown, schema: JsonSchema): unknown {
  const filled = value === undefined ? structuredClone(schema.default) : value;
  if (!isPlainObject(filled) || !isPlainObject(schema.properties)) return filled;
  const properties = Object.entries(schema.properties).map(([key, property]) => {
    return [key, fillDefaults(filled[key], property as JsonSchema)] as const;
  });
  return Object.fromEntries(properties.filter(([, member]) => member !== undefined));
}

/**
 * Checks a configuration and returns it in camelCase with every default filled in. All problems are reported at once, each with the key,
 * the value and the fix.
 */
export function checkConfig(value: unknown, style: KeyStyle, origin: Origin = FROM_CODE): Record<string, unknown> {
  if (!isPlainObject(value)) {
    throw configInvalid([
      {
        field: "config",
        message: `must be a mapping of keys, not ${inWords(value)}`,
        value: shownValue(value),
        fix: "Start with a key such as `execution:`.",
        at: origin.locate([]),
      },
    ]);
  }
  const issues: LocatedIssue[] = [];
  const camel = renameKeys(value, CONFIG_SCHEMA, [], {
    style,
    origin,
    onUnknown(path, key, known) {
      const meant = nearest(key, known);
      issues.push({
        field: [...path, key].join("."),
        message: `unknown key "${key}"`,
        value: key,
        fix: meant ? `Did you mean "${meant}"?` : `Known keys here: ${known.join(", ")}.`,
        at: origin.locate([...path, key]),
      });
    },
  });
  // One problem a key, however many branches of the schema it fails.
  const wrong = new Set(wrongFields(camel, CONFIG_SCHEMA));
  if (wrong.size === 0 && issues.length === 0) return fillDefaults(camel, CONFIG_SCHEMA) as Record<string, unknown>;
  issues.push(...[...wrong].map((path) => toIssue(path, camel, style, origin)));
  throw configInvalid(issues);
}

/** A problem, and where in the file it is. */
export type LocatedIssue = ErrorIssue & { readonly at: string };

/** One error for all problems. Its message tells the first in full. */
export function configInvalid(issues: readonly LocatedIssue[]): ArsenalError {
  const shown = issues.map(({ at, field, message, ...issue }) => ({
    ...issue,
    field,
    message: at === "" ? message : `${message} (${at.trimEnd()})`,
  }));
  const [first] = issues as readonly [LocatedIssue];
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : "";
  const { at, field, message, value, fix = "" } = first;
  return new ArsenalError("CONFIG_INVALID", `${at}${field}: ${message}. ${fix}${more}`, {
    field,
    ...(value === undefined ? {} : { value }),
    fix,
    issues: shown,
  });
}

function toIssue(path: string, camel: unknown, style: KeyStyle, origin: Origin): LocatedIssue {
  const { schema, parts } = settingAt(path);
  const held = valueAt(camel, parts);
  const keys = style === "snake" ? parts.map((part, index) => (isOwnKey(parts, index) ? part : toSnake(part))) : parts;
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

/** Keys of headers, environments and options are the user's, not ours. */
function isOwnKey(parts: readonly string[], index: number): boolean {
  return USERS_OWN.has(parts[index - 1] ?? "");
}

const USERS_OWN: ReadonlySet<string> = new Set(["headers", "env", "options", "tokens", "credentials"]);

function isSecret(path: readonly string[]): boolean {
  return (
    path.some((part) => USERS_OWN.has(part)) ||
    /key|token|secret|password|credential|authorization/i.test(path.at(-1) ?? "")
  );
}

/** Lists and mappings are named, not shown: a secret may be in them. */
function inWords(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  return isPlainObject(value) ? "a mapping" : showValue(value);
}

function shownValue(value: unknown): unknown {
  return typeof value === "object" && value !== null ? inWords(value) : value;
}

interface Renaming {
  readonly style: KeyStyle;
  readonly origin: Origin;
  readonly onUnknown: (path: readonly string[], key: string, known: readonly string[]) => void;
}

/** Copies a value with its keys as the schema spells them. Unknown keys are reported and left out, so that one typo is one problem. */
function renameKeys(value: unknown, schema: JsonSchema, path: readonly string[], renaming: Renaming): unknown {
  if (Array.isArray(value) && isPlainObject(schema.items)) {
    const items = schema.items as JsonSchema;
    return value.map((item, index) => renameKeys(item, items, [...path, String(index)], renaming));
  }
  if (!isPlainObject(value) || !isPlainObject(schema.properties)) return fromText(value, schema, renaming.origin);
  const { style, onUnknown } = renaming;
  const spelled = new Map(Object.keys(schema.properties).map((key) => [style === "snake" ? toSnake(key) : key, key]));
  const renamed: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) {
    const canonical = spelled.get(key);
    if (canonical === undefined) {
      // The words of MCP clients stand at the top of a file, and nowhere else.
      const clients = path.length === 0 && style === "snake" ? CLIENT_KEYS : [];
      onUnknown(path, key, [...spelled.keys(), ...clients]);
    } else if (member !== undefined && member !== null) {
      const property = schema.properties[canonical] as JsonSchema;
      renamed[canonical] = renameKeys(member, property, [...path, key], renaming);
    }
  }
  return renamed;
}

/** Variables of the environment are texts; where a number or a flag is wanted, one that reads as such is one. */
function fromText(value: unknown, { type }: JsonSchema, origin: Origin): unknown {
  if (typeof value !== "string" || origin.reference(value) === undefined) return value;
  if (type === "boolean" && (value === "true" || value === "false")) return value === "true";
  if ((type === "integer" || type === "number") && /^-?\d+(?:\.\d+)?$/.test(value)) return Number(value);
  return value;
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((current, key) => {
    if (Array.isArray(current)) return current[Number(key)];
    return isPlainObject(current) && Object.hasOwn(current, key) ? current[key] : undefined;
  }, value);
}
