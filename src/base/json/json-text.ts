/** The limits on JSON data. */
export interface JsonLimits {
  /** The nesting depth of objects and arrays. Defaults to 200. */
  readonly maxDepth?: number;
  /** Members of objects and elements of arrays in total. Defaults to 100,000, because a text of brackets alone could contain millions. */
  readonly maxValues?: number;
  /** Members of objects in total. Defaults to 20,000, because distinct names cost ten times as much as elements, at every step. */
  readonly maxMembers?: number;
}

export const MAX_VALUES = 100_000;
export const MAX_MEMBERS = 20_000;

/** Deeper data would overflow the stack of recursive functions. */
const MAX_DEPTH = 200;

/** Parses JSON from others. Undefined if it is not JSON, or exceeds the depth or size limits. */
export function parseForeign(text: string, limits: JsonLimits = {}): unknown {
  const { maxDepth = MAX_DEPTH, maxValues = MAX_VALUES, maxMembers = MAX_MEMBERS } = limits;
  if (countKeys(text, maxDepth, maxValues, maxMembers) < 0) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Writes a value as JSON. Undefined for values that JSON cannot express: undefined, a function, a cycle, a bigint. */
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
 * Counts the keys in a text: in JSON, a colon outside a string is always one. Runs before a parser, which then never sees deep nesting or
 * millions of values: each comma and each opening bracket begins one. Returns TOO_DEEP, TOO_MANY or TOO_MANY_MEMBERS instead.
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

/** The end of the string that starts here. `indexOf` skips a long string many times faster than a loop. */
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
