import { fixable } from "../../errors/arsenal-error.ts";
import { messageOf, showValue } from "../../errors/show-value.ts";
import type { TextScanner } from "../scanner.port.ts";
import { type Finding, type TextPlace, reaches, SEVERITIES, type Severity, worst } from "./finding.ts";
import { ruleScanner, scanInSteps, scanText as searchText, type TextScan } from "./scan-text.ts";
import { SCAN_RULES } from "./rules/all-rules.ts";
import type { Rule } from "./rules/rule.ts";
import { atOnce, type Steps } from "../../base/turns/event-loop.ts";
import { toolTexts } from "./texts/tool-texts.ts";
import { mapTexts } from "./texts/value-texts.ts";

/** The action on a text with bad findings: refuse it, only report it, or remove the bad parts. */
export const SCAN_MODES = ["block", "flag", "neutralise"] as const;
export type ScanMode = (typeof SCAN_MODES)[number];

/** The settings of a scanner. */
export interface ScannerOptions {
  readonly mode: ScanMode;
  /** The lowest severity that flags a text. Defaults to `medium`. Advisory findings flag a text at any severity. */
  readonly flagAt?: Severity;
  /** The lowest severity that `block` and `neutralise` act on. Defaults to `high`. They never act on advisory findings. */
  readonly actAt?: Severity;
  /** Defaults to all rules. */
  readonly rules?: readonly Rule[];
  /** Scanners to run after the rules. Defaults to none. */
  readonly scanners?: readonly TextScanner[];
}

/** The findings of a scan, and the resulting action. */
export interface ScanReport {
  readonly flagged: boolean;
  /** The worst severity of the findings; null if there are none. */
  readonly severity: Severity | null;
  readonly findings: readonly Finding[];
  readonly action: "allow" | "block" | "neutralise";
  /** Why the scan was not finished. `block` then blocks the text, and `neutralise` withholds it. */
  readonly failure?: string;
}

/** A value without its bad parts, and the report on the original value. */
export interface Neutralised<Value> {
  readonly value: Value;
  readonly report: ScanReport;
}

/** Finds hidden text and attacks in third-party text. Advisory only: protection comes from pins, approvals and egress control. Never throws. */
export interface Scanner {
  readonly mode: ScanMode;
  /** Scans every part of a definition that a model would read. Accepts canonical definitions and MCP's format. */
  scanTool(tool: object): ScanReport;
  /** Scans one text. If no place is given, every rule applies. */
  scanText(text: string, place?: TextPlace): ScanReport;
  /** Scans the texts in plain JSON data, such as the arguments of a call or the content of a result. */
  scanValue(value: unknown, place: TextPlace): ScanReport;
  /** Removes hidden parts, and replaces every finding that the scanner acts on with a mark. Idempotent. */
  neutraliseText(text: string, place?: TextPlace): Neutralised<string>;
  /** Like `neutraliseText`, for every text in plain JSON data, including member names. */
  neutraliseValue<Value>(value: Value, place: TextPlace): Neutralised<Value>;
  /** Like the methods above, in small steps, for long texts. */
  readonly steps: {
    scanText(text: string, place?: TextPlace): Steps<ScanReport>;
    neutraliseText(text: string, place?: TextPlace): Steps<Neutralised<string>>;
  };
}

interface Cleaned {
  readonly text: string;
  readonly first: TextScan;
}

const WITHHELD = "[removed: this text could not be made safe]";
/** The removal of one part can join two others. A text that is still bad after this many rounds is withheld. */
const MAX_ROUNDS = 6;

