import type { CodeResult } from "../../../src/programs/code-mode.ts";
import type { Call, Result } from "./surface.ts";

/** A program that makes one call and returns how it ended. */
export function programOf({ toolName, arguments: args }: Call): string {
  const outcome = "({ status: error.status, error: { code: error.code, message: error.message } })";
  return `try { await ${toolName}(${JSON.stringify(args)}); ({ status: "success" }) } catch (error) { ${outcome} }`;
}

/** The end of the one call of a program. A program that waits has none. */
export function ofProgram({
  status,
  value,
  confirmationId,
}: Pick<CodeResult, "status" | "value" | "confirmationId">): Result {
  if (status !== "pending_confirmation") return value as Result;
  return { status, error: { code: "CONFIRMATION_REQUIRED", message: "" }, ...(confirmationId && { confirmationId }) };
}
