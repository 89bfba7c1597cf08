import { ArsenalError } from "../errors/arsenal-error.ts";
import type { Clock } from "../observe/clock.ts";
import { nextTurn } from "../base/turns/event-loop.ts";
import { followSignal } from "../base/turns/follow-signal.ts";
import { isPlainObject } from "../tool/json-schema.ts";
import { isSignal } from "../tool/shape/check.ts";
import type { Tool } from "../tool/tool.ts";
import type { BatchCall, ToolCall } from "./call.ts";
import type { BatchResult, ToolResult } from "./result.ts";
import { isConfirmedReadOnly } from "./steps/retry.ts";
import { checkBatch } from "./steps/validate-call.ts";

/** The number of calls that start at once. Further calls of a group start in later turns of the event loop, so that a batch does not block other work. */
const AT_ONCE = 4;

/** Runs the calls of a batch with its strategy. Results are in the order of the calls. */
export async function runBatch(
  batch: BatchCall,
  parts: {
    readonly run: (call: ToolCall) => Promise<ToolResult>;
    /** Finds the tool of a call, as its caller sees the catalog. */
    readonly toolOf: (call: ToolCall) => Promise<Tool | undefined>;
    readonly clock: Clock;
  },
): Promise<BatchResult> {
  checkBatch(batch);
  const startedAt = parts.clock.now();
  const calls = [...batch.calls];
  const stop = new AbortController();
  const unlink = followSignal(batch.signal, stop);
  const results: ToolResult[] = [];

  const runOne = async (index: number, place: number): Promise<void> => {
    if (place >= AT_ONCE) await nextTurn();
    const call = calls[index];
    const result = await runLinked(withDeadline(call as ToolCall, batch.deadline), stop.signal, parts.run);
    results[index] = result;
    if (batch.failFast === true && isFailure(result)) {
      const message = `The call was cancelled because call ${index + 1} of the batch failed.`;
      stop.abort(new ArsenalError("CANCELLED", message));
    }
  };

  try {
    for (const group of await groupsOf(calls, batch.strategy ?? "adaptive", parts.toolOf))
      await Promise.all(group.map(runOne));
  } finally {
    unlink();
  }
  return {
    results,
    totalTimeMs: parts.clock.now() - startedAt,
    successfulCount: results.filter(({ status }) => status === "success").length,
    failedCount: results.filter(isFailure).length,
  };
}

/** A call that waits for approval has neither succeeded nor failed. */
function isFailure({ status }: ToolResult): boolean {
  return status !== "success" && status !== "pending_confirmation";
}

/** Groups the indexes of calls that run concurrently. The groups run one after the other. */
async function groupsOf(
  calls: readonly unknown[],
  strategy: NonNullable<BatchCall["strategy"]>,
  toolOf: (call: ToolCall) => Promise<Tool | undefined>,
): Promise<readonly (readonly number[])[]> {
  const indexes = [...calls.keys()];
  if (strategy === "parallel") return [indexes];
  if (strategy === "sequential") return indexes.map((index) => [index]);
  const groups: number[][] = [];
  let together: number[] | undefined;
  for (const index of indexes) {
    if (!(await mayRunBesideOthers(calls[index], toolOf))) {
      together = undefined;
      groups.push([index]);
    } else if (together === undefined) groups.push((together = [index]));
    else together.push(index);
  }
  return groups;
}

async function mayRunBesideOthers(
  call: unknown,
  toolOf: (call: ToolCall) => Promise<Tool | undefined>,
): Promise<boolean> {
  try {
    if (!isPlainObject(call) || typeof call["toolName"] !== "string") return false;
    const tool = await toolOf(call as unknown as ToolCall);
    return tool !== undefined && isConfirmedReadOnly(tool);
  } catch {
    return false; // A call whose properties throw when read gets its result in its turn.
  }
}

/** Applies the batch's deadline to a call, unless its own is earlier. */
function withDeadline(call: ToolCall, deadline: number | undefined): ToolCall {
  if (deadline === undefined || !isPlainObject(call) || !isReadable(call)) return call;
  const own: unknown = call.deadline;
  // An invalid deadline is reported when the call is checked.
  return own === undefined || (typeof own === "number" && own > deadline) ? { ...call, deadline } : call;
}

/** Runs a call that is also cancelled with the batch. */
async function runLinked(
  call: ToolCall,
  batchSignal: AbortSignal,
  run: (call: ToolCall) => Promise<ToolResult>,
): Promise<ToolResult> {
  // A value that is not a call, or whose properties throw when read, gets its own result.
  if (!isPlainObject(call) || !isReadable(call)) return run(call);
  if (call.signal === undefined) return run({ ...call, signal: batchSignal });
  if (!isSignal(call.signal)) return run(call);
  const either = new AbortController();
  const unlinkOwn = followSignal(call.signal, either);
  const unlinkBatch = followSignal(batchSignal, either);
  try {
    return await run({ ...call, signal: either.signal });
  } finally {
    unlinkOwn();
    unlinkBatch();
  }
}

function isReadable(call: object): boolean {
  try {
    void { ...call };
    return true;
  } catch {
    return false;
  }
}
