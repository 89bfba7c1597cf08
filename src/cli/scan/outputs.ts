import type { ScanReport } from "../../guard/scan/scanner.ts";
import { SEVERITIES } from "../../guard/scan/finding.ts";
import type { Terminal } from "../command.ts";
import { clip, styles, table } from "../terminal/style.ts";

/** What was scanned: a line of a file, a tool, or the instructions of an MCP server. */
export type ScannedPlace =
  | { readonly uri: string; readonly line: number }
  | { readonly tool: string }
  | { readonly server: string };

/** One thing that was scanned, or could not be. */
export type Scanned = { readonly place: ScannedPlace } & ({ readonly report: ScanReport } | { readonly error: string });

/** How results are printed: `begin`, one `item` for each result, then `end`. */
export interface ScanOutput {
  readonly begin: string;
  item(scanned: Scanned): string;
  end(): string;
}

/** One line of JSON for each result. */
export function lineOutput(): ScanOutput {
  return {
    begin: "",
    item(scanned) {
      if ("error" in scanned) return `${JSON.stringify({ error: scanned.error })}\n`;
      const { place } = scanned;
      const { flagged, severity, findings, failure } = scanned.report;
      const named = "uri" in place ? {} : place;
      return `${JSON.stringify({ ...named, flagged, severity, findings, ...(failure === undefined ? {} : { failure }) })}\n`;
    },
    end: () => "",
  };
}

/** A table of the findings for a person, worst first. What has no finding is left out. */
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

/** How a place is called in a message. */
export function nameOf(place: ScannedPlace): string {
  if ("tool" in place) return place.tool;
  return "server" in place ? `${place.server}#instructions` : `${place.uri}:${place.line}`;
}
