import { messageOf } from "../../errors/show-value.ts";
import { contentHash } from "../../tool/json/canonical-json.ts";
import { toPlainData } from "../../tool/schema/plain-data.ts";
import type { Tool, ToolSource } from "../../tool/tool.ts";
import { instructionsId } from "../pins/pin-record.ts";
import { setNewest } from "../../base/remember.ts";
import { createReportedScan, type ScanParts, type ScanSettings } from "./reported-scan.ts";
import { type Finding, SEVERITIES } from "./finding.ts";
import type { Scanner } from "./scanner.ts";
import { FOR_VALIDATORS } from "./texts/tool-texts.ts";
import { mapTexts } from "./texts/value-texts.ts";

export interface ScreeningSettings extends ScanSettings {
  readonly definitions: "off" | "flag" | "neutralise" | "block";
}

/** Scans third-party definitions before they are used. Never throws. */
export interface Screening {
  /** Returns the tool to register, or undefined if it is refused. Findings are emitted as events, once per definition. */
  screen(tool: Tool): Tool | undefined;
  /** Returns a server's instructions for models; empty if they are refused. Reports findings under `NAME#instructions`, once per text. */
  instructions(ensemble: string, text: string): string;
  /** Returns the findings in a definition or text, worst first, for a reviewer. Undefined if definitions are not scanned. Emits no events. */
  findings(of: Tool | string): readonly Finding[] | undefined;
}

/** The sources whose definitions others write. */
const FOREIGN: ReadonlySet<ToolSource> = new Set(["mcp", "openapi", "a2a"]);
/** The maximum number of cached outcomes. A repeated listing is not scanned again. */
const MAX_KEPT = 20_000;
/** Fields that identify a tool. They stay unchanged. */
const KEPT: ReadonlySet<string> = new Set(["id", "name", "namespace", "sourceName", "contentHash"]);

export function createScreening(parts: ScanParts<ScreeningSettings>): Screening {
  const { definitions: mode } = parts.settings;
  const { scanner, emitFindings, failed } = createReportedScan(parts);
  const known = new Map<string, { readonly hash: string; readonly passed: Tool | undefined }>();
  const said = new Map<string, { readonly given: string; readonly passed: string }>();

  function judge(tool: Tool): Tool | undefined {
    const { id } = tool;
    const passUnread = (message: string) => (failed(id, "definition", message) === undefined ? tool : undefined);
    try {
      const report = scanner.scanTool(tool);
      const { findings, failure, action } = report;
      if (failure !== undefined) return passUnread(failure);
      const plain = mode === "neutralise" && findings.length > 0 ? neutraliseTool(tool, scanner) : tool;
      if (plain !== tool && scanner.scanTool(plain).action === "allow") {
        emitFindings(id, "definition", report, "neutralised");
        return plain;
      }
      const blocks = action !== "allow" && mode !== "flag";
      emitFindings(id, "definition", report, blocks ? "blocked" : "flagged");
      return blocks ? undefined : tool;
    } catch (error) {
      return passUnread(messageOf(error));
    }
  }

  function judgeInstructions(id: string, text: string): string {
    const { value, report } = scanner.neutraliseText(text, "definition");
    if (report.failure !== undefined) return failed(id, "definition", report.failure) === undefined ? text : "";
    if (mode === "block" && report.action !== "allow") {
      emitFindings(id, "definition", report, "blocked");
      return "";
    }
    const passed = mode === "neutralise" ? value : text;
    emitFindings(id, "definition", report, passed === text ? "flagged" : "neutralised");
    return passed;
  }

  return {
    screen(tool) {
      const { id, contentHash: hash } = tool;
      if (mode === "off" || !FOREIGN.has(tool.source)) return tool;
      const before = known.get(id);
      if (before?.hash === hash) return before.passed;
      return setNewest(known, id, { hash, passed: judge(tool) }, MAX_KEPT).passed;
    },
    instructions(ensemble, text) {
      if (mode === "off") return text;
      const before = said.get(ensemble);
      if (before?.given === text) return before.passed;
      const passed = judgeInstructions(instructionsId(ensemble), text);
      said.set(ensemble, { given: text, passed });
      return passed;
    },
    findings(of) {
      if (mode === "off") return undefined;
      const { findings } = typeof of === "string" ? scanner.scanText(of, "definition") : scanner.scanTool(of);
      return findings.toSorted((a, b) => SEVERITIES.indexOf(b.severity) - SEVERITIES.indexOf(a.severity));
    },
  };
}

/** Neutralises every text of a tool that models read. Its name, parameter names and validator-only fields stay. */
function neutraliseTool(tool: Tool, scanner: Scanner): Tool {
  const plain = mapTexts(tool, (text, path, name) => {
    if (name || KEPT.has(path) || isForPrograms(path)) return text;
    return scanner.neutraliseText(text, "definition").value;
  }) as Tool;
  return plain === tool ? tool : (toPlainData({ ...plain, contentHash: contentHash(plain) }) as Tool);
}

function isForPrograms(path: string): boolean {
  const [first = "", ...rest] = path.split(".");
  return FOR_VALIDATORS.has(rest.at(-1) ?? "") || (first === "sourceMeta" && rest.length === 2 && rest[1] === "name");
}
