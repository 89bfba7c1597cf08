import { fixable, isArsenalError } from "../../errors/arsenal-error.ts";
import type { ErrorCode } from "../../errors/codes.ts";
import type { AttemptTime } from "../../observe/events.ts";
import type { SourceAnswer } from "../../tool/handler.ts";
import { makesCalls, type Tool } from "../../tool/tool.ts";
import { copyPlain } from "../arguments/copy-arguments.ts";
import { isPastDeadline, pause, timeLeftMs, untilEnd, type Ended } from "./deadline.ts";
import type { RunningEngine } from "../engine.ts";
import type { Executor } from "../executor.port.ts";
import { createHandlerContext } from "./handler-context.ts";
import { cancelled, failed, type Outcome } from "../outcome.ts";
import type { ResultError } from "../result.ts";
import { mayRetry, retryDelayMs, withOutcomeKnown } from "./retry.ts";
import type { CheckedCall } from "../running-call.ts";
import type { EngineSettings } from "../settings.ts";
import { toResultError } from "../results/to-result-error.ts";

interface AttemptsOutcome {
  readonly outcome: Outcome;
  readonly lastAttemptMs: number;
  /** Present if the tool itself reported the error. Contains its complete answer, if it has one. */
  readonly reported?: ReportedError;
}

/** An error that the tool reported, with the complete answer. */
export interface ReportedError {
  readonly answer?: SourceAnswer;
}

/** Calls the handler until it succeeds, must not be retried, or the attempts are used up. */
export async function runAttempts(checked: CheckedCall, engine: RunningEngine): Promise<AttemptsOutcome> {
  const { tool, limits, ids, maxAttempts, call } = checked;
  const through = call.toolset === undefined ? {} : { toolset: call.toolset };
  const { clock, emit, admissions, settings } = engine;
  const executor = engine.executors.find((candidate) => candidate.supports(tool.source));
  if (executor === undefined) return { outcome: failed(noExecutor(tool)), lastAttemptMs: 0 };
  let firstStartedAt: number | undefined;
  for (let attempt = 1; ; attempt++) {
    if (limits.signal?.aborted) return { outcome: cancelledAfter(attempt - 1), lastAttemptMs: 0 };
    const startedAt = clock.now();
    firstStartedAt ??= startedAt;
    if (emit.wants?.("call-started") !== false) emit("call-started", { toolId: tool.id, ...ids, ...through, attempt });
    const spanId = engine.traceIds.spanId();
    const { ended, answersRequest } = await runAttempt(checked, engine, executor, { attempt, spanId });
    const lastAttemptMs = clock.now() - startedAt;
    const code = codeOf(ended);
    const time: AttemptTime = { spanId, startedAt, durationMs: lastAttemptMs, ...(code && { code }) };
    (checked.steps.attempts ??= []).push(time);
    const ran = { startedAt: firstStartedAt, attempts: attempt };
    if (ended.kind === "value") {
      const answer = answersRequest ? { answer: { result: ended.value } } : {};
      return { outcome: { status: "success", result: ended.value, ...answer, ...ran }, lastAttemptMs };
    }
    if (ended.kind === "cancelled") return { outcome: cancelledAfter(attempt), lastAttemptMs };
    const { confirmationId, ...error } =
      ended.kind === "timeout" ? timedOut(checked, lastAttemptMs, settings) : toResultError(ended.error);
    // Only a workflow or a saved program can wait for another call's approval.
    const waits = makesCalls(tool) && confirmationId !== undefined ? { confirmationId } : {};
    if (error.code === "HANDLER_MISSING") return { outcome: failed(error), lastAttemptMs: 0 };
    const delayMs = retryDelayMs(attempt, settings.retryBaseMs, engine.random, error.retryAfterMs);
    // If the tool requests a longer delay than the call has left, the call ends and the caller gets `retryAfterMs`.
    const isInTime =
      (error.retryAfterMs ?? 0) <= limits.timeoutMs && (limits.deadline === undefined || delayMs < timeLeftMs(limits));
    if (attempt >= maxAttempts || !mayRetry(tool, error) || !isInTime || !(await isWithinBudget(attempt))) {
      const outcome = { status: failed(error).status, error: withOutcomeKnown(tool, error), ...waits, ...ran };
      if (ended.kind === "timeout") return { outcome, lastAttemptMs };
      const reported = reportedBy(ended.error);
      return { outcome: answersRequest ? { ...outcome, ...reported } : outcome, lastAttemptMs, reported };
    }
    emit("call-retried", { toolId: tool.id, ...ids, attempt, delayMs, message: error.message });
    if (!(await pause(delayMs, limits))) return { outcome: cancelledAfter(attempt), lastAttemptMs };
  }

  async function isWithinBudget(attempt: number): Promise<boolean> {
    if (await admissions.retry(tool)) return true;
    emit("retry-refused", { toolId: tool.id, ...ids, attempt });
    return false;
  }

  function cancelledAfter(attempts: number): Outcome {
    const ended = cancelled(tool.id, limits.signal, attempts > 0);
    const outcome = ended.error?.code === "CLOSED" ? { ...ended, error: withOutcomeKnown(tool, ended.error) } : ended;
    return firstStartedAt === undefined ? outcome : { ...outcome, startedAt: firstStartedAt, attempts };
  }
}

