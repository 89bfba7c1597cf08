import type { Finding, Place, Severity } from "./scan/finding.ts";
import type { Span } from "./scan/rules/rule.ts";

/** Looks for signs of attack in one text. Synchronous, because every result may pass it: in time proportional to the text. */
export interface TextScanner {
  /** Every rule a finding of it can name. */
  readonly rules: readonly ScannerRule[];
  /**
   * Returns what it finds, at most once per rule. `text` has no hidden characters any more; without a `place`, it may come from anywhere.
   * The same text always has the same findings.
   */
  scan(text: string, place?: Place): readonly PlacedFinding[];
}

/** A rule as reports list it. */
export interface ScannerRule {
  readonly id: string;
  readonly message: string;
  readonly severity: Severity;
}

/** A finding, and the part of the text it is about. */
export interface PlacedFinding {
  readonly finding: Finding;
  /** In UTF-16 code units. Absent if the finding is about text that was hidden and is already removed. */
  readonly span?: Span;
}
