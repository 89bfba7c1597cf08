import { describe, expect, it } from "vitest";
import type { ErrorCode } from "../../errors/codes.ts";
import { formatResult } from "./format-result.ts";
import type { ToolResult } from "../result.ts";

const call = { arguments: { operation: "multiply", a: 12, b: 8 } };

function result(overrides: Partial<ToolResult>): ToolResult {
  return {
    toolName: "calculator",
    status: "success",
    queuedAt: 0,
    completedAt: 0,
    latencyMs: 12.3,
    attempts: 1,
    traceId: "",
    spanId: "",
    ...overrides,
  };
}

function failure(code: ErrorCode, message = "It broke."): string {
  return formatResult(result({ status: "failure", error: { code, message } }), call);
}

describe("formatResult", () => {
  it("shows a success as a model is used to [004-format-success]", () => {
    expect(formatResult(result({ result: 96 }), call)).toBe(
      [
        "Tool Execution Result",
        "Tool: calculator",
        'Arguments: {"operation": "multiply", "a": 12, "b": 8}',
        "Output: 96",
        "Execution Time: 12ms",
      ].join("\n"),
    );
  });

  it("asks for valid arguments only where the arguments were wrong [004-format-failure]", () => {
    expect(failure("ARGUMENTS_INVALID", "b must not be 0.")).toBe(
      [
        "Tool Execution Failed",
        "Tool: calculator",
        'Arguments: {"operation": "multiply", "a": 12, "b": 8}',
        "Error: b must not be 0.",
        "Execution Time: 12ms",
        "",
        "Please try again with valid arguments.",
      ].join("\n"),
    );
    for (const code of ["EXECUTION_FAILED", "TIMEOUT", "PERMISSION_DENIED", "RATE_LIMITED", "STORE_FAILED"] as const) {
      expect(failure(code)).not.toContain("valid arguments");
    }
  });

  it("warns against repeating what may have taken effect", () => {
    expect(failure("OUTCOME_UNKNOWN")).toContain("Please check whether the call took effect before you repeat it.");
  });

  it("says when a tool may be tried again", () => {
    const error = { code: "CIRCUIT_OPEN", message: "Open.", retryAfterMs: 4200 } as const;
    expect(formatResult(result({ status: "circuit_open", error }), call)).toContain("or try again in 5 s.");
  });

  it("names the confirmation a person must approve", () => {
    const error = { code: "CONFIRMATION_REQUIRED", message: "A person must approve." } as const;
    const text = formatResult(result({ status: "pending_confirmation", confirmationId: "c-1", error }), call);
    expect(text).toContain("Tool Execution Awaiting Confirmation\n");
    expect(text).toContain("\nConfirmation: c-1\n");
  });

  it("says nothing of arguments that it was not given", () => {
    expect(formatResult(result({ result: 1 }))).not.toContain("Arguments");
  });

  it("keeps outputs whole, texts as they are, and line breaks and commas inside texts", () => {
    const long = "x".repeat(200_000);
    expect(formatResult(result({ result: long }), call)).toContain(`Output: ${long}\n`);
    const nested = { lines: ["a,\nb", "c"], none: [], deep: { ok: true } };
    expect(formatResult(result({ result: nested }), call)).toContain(
      'Output: {"lines": ["a,\\nb", "c"], "none": [], "deep": {"ok": true}}\n',
    );
    expect(formatResult(result({ result: undefined }), {})).toContain("Arguments: {}\nOutput: (nothing)\n");
    expect(formatResult(result({ result: 10n }), call)).toContain("Output: 10\n");
    expect(formatResult(result({ result: { rows: 10n } }), call)).toContain('Output: {"rows": "10"}\n');
  });
});
