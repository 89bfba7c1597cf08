import { fixable } from "../errors/arsenal-error.ts";
import { showValue } from "../errors/show-value.ts";
import type { Tool } from "../tool/tool.ts";
import { remember } from "../base/remember.ts";

/** The first pattern that matches a tool's name, id or source name; undefined if none does. */
export type PatternMatcher = (tool: NamedTool) => string | undefined;

export type NamedTool = Pick<Tool, "id" | "name" | "sourceName">;

/** The longest pattern, in characters. Names are shorter, and matching takes at most pattern × text steps. */
export const MAX_PATTERN_LENGTH = 1_000;

/** Compiles tool patterns: `*` matches any characters, `?` exactly one; case-insensitive. */
export function matchPatterns(
  patterns: readonly string[],
  options: {
    /** The setting with the patterns, for messages: `security.deny`. */
    readonly field?: string;
    /** True if a match grants something. Patterns with a dot then match only ids: no server can name its tool `github.anything` to match `github.*`. */
    readonly grants?: boolean;
  } = {},
): PatternMatcher {
  const { field = "patterns", grants = false } = options;
  if (!Array.isArray(patterns)) {
    const problem = `${field} is ${showValue(patterns)}, which is not a list of patterns.`;
    const fix = 'Write a list of tool names, ids or patterns, such as ["delete_*"].';
    throw fixable("CONFIG_INVALID", problem, fix, { field, value: patterns });
  }
  const compiled = patterns.map((pattern: unknown, index) => compilePattern(pattern, `${field}.${index}`, grants));
  return (tool) => {
    if (compiled.length === 0) return undefined;
    const [name, id, sourceName] = [tool.name.toLowerCase(), tool.id.toLowerCase(), tool.sourceName.toLowerCase()];
    return compiled.find(
      ({ matches, coversSourceName }) => matches(name) || matches(id) || (coversSourceName && matches(sourceName)),
    )?.text;
  };
}

/** Like `matchPatterns`, with a cached result per tool: tools are immutable, and every retrieval checks all of them. */
export function compilePatterns(...given: Parameters<typeof matchPatterns>): PatternMatcher {
  const match = matchPatterns(...given);
  return given[0].length === 0 ? match : remember(match);
}

function compilePattern(pattern: unknown, field: string, grants: boolean) {
  const text = typeof pattern === "string" ? pattern.trim() : "";
  if (text === "") {
    const fix = "Write a tool name, an id or a pattern with * and ?, such as delete_*, or remove the entry.";
    const problem = `${field} is ${showValue(pattern)}, which is not a pattern.`;
    throw fixable("CONFIG_INVALID", problem, fix, { field, value: pattern });
  }
  if (text.length > MAX_PATTERN_LENGTH) {
    const problem = `${field} has ${text.length} characters, and a pattern may have ${MAX_PATTERN_LENGTH}.`;
    throw fixable("CONFIG_INVALID", problem, "Write a shorter pattern, or several.", { field });
  }
  return { text, matches: wildcard(text.toLowerCase()), coversSourceName: !(grants && text.includes(".")) };
}

/** Compiles a case-sensitive pattern: `*` matches any characters, `?` exactly one. */
function wildcard(pattern: string): (text: string) => boolean {
  if (!pattern.includes("?")) return starred(pattern);
  const characters = [...pattern];
  return (text) => matchesCharacters(characters, [...text]);
}

/** Compiles a pattern with only `*`. Safe for untrusted patterns, unlike a regular expression, which can hang the process. */
export function starred(pattern: string): (text: string) => boolean {
  const parts = pattern.split("*");
  return (text) => isMade(text, parts);
}

/** Returns whether a text contains the parts in order, the first at its start and the last at its end. */
function isMade(text: string, parts: readonly string[]): boolean {
  const first = parts[0] ?? "";
  if (parts.length === 1) return text === first;
  const last = parts.at(-1) ?? "";
  if (!text.startsWith(first) || !text.endsWith(last)) return false;
  let at = first.length;
  for (const part of parts.slice(1, -1)) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return at + last.length <= text.length;
}

/** Matches without a regular expression, because `*a*a*a*b` could take exponential time. Only the last `*` needs backtracking. */
function matchesCharacters(pattern: readonly string[], text: readonly string[]): boolean {
  let at = 0;
  let reached = 0;
  let lastStar = -1;
  let resumeAt = 0;
  while (reached < text.length) {
    if (pattern[at] === "*") {
      lastStar = at++;
      resumeAt = reached;
    } else if (at < pattern.length && (pattern[at] === "?" || pattern[at] === text[reached])) {
      at++;
      reached++;
    } else if (lastStar >= 0) {
      at = lastStar + 1;
      reached = ++resumeAt;
    } else {
      return false;
    }
  }
  while (pattern[at] === "*") at++;
  return at === pattern.length;
}
