import type { PlacedFinding, TextScanner } from "../scanner.port.ts";
import { excerpt } from "./finding.ts";
import { type Rule, toRuleText } from "./rules/rule.ts";

/** Longer texts are read in windows of this many characters, each overlapping the one before, so that no rule ever sees more at once. */
export const WINDOW = 16_384;
const OVERLAP = 512;

/** Looks for what rules describe. Without a place, all of them apply. */
export function ruleScanner(rules: readonly Rule[]): TextScanner {
  return {
    rules,
    scan: (text, place) =>
      search(
        text,
        rules.filter(({ places }) => place === undefined || places === undefined || places.includes(place)),
      ),
  };
}

function search(text: string, rules: readonly Rule[]): readonly PlacedFinding[] {
  const found = new Map<string, PlacedFinding>();
  for (let from = 0; from === 0 || from + OVERLAP < text.length; from += WINDOW - OVERLAP) {
    const window = toRuleText(forRules(text.slice(from, from + WINDOW)));
    for (const { id, category, severity, message, find } of rules) {
      if (found.has(id)) continue;
      const match = find(window);
      if (match === undefined) continue;
      const position = from + match.start;
      found.set(id, {
        finding: { rule: id, category, severity, message, position, excerpt: excerpt(window.text, match) },
        span: { start: position, end: from + match.end },
      });
    }
  }
  return [...found.values()];
}

const TYPOGRAPHIC: Readonly<Record<string, string>> = {
  "\u2018": "'",
  "\u2019": "'",
  "\u201C": '"',
  "\u201D": '"',
  "\u00A0": " ",
  "\u2010": "-",
  "\u2011": "-",
};

/** Writes typographic forms as rules write them, one character for one, so that positions stay. */
function forRules(text: string): string {
  return /[^\t\n\r\x20-\x7E]/.test(text)
    ? text.replaceAll(
        /[\u2018\u2019\u201C\u201D\u00A0\u2010\u2011]/g,
        (character) => TYPOGRAPHIC[character] ?? character,
      )
    : text;
}
