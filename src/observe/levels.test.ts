import { describe, expect, it } from "vitest";
import type { ExecutionStatus } from "../execute/result.ts";
import type { EventMap } from "./events.ts";
import { isAtLeast, levelOf } from "./levels.ts";

function finished(status: ExecutionStatus): EventMap["call-finished"] {
  return {
    toolId: "a.b",
    traceId: "t",
    spanId: "s",
    status,
    attempts: 1,
    queuedMs: 0,
    latencyMs: 1,
    principal: "local",
    startedAt: 0,
    durationMs: 1,
    steps: {},
  };
}

describe("levelOf", () => {
  it("is as loud for a finished call as its status", () => {
    const levelAt = (status: ExecutionStatus): string => levelOf("call-finished", finished(status));
    expect((["success", "pending_confirmation", "cancelled"] as const).map(levelAt)).toEqual(["info", "info", "info"]);
    const failed = ["failure", "timeout", "permission_denied", "circuit_open"] as const;
    expect(failed.map(levelAt)).toEqual(["warn", "warn", "warn", "warn"]);
  });

  it("warns of what a person should look at", () => {
    expect(levelOf("circuit-opened", { toolId: "a.b", consecutiveFailures: 5, retryAfterMs: 1 })).toBe("warn");
    expect(levelOf("tool-rejected", { name: "x", code: "TOOL_INVALID", message: "m" })).toBe("warn");
    expect(levelOf("pins-waiting", { ensemble: "crm", waiting: 14, message: "m" })).toBe("warn");
    expect(levelOf("ensemble-failed", { ensemble: "crm", message: "m" })).toBe("error");
    expect(levelOf("sink-failed", { sink: "file", message: "m", dropped: 1 })).toBe("error");
  });

  it("keeps the ordinary quiet", () => {
    expect(levelOf("tool-rejected", { name: "x", code: "PERMISSION_DENIED", message: "m" })).toBe("info");
    expect(levelOf("call-started", { toolId: "a.b", traceId: "t", spanId: "s", attempt: 1 })).toBe("debug");
    expect(levelOf("tool-registered", { toolId: "a.b", version: "1.0.0", source: "function" })).toBe("debug");
  });
});

describe("isAtLeast", () => {
  it("orders debug, info, warn, error", () => {
    expect(isAtLeast("warn", "warn")).toBe(true);
    expect(isAtLeast("error", "debug")).toBe(true);
    expect(isAtLeast("info", "warn")).toBe(false);
  });
});
