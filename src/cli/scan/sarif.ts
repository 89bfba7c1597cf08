import type { Finding } from "../../guard/scan/finding.ts";
import type { ScannerRule } from "../../guard/scanner.port.ts";
import type { Severity } from "../../guard/scan/severity.ts";

/** Where a finding is: a line of a file, a tool, or the instructions of an MCP server. */
export type SarifPlace =
  | { readonly uri: string; readonly line: number }
  | { readonly tool: string }
  | { readonly server: string };

/** Writes a SARIF 2.1.0 log piece by piece, so that one of any size needs no memory. The pieces joined are the document. */
export interface SarifLog {
  begin(): string;
  result(finding: Finding, place: SarifPlace): string;
  end(): string;
  /** Notes something that could not be scanned. The first thousand are kept. */
  unreadable(message: string): void;
}

const LEVELS: Readonly<Record<Severity, "note" | "warning" | "error">> = {
  info: "note",
  low: "note",
  medium: "warning",
  high: "error",
  critical: "error",
};
/** What code hosts sort by. */
const SCORES: Readonly<Record<Severity, string>> = {
  info: "0.0",
  low: "3.0",
  medium: "5.5",
  high: "8.0",
  critical: "9.5",
};
const MAX_NOTES = 1000;

/** A new log, for the rules that a scan ran. */
export function createSarifLog(rules: readonly ScannerRule[]): SarifLog {
  const notes: string[] = [];
  let unread = 0;
  let first = true;
  return {
    begin() {
      const driver = {
        name: "toolarsenal scan",
        rules: rules.map(({ id, message, severity }) => ({
          id,
          shortDescription: { text: message },
          defaultConfiguration: { level: LEVELS[severity] },
          properties: { "security-severity": SCORES[severity], tags: ["security"] },
        })),
      };
      const head = {
        $schema: "https://json.schemastore.org/sarif-2.1.0.json",
        version: "2.1.0",
        runs: [{ tool: { driver }, columnKind: "utf16CodeUnits" }],
      };
      // The run stays open: results follow one by one.
      return `${JSON.stringify(head).slice(0, -"}]}".length)},"results":[`;
    },

    result({ rule, severity, message, path, excerpt, hidden }, place) {
      const separator = first ? "\n" : ",\n";
      first = false;
      const told = [
        message,
        path === undefined ? "" : ` In ${path}.`,
        ` Found: "${excerpt}".`,
        hidden === undefined ? "" : ` Hidden: "${hidden}".`,
      ];
      const result = {
        ruleId: rule,
        level: LEVELS[severity],
        message: { text: told.join("") },
        locations: [toLocation(place)],
        properties: { severity },
      };
      return separator + JSON.stringify(result);
    },

    unreadable(message) {
      unread++;
      if (notes.length < MAX_NOTES) notes.push(message);
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

function toLocation(place: SarifPlace): object {
  if ("tool" in place) return { logicalLocations: [{ fullyQualifiedName: place.tool, kind: "function" }] };
  if ("server" in place)
    return { logicalLocations: [{ fullyQualifiedName: `${place.server}#instructions`, kind: "module" }] };
  return {
    physicalLocation: { artifactLocation: { uri: place.uri }, region: { startLine: place.line } },
  };
}
