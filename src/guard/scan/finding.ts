import type { Severity } from "./severity.ts";

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
  /**
   * Set if the finding only advises: it flags the text at any severity, and never blocks or changes it. Such a finding is left out if another one of
   * at least medium severity is about the same text.
   */
  readonly advisory?: true;
}