/** Creates a scanner with the given mode, severities and rules. */
export function createScanner(options: ScannerOptions): Scanner {
  checkOptions(options);
  const { mode, flagAt = "medium", actAt = "high", rules = SCAN_RULES } = options;
  const scanners = [ruleScanner(rules), ...(options.scanners ?? [])];

  function report(findings: readonly Finding[]): ScanReport {
    const severity = worst(findings.map((finding) => finding.severity)) ?? null;
    const acts = mode !== "flag" && findings.some((finding) => isActedOn(finding, actAt));
    return {
      flagged: findings.some((finding) => finding.advisory === true || reaches(finding.severity, flagAt)),
      severity,
      findings,
      action: acts ? mode : "allow",
    };
  }

  function failed(error: unknown): ScanReport {
    const failure = `The scan failed: ${messageOf(error)}`;
    return { flagged: true, severity: null, findings: [], action: mode === "flag" ? "allow" : mode, failure };
  }

  function attempt(scan: () => readonly Finding[]): ScanReport {
    try {
      return report(scan());
    } catch (error) {
      return failed(error);
    }
  }

  const search = (text: string, place?: TextPlace): TextScan => searchText(text, scanners, place);

  function* clean(text: string, place: TextPlace | undefined): Steps<Cleaned> {
    const first = yield* scanInSteps(text, scanners, place);
    let scan = first;
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const next = strike(scan, actAt);
      if (next === scan.text) return { text: next, first };
      scan = yield* scanInSteps(next, scanners, place);
    }
    return { text: WITHHELD, first };
  }

  function* scanSteps(text: string, place?: TextPlace): Steps<ScanReport> {
    try {
      return report((yield* scanInSteps(text, scanners, place)).findings.map(({ finding }) => finding));
    } catch (error) {
      return failed(error);
    }
  }

  function* neutraliseSteps(text: string, place?: TextPlace): Steps<Neutralised<string>> {
    try {
      const { text: value, first } = yield* clean(text, place);
      return { value, report: report(first.findings.map(({ finding }) => finding)) };
    } catch (error) {
      return { value: WITHHELD, report: failed(error) };
    }
  }

  /** Applies a treatment to every text of a value. The report covers the original texts. */
  function treatValue<Value>(value: Value, treat: (text: string) => Cleaned): Neutralised<Value> {
    const findings: Finding[] = [];
    try {
      const treated = mapTexts(value, (text, path) => {
        const { text: plain, first } = treat(text);
        for (const { finding } of first.findings) findings.push({ ...finding, path });
        return plain;
      });
      return { value: treated as Value, report: report(findings) };
    } catch (error) {
      return { value: WITHHELD as Value, report: failed(error) };
    }
  }

  return {
    mode,

    scanTool: (tool) =>
      attempt(() =>
        toolTexts(tool).flatMap(({ path, text }) =>
          search(text, "definition").findings.map(({ finding }) => ({ ...finding, path })),
        ),
      ),

    scanText: (text, place) => atOnce(scanSteps(text, place)),

    scanValue: (value, place) => treatValue(value, (text) => ({ text, first: search(text, place) })).report,

    neutraliseText: (text, place) => atOnce(neutraliseSteps(text, place)),

    neutraliseValue: (value, place) => treatValue(value, (text) => atOnce(clean(text, place))),

    steps: { scanText: scanSteps, neutraliseText: neutraliseSteps },
  };
}

/** Replaces each finding that the scanner acts on with a mark. */
function strike({ text, findings }: TextScan, actAt: Severity): string {
  const bad = findings
    .flatMap(({ span, finding }) =>
      span !== undefined && isActedOn(finding, actAt) ? [{ ...span, rule: finding.rule }] : [],
    )
    .sort((one, other) => one.start - other.start || other.end - one.end);
  let plain = "";
  let last = 0;
  for (const { start, end, rule } of bad) {
    if (start >= last) plain += `${text.slice(last, start)}[removed: ${rule}]`;
    last = Math.max(last, end);
  }
  return plain + text.slice(last);
}

function isActedOn({ severity, advisory }: Finding, actAt: Severity): boolean {
  return advisory !== true && reaches(severity, actAt);
}

function checkOptions({ mode, flagAt = "medium", actAt = "high" }: ScannerOptions): void {
  const check = (field: string, value: string, known: readonly string[]): void => {
    if (known.includes(value)) return;
    const fix = `Write one of ${known.join(", ")}.`;
    throw fixable("CONFIG_INVALID", `${field} is ${showValue(value)}.`, fix, { field, value });
  };
  check("mode", mode, SCAN_MODES);
  check("flagAt", flagAt, SEVERITIES);
  check("actAt", actAt, SEVERITIES);
}
