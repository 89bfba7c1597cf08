import { ArsenalError, fixable, isArsenalError } from "../../../errors/arsenal-error.ts";
import type { Handler, HandlerContext } from "../../../tool/handler.ts";
import { asRecord } from "../../../tool/json-schema.ts";
import { pause } from "../../../base/turns/until-aborted.ts";
import type { Security } from "../credentials/security.ts";
import { backoffMs } from "../../../base/turns/backoff.ts";
import { type Agent, converse, isUnknownOperation, type Request, type RequestOptions, tooLong } from "./connection.ts";
import type { Outgoing, Update } from "./messages.ts";
import { toToolResult } from "./tools-extension.ts";
import { applyUpdate, type FollowedTask, isSettled, textOf, toAnswer } from "./task-result.ts";

const BACKOFF = { firstMs: 500, longestMs: 5000, factor: 1.5 };
/** After this many consecutive failed polls, the outcome of the task is unknown. */
const MAX_FAILURES = 5;
/** How long an agent may take to confirm a cancellation. */
const CANCEL_MS = 5000;
/** The most progress reports of one call. Later ones are dropped; the task is still followed. */
const MAX_REPORTS = 1000;

/** Sends a message to an agent and follows the task to its end. A message is never sent twice. */
export function createAgentHandler(
  agent: Agent,
  {
    skill,
    security,
    isTool,
  }: {
    /** Undefined for the agent as a whole. */
    readonly skill: string | undefined;
    readonly security: Security;
    /** True if the skill is a tool of another arsenal. Arguments and result are then passed on unchanged. */
    readonly isTool: boolean;
  },
): Handler {
  return async (args, context) => {
    const messageId = crypto.randomUUID();
    const { message, ...others } = args;
    const sent: Outgoing = isTool
      ? { messageId, skill, data: { tool: skill, arguments: args } }
      : { messageId, skill, text: message as string, ...others };
    const call = createCall(agent, context, security);
    const ended = Promise.withResolvers<void>();
    agent.inBackground(ended.promise);
    try {
      await call.send(sent);
      await call.settle();
    } catch (error) {
      if (context.signal.aborted || agent.closing.aborted || isTooLarge(error)) await call.cancel();
      if (context.signal.aborted)
        throw new ArsenalError("CANCELLED", `The call of the agent ${agent.name} was cancelled`, { cause: error });
      if (agent.closing.aborted)
        throw new ArsenalError("CLOSED", `The agent ${agent.name} was removed while it worked`, { cause: error });
      throw error;
    } finally {
      ended.resolve();
    }
    return (isTool ? toToolResult : toAnswer)(call.task, agent.name, context.tool.name);
  };
}

