import { isArsenalError } from "../errors/arsenal-error.ts";
import type { ToolResult } from "../execute/result.ts";

/** Returns the result of a call. If the arsenal is configured to throw failed calls, the result is the cause of the error. */
export async function resultOf(executing: Promise<ToolResult>): Promise<ToolResult> {
  try {
    return await executing;
  } catch (error) {
    const result = isArsenalError(error) ? (error.cause as ToolResult | undefined) : undefined;
    if (typeof result === "object" && typeof result?.status === "string") return result;
    throw error;
  }
}
