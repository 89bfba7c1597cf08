import { wordingScanner } from "../../adapters/scanners/wording/wording.ts";
import { type Finding, SEVERITIES, type Severity } from "../../guard/scan/finding.ts";
import { SCAN_RULES } from "../../guard/scan/rules/all-rules.ts";
import { HIDING_RULES } from "../../guard/scan/scan-text.ts";
import type { ScanReport } from "../../guard/scan/scanner.ts";
import type { Terminal } from "../command.ts";
import { clip, styles, table } from "../terminal/style.ts";

/** The scanned item: a line of a file, a tool, or the instructions of an MCP server. */
type ScannedPlace =
  | { readonly uri: string; readonly line: number }
  | { readonly tool: string }
  | { readonly server: string };

export type Scanned = { readonly place: ScannedPlace } & ({ readonly report: ScanReport } | { readonly error: string });

/** Prints results: `begin`, one `item` per result, then `end`. */
interface ScanOutput {
  readonly begin: string;
  item(scanned: Scanned): string;
  end(): string;
}

export function lineOutput(): ScanOutput {
  return {
    begin: "",
    item(scanned) {
      if ("error" in scanned) return `${JSON.stringify({ error: scanned.error })}\n`;
      const { place } = scanned;
      const { flagged, severity, findings, failure } = scanned.report;
      const named = "uri" in place ? {} : place;
      return `${JSON.stringify({ ...named, flagged, severity, findings, failure })}\n`;
    },
    end: () => "",
  };
}

/** Prints a table of the findings, worst first. Omits items without findings. */
export function tableOutput({ out, environment }: Terminal): ScanOutput {
  const rows: { readonly rank: number; readonly cells: readonly string[] }[] = [];
  const paint = styles(out, environment);
  return {
    begin: "",
    item({ place, ...scanned }) {
      const where = nameOf(place);
      const failure = "error" in scanned ? scanned.error : scanned.report.failure;
      if (failure !== undefined)
        rows.push({ rank: SEVERITIES.length, cells: [paint.red("failed"), clip(where, 60), clip(failure, 80), ""] });
      for (const { severity, path, message, excerpt } of "error" in scanned ? [] : scanned.report.findings) {
        const rank = SEVERITIES.indexOf(severity);
        const colour = rank >= SEVERITIES.indexOf("high") ? paint.red : rank >= 2 ? paint.yellow : paint.dim;
        const at = path === undefined || "server" in place ? where : `${where} (${path})`;
        rows.push({ rank, cells: [colour(severity), clip(at, 60), clip(message, 60), clip(excerpt, 80)] });
      }
      return "";
    },
    end() {
      if (rows.length === 0) return "No findings.\n";
      const sorted = rows.toSorted((a, b) => b.rank - a.rank).map(({ cells }) => cells);
      return `${table([["SEVERITY", "WHERE", "FINDING", "EXCERPT"], ...sorted])}\n`;
    },
  };
}

function nameOf(place: ScannedPlace): string {
  if ("tool" in place) return place.tool;
  return "server" in place ? `${place.server}#instructions` : `${place.uri}:${place.line}`;
}

/** The level of each severity, and the score by which code hosts sort. */
const RANKS: Readonly<Record<Severity, readonly [level: "note" | "warning" | "error", score: string]>> = {
  info: ["note", "0.0"],
  low: ["note", "3.0"],
  medium: ["warning", "5.5"],
  high: ["error", "8.0"],
  critical: ["error", "9.5"],
};
const MAX_NOTES = 1000;

/** Prints one SARIF 2.1.0 log in parts, so that its size needs no memory. Lists only the first thousand failures. */
export function sarifOutput(): ScanOutput {
  const notes: string[] = [];
  let unread = 0;
  let results = 0;
  const driver = {
    name: "toolarsenal scan",
    rules: [...SCAN_RULES, ...HIDING_RULES, ...wordingScanner().rules].map(({ id, message, severity }) => ({
      id,
      shortDescription: { text: message },
      defaultConfiguration: { level: RANKS[severity][0] },
      properties: { "security-severity": RANKS[severity][1], tags: ["security"] },
    })),
  };
  const head = {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [{ tool: { driver }, columnKind: "utf16CodeUnits" }],
  };
  return {
    // The run stays open, because results follow one by one.
    begin: `${JSON.stringify(head).slice(0, -"}]}".length)},"results":[`,
    item({ place, ...scanned }) {
      const failure = "error" in scanned ? scanned.error : scanned.report.failure;
      if (failure !== undefined && ++unread <= MAX_NOTES) notes.push(`${nameOf(place)}: ${failure}`);
      const findings = "error" in scanned ? [] : scanned.report.findings;
      return findings
        .map((finding) => `${results++ === 0 ? "\n" : ",\n"}${JSON.stringify(toResult(finding, place))}`)
        .join("");
    },
    end() {
      const invocation = {
        executionSuccessful: unread === 0,
        toolExecutionNotifications: notes.map((text) => ({ level: "error", message: { text } })),
      };
      return `\n],"invocations":[${JSON.stringify(invocation)}]}]}\n`;
    },
  };
}

function toResult({ rule, severity, message, path, excerpt, hidden }: Finding, place: ScannedPlace): object {
  const where = path === undefined ? "" : ` In ${path}.`;
  const also = hidden === undefined ? "" : ` Hidden: "${hidden}".`;
  return {
    ruleId: rule,
    level: RANKS[severity][0],
    message: { text: `${message}${where} Found: "${excerpt}".${also}` },
    locations: [
      "uri" in place
        ? { physicalLocation: { artifactLocation: { uri: place.uri }, region: { startLine: place.line } } }
        : { logicalLocations: [{ fullyQualifiedName: nameOf(place), kind: "tool" in place ? "function" : "module" }] },
    ],
    properties: { severity },
  };
}
