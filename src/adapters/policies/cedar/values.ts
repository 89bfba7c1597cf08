import type { CedarValue } from "./library.ts";

/** Deeper data is refused: the library gives up on some of it without an answer. */
const MAX_DEPTH = 64;

/** Keys by which the library would take data for an entity or an extension, and so for something that it is not. */
const RESERVED: ReadonlySet<string> = new Set(["__entity", "__extn", "__expr"]);

/**
 * JSON data as Cedar has it. Lists become sets. What is null is left out, as Cedar has no such thing. A number that is no whole one is a
 * decimal where four places hold it, and a text otherwise, which a policy that compares numbers fails on. Throws an Error that says what
 * cannot be shown to a policy.
 */
export function toCedarValue(value: unknown, depth = 0): CedarValue | undefined {
  if (depth > MAX_DEPTH) throw new Error(`they are nested deeper than ${MAX_DEPTH} levels`);
  switch (typeof value) {
    case "boolean":
    case "string":
      return value;
    case "number":
      return toNumber(value);
    case "object":
      if (value === null) return undefined;
      return Array.isArray(value) ? toSet(value, depth) : toRecord(value, depth);
    case "undefined":
      return undefined;
    default:
      throw new Error(`they hold a ${typeof value}`);
  }
}

function toSet(list: readonly unknown[], depth: number): CedarValue[] {
  const members = list.map((member) => toCedarValue(member, depth + 1));
  return members.filter((member) => member !== undefined);
}

/** A record of data, as Cedar has it. */
export function toRecord(data: object, depth = 0): Record<string, CedarValue> {
  const members = Object.entries(data).map(([key, member]) => {
    if (RESERVED.has(key)) throw new Error(`they have the key ${key}`);
    return [key, toCedarValue(member, depth + 1)] as const;
  });
  return Object.fromEntries(members.filter((member): member is [string, CedarValue] => member[1] !== undefined));
}

function toNumber(value: number): CedarValue {
  if (Number.isSafeInteger(value)) return value;
  const text = String(value);
  return /^-?\d{1,14}\.\d{1,4}$/.test(text) ? { __extn: { fn: "decimal", arg: text } } : text;
}
