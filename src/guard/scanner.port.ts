import type { Finding, TextPlace, Severity } from "./scan/finding.ts";
import type { Span } from "./scan/rules/rule.ts";

/** Finds signs of attack in one text. Synchronous, because every result may pass through it. Takes linear time. */
export interface TextScanner {
  /** All rules that findings can name. */
  readonly rules: readonly ScannerRule[];
  /** Returns its findings, at most one per rule. Deterministic. `text` has no hidden characters. Without `place`, it may be any kind of text. */
  scan(text: string, place?: TextPlace): readonly PlacedFinding[];
}

/** A rule as reports show it. */
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
