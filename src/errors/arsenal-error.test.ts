import { expect, it } from "vitest";
import { ArsenalError, isArsenalError } from "./arsenal-error.ts";
import { ERROR_CODES, type ErrorCode } from "./codes.ts";
import { toWire } from "./to-wire.ts";

it("an error carries its code, its parts and its cause", () => {
  const cause = new Error("refused");
  const error = new ArsenalError("TIMEOUT", "Too slow.", { field: "timeoutMs", value: 5, fix: "Wait.", cause });
  expect(error).toBeInstanceOf(Error);
  expect([error.name, error.code, error.message]).toEqual(["ArsenalError", "TIMEOUT", "Too slow."]);
  expect(error.details).toEqual({ field: "timeoutMs", value: 5, fix: "Wait." });
  expect(error.cause).toBe(cause);
  expect(Object.hasOwn(new ArsenalError("TIMEOUT", "Too slow."), "cause")).toBe(false);
});

it("an error is recognised from another copy of the package, and nothing else is", () => {
  const foreign = Object.assign(new Error("x"), { name: "ArsenalError", code: "TIMEOUT" });
  expect(isArsenalError(foreign)).toBe(true);
  expect(isArsenalError(new ArsenalError("CLOSED", "x"))).toBe(true);
  for (const other of [new Error("x"), { name: "ArsenalError", code: "TIMEOUT" }, null, undefined, "ArsenalError"])
    expect(isArsenalError(other)).toBe(false);
});

it.each([
  ["TOOL_NOT_FOUND", 404],
  ["ARGUMENTS_INVALID", 422],
  ["PERMISSION_DENIED", 403],
  ["CONFIRMATION_REQUIRED", 409],
  ["RATE_LIMITED", 429],
  ["CIRCUIT_OPEN", 503],
  ["OUTCOME_UNKNOWN", 504],
  ["EXECUTION_FAILED", 502],
  ["CONFIG_INVALID", 422],
  ["HANDLER_MISSING", 409],
  ["STORE_FAILED", 500],
] as const)("%s is HTTP %i", (code, httpStatus) => {
  expect(toWire(code).httpStatus).toBe(httpStatus);
});

it("what the caller got wrong is JSON-RPC's invalid params, and no code of ours is one the protocol reserves", () => {
  for (const code of Object.keys(ERROR_CODES) as ErrorCode[]) {
    const { httpStatus, jsonRpcCode } = toWire(code);
    if ([400, 404, 422].includes(httpStatus)) expect([code, jsonRpcCode]).toEqual([code, -32_602]);
    else
      expect([code, jsonRpcCode === -32_603 || (jsonRpcCode <= -32_000 && jsonRpcCode >= -32_099)]).toEqual([
        code,
        true,
      ]);
  }
});
