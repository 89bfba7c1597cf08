import { messageOf } from "../../errors/show-value.ts";
import type { Tool } from "../../tool/tool.ts";
import { atOnce, inTurns, type Steps } from "../../base/turns/event-loop.ts";
import { type BoundedTexts, cleanTexts, gatherTexts, kindOf, mapTexts, READ_CHARACTERS } from "./texts/value-texts.ts";
import type { TextPlace } from "./finding.ts";
import { createReportedScan, type ScanParts, type ScanSettings } from "./reported-scan.ts";
import type { Scanner, ScanReport } from "./scanner.ts";
import { wrapUntrusted } from "./wrap-untrusted.ts";

/** Inspects the data of calls. Never throws: a text that could not be scanned is reported, and allowed or refused as configured. */
export interface Inspection {
  /** Returns why these arguments may not reach the tool; undefined if they may. */
  arguments(tool: Tool, args: Readonly<Record<string, unknown>>, options?: InspectOptions): string | undefined;
  /** Returns the inspected result, or the reason why it is withheld. */
  result(tool: Tool, value: unknown): InspectedResult;
  /** Like the methods above, for large values: yields to the event loop in between. Never rejects. */
  readonly inTurns: {
    arguments(
      tool: Tool,
      args: Readonly<Record<string, unknown>>,
      options?: InspectOptions,
    ): Promise<string | undefined>;
    result(tool: Tool, value: unknown): Promise<InspectedResult>;
  };
}

export interface InspectOptions {
  /** True emits no events. For hypothetical calls. */
  readonly quiet?: boolean;
}

export type InspectedResult = { readonly value: unknown } | { readonly refused: string };

/** The actions on text that hides something or instructs the model, and on text that cannot be scanned. */
export interface InspectionSettings extends ScanSettings {
  readonly arguments: "off" | "flag" | "block";
  readonly results: "off" | "flag" | "neutralise" | "wrap" | "block";
}

/** The outcome for a value: scanned, withheld, or allowed without a scan. */
type InspectionOutcome =
  | { readonly report: ScanReport; readonly texts: BoundedTexts }
  | { readonly refused: string }
  | undefined;

export function createInspection(parts: ScanParts<InspectionSettings>): Inspection {
  const { arguments: argumentsMode, results: mode } = parts.settings;
  const { scanner, emitFindings, failed, attackIn } = createReportedScan(parts);

  function* scan(id: string, where: TextPlace, value: unknown, quiet = false): Steps<InspectionOutcome> {
    let refused: string | undefined;
    try {
      const texts = gatherTexts(value);
      yield;
      const report = yield* scanner.steps.scanText(texts.text, where);
      const problem = report.failure ?? (texts.unread > 0 ? unread(texts) : undefined);
      if (problem !== undefined) refused = failed(id, where, problem, quiet);
      if (refused === undefined && report.failure === undefined) return { report, texts };
    } catch (error) {
      refused = failed(id, where, messageOf(error), quiet);
    }
    return refused === undefined ? undefined : { refused };
  }

  function* treated(
    id: string,
    value: unknown,
    { report, texts }: Extract<InspectionOutcome, { report: unknown }>,
  ): Steps<InspectedResult> {
    const found = report.findings.length > 0;
    const refuse = (): InspectedResult => {
      emitFindings(id, "result", report, "blocked");
      return { refused: attackIn(id, "result", report) };
    };
    switch (mode) {
      case "neutralise": {
        const cleaned = found ? yield* neutraliseResult(scanner, value, texts) : { value };
        if (cleaned === undefined) return refuse();
        emitFindings(id, "result", report, cleaned.value === value ? "flagged" : "neutralised");
        return cleaned;
      }
      case "wrap":
        emitFindings(id, "result", report, "wrapped");
        // Data, names and links must keep their form, so they are cleaned, not wrapped.
        return { value: wrapResult(found ? yield* cleanEach(scanner, value, texts, isNotProse) : value, id) };
      default:
        if (mode === "block" && report.action !== "allow") return refuse();
        emitFindings(id, "result", report, "flagged");
        return { value };
    }
  }

  function* lookAtArguments(
    { id }: Tool,
    args: Readonly<Record<string, unknown>>,
    { quiet = false }: InspectOptions = {},
  ): Steps<string | undefined> {
    if (argumentsMode === "off") return undefined;
    const seen = yield* scan(id, "arguments", args, quiet);
    if (seen === undefined) return undefined;
    if ("refused" in seen) return seen.refused;
    const isBlocked = argumentsMode === "block" && seen.report.action !== "allow";
    if (!quiet) emitFindings(id, "arguments", seen.report, isBlocked ? "blocked" : "flagged");
    return isBlocked ? attackIn(id, "arguments", seen.report) : undefined;
  }

  function* lookAtResult({ id }: Tool, value: unknown): Steps<InspectedResult> {
    if (mode === "off") return { value };
    const seen = yield* scan(id, "result", value);
    if (seen === undefined) return { value: mode === "wrap" ? wrapAnyway(value, id) : value };
    if ("refused" in seen) return seen;
    try {
      return yield* treated(id, value, seen);
    } catch (error) {
      const refused = failed(id, "result", messageOf(error));
      return refused === undefined ? { value } : { refused };
    }
  }

  return {
    arguments: (tool, args, options) => atOnce(lookAtArguments(tool, args, options)),
    result: (tool, value) => atOnce(lookAtResult(tool, value)),
    inTurns: {
      arguments: (tool, args, options) => inTurns(lookAtArguments(tool, args, options)),
      result: (tool, value) => inTurns(lookAtResult(tool, value)),
    },
  };
}

/** Wrapping needs no scan. Data that cannot be traversed stays unwrapped. */
function wrapAnyway(value: unknown, toolId: string): unknown {
  try {
    return wrapResult(value, toolId);
  } catch {
    return value;
  }
}

function unread({ unread: left, total }: BoundedTexts): string {
  return `${left} of ${total} characters were not read, beyond the first and last ${READ_CHARACTERS / 2}`;
}

/** Returns a result without hidden text and bad parts; undefined if the rest is still bad as a whole. */
function* neutraliseResult(
  scanner: Scanner,
  value: unknown,
  texts: BoundedTexts,
): Steps<{ readonly value: unknown } | undefined> {
  const cleaned = yield* cleanEach(scanner, value, texts, () => true);
  const { action } = yield* scanner.steps.scanText(gatherTexts(cleaned).text, "result");
  return action === "allow" ? { value: cleaned } : undefined;
}

const isNotProse = (path: string, name: boolean): boolean => kindOf(path, name) !== "prose";

/** Cleans each selected text of a value. Cleans all texts in steps first, then replaces them at once. */
function* cleanEach(
  scanner: Scanner,
  value: unknown,
  texts: BoundedTexts,
  isMeant: (path: string, name: boolean) => boolean,
): Steps<unknown> {
  const cleaned = new Map<string, string>();
  cleanTexts(value, texts, (text, path, name) => {
    if (isMeant(path, name)) cleaned.set(text, text);
    return text;
  });
  yield;
  for (const text of cleaned.keys()) {
    cleaned.set(text, (yield* scanner.steps.neutraliseText(text, "result")).value);
    yield;
  }
  const result = cleanTexts(value, texts, (text, path, name) =>
    isMeant(path, name) ? (cleaned.get(text) ?? text) : text,
  );
  yield;
  return result;
}

function wrapResult(value: unknown, source: string): unknown {
  return mapTexts(value, (text, path, name) =>
    text !== "" && kindOf(path, name) === "prose" ? wrapUntrusted(text, { source }) : text,
  );
}
