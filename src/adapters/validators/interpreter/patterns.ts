import { createRequire } from "node:module";
import type { RE2JS } from "re2js";
import { showValue } from "../../../errors/show-value.ts";
import { safeLength } from "./pattern-cost.ts";
import { parsePattern, type Pattern } from "./pattern-syntax.ts";
import { re2Size, toRe2 } from "./pattern-to-re2.ts";

/** Decides whether a text matches, in time that grows with its length and no faster. */
export interface SafePattern {
  test(text: string): boolean;
  /** Steps that reading one character takes, at most and about. */
  readonly size: number;
  /** What of the pattern is not checked, and why. */
  readonly note?: string;
  /** True where every text is accepted for want of a way to decide. */
  readonly isIgnored?: boolean;
}

/** Patterns that were read, by what they are written as. */
export type Patterns = ReadonlyMap<string, SafePattern>;

/** Longer patterns are not read. */
const MAX_LENGTH = 5_000;

/** Larger ones take RE2 long to compile, and long for each character. */
const MAX_SIZE = 3_000;

/** What the bound on backtracking comes to for a character, about. */
const NATIVE_SIZE = 200;

/**
 * A pattern that nobody can hang the process with. RE2 runs it, in linear time. What RE2 cannot say (lookaround, references back, counting
 * past 1,000) runs on JavaScript's own engine where its worst case is bounded, on texts up to the length it is bounded for. Anything else,
 * and what is no pattern at all, accepts every text and says so in a note.
 */
export function safePattern(source: string): SafePattern {
  const shown = `The pattern ${showValue(source)}`;
  let pattern: Pattern;
  try {
    if (source.length > MAX_LENGTH) throw new SyntaxError(`it has more than ${MAX_LENGTH} characters`);
    pattern = parsePattern(source);
  } catch (error) {
    return ignored(`${shown} is not checked: ${(error as Error).message}.`);
  }
  const linear = onRe2(pattern);
  if (linear) return linear;
  const [longest, native] = [safeLength(pattern), nativePattern(source)];
  if (longest === undefined || native === undefined) {
    return ignored(`${shown} is not checked: it cannot be decided in linear time.`);
  }
  return {
    test: (text) => text.length > longest || native.test(text),
    size: NATIVE_SIZE,
    note: `${shown} is checked on texts of up to ${longest} characters: beyond, it cannot be decided in linear time.`,
  };
}

/** Whether a text is a regular expression of JavaScript at all. Many real ones, such as `[\w-.]`, are only without the `u` flag. */
export function nativePattern(source: string): RegExp | undefined {
  for (const flags of ["u", ""]) {
    try {
      return new RegExp(source, flags);
    } catch {
      // The other flags may do, and otherwise there is none.
    }
  }
  return undefined;
}

/** Compiled with the first text: of the patterns of a large schema most are never asked. */
function onRe2(pattern: Pattern): SafePattern | undefined {
  const size = re2Size(pattern);
  const written = size > MAX_SIZE ? undefined : toRe2(pattern, isKnownProperty);
  if (written === undefined) return undefined;
  let compiled: RE2JS | undefined;
  return { test: (text) => (compiled ??= re2().compile(written)).test(text), size };
}

function isKnownProperty(name: string): boolean {
  try {
    re2().compile(`\\p{${name}}`);
    return true;
  } catch {
    return false;
  }
}

function ignored(note: string): SafePattern {
  return { test: () => true, size: 0, note, isIgnored: true };
}

/** Loaded with the first pattern. */
function re2(): typeof RE2JS {
  return (createRequire(import.meta.url)("re2js") as { readonly RE2JS: typeof RE2JS }).RE2JS;
}
