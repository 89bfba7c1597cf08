import { ArsenalError, isArsenalError } from "../../errors/arsenal-error.ts";
import { showValue } from "../../errors/show-value.ts";
import { isPlainObject } from "../../tool/json-schema.ts";
import { copyArguments } from "../arguments/copy-arguments.ts";
import type { ResultError } from "../result.ts";
import { toResultError } from "../results/to-result-error.ts";

/** A call's arguments, copied, or what is wrong with the call. */
export type ValidatedCall =
  | { readonly valid: true; readonly arguments: Readonly<Record<string, unknown>> }
  | { readonly valid: false; readonly error: ResultError };

/** Checks the call itself, before any tool is looked up. */
export function validateCall(call: unknown): ValidatedCall {
  try {
    return { valid: true, arguments: checkCall(call) };
  } catch (error) {
    return { valid: false, error: isArsenalError(error) ? toResultError(error) : unreadable(error) };
  }
}

/** The error of a call that throws when it is looked at. */
export function unreadable(error: unknown): ResultError {
  const message = `The call cannot be read: ${toResultError(error).message}. Give plain data without getters that throw.`;
  return { code: "CALL_INVALID", message };
}

/** True for an `AbortSignal`, of this realm or another. */
export function isSignal(value: unknown): value is AbortSignal {
  return (
    typeof value === "object" &&
    value !== null &&
    typeof (value as { readonly aborted?: unknown }).aborted === "boolean" &&
    typeof (value as { readonly addEventListener?: unknown }).addEventListener === "function"
  );
}

function checkCall(call: unknown): Record<string, unknown> {
  if (!isPlainObject(call)) refuse("call", call, "is not an object", "Give { toolName, arguments }.");
  const { toolName, arguments: args, timeoutMs, retryCount, principal } = call;
  if (typeof toolName !== "string" || toolName.trim() === "") {
    refuse("toolName", toolName, "is not a name", "Give the tool's id or name, such as billing.refund_user.");
  }
  if (args !== undefined && !isPlainObject(args)) {
    refuse("arguments", args, "is not an object", "Give an object with one member a parameter.");
  }
  if (timeoutMs !== undefined && !isBetween(timeoutMs, 100, 300_000)) {
    refuse("timeoutMs", timeoutMs, "is out of range", "Give 100 to 300000 milliseconds, or leave it out.");
  }
  if (call["deadline"] !== undefined && !Number.isFinite(call["deadline"])) {
    refuse("deadline", call["deadline"], "is no time", "Give milliseconds since the epoch, or leave it out.");
  }
  if (retryCount !== undefined && !(isBetween(retryCount, 0, 5) && Number.isInteger(retryCount))) {
    refuse("retryCount", retryCount, "is out of range", "Give a whole number from 0 to 5, or leave it out.");
  }
  if (principal !== undefined && !isPrincipal(principal)) {
    refuse("principal", principal, "is no principal", "Give { id, roles, capabilities, scopes, local }.");
  }
  if (call["signal"] !== undefined && !isSignal(call["signal"])) {
    refuse("signal", call["signal"], "is no AbortSignal", "Give the signal of an AbortController, or leave it out.");
  }
  checkType(call, "cache", "boolean");
  checkType(call, "checkArguments", "boolean");
  checkType(call, "requireConfirmation", "boolean");
  checkType(call, "confirmationId", "string");
  checkType(call, "idempotencyKey", "string");
  const { length } = (call["idempotencyKey"] as string | undefined) ?? "-";
  if (!isBetween(length, 1, 255)) {
    refuse("idempotencyKey", length, "has the wrong length", "Give 1 to 255 characters, or leave it out.");
  }
  checkType(call, "toolset", "string");
  checkType(call, "traceId", "string");
  checkType(call, "parentSpanId", "string");
  checkType(call, "sampled", "boolean");
  checkType(call, "tracestate", "string");
  checkType(call, "callId", "string");
  checkType(call, "auxdata", "object");
  checkType(call, "request", "object");
  checkType(call, "onProgress", "function");
  return args === undefined ? {} : copyArguments(args);
}

function checkType(call: Record<string, unknown>, field: string, type: string): void {
  const value = call[field];
  if (value === undefined || (typeof value === type && value !== null)) return;
  refuse(field, value, `is no ${type}`, `Give a ${type}, or leave it out.`);
}

function isBetween(value: unknown, low: number, high: number): value is number {
  return typeof value === "number" && value >= low && value <= high;
}

function isPrincipal(value: unknown): boolean {
  if (!isPlainObject(value)) return false;
  const { id, roles, capabilities, scopes } = value;
  return typeof id === "string" && Array.isArray(roles) && Array.isArray(capabilities) && Array.isArray(scopes);
}

function refuse(field: string, value: unknown, what: string, fix: string): never {
  const shown = showValue(value);
  throw new ArsenalError("CALL_INVALID", `${field} ${what}: ${shown}. ${fix}`, { field, value: shown, fix });
}
