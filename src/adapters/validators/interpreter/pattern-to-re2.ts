import type { ClassItem, Pattern } from "./pattern-syntax.ts";

/** RE2 refuses to count further. */
const MOST_REPEATS = 1000;

/** JavaScript's white space, which is more than RE2's, and everything else. */
const SPACE =
  "\\x{9}-\\x{d}\\x{20}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}";
const NO_SPACE =
  "\\x{0}-\\x{8}\\x{e}-\\x{1f}\\x{21}-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{fefe}\\x{ff00}-\\x{10ffff}";

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
 * The pattern as RE2 writes it, where it means the same; undefined where RE2 cannot say it. `knows` is asked about the names of Unicode
 * categories and scripts.
 */
export function toRe2(pattern: Pattern, knows: (property: string) => boolean): string | undefined {
  const joined = (parts: readonly Pattern[], by: string): string | undefined => {
    const written = parts.map((part) => toRe2(part, knows));
    return written.includes(undefined) ? undefined : written.join(by);
  };
  switch (pattern.kind) {
    case "look":
    case "backreference":
      return undefined;
    case "assertion":
      return pattern.text;
    case "characters":
      return characters(pattern.items, pattern.negated, knows);
    case "sequence":
      return joined(pattern.parts, "");
    case "either": {
      const options = joined(pattern.options, "|");
      return options === undefined ? undefined : `(?:${options})`;
    }
    case "repeat": {
      const { inner, min, max } = pattern;
      const repeated = toRe2(inner, knows);
      if (repeated === undefined || min > MOST_REPEATS || (max !== Infinity && max > MOST_REPEATS)) return undefined;
      return `(?:${repeated}){${min},${max === Infinity ? "" : max}}`;
    }
  }
}

/** About how many instructions RE2 makes of a pattern: reading one character of a text takes at most that many steps. */
export function re2Size(pattern: Pattern): number {
  const sum = (parts: readonly Pattern[]): number => parts.reduce((total, part) => total + re2Size(part), 0);
  switch (pattern.kind) {
    case "sequence":
      return sum(pattern.parts);
    case "either":
      return sum(pattern.options) + pattern.options.length;
    case "repeat":
      return (re2Size(pattern.inner) + 1) * Math.max(1, pattern.max === Infinity ? pattern.min + 1 : pattern.max);
    default:
      return 1;
  }
}

function characters(
  items: readonly ClassItem[],
  negated: boolean,
  knows: (property: string) => boolean,
): string | undefined {
  if (items.length === 0) return negated ? "(?s:.)" : "[^\\x{0}-\\x{10ffff}]";
  const written = items.map((item) => classItem(item, knows));
  return written.includes(undefined) ? undefined : `[${negated ? "^" : ""}${written.join("")}]`;
}

function classItem(item: ClassItem, knows: (property: string) => boolean): string | undefined {
  if ("from" in item) {
    return `\\x{${item.from.toString(16)}}${item.to === item.from ? "" : `-\\x{${item.to.toString(16)}}`}`;
  }
  if ("named" in item) return item.named === "s" ? SPACE : item.named === "S" ? NO_SPACE : `\\${item.named}`;
  const name = /^(?:Script|sc)=([A-Z][a-z]+)$/.exec(item.property)?.[1] ?? CATEGORIES[item.property] ?? item.property;
  return /^[A-Za-z]+$/.test(name) && knows(name) ? `\\${item.negated ? "P" : "p"}{${name}}` : undefined;
}
