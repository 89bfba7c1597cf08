import { describe, expect, it } from "vitest";
import { ATTACK, STRUCK } from "../../../test/guard/scan-fixtures.ts";
import type { Emit, EventMap, EventName } from "../../observe/events.ts";
import { normaliseTool } from "../../tool/normalise/normalise-tool.ts";
import type { TextScanner } from "../scanner.port.ts";
import { createInspection } from "./inspection.ts";
import { createScanner } from "./scanner.ts";
import { createScreening } from "./screening.ts";

const RULE = { id: "wording.odd", message: "Odd wording.", severity: "critical" } as const;
/** Advises against the word "odd", and is as sure of itself as one can be. */
const ODD: TextScanner = {
  rules: [RULE],
  scan(text) {
    const start = text.indexOf("odd");
    if (start < 0) return [];
    const { id: rule, message, severity } = RULE;
    const finding = { rule, message, severity, category: "wording", position: start, excerpt: "odd" } as const;
    return [{ finding: { ...finding, advisory: true }, span: { start, end: start + 3 } }];
  },
};

describe("a finding that only advises", () => {
  it.each(["block", "neutralise"] as const)("flags a text at any severity, and %s does not act on it", (mode) => {
    for (const severity of ["info", "critical"] as const) {
      const scanner = createScanner({ mode, actAt: "info", flagAt: "critical", scanners: [withSeverity(severity)] });
      expect(scanner.scanText("An odd text.")).toMatchObject({ flagged: true, severity, action: "allow" });
      expect(scanner.neutraliseText("An odd text.").value).toBe("An odd text.");
      expect(scanner.neutraliseValue({ odd: ["odd"] }, "result").value).toEqual({ odd: ["odd"] });
    }
  });

  it("is left out if another finding flags the same text", () => {
    const scanner = createScanner({ mode: "flag", scanners: [ODD] });
    const rulesOf = (text: string): readonly string[] => scanner.scanText(text).findings.map(({ rule }) => rule);
    expect(rulesOf("An odd text.")).toEqual([RULE.id]);
    expect(rulesOf(`An odd text. ${ATTACK}`)).toEqual(["injection.override"]);
    expect(rulesOf("An odd\u200B text.")).toEqual(["hidden.zero-width", RULE.id]);
  });

  it("is not raised to critical in text that was hidden", () => {
    const hidden = Array.from("an odd text", (letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join("");
    const { findings } = createScanner({ mode: "flag", scanners: [ODD] }).scanText(`Fine.${hidden}`);
    expect(findings.map(({ rule }) => rule)).toEqual(["hidden.tags"]);
  });

  it("leaves what rules act on as it is", () => {
    const scanner = createScanner({ mode: "neutralise", scanners: [ODD] });
    const { value, report } = scanner.neutraliseText(`An odd text. ${ATTACK}`);
    expect(value).toBe(`An odd text. ${STRUCK}`);
    expect(report.action).toBe("neutralise");
  });
});

describe("in the path of a call, a finding that only advises", () => {
  const tool = normaliseTool(
    { name: "read", description: "Reads an odd page." },
    { source: "mcp", namespace: "pages", ensemble: "pages", createdAt: 1 },
  );

  it.each(["neutralise", "block", "wrap"] as const)(
    "is reported and changes nothing where results are set to %s",
    (results) => {
      const { events, emit } = recorder();
      const settings = { arguments: "block", results, severity: "low", onFailure: "deny" } as const;
      const inspection = createInspection({ settings, emit, scanners: [ODD] });
      expect(inspection.arguments(tool, { page: "odd" })).toBeUndefined();
      expect(JSON.stringify(inspection.result(tool, { page: "odd" }))).toContain("odd");
      expect(events).toMatchObject([
        ["scan-flagged", { where: "arguments", rules: [RULE.id], action: "flagged" }],
        ["scan-flagged", { where: "result", rules: [RULE.id], action: results === "wrap" ? "wrapped" : "flagged" }],
      ]);
    },
  );

  it.each(["neutralise", "block"] as const)(
    "does not keep a tool out where definitions are set to %s",
    (definitions) => {
      const { events, emit } = recorder();
      const settings = { definitions, severity: "low", onFailure: "deny" } as const;
      const screening = createScreening({ settings, emit, scanners: [ODD] });
      expect(screening.screen(tool)).toBe(tool);
      expect(screening.instructions("server", "Be odd.")).toBe("Be odd.");
      expect(events).toMatchObject([
        ["scan-flagged", { toolId: "pages.read", action: "flagged" }],
        ["scan-flagged", { toolId: "server#instructions", action: "flagged" }],
      ]);
    },
  );
});

function withSeverity(severity: "info" | "low" | "critical"): TextScanner {
  return {
    rules: [{ ...RULE, severity }],
    scan: (text, place) =>
      ODD.scan(text, place).map((placed) => ({ ...placed, finding: { ...placed.finding, severity } })),
  };
}

function recorder(): { readonly events: readonly (readonly [EventName, EventMap[EventName]])[]; readonly emit: Emit } {
  const events: (readonly [EventName, EventMap[EventName]])[] = [];
  return { events, emit: (name, data) => void events.push([name, data]) };
}
