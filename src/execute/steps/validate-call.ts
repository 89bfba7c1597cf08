import { ArsenalError, fixable, isArsenalError } from "../../errors/arsenal-error.ts";
import { showValue } from "../../errors/show-value.ts";
import { isPlainObject } from "../../tool/json-schema.ts";
import { type CopiedArguments, copyArguments } from "../arguments/copy-arguments.ts";
import { toResultError } from "../results/to-result-error.ts";

/** Checks the call itself, before any tool is looked up. Returns a copy of its arguments. Throws CALL_INVALID. */
export function readArguments(call: unknown): CopiedArguments {
  try {
    return checkMembers(call);
  } catch (error) {
    throw isArsenalError(error) ? error : unreadable(error);
  }
}

/** The error of a call that throws when it is looked at. */
export function unreadable(error: unknown): ArsenalError {
  const problem = `The call cannot be read: ${toResultError(error).message}. Give plain data without getters that throw.`;
  return new ArsenalError("CALL_INVALID", problem);
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

/** The types of members that are optional and need no other check. */
const TYPES = Object.entries({
  cache: "boolean",
  checkArguments: "boolean",
  requireConfirmation: "boolean",
  confirmationId: "string",
  idempotencyKey: "string",
  toolset: "string",
  traceId: "string",
  parentSpanId: "string",
  sampled: "boolean",
  tracestate: "string",
  callId: "string",
  auxdata: "object",
  request: "object",
  onProgress: "function",
});

function checkMembers(call: unknown): CopiedArguments {
  if (!isPlainObject(call)) refuse("call", call, "is not an object", "Give { toolName, arguments }.");
  const { toolName, arguments: args, timeoutMs, retryCount, principal } = call;
  if (typeof toolName !== "string" || toolName.trim() === "")
    refuse("toolName", toolName, "is not a name", "Give the tool's id or name, such as billing.refund_user.");
  if (args !== undefined && !isPlainObject(args))
    refuse("arguments", args, "is not an object", "Give an object with one member for each parameter.");
  if (timeoutMs !== undefined && !isBetween(timeoutMs, 100, 300_000))
    refuse("timeoutMs", timeoutMs, "is out of range", "Give 100 to 300000 milliseconds, or leave it out.");
  if (retryCount !== undefined && !(isBetween(retryCount, 0, 5) && Number.isInteger(retryCount)))
    refuse("retryCount", retryCount, "is out of range", "Give a whole number from 0 to 5, or leave it out.");
  if (principal !== undefined && !isPrincipal(principal))
    refuse("principal", principal, "is not a principal", "Give { id, roles, capabilities, scopes, local }.");
  checkEnd(call);
  checkLength("toolName", toolName);
  for (const [field, type] of TYPES) {
    const value = call[field];
    if (value === undefined) continue;
    if (typeof value !== type || value === null)
      refuse(field, value, `is not a ${type}`, `Give a ${type}, or leave it out.`);
    // A trace state that is too long is ignored.
    if (type === "string" && field !== "tracestate") checkLength(field, value as string);
  }
  const { length } = (call["idempotencyKey"] as string | undefined) ?? "-";
  if (!isBetween(length, 1, 255))
    refuse("idempotencyKey", length, "has the wrong length", "Give 1 to 255 characters, or leave it out.");
  return args === undefined ? { arguments: {}, isLarge: false } : copyArguments(args);
}

/** Names, ids and keys are kept and compared, and none needs to be longer. */
const MAX_LENGTH = 1_024;

function checkLength(field: string, { length }: string): void {
  if (length > MAX_LENGTH)
    refuse(field, length, `has more than ${MAX_LENGTH} characters`, `Give at most ${MAX_LENGTH} characters.`);
}

/** Checks what ends a call or a batch early. */
export function checkEnd({ deadline, signal }: Record<string, unknown>): void {
  if (deadline !== undefined && !Number.isFinite(deadline))
    refuse("deadline", deadline, "is not a time", "Give milliseconds since the epoch, or leave it out.");
  if (signal !== undefined && !isSignal(signal))
    refuse("signal", signal, "is not an AbortSignal", "Give the signal of an AbortController, or leave it out.");
}

function isBetween(value: unknown, low: number, high: number): value is number {
  return typeof value === "number" && value >= low && value <= high;
}

function isPrincipal(value: unknown): boolean {
  if (!isPlainObject(value)) return false;
  const { id, roles, capabilities, scopes } = value;
  return typeof id === "string" && Array.isArray(roles) && Array.isArray(capabilities) && Array.isArray(scopes);
}

/** Throws CALL_INVALID for one member of a call or a batch. */
export function refuse(field: string, value: unknown, what: string, fix: string): never {
  const shown = showValue(value);
  throw fixable("CALL_INVALID", `${field} ${what}: ${shown}.`, fix, { field, value: shown });
}
