import { messageOf } from "../../errors/show-value.ts";
import type { Emit } from "../../observe/events.ts";
import type { Tool } from "../../tool/tool.ts";
import { type BoundedTexts, cleanTexts, gatherTexts, kindOf, mapTexts, READ_CHARACTERS } from "./texts/value-texts.ts";
import { type Place, reaches, type Severity } from "./finding.ts";
import type { TextScanner } from "../scanner.port.ts";
import type { Rule } from "./rules/rule.ts";
import { createScanner, type Scanner, type ScannerOptions, type ScanReport } from "./scanner.ts";
import { wrapUntrusted } from "./wrap-untrusted.ts";

/** Looks through what passes a call. Never throws: a text that could not be looked at is let through or refused as configured, and told. */
export interface Inspection {
  /** Why these arguments may not reach the tool; undefined if they may. */
  arguments(tool: Tool, args: Readonly<Record<string, unknown>>, options?: InspectOptions): string | undefined;
  /** A result as it may be given on, or why it may not be. */
  result(tool: Tool, value: unknown): InspectedResult;
}

export interface InspectOptions {
  /** Emits no events, for a call that is not made. */
  readonly quiet?: boolean;
}

export type InspectedResult = { readonly value: unknown } | { readonly refused: string };

/** What becomes of text that hides something or instructs the model, and of text that cannot be looked at. */
export interface InspectionSettings {
  readonly arguments: "off" | "flag" | "block";
  readonly results: "off" | "flag" | "neutralise" | "wrap" | "block";
  /** From which severity on something is refused or taken out. */
  readonly severity: Severity;
  readonly onFailure: "allow" | "deny";
}

/** What was made of something that was found. */
export type ScanAction = "flagged" | "blocked" | "neutralised" | "wrapped";

/** What a look at a value came to: it was scanned, may not be given on, or is let through unread. */
type Look = { readonly report: ScanReport; readonly texts: BoundedTexts } | { readonly refused: string } | undefined;

/** Creates what looks through arguments and results. What is found is told by events, which never carry the text. */
export function createInspection(options: {
  readonly settings: InspectionSettings;
  readonly emit: Emit;
  /** Defaults to all rules. */
  readonly rules?: readonly Rule[];
  /** Scanners to run after the rules. Defaults to none. */
  readonly scanners?: readonly TextScanner[];
}): Inspection {
  const { settings, emit, rules, scanners = [] } = options;
  const { severity, onFailure, results: mode } = settings;
  const scanner = createScanner({ ...scannerSettings(severity), scanners, ...(rules && { rules }) });

  function look(tool: Tool, where: Place, value: unknown, quiet = false): Look {
    try {
      const texts = gatherTexts(value);
      const report = scanner.scanText(texts.text, where);
      if (report.failure !== undefined) return failed(tool, where, report.failure, quiet);
      const refused = texts.unread > 0 ? failed(tool, where, unread(texts), quiet) : undefined;
      return refused ?? { report, texts };
    } catch (error) {
      return failed(tool, where, messageOf(error), quiet);
    }
  }

  function failed(tool: Tool, where: Place, message: string, quiet = false): { readonly refused: string } | undefined {
    const denies = onFailure === "deny";
    if (!quiet) emit("scan-failed", { toolId: tool.id, where, message, action: denies ? "refused" : "allowed" });
    return denies ? { refused: refusal(tool, where, `could not be scanned: ${message}`) } : undefined;
  }

  function tell(
    tool: Tool,
    where: Place,
    { flagged, severity: found, findings }: ScanReport,
    action: ScanAction,
  ): void {
    if (!flagged || found === null) return;
    emit("scan-flagged", { toolId: tool.id, where, rules: rulesOf(findings), severity: found, action });
  }

  function refuse(tool: Tool, report: ScanReport): InspectedResult {
    tell(tool, "result", report, "blocked");
    return { refused: attackIn(tool, "result", report) };
  }

  function treated(
    tool: Tool,
    value: unknown,
    { report, texts }: Exclude<Look, { refused: string } | undefined>,
  ): InspectedResult {
    const found = report.findings.length > 0;
    switch (mode) {
      case "off":
      case "flag":
        tell(tool, "result", report, "flagged");
        return { value };
      case "block":
        if (report.action !== "allow") return refuse(tool, report);
        tell(tool, "result", report, "flagged");
        return { value };
      case "neutralise": {
        const cleaned = found ? neutraliseResult(scanner, value, texts) : { value };
        if (cleaned === undefined) return refuse(tool, report);
        tell(tool, "result", report, cleaned.value === value ? "flagged" : "neutralised");
        return cleaned;
      }
      case "wrap":
        tell(tool, "result", report, "wrapped");
        return { value: wrapResult(found ? neutraliseData(scanner, value, texts) : value, tool.id) };
    }
  }

  return {
    arguments(tool, args, { quiet = false } = {}) {
      if (settings.arguments === "off") return undefined;
      const seen = look(tool, "arguments", args, quiet);
      if (seen === undefined) return undefined;
      if ("refused" in seen) return seen.refused;
      const isBlocked = settings.arguments === "block" && seen.report.action !== "allow";
      if (!quiet) tell(tool, "arguments", seen.report, isBlocked ? "blocked" : "flagged");
      return isBlocked ? attackIn(tool, "arguments", seen.report) : undefined;
    },

    result(tool, value) {
      if (mode === "off") return { value };
      const seen = look(tool, "result", value);
      if (seen === undefined) return { value: mode === "wrap" ? wrapAnyway(value, tool) : value };
      if ("refused" in seen) return seen;
      try {
        return treated(tool, value, seen);
      } catch (error) {
        return failed(tool, "result", messageOf(error)) ?? { value };
      }
    },
  };
}

