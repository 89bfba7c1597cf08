import { isPlainObject } from "../tool/json-schema.ts";
import type { ReadCall } from "./dialect.port.ts";

export interface RawCall {
  readonly id?: unknown;
  readonly name: unknown;
  /** An object, or JSON text. */
  readonly arguments: unknown;
}

/** Parses a call from a provider. `position` is its index among the calls of the answer. Never throws. */
export function toReadCall(raw: RawCall, position: number): ReadCall {
  const given = typeof raw.id === "string" && raw.id !== "" ? raw.id : undefined;
  const read = readArguments(raw.arguments);
  const toolName = typeof raw.name === "string" ? raw.name : "";
  const problem = toolName === "" ? "The call names no tool. Call one of the tools by its name." : read.problem;
  return {
    ...(given === undefined ? { id: `call_${position + 1}`, idMadeUp: true } : { id: given }),
    call: { toolName, ...(read.arguments === undefined ? {} : { arguments: read.arguments }) },
    ...(typeof raw.arguments === "string" ? { rawArguments: raw.arguments } : {}),
    ...(problem === undefined ? {} : { problem }),
  };
}

interface ReadArguments {
  readonly arguments?: Record<string, unknown>;
  readonly problem?: string;
}

const FIX = "Call the tool again with one JSON object as its arguments.";

function readArguments(given: unknown): ReadArguments {
  if (given === undefined || given === null) return { arguments: {} };
  if (isPlainObject(given)) return { arguments: given };
  if (typeof given !== "string") return notAnObject(given);
  if (given.trim() === "") return { arguments: {} };
  try {
    const parsed: unknown = JSON.parse(given);
    // Some servers encode the JSON text as a JSON string again.
    const value: unknown =
      typeof parsed === "string" && parsed.trimStart().startsWith("{") ? JSON.parse(parsed) : parsed;
    if (value === null) return { arguments: {} };
    return isPlainObject(value) ? { arguments: value } : notAnObject(value);
  } catch (error) {
    return { problem: `The arguments are not valid JSON: ${(error as Error).message}. ${FIX}` };
  }
}

function notAnObject(value: unknown): ReadArguments {
  const kind = Array.isArray(value) ? "a list" : `a ${typeof value}`;
  return { problem: `The arguments are ${kind}, not an object. ${FIX}` };
}