async function runAttempt(
  checked: CheckedCall,
  engine: RunningEngine,
  executor: Executor,
  { attempt, spanId: attemptSpanId }: { readonly attempt: number; readonly spanId: string },
): Promise<{ readonly ended: Ended<unknown>; readonly answersRequest: boolean }> {
  const controller = new AbortController();
  const { tool, handler, limits, request, maxAttempts } = checked;
  const deadline = engine.clock.now() + timeLeftMs(limits);
  const { signal } = controller;
  const own = { attempt, attemptSpanId, signal, deadline };
  const { context, answersRequest, close } = createHandlerContext(checked, engine, own);
  // Each attempt gets its own copy, because handlers may change their arguments.
  const args = attempt < maxAttempts ? copyPlain(request.arguments) : request.arguments;
  // An executor that throws synchronously fails like one that rejects.
  const { principal, toolset } = request;
  const running = (async () => await executor.run({ tool, arguments: args, handler, context, principal, toolset }))();
  const ended = await untilEnd(running, limits, (reason) => {
    close();
    controller.abort(reason);
  });
  close();
  return { ended, answersRequest: answersRequest() };
}

function codeOf(ended: Ended<unknown>): ErrorCode | undefined {
  if (ended.kind === "value") return undefined;
  if (ended.kind === "thrown") return toResultError(ended.error).code;
  return ended.kind === "timeout" ? "TIMEOUT" : "CANCELLED";
}

/** The cause of a tool's own error is its complete answer. */
function reportedBy(thrown: unknown): ReportedError {
  if (!isArsenalError(thrown) || thrown.details.answered !== true || thrown.cause === undefined) return {};
  const { cause } = thrown;
  return { answer: cause instanceof Error ? { error: { ...cause, message: cause.message } } : { result: cause } };
}

function timedOut(checked: CheckedCall, waitedMs: number, settings: EngineSettings): ResultError {
  const { tool, limits } = checked;
  const { timeoutMs: value } = limits;
  const isLate = isPastDeadline(limits);
  const isHurried = isCutShort(checked, isLate ? Math.min(waitedMs, value) : value, settings);
  const error = { code: "TIMEOUT", ...(isHurried && { fault: "caller" as const }) } as const;
  if (isLate) return { ...error, message: `${tool.id} did not answer before the call's deadline.` };
  return { ...error, message: `${tool.id} did not answer within ${value} ms.`, field: "timeoutMs", value };
}

/** Returns true if a remote caller set a shorter timeout than the operator. Such timeouts must not open the circuit for all callers. */
function isCutShort(
  { tool, ensemble, principal }: CheckedCall,
  givenMs: number,
  { defaultTimeoutMs }: EngineSettings,
): boolean {
  return !principal.local && givenMs < (tool.timeoutMs ?? ensemble?.timeoutMs ?? defaultTimeoutMs);
}

function noExecutor({ id, source }: Tool): ResultError {
  const problem = `No executor runs tools of source "${source}", such as ${id}.`;
  const fix = "Give the arsenal an executor that supports this source.";
  return toResultError(fixable("HANDLER_MISSING", problem, fix, { field: "source", value: source }));
}