/** Marks need no scan. Data that cannot be walked through has none. */
function wrapAnyway(value: unknown, tool: Tool): unknown {
  try {
    return wrapResult(value, tool.id);
  } catch {
    return value;
  }
}

const NEXT: Readonly<Record<Place, string>> = {
  definition: "It is not registered. Look at it with toolarsenal scan.",
  arguments: "It was not run. Call it with other arguments.",
  result: "It did run; its result is withheld. Do not repeat the call to get around this.",
};

/** Why something is not given on, in the words a caller reads. */
export function refusal({ id }: Pick<Tool, "id">, where: Place, why: string): string {
  return `The ${where} of ${id} ${why}. ${NEXT[where]}`;
}

/** The refusal of something that looks like an attack. */
export function attackIn(tool: Pick<Tool, "id">, where: Place, { findings }: ScanReport): string {
  const look = where === "arguments" ? "look" : "looks";
  return refusal(tool, where, `${look} like an attack (${rulesOf(findings).join(", ")})`);
}

/** How a scanner judges if it acts from a severity on: it flags from medium on, or earlier. */
export function scannerSettings(severity: Severity): ScannerOptions {
  return { mode: "neutralise", flagAt: reaches(severity, "medium") ? "medium" : severity, actAt: severity };
}

/** The rules that found something, each once. */
export function rulesOf(findings: ScanReport["findings"]): readonly string[] {
  return [...new Set(findings.map(({ rule }) => rule))];
}

function unread({ unread: left, total }: BoundedTexts): string {
  return `${left} of ${total} characters were not read, beyond the first and last ${READ_CHARACTERS / 2}`;
}

/** A result without what it hides and without its bad parts; undefined if what is left, read together, is still bad. */
function neutraliseResult(
  scanner: Scanner,
  value: unknown,
  texts: BoundedTexts,
): { readonly value: unknown } | undefined {
  const cleaned = cleanTexts(value, texts, (text) => scanner.neutraliseText(text, "result").value);
  const { action } = scanner.scanText(gatherTexts(cleaned).text, "result");
  return action === "allow" ? { value: cleaned } : undefined;
}

/** The same for the texts that have to keep their shape: structured data, names, links. */
function neutraliseData(scanner: Scanner, value: unknown, texts: BoundedTexts): unknown {
  return cleanTexts(value, texts, (text, path, name) =>
    kindOf(path, name) === "prose" ? text : scanner.neutraliseText(text, "result").value,
  );
}

/** A result whose texts stand between marks that say they are data. */
function wrapResult(value: unknown, source: string): unknown {
  return mapTexts(value, (text, path, name) =>
    text !== "" && kindOf(path, name) === "prose" ? wrapUntrusted(text, { source }) : text,
  );
}
