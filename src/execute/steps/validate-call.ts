import { ArsenalError, fixable, isArsenalError } from "../../errors/arsenal-error.ts";
import { showValue } from "../../errors/show-value.ts";
import { checkOf, WORDS as USUAL, type Words } from "../../tool/shape/check.ts";
import { type CopiedArguments, copyArguments } from "../arguments/copy-arguments.ts";
import { BATCH, TOOL_CALL, type ToolCall } from "../call.ts";
import { toResultError } from "../results/to-result-error.ts";

/** Validates the call itself, before its tool is looked up. Returns a copy of its arguments. Throws CALL_INVALID. */
export function readArguments(call: unknown): CopiedArguments {
  try {
    checkCall(call, "", refuseCall);
    const { arguments: given } = call as ToolCall;
    return given === undefined ? { arguments: {}, isLarge: false } : copyArguments(given);
  } catch (error) {
    throw isArsenalError(error) ? error : unreadable(error);
  }
}

/** The error for a call whose properties throw when read. */
export function unreadable(error: unknown): ArsenalError {
  const problem = `The call cannot be read: ${toResultError(error).message}. Give plain data without getters that throw.`;
  return new ArsenalError("CALL_INVALID", problem);
}

const WORDS: Words = {
  ...USUAL,
  flag: () => ["is not a boolean", "Give a boolean, or leave it out."],
  string: () => ["is not a string", "Give a string, or leave it out."],
  anything: () => ["is not an object", "Give an object, or leave it out."],
  tooLong: (value, max) => [`has more than ${max} characters`, `Give at most ${max} characters.`, value.length],
};

const checkCall = checkOf(TOOL_CALL, WORDS);
const checkMembers = checkOf(BATCH, WORDS);

/** Validates the batch itself. Each call is validated in its turn. Throws CALL_INVALID. */
export function checkBatch(batch: unknown): void {
  checkMembers(batch, "", (field, ...problem) => refuse(field || "batch", ...problem));
}

function refuseCall(field: string, value: unknown, what: string, fix: string): void {
  refuse(field || "call", value, what, fix);
}

function refuse(field: string, value: unknown, what: string, fix: string): never {
  const shown = showValue(value);
  const problem = value === undefined ? "is missing" : `${what}: ${shown}`;
  throw fixable("CALL_INVALID", `${field} ${problem}.`, fix, { field, value: shown });
}
