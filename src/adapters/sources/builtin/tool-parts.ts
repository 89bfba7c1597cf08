import { ArsenalError, type ErrorDetails, isArsenalError } from "../../../errors/arsenal-error.ts";
import type { JsonSchema } from "../../../tool/json-schema.ts";

/** Returns the JSON Schema of a tool's arguments. `required` names the required ones. */
export function argumentsOf(properties: Readonly<Record<string, JsonSchema>>, ...required: string[]): JsonSchema {
  return { type: "object", properties, required, additionalProperties: false };
}

/**
 * Runs a request that has no side effects, so a lost response is a plain failure and not an unknown outcome. `fault` names the side that chose the
 * address.
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

/** Returns bytes as JSON content: text if they are valid UTF-8, otherwise base64. */
export function toContent(bytes: Buffer): { readonly content: string; readonly encoding: "utf-8" | "base64" } {
  try {
    return { content: STRICT.decode(bytes), encoding: "utf-8" };
  } catch {
    return asBase64(bytes);
  }
}

export function asBase64(bytes: Buffer) {
  return { content: bytes.toString("base64"), encoding: "base64" } as const;
}

const STRICT = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
