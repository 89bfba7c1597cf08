import type { Span } from "./rules/rule.ts";

/** What kind of text is scanned. Some signs mean harm in one place and nothing in another. */
export const PLACES = ["definition", "arguments", "result"] as const;
export type Place = (typeof PLACES)[number];

/** What a finding is about. */
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

/** What was made of something that was found. */
export type ScanAction = "flagged" | "blocked" | "neutralised" | "wrapped";

/** One thing in a text that looks like an attack. */
export interface Finding {
  /** The rule that says so: `injection.override`, `hidden.tags`. */
  readonly rule: string;
  readonly category: FindingCategory;
  readonly severity: Severity;
  /** What it means, for a person. */
  readonly message: string;
  /** Where in a tool the text is: `description`, `parameters.properties.city.description`. Absent for a text alone. */
  readonly path?: string;
  /** Where in the text it begins, in UTF-16 code units of the text as given; of the text without its hidden parts for one that a rule found there. */
  readonly position: number;
  /** The words that were found, cut short and without anything that steers a terminal. */
  readonly excerpt: string;
  /** What was hidden, where it could be read. */
  readonly hidden?: string;
  /** Set if the finding only advises: it flags the text and never blocks or changes it. Dropped if another finding is of medium severity or more. */
  readonly advisory?: true;
}

/** Returns the words of a span with a little of what surrounds them: short, on one line, safe for a terminal. */
export function excerpt(text: string, { start, end }: Span): string {
  const before = text.slice(Math.max(0, start - 24), start);
  // Begins with a whole word if there is one.
  const lead = start > 24 ? before.slice(before.indexOf(" ") + 1) : before;
  return clip(lead + text.slice(start, Math.min(end, start + 120) + 20));
}

export function clip(text: string): string {
  return text
    .slice(0, 240)
    .replaceAll(/[\p{C}\p{Z}]+/gu, " ")
    .trim();
}

/** How bad a finding is, mildest first. */
export const SEVERITIES = ["info", "low", "medium", "high", "critical"] as const;
export type Severity = (typeof SEVERITIES)[number];

export function reaches(severity: Severity, threshold: Severity): boolean {
  return SEVERITIES.indexOf(severity) >= SEVERITIES.indexOf(threshold);
}

/** The worst of several; undefined if there is none. */
export function worst(severities: readonly Severity[]): Severity | undefined {
  return SEVERITIES.findLast((severity) => severities.includes(severity));
}
