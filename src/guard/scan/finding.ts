import type { Span } from "./rules/rule.ts";

/** The kind of scanned text. A sign can be harmful in one kind and harmless in another. */
export const PLACES = ["definition", "arguments", "result"] as const;
export type TextPlace = (typeof PLACES)[number];

export type FindingCategory =
  | "hidden-text"
  | "injection"
  | "jailbreak"
  | "exfiltration"
  | "shadowing"
  | "secret-access"
  | "command"
  | "encoded"
  | "wording";

export type ScanAction = "flagged" | "blocked" | "neutralised" | "wrapped";

/** One match in a text that looks like an attack. */
export interface Finding {
  /** The rule: `injection.override`, `hidden.tags`. */
  readonly rule: string;
  readonly category: FindingCategory;
  readonly severity: Severity;
  /** The explanation for a person. */
  readonly message: string;
  /** The path of the text in a tool: `description`, `parameters.properties.city.description`. Omitted for a plain text. */
  readonly path?: string;
  /** The start, in UTF-16 code units of the given text. A finding in text without its hidden parts counts in that text. */
  readonly position: number;
  /** The matched words, shortened, without terminal control characters. */
  readonly excerpt: string;
  /** The hidden text, if it could be decoded. */
  readonly hidden?: string;
  /** Present if the finding is only advice: it never blocks or changes the text, and is dropped if another finding is of medium severity or more. */
  readonly advisory?: true;
}

/** Returns the words of a span with some context: short, on one line, safe for a terminal. */
export function excerpt(text: string, { start, end }: Span): string {
  const before = text.slice(Math.max(0, start - 24), start);
  // The excerpt begins with a whole word if possible.
  const lead = start > 24 ? before.slice(before.indexOf(" ") + 1) : before;
  return clip(lead + text.slice(start, Math.min(end, start + 120) + 20));
}

export function clip(text: string): string {
  return text
    .slice(0, 240)
    .replaceAll(/[\p{C}\p{Z}]+/gu, " ")
    .trim();
}

/** The severities, mildest first. */
export const SEVERITIES = ["info", "low", "medium", "high", "critical"] as const;
export type Severity = (typeof SEVERITIES)[number];

export function reaches(severity: Severity, threshold: Severity): boolean {
  return SEVERITIES.indexOf(severity) >= SEVERITIES.indexOf(threshold);
}

/** Returns the worst severity; undefined for an empty list. */
export function worst(severities: readonly Severity[]): Severity | undefined {
  return SEVERITIES.findLast((severity) => severities.includes(severity));
}
