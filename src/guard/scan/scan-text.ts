import type { PlacedFinding, ScannerRule, TextScanner } from "../scanner.port.ts";
import { atOnce, type Steps } from "../../base/turns/event-loop.ts";
import { clip, excerpt, type Finding, type TextPlace, reaches, type Severity } from "./finding.ts";
import { type HiddenText, HIDING, type HidingKind, normaliseText } from "./hidden/normalise-text.ts";
import { decodePayloads } from "./rules/encoded.ts";
import { type Rule, toRuleText } from "./rules/rule.ts";

export interface TextScan {
  readonly text: string;
  readonly findings: readonly PlacedFinding[];
}

/** The findings of the normaliser in the form of rules, for lists of everything that a scan can find. */
export const HIDING_RULES: readonly ScannerRule[] = Object.entries(HIDING).map(([kind, message]) => ({
  id: `hidden.${kind}`,
  message,
  severity: "medium",
}));

/** A scanner that reads a long text in steps of a few milliseconds. */
interface SteppedScanner extends TextScanner {
  steps(text: string, place?: TextPlace): Steps<readonly PlacedFinding[]>;
}

/** Runs scanners over one text. Hidden text is removed first, and scanned as well. */
export function scanText(given: string, scanners: readonly TextScanner[], place: TextPlace | undefined): TextScan {
  return atOnce(scanInSteps(given, scanners, place));
}

/** Like `scanText`, in steps of a few milliseconds. */
export function* scanInSteps(
  given: string,
  scanners: readonly TextScanner[],
  place: TextPlace | undefined,
): Steps<TextScan> {
  const { text, findings: hidden } = normaliseText(given);
  const findings: PlacedFinding[] = hidden.map((found) => ({ finding: toFinding(found, given, place) }));
  yield;
  for (const scanner of scanners) {
    const { steps } = scanner as Partial<SteppedScanner>;
    findings.push(...(steps === undefined ? scanner.scan(text, place) : yield* steps(text, place)));
  }
  for (const { hidden: content, position, kind } of hidden)
    if (content !== undefined && kind !== "lookalikes" && kind !== "styled-letters") {
      findings.push(...uncovered(content, scanners, place, position).map((finding) => ({ finding })));
      yield;
    }
  if (findings.some(({ finding }) => finding.rule === "encoded.payload"))
    for (const { content, start, end } of decodePayloads(text.slice(0, 4 * WINDOW))) {
      findings.push(
        ...uncovered(content, scanners, place, start).map((finding) => ({ finding, span: { start, end } })),
      );
      yield;
    }
  return { text, findings: withoutNeedlessAdvice(findings) };
}

/** Scans text that was hidden or encoded, which raises the severity of its findings. */
function uncovered(
  content: string,
  scanners: readonly TextScanner[],
  place: TextPlace | undefined,
  position: number,
): readonly Finding[] {
  const read = content.replaceAll(/(?<=\w)\+(?=\w)|%20/g, " ").slice(0, WINDOW);
  return scanners
    .flatMap((scanner) => scanner.scan(read, place))
    .filter(({ finding }) => finding.advisory !== true)
    .map(({ finding }) => ({ ...finding, severity: "critical", position, hidden: clip(read) }));
}

/** Drops advisory findings if other findings already flag the text. */
function withoutNeedlessAdvice(findings: readonly PlacedFinding[]): readonly PlacedFinding[] {
  const isAdvice = ({ finding }: PlacedFinding): boolean => finding.advisory === true;
  if (!findings.some(isAdvice)) return findings;
  const others = findings.filter((placed) => !isAdvice(placed));
  return others.some(({ finding }) => reaches(finding.severity, "medium")) ? others : findings;
}

function toFinding(
  { kind, severity, position, count, hidden }: HiddenText,
  given: string,
  place: TextPlace | undefined,
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

/** Programs colour their output, and draw progress bars with carriage returns. This is harmless in a result, but not in a definition. */
function inPlace(kind: HidingKind, severity: Severity, place: TextPlace | undefined): Severity {
  return place === "result" && severity === "medium" && (kind === "terminal" || kind === "control") ? "low" : severity;
}

/** Longer texts are read in overlapping windows, which bounds the text that a rule sees at once. In characters. */
const WINDOW = 16_384;
const OVERLAP = 512;

/** Creates a scanner from rules. If no place is given, all rules apply. */
export function ruleScanner(rules: readonly Rule[]): SteppedScanner {
  const steps = (text: string, place?: TextPlace): Steps<readonly PlacedFinding[]> =>
    search(
      text,
      rules.filter(({ places }) => place === undefined || places === undefined || places.includes(place)),
    );
  return { rules, steps, scan: (text, place) => atOnce(steps(text, place)) };
}

function* search(text: string, rules: readonly Rule[]): Steps<readonly PlacedFinding[]> {
  const found = new Map<string, PlacedFinding>();
  for (let from = 0; from === 0 || from + OVERLAP < text.length; from += WINDOW - OVERLAP) {
    const window = toRuleText(forRules(text.slice(from, from + WINDOW)));
    for (const { id, category, severity, message, find } of rules) {
      if (found.has(id)) continue;
      const match = find(window);
      if (match === undefined) continue;
      const position = from + match.start;
      found.set(id, {
        finding: { rule: id, category, severity, message, position, excerpt: excerpt(window.text, match) },
        span: { start: position, end: from + match.end },
      });
    }
    yield;
  }
  return [...found.values()];
}

/** Typographic quotes, spaces and hyphens, and the plain characters that rules use. */
const TYPOGRAPHIC = "\u2018\u2019\u201C\u201D\u00A0\u2010\u2011";
const PLAIN = `''"" --`;

/** Replaces each typographic character with one plain character, so positions stay the same. */
function forRules(text: string): string {
  if (!/[^\t\n\r\x20-\x7E]/.test(text)) return text;
  return text.replaceAll(/[\u2018\u2019\u201C\u201D\u00A0\u2010\u2011]/g, (found) =>
    PLAIN.charAt(TYPOGRAPHIC.indexOf(found)),
  );
}
