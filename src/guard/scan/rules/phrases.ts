/**
 * Phrases to look for, a line each: whole words, in any case. A line is a regular expression that reads like the phrase it finds:
 * - a space is any white space, ` ?` is white space or nothing;
 * - ` … ` is up to sixty characters of the same sentence;
 * - a bracket groups and keeps nothing: `(all|any) rules`;
 * - an empty line finds nothing, where an empty expression would find something everywhere.
 */
export function words(...lines: readonly string[]): RegExp {
  return new RegExp(String.raw`\b(?:${lines.map(toExpression).join("|")})\b`, "gi");
}

/** Like `words`, for what need not begin or end at the edge of a word: signs, code, other scripts. */
export function marks(...lines: readonly string[]): RegExp {
  return new RegExp(lines.map(toExpression).join("|"), "gi");
}

/** Like `marks`, where capitals count. */
export function exactly(...lines: readonly string[]): RegExp {
  return new RegExp(lines.map(toExpression).join("|"), "g");
}

function toExpression(line: string): string {
  return line === "" ? NOTHING : line.replaceAll(TOKEN, (token) => MEANINGS[token] ?? token);
}

const NOTHING = "(?!)";

/** What is escaped and what stands in square brackets means itself. */
const TOKEN = /\\.|\[(?:\\.|[^\]\\])*\]| … | \?| |\((?!\?)/g;

const MEANINGS: Readonly<Record<string, string>> = {
  " … ": String.raw`\b[^.\n]{0,60}\b`,
  " ?": String.raw`\s{0,8}`,
  " ": String.raw`\s{1,8}`,
  "(": "(?:",
};
