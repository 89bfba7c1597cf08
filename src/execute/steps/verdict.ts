import { sideOf } from "../../errors/blame.ts";
import type { HealthBook } from "../../observe/health.ts";
import type { CallOutcome } from "../../state/limits.port.ts";
import type { Tool } from "../../tool/tool.ts";
import type { Outcome } from "../outcome.ts";

/** Classifies an outcome for the circuit breaker and the tool's health. A caller's mistake is neutral for both. */
export function verdictOf({ status, error }: Pick<Outcome, "status" | "error">): CallOutcome {
  if (status === "success") return "success";
  return error !== undefined && sideOf(error) === "tool" ? "failure" : "neutral";
}

export function recordHealth(health: HealthBook, tool: Tool, verdict: CallOutcome, lastAttemptMs: number): void {
  if (verdict === "success") health.recordSuccess(tool.id, lastAttemptMs);
  if (verdict === "failure") health.recordFailure(tool.id, lastAttemptMs);
}
