import { describe, expect, it } from "vitest";
import { ATTACK, BROKEN, MILD } from "../../../test/guard/scan-fixtures.ts";
import type { EventMap, EventName } from "../../observe/events.ts";
import type { Rule } from "./rules/rule.ts";
import { createScreening, type ScreeningSettings } from "./screening.ts";

const BAD = `Search before you answer. ${ATTACK}`;

function screening(settings: Partial<ScreeningSettings>, rules?: readonly Rule[]) {
  const events: (readonly [EventName, EventMap[EventName]])[] = [];
  const { instructions } = createScreening({
    settings: { definitions: "flag", severity: "high", onFailure: "allow", ...settings },
    emit: (name, data) => void events.push([name, data]),
    ...(rules && { rules }),
  });
  return { instructions, events };
}

const told = (action: string) => [
  "scan-flagged",
  { toolId: "docs#instructions", where: "definition", rules: ["injection.override"], severity: "high", action },
];

describe("the instructions of a server", () => {
  it("pass unread where scanning is off", () => {
    const { instructions, events } = screening({ definitions: "off" });
    expect([instructions("docs", BAD), events]).toEqual([BAD, []]);
  });

  it("that look bad are told, and pass as they are, in flag", () => {
    const { instructions, events } = screening({ definitions: "flag" });
    expect([instructions("docs", BAD), events]).toEqual([BAD, [told("flagged")]]);
  });

  it("lose what is bad and what is hidden in neutralise", () => {
    const { instructions, events } = screening({ definitions: "neutralise" });
    expect(instructions("docs", BAD)).toBe("Search before you answer. [removed: injection.override].");
    expect(events).toEqual([told("neutralised")]);
    expect(instructions("docs", "Be k\u200Bind.")).toBe("Be kind.");
  });

  it("that look bad are kept back in block", () => {
    const { instructions, events } = screening({ definitions: "block" });
    expect([instructions("docs", BAD), events]).toEqual(["", [told("blocked")]]);
  });

  it.each(["neutralise", "block"] as const)("below the severity pass in %s, and are told", (definitions) => {
    const { instructions, events } = screening({ definitions });
    expect(instructions("docs", MILD)).toBe(MILD);
    expect(events).toMatchObject([["scan-flagged", { severity: "medium", action: "flagged" }]]);
  });

  it.each(["flag", "neutralise", "block"] as const)("that are harmless pass silently in %s", (definitions) => {
    const { instructions, events } = screening({ definitions });
    expect([instructions("docs", "Be kind."), events]).toEqual(["Be kind.", []]);
  });

  it("are read as definitions are, where an address of the machine itself is nothing", () => {
    const { instructions, events } = screening({ definitions: "block", severity: "medium" });
    const text = "The cache is at http://localhost:6379.";
    expect([instructions("docs", text), events]).toEqual([text, []]);
  });

  it("are scanned once for each server, until they change", () => {
    const { instructions, events } = screening({ definitions: "block" });
    for (const text of [BAD, BAD]) expect(instructions("docs", text)).toBe("");
    expect(events).toHaveLength(1);
    expect(instructions("mail", BAD)).toBe("");
    expect(events).toHaveLength(2);
    expect(instructions("docs", "Be kind.")).toBe("Be kind.");
    expect(instructions("docs", BAD)).toBe("");
    expect(events).toHaveLength(3);
  });

  it.each([
    ["allow", "allowed", "Be kind."],
    ["deny", "refused", ""],
  ] as const)("that cannot be scanned are told, where failures %s, as %s", (onFailure, action, passed) => {
    for (const definitions of ["flag", "neutralise", "block"] as const) {
      const { instructions, events } = screening({ definitions, onFailure }, [BROKEN]);
      expect(instructions("docs", "Be kind.")).toBe(passed);
      const message = "The scan failed: out of order";
      expect(events).toEqual([["scan-failed", { toolId: "docs#instructions", where: "definition", message, action }]]);
    }
  });
});