/** Creates one call of an agent, which starts a task and follows it. */
function createCall(agent: Agent, context: HandlerContext, security: Security) {
  const { clock, name } = agent;
  const signal = AbortSignal.any([context.signal, agent.closing]);
  const task: FollowedTask = { state: "submitted", said: [], artifacts: new Map(), bytes: 0 };
  let reports = 0;
  let follows = agent.streaming;

  function ask(request: Request, options: Partial<RequestOptions> = {}): AsyncGenerator<Update> {
    const { caller, beginRequest } = context;
    const whose = { ...(caller && { caller }), ...(beginRequest && { beginRequest }) };
    return converse(request, agent, { signal, security, ...whose, ...options });
  }

  function take(update: Update): void {
    applyUpdate(task, update);
    if (task.bytes > agent.maxAnswerBytes) throw tooLong(agent);
    if (++reports > MAX_REPORTS) return;
    const said = update.kind === "artifact" ? update.artifact.parts : update.kind === "message" ? [] : update.parts;
    const text = textOf(said).slice(0, 500);
    context.progress({ progress: reports, message: text === "" ? task.state : text });
  }

  /** Reads updates until the task settles or the response ends. Returns true if there was at least one update. */
  async function follow(updates: AsyncGenerator<Update>, continues?: string): Promise<boolean> {
    let isFirst = true;
    for await (const update of updates) {
      take(update);
      // An agent may start with the old state of a continued task.
      const isOld = isFirst && continues !== undefined && update.kind === "task" && update.state === "input-required";
      isFirst = false;
      if (isOld) task.state = "working";
      else if (isSettled(task)) break;
    }
    return !isFirst;
  }

  async function send(message: Outgoing): Promise<void> {
    try {
      // In the draft, the client chooses the task's id, so a task can be cancelled even if the agent never answers.
      if (agent.via.version === "draft") task.taskId = message.taskId ?? message.messageId;
      await follow(ask({ kind: follows ? "stream" : "send", message }), message.taskId);
    } catch (error) {
      if (isUnknownOperation(error) && agent.via.version === "draft") {
        agent.via = { ...agent.via, version: "0.3" };
        task.taskId = undefined;
      } else if (isUnknownOperation(error) && follows) follows = false;
      else if (task.taskId !== undefined && isBrokenOff(error)) return;
      else throw error;
      await send(message);
    }
  }

  /** Follows the task until it settles: by its stream if it has one, otherwise by polling. */
  async function settle(): Promise<void> {
    let looks = 0;
    let failures = 0;
    while (!isSettled(task)) {
      const { taskId } = task;
      if (taskId === undefined) throw lost("ended its response without a task or a message");
      await pause(backoffMs(looks++, BACKOFF), clock, { signal });
      try {
        await follow(ask({ kind: "get", taskId }));
        if (!isSettled(task) && follows && (await subscribe(taskId))) looks = 0;
        failures = 0;
      } catch (error) {
        signal.throwIfAborted();
        if (!isLost(error) || ++failures >= MAX_FAILURES)
          throw isTooLarge(error) ? error : lost("no longer answered requests about it", error);
      }
    }
  }

  async function subscribe(taskId: string): Promise<boolean> {
    try {
      return await follow(ask({ kind: "subscribe", taskId }));
    } catch (error) {
      if (!isUnknownOperation(error)) throw error;
      follows = false;
      return false;
    }
  }

  function lost(why: string, cause?: unknown): ArsenalError {
    const { taskId, contextId, state } = task;
    const reason = cause instanceof Error ? ` (${cause.message})` : "";
    const fix = "Check with the agent whether it took effect before you call it again.";
    const problem = `The agent ${name} accepted ${taskId === undefined ? "the message" : `the task ${taskId}`}, but ${why}${reason}.`;
    return fixable("OUTCOME_UNKNOWN", problem, fix, { value: { taskId, contextId, state }, cause });
  }

  /** Cancels the task at the agent after the caller has aborted. Never rejects, because the call has already ended. */
  async function cancel(): Promise<void> {
    const { taskId } = task;
    if (taskId === undefined || isSettled(task)) return;
    const controller = new AbortController();
    const cancelTimer = clock.after(CANCEL_MS, () => controller.abort(), { background: true });
    try {
      for await (const update of ask({ kind: "cancel", taskId }, { signal: controller.signal }))
        applyUpdate(task, update);
    } catch {
      // The agent is unreachable, or the task has already ended.
    } finally {
      cancelTimer();
    }
  }

  return { task, send, settle, cancel };
}

/** True if only the response was lost. Reading the task again may then return its state. */
function isLost(error: unknown): boolean {
  if (!isArsenalError(error)) return false;
  const { status } = asRecord(error.details.value);
  return error.code === "TRANSPORT_FAILED" || (typeof status === "number" && (status === 429 || status >= 500));
}

/** True if the message was sent but the response was lost. The task may still be running. */
function isBrokenOff(error: unknown): boolean {
  return isArsenalError(error) && error.code === "TRANSPORT_FAILED" && error.details.beforeSend !== true;
}

function isTooLarge(error: unknown): boolean {
  return isArsenalError(error) && error.code === "RESULT_TOO_LARGE";
}
