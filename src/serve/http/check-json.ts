import { RPC } from "../../mcp/protocol.ts";

/** Why a body or a line was not taken: the HTTP status, the JSON-RPC code, and what to tell the peer. */
export interface JsonRefusal {
  readonly status: number;
  readonly code: number;
  readonly message: string;
}

/** JSON that may be used, or why it may not. */
export type CheckedJson = { readonly value: unknown } | { readonly refused: JsonRefusal };

/** How deep objects and arrays may lie in each other where nothing else is said. */
export const MAX_DEPTH = 64;

/**
 * Parses text from a peer, and refuses what two readers could read differently or what harms a careless one: a key twice in one object,
 * `__proto__`, `constructor.prototype`, and nesting that overflows a stack.
 */
export function checkJson(text: string, options: { readonly maxDepth?: number } = {}): CheckedJson {
  const { maxDepth = MAX_DEPTH } = options;
  const written = countKeys(text, maxDepth);
  if (written === TOO_DEEP) return refuse(RPC.invalidRequest, `The JSON is nested deeper than ${maxDepth} levels.`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return refuse(RPC.parseError, text.trim() === "" ? "The message is empty." : "The message is not valid JSON.");
  }
  const kept = countKept(value);
  if (Number.isNaN(kept))
    return refuse(
      RPC.invalidRequest,
      "The JSON has a __proto__ or constructor.prototype key, which is never accepted.",
    );
  if (kept !== written) return refuse(RPC.invalidRequest, "The JSON has the same key twice in one object.");
  return { value };
}

const TOO_DEEP = -1;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

/**
 * How many keys the text writes: in JSON, a colon outside a string is always one. Text that is no JSON gives some number; the parser then
 * refuses it. Runs before the parser, so that the parser never sees deep nesting.
 */
function countKeys(text: string, maxDepth: number): number {
  const { length } = text;
  let keys = 0;
  let depth = 0;
  for (let at = 0; at < length; at += 1) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOfString(text, at);
        break;
      case COLON:
        keys += 1;
        break;
      case OPEN_BRACE:
      case OPEN_BRACKET:
        depth += 1;
        if (depth > maxDepth) return TOO_DEEP;
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

/** Where the string that starts here ends. `indexOf` passes over a long string many times faster than a loop. */
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

/** How many keys are left in the parsed value, where the later of two equal ones has replaced the earlier; NaN with a forbidden one. */
function countKept(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  let keys = 0;
  if (Array.isArray(value)) {
    for (const item of value) keys += countKept(item);
    return keys;
  }
  const object = value as Readonly<Record<string, unknown>>;
  for (const key of Object.keys(object)) {
    if (key === "__proto__") return Number.NaN;
    const member = object[key];
    if (key === "constructor" && hasPrototypeKey(member)) return Number.NaN;
    keys += 1 + countKept(member);
  }
  return keys;
}

function hasPrototypeKey(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.hasOwn(value, "prototype");
}

function refuse(code: number, message: string): CheckedJson {
  return { refused: { status: 400, code, message } };
}
