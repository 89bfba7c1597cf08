import { expect, it } from "vitest";
import type { ArsenalEvent, EventMap, EventName } from "./events.ts";
import { eventText } from "./event-text.ts";

function text<Name extends EventName>(name: Name, data: EventMap[Name]): string {
  return eventText({ name, level: "warn", at: 0, data } as ArsenalEvent);
}

it("says what happened in words", () => {
  expect(text("tool-rejected", { name: "x", code: "TOOL_INVALID", message: "x is not registered." })).toBe(
    "x is not registered.",
  );
  expect(text("circuit-opened", { toolId: "a.b", consecutiveFailures: 5, retryAfterMs: 59_500 })).toBe(
    "a.b: circuit opened after 5 failures; next attempt in 60 s",
  );
  expect(
    text("scan-flagged", { toolId: "a.b", where: "definition", rules: ["r"], severity: "high", action: "flagged" }),
  ).toBe("a.b: high finding in its definition (r), flagged");
  expect(text("audit-failed", { records: 1, message: "disk full" })).toBe("1 audit record not kept: disk full");
});

it("names the fields of any other event, and lets nothing steer the terminal", () => {
  expect(text("tool-deleted", { toolId: "a.\u001B[2Jb" })).toBe("tool-deleted toolId=a.b");
  expect(text("pins-failed", { ensemble: "s", message: "one\ntwo" })).toBe("s: one two");
});
