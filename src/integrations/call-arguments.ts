import { isPlainObject } from "../tool/json-schema.ts";

/** Reads the arguments of a call: an object or its JSON text. Returns undefined for anything else. */
export function toArguments(given: unknown): Readonly<Record<string, unknown>> | undefined {
  if (isPlainObject(given)) return given;
  if (typeof given !== "string") return undefined;
  try {
    const parsed: unknown = JSON.parse(given.trim() === "" ? "{}" : given);
    return isPlainObject(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}
