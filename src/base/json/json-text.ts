export interface JsonLimits {
  /** The nesting depth of objects and arrays. Defaults to 200. */
  readonly maxDepth?: number;
  /** The total number of object members and array elements. Defaults to 100,000, because a text of brackets alone could contain millions. */
  readonly maxValues?: number;
  /** The total number of object members. Defaults to 20,000, because distinct names cost ten times as much as elements, in every step. */
  readonly maxMembers?: number;
}

export const MAX_VALUES = 100_000;
export const MAX_MEMBERS = 20_000;

/** Deeper data would overflow the stack of recursive functions. */
const MAX_DEPTH = 200;

/** Parses JSON from third parties. Returns undefined if it is invalid, too deep or too large. */
export function parseForeign(text: string, limits: JsonLimits = {}): unknown {
  const { maxDepth = MAX_DEPTH, maxValues = MAX_VALUES, maxMembers = MAX_MEMBERS } = limits;
  if (countKeys(text, maxDepth, maxValues, maxMembers) < 0) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Writes a value as JSON. Returns undefined for values that JSON cannot represent: undefined, a function, a cycle, a bigint. */
export function writeForeign(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

export const TOO_DEEP = -1;
export const TOO_MANY = -2;
export const TOO_MANY_MEMBERS = -3;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

/**
 * Counts the keys in a JSON text: every colon outside a string. Runs before the parser, so the parser never sees deep nesting or millions of values;
 * each comma and each opening bracket starts a value. Returns TOO_DEEP, TOO_MANY or TOO_MANY_MEMBERS if a limit is exceeded.
 */
export function countKeys(text: string, maxDepth: number, maxValues: number, maxMembers = maxValues): number {
  const { length } = text;
  let keys = 0;
  let values = 0;
  let depth = 0;
  for (let at = 0; at < length; at += 1) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOfString(text, at);
        break;
      case COLON:
        keys += 1;
        if (keys > maxMembers) return TOO_MANY_MEMBERS;
        break;
      case COMMA:
        values += 1;
        if (values > maxValues) return TOO_MANY;
        break;
      case OPEN_BRACE:
      case OPEN_BRACKET:
        values += 1;
        depth += 1;
        if (depth > maxDepth) return TOO_DEEP;
        if (values > maxValues) return TOO_MANY;
        break;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        depth -= 1;
        break;
      default:
    }
  }
  return keys;
}

/** Returns the end of the string that starts here. `indexOf` skips long strings many times faster than a loop. */
function endOfString(text: string, start: number): number {
  let end = start;
  for (;;) {
    end = text.indexOf('"', end + 1);
    if (end === -1) return text.length;
    let before = end - 1;
    while (text.charCodeAt(before) === BACKSLASH) before -= 1;
    if ((end - before) % 2 === 1) return end;
  }
}
