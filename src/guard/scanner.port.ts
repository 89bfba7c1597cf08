import type { Finding, TextPlace, Severity } from "./scan/finding.ts";
import type { Span } from "./scan/rules/rule.ts";

/** Finds signs of attack in one text. Synchronous, because every result may pass it, and in time proportional to the text. */
export interface TextScanner {
  /** Every rule that its findings can name. */
  readonly rules: readonly ScannerRule[];
  /** Returns its findings, at most one per rule, deterministically. `text` has no hidden characters; without a `place`, it may be anything. */
  scan(text: string, place?: TextPlace): readonly PlacedFinding[];
}

/** A rule in reports. */
export interface ScannerRule {
  readonly id: string;
  readonly message: string;
  readonly severity: Severity;
}

/** A finding and its part of the text. */
export interface PlacedFinding {
  readonly finding: Finding;
  /** In UTF-16 code units. Omitted if the finding is about removed hidden text. */
  readonly span?: Span;
}
