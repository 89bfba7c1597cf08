import { ArsenalError, isArsenalError } from "../errors/arsenal-error.ts";
import type { Clock } from "../observe/clock.ts";
import type { Emit } from "../observe/events.ts";
import type { Caller, Handler, SourceAnswer } from "../tool/handler.ts";
import type { Tool } from "../tool/tool.ts";
import type { ToolCall } from "./call.ts";
import { copyPlain } from "./copy-arguments.ts";
import { isPastDeadline, pause, timeLeftMs, untilEnd, type Ended, type WaitLimits } from "./deadline.ts";
import type { Executor } from "./executor.port.ts";
import { createHandlerContext, type CallIds, type StateOf } from "./handler-context.ts";
import { cancelled, failed, type Outcome } from "./outcome.ts";
import type { ResultError } from "./result.ts";
import { backoffMs, mayRetry, withOutcomeKnown } from "./retry.ts";
import type { RetryBudget } from "./retry-budget.ts";
import { toResultError } from "./to-result-error.ts";

/** Everything the attempts at one call need. */
export interface Job {
  readonly call: ToolCall;
  readonly ids: CallIds;
  readonly tool: Tool;
  readonly caller: Caller;
  /** True when the call used up a person's approval. */
  readonly approved: boolean;
  readonly handler: Handler | undefined;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly limits: WaitLimits;
  readonly maxAttempts: number;
  readonly retryBaseMs: number;
  readonly retryBudget: RetryBudget;
  readonly random: () => number;
  readonly executors: readonly Executor[];
  readonly stateOf: StateOf;
  readonly clock: Clock;
  readonly emit: Emit;
}

/** How the attempts ended, and how long the last one took. */
export interface AttemptsOutcome {
  readonly outcome: Outcome;
  readonly lastAttemptMs: number;
  /** Present if the tool itself reported the error: its whole answer, if there is one. */
  readonly told?: ToldError;
}

/** An error in the tool's own words, and the whole answer that they come from. */
export interface ToldError {
  readonly answer?: SourceAnswer;
}

/** Calls the handler until it succeeds, must not be called again, or the attempts are used up. */
export async function runAttempts(job: Job): Promise<AttemptsOutcome> {
  const { tool, clock, limits, emit, ids } = job;
  const executor = job.executors.find((candidate) => candidate.supports(tool.source));
  if (executor === undefined) return { outcome: failed(noExecutor(tool)), lastAttemptMs: 0 };
  const budgeted = tool.ensemble ?? tool.namespace;
  job.retryBudget.countCall(budgeted);
  let firstStartedAt: number | undefined;
  for (let attempt = 1; ; attempt++) {
    if (limits.signal?.aborted) return { outcome: cancelledAfter(attempt - 1), lastAttemptMs: 0 };
    const startedAt = clock.now();
    firstStartedAt ??= startedAt;
    emit("call-started", { toolId: tool.id, ...ids, attempt });
    const { ended, answersRequest } = await runAttempt(job, executor, attempt);
    const lastAttemptMs = clock.now() - startedAt;
    const ran = { startedAt: firstStartedAt, attempts: attempt };
    if (ended.kind === "value") {
      const answer = answersRequest ? { answer: { result: ended.value } } : {};
      return { outcome: { status: "success", result: ended.value, ...answer, ...ran }, lastAttemptMs };
    }
    if (ended.kind === "cancelled") return { outcome: cancelledAfter(attempt), lastAttemptMs };
    const error = ended.kind === "timeout" ? timedOut(job) : toResultError(ended.error);
    if (error.code === "HANDLER_MISSING") return { outcome: failed(error), lastAttemptMs: 0 };
    const delayMs = backoffMs(attempt, job.retryBaseMs, job.random, error.retryAfterMs);
    // A tool that wants to be left alone for longer than a call may take is not waited for: the caller is told instead.
    const isInTime =
      (error.retryAfterMs ?? 0) <= limits.timeoutMs && (limits.deadline === undefined || delayMs < timeLeftMs(limits));
    if (attempt >= job.maxAttempts || !mayRetry(tool, error) || !isInTime || !isWithinBudget(attempt)) {
      const outcome = { status: failed(error).status, error: withOutcomeKnown(tool, error), ...ran };
      if (ended.kind === "timeout") return { outcome, lastAttemptMs };
      const told = toldBy(ended.error);
      return { outcome: answersRequest ? { ...outcome, ...told } : outcome, lastAttemptMs, told };
    }
    emit("call-retried", { toolId: tool.id, ...ids, attempt, delayMs, message: error.message });
    if (!(await pause(delayMs, limits))) return { outcome: cancelledAfter(attempt), lastAttemptMs };
  }

  function isWithinBudget(attempt: number): boolean {
    if (job.retryBudget.takeRetry(budgeted)) return true;
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
  job: Job,
  executor: Executor,
  attempt: number,
): Promise<{ readonly ended: Ended<unknown>; readonly answersRequest: boolean }> {
  const controller = new AbortController();
  const deadline = job.clock.now() + timeLeftMs(job.limits);
  const { context, answersRequest, close } = createHandlerContext({
    ...job,
    attempt,
    signal: controller.signal,
    deadline,
  });
  // What a handler does to its arguments must not reach the next attempt.
  const args = attempt < job.maxAttempts ? copyPlain(job.arguments) : job.arguments;
  const running = run(executor, { tool: job.tool, arguments: args, handler: job.handler, context });
  const ended = await untilEnd(running, job.limits, (reason) => {
    close();
    controller.abort(reason);
  });
  close();
  return { ended, answersRequest: answersRequest() };
}

/** An executor that throws at once fails like one that rejects. */
async function run(executor: Executor, request: Parameters<Executor["run"]>[0]): Promise<unknown> {
  return executor.run(request);
}

/** An error that a tool reported has the whole answer as its cause. */
function toldBy(thrown: unknown): ToldError {
  if (!isArsenalError(thrown) || thrown.details.answered !== true || thrown.cause === undefined) return {};
  const { cause } = thrown;
  return { answer: cause instanceof Error ? { error: { ...cause, message: cause.message } } : { result: cause } };
}

function timedOut({ tool, limits }: Job): ResultError {
  if (isPastDeadline(limits))
    return { code: "TIMEOUT", message: `${tool.id} did not answer before the call's deadline.` };
  return { code: "TIMEOUT", message: `${tool.id} did not answer within ${limits.timeoutMs} ms.` };
}

function noExecutor(tool: Tool): ResultError {
  const fix = "Give the arsenal an executor that supports this source.";
  return toResultError(
    new ArsenalError(
      "HANDLER_MISSING",
      `No executor runs tools of source "${tool.source}", such as ${tool.id}. ${fix}`,
      {
        field: "source",
        value: tool.source,
        fix,
      },
    ),
  );
}
