import { messageOf } from "../../errors/show-value.ts";
import type { Emit } from "../../observe/events.ts";
import { contentHash } from "../../tool/canonical-json.ts";
import { toPlainData } from "../../tool/schema/plain-data.ts";
import type { Tool, ToolSource } from "../../tool/tool.ts";
import { instructionsId } from "../pins/pin-record.ts";
import { attackIn, type InspectionSettings, refusal, rulesOf, type ScanAction, scannerSettings } from "./inspection.ts";
import type { TextScanner } from "../scanner.port.ts";
import type { Rule } from "./rules/rule.ts";
import { createScanner, type Scanner, type ScanReport } from "./scanner.ts";
import { FOR_VALIDATORS } from "./texts/tool-texts.ts";
import { mapTexts } from "./texts/value-texts.ts";

/** How what sources say of their tools is looked through. */
export interface ScreeningSettings extends Pick<InspectionSettings, "severity" | "onFailure"> {
  readonly definitions: "off" | "flag" | "neutralise" | "block";
}

/** What a look at a definition came to. */
export interface ScreenedTool {
  /** The tool as it may be registered. */
  readonly tool: Tool;
  /** Why it may not be. */
  readonly blocked?: string;
  readonly findings: ScanReport["findings"];
}

/** Looks through the definitions of others before anybody reads them. Never throws. */
export interface Screening {
  screenTool(tool: Tool): ScreenedTool;
  /** Returns the tool as it may be registered, or undefined if it may not be. Findings are emitted as events, once per definition. */
  screen(tool: Tool): Tool | undefined;
  /** A server's instructions as they may be passed on; empty if they may not. Reports findings under `NAME#instructions`, once for each text. */
  instructions(ensemble: string, text: string): string;
}

/** The sources whose definitions somebody else wrote. */
const FOREIGN: ReadonlySet<ToolSource> = new Set(["mcp", "openapi", "a2a"]);
/** Outcomes of so many definitions are kept, so that a source that lists again is not scanned again. */
const MAX_KEPT = 20_000;

/** Creates the screening of definitions. */
export function createScreening(options: {
  readonly settings: ScreeningSettings;
  readonly emit: Emit;
  /** Defaults to all rules. */
  readonly rules?: readonly Rule[];
  /** Scanners to run after the rules. Defaults to none. */
  readonly scanners?: readonly TextScanner[];
}): Screening {
  const { settings, emit, rules, scanners = [] } = options;
  const { definitions: mode, severity, onFailure } = settings;
  const scanner = createScanner({ ...scannerSettings(severity), scanners, ...(rules && { rules }) });
  const denies = onFailure === "deny";
  const known = new Map<string, { readonly hash: string; readonly screened: ScreenedTool }>();
  const said = new Map<string, { readonly given: string; readonly passed: string }>();

  function tellFailure(toolId: string, message: string): void {
    emit("scan-failed", { toolId, where: "definition", message, action: denies ? "refused" : "allowed" });
  }

  function failed(tool: Tool, message: string): ScreenedTool {
    tellFailure(tool.id, message);
    const blocked = refusal(tool, "definition", `could not be scanned: ${message}`);
    return { tool, findings: [], ...(denies && { blocked }) };
  }

  function tell(toolId: string, { flagged, severity: found, findings }: ScanReport, action: ScanAction): void {
    if (flagged && found !== null)
      emit("scan-flagged", { toolId, where: "definition", rules: rulesOf(findings), severity: found, action });
  }

  function screenTool(tool: Tool): ScreenedTool {
    try {
      return judge(tool);
    } catch (error) {
      return failed(tool, messageOf(error));
    }
  }

  function judge(tool: Tool): ScreenedTool {
    const report = scanner.scanTool(tool);
    const { findings, failure, action } = report;
    if (failure !== undefined) return failed(tool, failure);
    if (mode === "neutralise" && findings.length > 0) {
      const plain = neutraliseTool(tool, scanner);
      if (plain !== tool && scanner.scanTool(plain).action === "allow") {
        tell(tool.id, report, "neutralised");
        return { tool: plain, findings };
      }
    }
    if (action !== "allow" && mode !== "flag") {
      tell(tool.id, report, "blocked");
      return { tool, findings, blocked: attackIn(tool, "definition", report) };
    }
    tell(tool.id, report, "flagged");
    return { tool, findings };
  }

  function judgeInstructions(id: string, text: string): string {
    const { value, report } = scanner.neutraliseText(text, "definition");
    if (report.failure !== undefined) {
      tellFailure(id, report.failure);
      return denies ? "" : text;
    }
    if (mode === "block" && report.action !== "allow") {
      tell(id, report, "blocked");
      return "";
    }
    const passed = mode === "neutralise" ? value : text;
    tell(id, report, passed === text ? "flagged" : "neutralised");
    return passed;
  }

  return {
    screenTool,
    screen(tool) {
      if (mode === "off" || !FOREIGN.has(tool.source)) return tool;
      let screened = known.get(tool.id);
      if (screened?.hash !== tool.contentHash) {
        screened = { hash: tool.contentHash, screened: screenTool(tool) };
        known.delete(tool.id);
        known.set(tool.id, screened);
        for (const oldest of known.keys()) {
          if (known.size <= MAX_KEPT) break;
          known.delete(oldest);
        }
      }
      return screened.screened.blocked === undefined ? screened.screened.tool : undefined;
    },
    instructions(ensemble, text) {
      if (mode === "off") return text;
      const before = said.get(ensemble);
      if (before?.given === text) return before.passed;
      const passed = judgeInstructions(instructionsId(ensemble), text);
      said.set(ensemble, { given: text, passed });
      return passed;
    },
  };
}

/** The tool with every text that a model may read made safe. Its name, parameter names and what only validators read stay. */
function neutraliseTool(tool: Tool, scanner: Scanner): Tool {
  const kept: Partial<Tool> = {
    id: tool.id,
    name: tool.name,
    namespace: tool.namespace,
    sourceName: tool.sourceName,
    contentHash: tool.contentHash,
  };
  const plain = mapTexts(tool, (text, path, name) => {
    if (name || path in kept || isForPrograms(path)) return text;
    return scanner.neutraliseText(text, "definition").value;
  }) as Tool;
  return plain === tool ? tool : (toPlainData({ ...plain, contentHash: contentHash(plain) }) as Tool);
}

function isForPrograms(path: string): boolean {
  const [first = "", ...rest] = path.split(".");
  return FOR_VALIDATORS.has(rest.at(-1) ?? "") || (first === "sourceMeta" && rest.length === 2 && rest[1] === "name");
}
