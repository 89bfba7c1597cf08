import { nativePattern } from "../../../tool/schema/keywords.ts";
import type { RE2JS } from "re2js";
import { showValue } from "../../../errors/show-value.ts";
import { re2 } from "../../re2.ts";

export interface Pattern {
  test(text: string): boolean;
  /** The approximate number of steps per character. */
  readonly size: number;
  /** True if only JavaScript's own engine can run the pattern. Its time is unlimited. */
  readonly backtracks: boolean;
  /** Why the pattern is not checked. It then accepts every text. */
  readonly note?: string;
}

/** Patterns of a schema, by source. */
export type Patterns = ReadonlyMap<string, Pattern>;

const MAX_LENGTH = 5_000;
/** Larger programs are slow to compile in RE2, and slow for each character. */
const MAX_SIZE = 3_000;
/** RE2's limit on repetitions. */
const MAX_REPEATS = 1_000;
/** RE2 refuses groups that are nested much deeper. */
const MAX_GROUPS = 200;

const LINE_END = "\\x{a}\\x{d}\\x{2028}\\x{2029}";
/** JavaScript's white space, of which RE2 has only a part, and its complement. */
const SPACE =
  "\\x{9}-\\x{d}\\x{20}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}";
const NO_SPACE =
  "\\x{0}-\\x{8}\\x{e}-\\x{1f}\\x{21}-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{fefe}\\x{ff00}-\\x{10ffff}";
const CONTROL: Readonly<Record<string, number>> = { t: 9, n: 10, v: 11, f: 12, r: 13, 0: 0 };
const CATEGORIES: Readonly<Record<string, string>> = {
  Letter: "L",
  Lowercase_Letter: "Ll",
  Uppercase_Letter: "Lu",
  Mark: "M",
  Number: "N",
  Decimal_Number: "Nd",
  Punctuation: "P",
  Symbol: "S",
  Separator: "Z",
};

/**
 * Parses a pattern. RE2 runs it in linear time. Patterns that RE2 cannot express run on JavaScript's engine. An invalid pattern accepts everything
 * and has a note.
 */
export function readPattern(source: string): Pattern {
  const ignored = (why: string): Pattern => {
    const note = `The pattern ${showValue(source)} is not checked: ${why}.`;
    return { test: () => true, size: 0, backtracks: false, note };
  };
  if (source.length > MAX_LENGTH) return ignored(`it has more than ${MAX_LENGTH.toLocaleString("en")} characters`);
  const native = nativePattern(source);
  if (!native) return ignored("it is not a regular expression of JavaScript");
  try {
    const { text, size } = toRe2(source);
    // Compiled on first use, because most patterns of a large schema are never used.
    let compiled: RE2JS | undefined;
    if (size <= MAX_SIZE)
      return { test: (given) => (compiled ??= re2().compile(text)).test(given), size, backtracks: false };
  } catch (error) {
    if (error instanceof SyntaxError) return ignored(error.message);
    if (!(error instanceof NotInRe2)) throw error;
  }
  return { test: (text) => native.test(text), size: 1, backtracks: true };
}

/** Thrown for patterns that RE2 cannot express. */
class NotInRe2 extends Error {}

