import { fixable } from "../../errors/arsenal-error.ts";

/** A value in a JSON text with its position, so that it can be replaced without changing the rest. */
export interface JsoncNode {
  readonly value: unknown;
  /** The offset of the value's first character. `end` is the offset after its last character. */
  readonly start: number;
  readonly end: number;
  /** The offset of the first character of the key. Only for members of an object. */
  readonly keyStart?: number;
  /** The members of an object. If a name is repeated, the last member counts. */
  readonly members?: ReadonlyMap<string, JsoncNode>;
}

const BLANK = /(?:[\s\uFEFF]|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y;
const STRING = /"(?:[^"\\\n]|\\.)*"/y;
const WORD = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
const MAX_DEPTH = 200;

/** Parses JSON with comments and trailing commas, which editors allow. Throws `INPUT_INVALID` with `name`, line and column. */
export function parseJsonc(text: string, name: string): JsoncNode {
  let at = 0;

  const refuse = (expected: string): never => {
    const before = text.slice(0, at).split("\n");
    const place = `${name}:${before.length}:${(before.at(-1)?.length ?? 0) + 1}`;
    throw fixable("INPUT_INVALID", `${place} expected ${expected}.`, "Fix the JSON there.", { field: name });
  };
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    if (found !== undefined) at += found.length;
    return found;
  };
  /** Skips the given character if it is next. */
  const sign = (character: string): boolean => {
    take(BLANK);
    if (text[at] !== character) return false;
    at += 1;
    return true;
  };
  const string = (): string | undefined => {
    take(BLANK);
    const written = take(STRING);
    if (written === undefined) return undefined;
    try {
      return JSON.parse(written) as string;
    } catch {
      return refuse("a text with valid escapes");
    }
  };

  /** Reads comma-separated entries up to the closing character. */
  const entries = (close: string, readOne: () => void): void => {
    while (!sign(close)) {
      readOne();
      if (sign(",")) continue;
      if (!sign(close)) refuse(`, or ${close}`);
      return;
    }
  };
  const object = (start: number, depth: number): JsoncNode => {
    const members = new Map<string, JsoncNode>();
    entries("}", () => {
      take(BLANK);
      const keyStart = at;
      const key = string() ?? refuse("a key in double quotes, or }");
      if (!sign(":")) refuse(": after the key");
      members.set(key, { ...node(depth), keyStart });
    });
    const value = Object.fromEntries([...members].map(([key, member]) => [key, member.value]));
    return { value, start, end: at, members };
  };
  const array = (start: number, depth: number): JsoncNode => {
    const value: unknown[] = [];
    entries("]", () => value.push(node(depth).value));
    return { value, start, end: at };
  };
  const node = (depth: number): JsoncNode => {
    take(BLANK);
    const start = at;
    if (depth > MAX_DEPTH) refuse(`less than ${MAX_DEPTH} levels of nesting`);
    if (sign("{")) return object(start, depth + 1);
    if (sign("[")) return array(start, depth + 1);
    const value = string() ?? JSON.parse(take(WORD) ?? refuse("a value"));
    return { value, start, end: at };
  };

  const root = node(0);
  take(BLANK);
  if (at < text.length) refuse("the end of the file");
  return root;
}
