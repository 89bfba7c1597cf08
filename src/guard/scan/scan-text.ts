import type { PlacedFinding, ScannerRule, TextScanner } from "../scanner.port.ts";
import { clip, excerpt, type Finding, type Place, reaches, type Severity } from "./finding.ts";
import { type HiddenText, type HidingKind, normaliseText } from "./hidden/normalise-text.ts";
import { decodePayloads } from "./rules/encoded.ts";
import { WINDOW } from "./rule-scanner.ts";

/** What was found in one text. */
export interface TextScan {
  /** The text without what it hid. */
  readonly text: string;
  readonly findings: readonly PlacedFinding[];
}

const HIDING: Readonly<Record<HidingKind, string>> = {
  tags: "Hides text in Unicode tag characters, which models read and people do not see.",
  selectors: "Hides data in variation selectors.",
  "zero-width": "Has zero-width characters that no language needs there.",
  bidi: "Has controls that show text in another order than it is read.",
  terminal: "Has codes that steer a terminal, and can hide or replace what it shows.",
  control: "Has control characters, with which a terminal shows something else than a model reads.",
  filler: "Has letters that are blank.",
  "soft-hyphen": "Breaks its words with soft hyphens that nobody sees.",
  "private-use": "Has characters without a meaning of their own.",
  "stacked-marks": "Buries its letters under marks.",
  lookalikes: "Spells words with letters of another alphabet that look the same.",
  "styled-letters": "Spells words with letters that are no letters: full-width, mathematical, circled, flags.",
};

/** What the normaliser finds, as rules: for whoever lists everything a scan can find. */
export const HIDING_RULES: readonly ScannerRule[] = Object.entries(HIDING).map(([kind, message]) => ({
  id: `hidden.${kind}`,
  message,
  severity: "medium",
}));

/** Runs scanners over one text: what it hid is taken out first, then read like the rest. */
export function scanText(given: string, scanners: readonly TextScanner[], place: Place | undefined): TextScan {
  const { text, findings: hidden } = normaliseText(given);
  const findings: PlacedFinding[] = hidden.map((found) => ({ finding: toFinding(found, given, place) }));
  for (const scanner of scanners) findings.push(...scanner.scan(text, place));
  for (const { hidden: content, position, kind } of hidden)
    if (content !== undefined && kind !== "lookalikes" && kind !== "styled-letters")
      findings.push(...uncovered(content, scanners, place, position).map((finding) => ({ finding })));
  if (findings.some(({ finding }) => finding.rule === "encoded.payload"))
    for (const { content, start, end } of decodePayloads(text.slice(0, 4 * WINDOW)))
      findings.push(
        ...uncovered(content, scanners, place, start).map((finding) => ({ finding, span: { start, end } })),
      );
  return { text, findings: withoutNeedlessAdvice(findings) };
}

/** Scans what was hidden or encoded. Being hidden makes a finding worse. */
function uncovered(
  content: string,
  scanners: readonly TextScanner[],
  place: Place | undefined,
  position: number,
): readonly Finding[] {
  const read = content.replaceAll(/(?<=\w)\+(?=\w)|%20/g, " ").slice(0, WINDOW);
  return scanners
    .flatMap((scanner) => scanner.scan(read, place))
    .filter(({ finding }) => finding.advisory !== true)
    .map(({ finding }) => ({ ...finding, severity: "critical", position, hidden: clip(read) }));
}

/** Leaves out findings that only advise if others already say that the text is suspicious. */
function withoutNeedlessAdvice(findings: readonly PlacedFinding[]): readonly PlacedFinding[] {
  const isAdvice = ({ finding }: PlacedFinding): boolean => finding.advisory === true;
  if (!findings.some(isAdvice)) return findings;
  const others = findings.filter((placed) => !isAdvice(placed));
  return others.some(({ finding }) => reaches(finding.severity, "medium")) ? others : findings;
}

function toFinding(
  { kind, severity, position, count, hidden }: HiddenText,
  given: string,
  place: Place | undefined,
): Finding {
  return {
    rule: `hidden.${kind}`,
    category: "hidden-text",
    severity: inPlace(kind, severity, place),
    message: HIDING[kind],
    position,
    excerpt: excerpt(given, { start: position, end: position + count }),
    ...(hidden === undefined ? {} : { hidden: clip(hidden) }),
  };
}

/** Programs colour their output and draw progress with carriage returns: in a result that is nothing, in a definition it is. */
function inPlace(kind: HidingKind, severity: Severity, place: Place | undefined): Severity {
  return place === "result" && severity === "medium" && (kind === "terminal" || kind === "control") ? "low" : severity;
}
