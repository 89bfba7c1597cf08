import { ArsenalError, type ErrorDetails, isArsenalError } from "../../../errors/arsenal-error.ts";
import type { JsonSchema } from "../../../tool/json-schema.ts";

/** The schema of a tool's arguments, with the required ones. */
export function argumentsOf(properties: Readonly<Record<string, JsonSchema>>, ...required: string[]): JsonSchema {
  return { type: "object", properties, required, additionalProperties: false };
}

/**
 * Runs a request without side effects: if its answer is lost, the outcome is a plain failure, not an unknown one. `fault` is the side that chose
 * the address.
 */
export async function withoutEffect<Result>(
  fault: NonNullable<ErrorDetails["fault"]>,
  request: () => Promise<Result>,
): Promise<Result> {
  try {
    return await request();
  } catch (error) {
    if (!isArsenalError(error)) throw error;
    throw new ArsenalError(error.code, error.message, { fault, ...error.details, answered: true, cause: error });
  }
}

/** Bytes as JSON can hold them: text if they are UTF-8, base64 otherwise. */
export function toContent(bytes: Buffer): { readonly content: string; readonly encoding: "utf-8" | "base64" } {
  try {
    return { content: STRICT.decode(bytes), encoding: "utf-8" };
  } catch {
    return asBase64(bytes);
  }
}

/** Bytes as base64. */
export function asBase64(bytes: Buffer) {
  return { content: bytes.toString("base64"), encoding: "base64" } as const;
}

const STRICT = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
