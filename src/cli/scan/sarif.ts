import { wordingScanner } from "../../adapters/scanners/wording/wording.ts";
import type { Finding, Severity } from "../../guard/scan/finding.ts";
import { SCAN_RULES } from "../../guard/scan/rules/all-rules.ts";
import { HIDING_RULES } from "../../guard/scan/scan-text.ts";
import { nameOf, type ScannedPlace, type ScanOutput } from "./outputs.ts";

/** The level of a finding, and the score that code hosts sort by. */
const RANKS: Readonly<Record<Severity, readonly [level: "note" | "warning" | "error", score: string]>> = {
  info: ["note", "0.0"],
  low: ["note", "3.0"],
  medium: ["warning", "5.5"],
  high: ["error", "8.0"],
  critical: ["error", "9.5"],
};
const MAX_NOTES = 1000;

/** One SARIF 2.1.0 log, written piece by piece, so that one of any size needs no memory. The first thousand failures are kept. */
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
    // The run stays open: results follow one by one.
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
