import { isArsenalError } from "../errors/arsenal-error.ts";
import type { ToolResult } from "../execute/result.ts";

/** The result of a call, also from an arsenal that is configured to throw failed ones: the result is then the cause. */
export async function resultOf(executing: Promise<ToolResult>): Promise<ToolResult> {
  try {
    return await executing;
  } catch (error) {
    const result = isArsenalError(error) ? (error.cause as ToolResult | undefined) : undefined;
    if (typeof result === "object" && typeof result?.status === "string") return result;
    throw error;
  }
}
