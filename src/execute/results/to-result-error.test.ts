import { describe, expect, it } from "vitest";
import { ArsenalError } from "../../errors/arsenal-error.ts";
import { statusOf, toResultError } from "./to-result-error.ts";

describe("toResultError", () => {
  it("keeps the message of an error, and shows what is none [002-sandbox-crash]", () => {
    const unreadable = {
      get message(): string {
        throw new Error("no");
      },
    };
    const cases: readonly (readonly [unknown, string])[] = [
      [new TypeError("bad type"), "bad type"],
      [new DOMException("own abort", "AbortError"), "own abort"],
      [new Error(""), "Error without a message"],
      [new AggregateError([new Error("a"), "b"]), "a; b"],
      [{ message: "looks like one" }, "looks like one"],
      ["just text", "just text"],
      ["", 'The tool threw ""'],
      [{ status: 500 }, 'The tool threw {"status":500}'],
      [null, "The tool threw null"],
      [undefined, "The tool threw undefined"],
      [unreadable, "The tool threw something that cannot be read."],
    ];
    for (const [thrown, message] of cases) expect(toResultError(thrown)).toEqual({ code: "EXECUTION_FAILED", message });
  });

  it("keeps an ArsenalError's code and details, and neither its cause nor a code that is none", () => {
    const error = new ArsenalError("RATE_LIMITED", "busy", { retryAfterMs: 5, cause: new Error("inner") });
    expect(toResultError(error)).toEqual({ code: "RATE_LIMITED", message: "busy", retryAfterMs: 5 });
    const odd = Object.assign(new Error("odd"), { name: "ArsenalError", code: "constructor" });
    expect(toResultError(odd)).toEqual({ code: "EXECUTION_FAILED", message: "odd" });
  });

  it("gives a refusal, a time-out and a cancellation their own status", () => {
    expect(
      (["PERMISSION_DENIED", "TIMEOUT", "CANCELLED", "CIRCUIT_OPEN", "OUTCOME_UNKNOWN"] as const).map(statusOf),
    ).toEqual(["permission_denied", "timeout", "cancelled", "circuit_open", "failure"]);
  });
});
