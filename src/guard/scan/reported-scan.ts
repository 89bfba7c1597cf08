import type { Emit } from "../../observe/events.ts";
import type { TextScanner } from "../scanner.port.ts";
import { type TextPlace, reaches, type ScanAction, type Severity } from "./finding.ts";
import type { Rule } from "./rules/rule.ts";
import { createScanner, type ScanReport } from "./scanner.ts";

export interface ScanSettings {
  /** The lowest severity that is refused or removed. */
  readonly severity: Severity;
  /** The action on text that cannot be scanned. */
  readonly onFailure: "allow" | "deny";
}

export interface ScanParts<Settings extends ScanSettings> {
  readonly settings: Settings;
  readonly emit: Emit;
  /** Defaults to all rules. */
  readonly rules?: readonly Rule[];
  /** Scanners to run after the rules. Defaults to none. */
  readonly scanners?: readonly TextScanner[];
}

const NEXT: Readonly<Record<TextPlace, string>> = {
  definition: "It is not registered. Look at it with toolarsenal scan.",
  arguments: "It was not run. Call it with other arguments.",
  result: "It did run; its result is withheld. Do not repeat the call to get around this.",
};

/**
 * Creates a scanner, and functions that report its findings as events. Events never contain the text. Texts are flagged from `medium` on, or from the
 * severity at which the scanner acts, if that is lower.
 */
export function createReportedScan({ settings, emit, rules, scanners = [] }: ScanParts<ScanSettings>) {
  const { severity: actAt, onFailure } = settings;
  const flagAt = reaches(actAt, "medium") ? "medium" : actAt;
  const refusal = (id: string, where: TextPlace, why: string): string => `The ${where} of ${id} ${why}. ${NEXT[where]}`;
  return {
    scanner: createScanner({ mode: "neutralise", flagAt, actAt, scanners, ...(rules && { rules }) }),
    emitFindings(
      toolId: string,
      where: TextPlace,
      { flagged, severity, findings }: ScanReport,
      action: ScanAction,
    ): void {
      if (flagged && severity !== null)
        emit("scan-flagged", { toolId, where, rules: rulesOf(findings), severity, action });
    },
    /** Reports a failed scan. Returns why the text is withheld; undefined if it is allowed. */
    failed(toolId: string, where: TextPlace, message: string, quiet = false): string | undefined {
      const action = onFailure === "deny" ? "refused" : "allowed";
      if (!quiet) emit("scan-failed", { toolId, where, message, action });
      return action === "refused" ? refusal(toolId, where, `could not be scanned: ${message}`) : undefined;
    },
    attackIn(toolId: string, where: TextPlace, { findings }: ScanReport): string {
      const look = where === "arguments" ? "look" : "looks";
      return refusal(toolId, where, `${look} like an attack (${rulesOf(findings).join(", ")})`);
    },
  };
}

function rulesOf(findings: ScanReport["findings"]): readonly string[] {
  return [...new Set(findings.map(({ rule }) => rule))];
}