/** Converts a JavaScript pattern to RE2's syntax, and estimates the number of its instructions. */
function toRe2(source: string): { readonly text: string; readonly size: number } {
  let at = 0;
  let text = "";
  /** The open groups, innermost last. `last` is the part that a quantifier would repeat. */
  const open = [{ size: 0, repeats: 1 }];
  let last = { size: 0, repeats: 1 };

  const match = (expression: RegExp): RegExpExecArray | undefined => {
    expression.lastIndex = at;
    const found = expression.exec(source);
    if (found) at = expression.lastIndex;
    return found ?? undefined;
  };
  const add = (written: string, size: number, repeats = 1): void => {
    text += written;
    last = { size, repeats };
    const group = open.at(-1);
    if (!group) return;
    group.size += size;
    group.repeats = Math.max(group.repeats, repeats);
  };

  while (at < source.length) {
    if (match(/\(\?<?[=!]/y)) throw new NotInRe2();
    const sign = match(/[|^$]|\\[bB]/y)?.[0];
    const quantifier = sign === undefined ? match(/([*+?])\??|\{(\d+)(,?)(\d*)\}\??/y) : undefined;
    if (sign !== undefined) add(sign, 1);
    else if (quantifier) repeat(quantifier);
    else if (match(/\.|\[\^\]/y)) add(source[at - 1] === "." ? `[^${LINE_END}]` : "(?s:.)", 1);
    else if (match(/\[\]/y)) add("[^\\x{0}-\\x{10ffff}]", 1);
    else if (match(/\[/y)) add(characterClass(), 1);
    // Matching does not depend on whether a group captures.
    else if (match(/\((?:\?:|\?<[^>]+>)?/y)) {
      if (source[at] === "?") throw new SyntaxError("it has an unknown kind of group");
      if (open.length > MAX_GROUPS) throw new NotInRe2();
      text += "(?:";
      open.push({ size: 0, repeats: 1 });
    } else if (match(/\)/y)) {
      const { size, repeats } = open.pop() ?? { size: 0, repeats: 1 };
      add(")", size + 1, repeats);
    } else if (match(/\\(?:[1-9]\d*|k<[^>]+>)/y)) throw new NotInRe2();
    else add(`[${item()}]`, 1);
  }
  return { text, size: open[0]?.size ?? 0 };

  function repeat([written, , low, comma, high]: RegExpExecArray): void {
    const most = Number(high === "" || high === undefined ? (low ?? 1) : high);
    const repeats = last.repeats * Math.max(1, most);
    if (repeats > MAX_REPEATS) throw new NotInRe2();
    add(written, (last.size + 1) * (most + (comma === "," && high === "" ? 1 : 0)), repeats);
  }

  function characterClass(): string {
    let written = source[at] === "^" ? "[^" : "[";
    if (source[at] === "^") at++;
    while (!match(/\]/y)) {
      const from = item();
      written += from;
      if (!match(/-(?!\])/y)) continue;
      const to = item();
      // In `[\w-.]`, the dash is literal, because one side is a class.
      written += [from, to].every((side) => /^\\x\{[\da-f]+\}$/.test(side)) ? `-${to}` : `\\x{2d}${to}`;
    }
    return `${written}]`;
  }

  /** Reads one character or one named class, in the syntax between brackets. */
  function item(): string {
    if (!match(/\\/y)) return codePoint();
    const named = match(/[dDwWsS]/y)?.[0];
    if (named !== undefined) return named === "s" ? SPACE : named === "S" ? NO_SPACE : `\\${named}`;
    const property = match(/([pP])\{([^}]+)\}/y);
    if (property) return unicodeProperty(property[1] ?? "", property[2] ?? "");
    if (match(/b/y)) return hex(8);
    const pair = match(/u([dD][89abAB][\da-fA-F]{2})\\u([dD][c-fC-F][\da-fA-F]{2})/y);
    if (pair) return hex(((parse(pair[1]) & 0x3ff) << 10) + (parse(pair[2]) & 0x3ff) + 0x10000);
    const coded = match(/x([\da-fA-F]{2})|u([\da-fA-F]{4})|u\{([\da-fA-F]{1,6})\}/y);
    if (coded) return hex(parse(coded[1] ?? coded[2] ?? coded[3]));
    const control = match(/c([a-zA-Z])/y)?.[1];
    if (control !== undefined) return hex(control.charCodeAt(0) % 32);
    const sign = match(/[tnvfr]|0(?!\d)/y)?.[0];
    if (sign !== undefined) return hex(CONTROL[sign] ?? 0);
    // Other dialects define more letters (\A, \Z, \h).
    if (/[\p{L}\p{N}]/u.test(source[at] ?? "")) throw new SyntaxError(`it has the unknown escape \\${source[at]}`);
    return codePoint();
  }

  function codePoint(): string {
    const point = source.codePointAt(at) ?? 0;
    at += point > 0xffff ? 2 : 1;
    return hex(point);
  }
}

function unicodeProperty(letter: string, property: string): string {
  const name = /^(?:Script|sc)=([A-Z][a-z]+)$/.exec(property)?.[1] ?? CATEGORIES[property] ?? property;
  const written = `\\${letter}{${name}}`;
  try {
    re2().compile(written);
    return written;
  } catch {
    throw new NotInRe2();
  }
}

function hex(point: number): string {
  return `\\x{${point.toString(16)}}`;
}

function parse(digits: string | undefined): number {
  return Number.parseInt(digits ?? "0", 16);
}
