import type { Span } from "./rules/rule.ts";

/** Returns the words of a span with a little of what surrounds them: short, on one line, safe for a terminal. */
export function excerpt(text: string, { start, end }: Span): string {
  const before = text.slice(Math.max(0, start - 24), start);
  // Begins with a whole word if there is one.
  const lead = start > 24 ? before.slice(before.indexOf(" ") + 1) : before;
  return clip(lead + text.slice(start, Math.min(end, start + 120) + 20));
}

/** Shortens a text to one line that is safe for a terminal. */
export function clip(text: string): string {
  return text
    .slice(0, 240)
    .replaceAll(/[\p{C}\p{Z}]+/gu, " ")
    .trim();
}
