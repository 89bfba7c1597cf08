import { sha256 } from "../base/crypto.ts";
import { pause } from "../base/turns/until-aborted.ts";
import { isArsenalError } from "../errors/arsenal-error.ts";
import type { ToolCall } from "../execute/call.ts";
import type { ToolResult } from "../execute/result.ts";
import { unusable } from "../guard/approvals/approval-record.ts";
import type { Clock } from "../observe/clock.ts";
import { atDepth } from "./depth.ts";
import type { RecordedStep, RunCall, RunContext, RunHead, RunWait } from "./run.ts";

export type RunSteps = ReturnType<typeof createRunSteps>;

/** Runs the steps of one turn of a run. Recorded steps are answered from the record. */
export function createRunSteps(parts: {
  readonly head: RunHead;
  readonly recorded: readonly RecordedStep[];
  readonly execute: (call: ToolCall) => Promise<ToolResult>;
  /** False if the state is not shared with other processes: then no other process can continue the run, and calls need no claim. */
  readonly isShared: boolean;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}) {
  const { head, isShared, clock, signal } = parts;
  const { depth = 1 } = head;
  const execute = (call: ToolCall): Promise<ToolResult> =>
    atDepth(depth, () => parts.execute(call)).catch(thrownResult);
  const before = new Map(parts.recorded.map((step) => [step.key, step]));
  const waited = new Map(head.waits.map(({ key, confirmationId }) => [key, confirmationId]));
  const steps: RecordedStep[] = [...parts.recorded];
  const waits: RunWait[] = [];

  async function runApproved(made: ToolCall, confirmationId: string): Promise<ToolResult> {
    const ran = await execute({ ...made, confirmationId });
    // An identical call of another caller waited for the same approval and used it. This call requests its own approval.
    return ran.error?.message === unusable("used") ? execute(made) : ran;
  }

  const call: RunContext["call"] = async (key, given) => {
    const earlier = before.get(key);
    if (earlier?.call !== undefined) {
      const { status, tool: toolId, error } = earlier.call;
      const { endedAt, result } = earlier;
      return { status, toolId, result, ...(error && { error }), endedAt, recorded: true };
    }
    const made: ToolCall = {
      ...given,
      inRun: true,
      principal: head.owner,
      traceId: head.traceId,
      parentSpanId: head.spanId,
      signal,
      ...(head.toolset !== undefined && { toolset: head.toolset }),
      ...(isShared && { idempotencyKey: `run:${head.id}:${sha256(key, "base64url")}` }),
    };
    const startedAt = clock.now();
    const confirmationId = waited.get(key);
    const ran = await (confirmationId === undefined ? execute(made) : runApproved(made, confirmationId));
    const { status, result, error, toolId, spanId } = ran;
    const endedAt = clock.now();
    const tool = toolId ?? String(given.toolName);
    const outcome = { status, ...(toolId !== undefined && { toolId }), result, ...(error && { error }), endedAt };
    if (status === "pending_confirmation" && ran.confirmationId !== undefined) {
      waits.push({ key, tool, confirmationId: ran.confirmationId });
      return { ...outcome, confirmationId: ran.confirmationId };
    }
    const ended: RunCall = {
      key,
      tool,
      status,
      startedAt,
      durationMs: Math.round((endedAt - startedAt) * 1_000) / 1_000,
      spanId,
      ...(error && { error }),
    };
    // A call that ended because the run was stopped is not recorded. When the run continues, the call is repeated or recalled.
    if (!signal.aborted)
      steps.push({ key, endedAt, call: ended, ...(status === "success" && result !== undefined && { result }) });
    return outcome;
  };

  return {
    call,
    async pause(key: string, ms: number): Promise<number> {
      const earlier = before.get(key);
      if (earlier !== undefined) return earlier.endedAt;
      await pause(ms, clock, { signal });
      const endedAt = clock.now();
      steps.push({ key, endedAt });
      return endedAt;
    },
    /** Returns every finished step in order, including the steps of earlier turns. */
    steps: (): readonly RecordedStep[] => steps,
    calls: (): readonly RunCall[] => steps.flatMap(({ call: made }) => made ?? []),
    /** Returns the approvals that this turn waits for. */
    waits: (): readonly RunWait[] => waits,
  };
}

/** Returns the result inside the error of an arsenal that is configured to throw for failed calls. */
function thrownResult(error: unknown): ToolResult {
  const result = isArsenalError(error) ? (error.cause as ToolResult | undefined) : undefined;
  if (typeof result === "object" && typeof result?.status === "string") return result;
  throw error;
}
