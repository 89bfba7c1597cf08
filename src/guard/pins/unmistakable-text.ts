import { disguises, styledWords } from "../scan/hidden/lookalikes.ts";
import { visibleText } from "../visible-text.ts";

/** A text on one line in which nothing hides, and no letter passes for one that it is not: both are written as JSON escapes them. */
export function unmistakableText(text: string): string {
  let shown = text;
  const passing = [...disguises(text), ...styledWords(text)].sort((one, other) => other.start - one.start);
  for (const { start, word } of passing)
    shown = shown.slice(0, start) + escapedText(word) + shown.slice(start + word.length);
  return visibleText(shown);
}

/** The text with everything beyond ASCII escaped, and what escapes, for two texts that look the same. */
export function escapedText(text: string): string {
  const ascii = text.replaceAll(/[^\0-\x7F]|\\/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
  return visibleText(ascii);
}
