import type { Finding, Place, Severity } from "./scan/finding.ts";
import type { Span } from "./scan/rules/rule.ts";

/** Looks for signs of attack in one text. Synchronous, because every result may pass it: in time proportional to the text. */
export interface TextScanner {
  /** Every rule a finding of it can name. */
  readonly rules: readonly ScannerRule[];
  /** Returns what it finds, at most once per rule, always the same for the same text. `text` has no hidden characters; without a `place`, it may be anything. */
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
