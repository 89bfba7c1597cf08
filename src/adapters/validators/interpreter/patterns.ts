import { createRequire } from "node:module";
import type { RE2JS } from "re2js";
import { showValue } from "../../../errors/show-value.ts";
import { safeLength } from "./pattern-cost.ts";
import { parsePattern, type Pattern } from "./pattern-syntax.ts";
import { toRe2 } from "./pattern-to-re2.ts";

/** Decides whether a text matches, in time that grows with its length and no faster. */
export interface SafePattern {
  test(text: string): boolean;
  /** What of the pattern is not checked, and why. */
  readonly note?: string;
}

/** Longer patterns are not read. */
const MAX_LENGTH = 5_000;

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

function onRe2(pattern: Pattern): SafePattern | undefined {
  const written = toRe2(pattern);
  if (written === undefined) return undefined;
  try {
    const compiled = re2().compile(written);
    return { test: (text) => compiled.test(text) };
  } catch {
    // A property RE2 has no table for, or numbers that multiply to more than it counts.
    return undefined;
  }
}

function ignored(note: string): SafePattern {
  return { test: () => true, note };
}

/** Loaded with the first pattern. */
function re2(): typeof RE2JS {
  return (createRequire(import.meta.url)("re2js") as { readonly RE2JS: typeof RE2JS }).RE2JS;
}
