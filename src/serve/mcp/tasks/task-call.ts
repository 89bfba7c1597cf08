import { fixable } from "../../../errors/arsenal-error.ts";
import type { Ask } from "../../../mcp/connection.ts";
import type { JsonObject, RpcNotification } from "../../../mcp/protocol.ts";
import type { Clock } from "../../../observe/clock.ts";
import type { Replica } from "../../replica.ts";
import type { Exchange, PlaneSession } from "../plane.ts";
import type { McpRoom } from "../room.ts";
import type { Share } from "../../../base/shares.ts";
import { createRunningTask, type RunningTask } from "./running-task.ts";
import type { TaskStore } from "./task-store.ts";

export interface TaskCallParts {
  readonly store: TaskStore;
  readonly replica: Replica;
  readonly clock: Clock;
  readonly room: Pick<McpRoom, "tasks">;
  /** Time in milliseconds after which a call becomes a task. */
  readonly afterMs: number;
  readonly ttlMs: number;
  /** Tasks whose calls run in this process, by id. */
  readonly running: Map<string, RunningTask>;
}

/** Maximum number of tasks of one caller at one address, including ended ones. */
const MOST_TASKS = 200;

/** A call's result, or the task that the call became. */
export type TaskCallOutcome = { readonly result: JsonObject } | { readonly task: RunningTask };

/**
 * Runs a call of a client that follows tasks. The call becomes a task if it takes longer than `afterMs`, or if the server makes it one; from then on
 * it does not depend on its client. With `atOnce`, it is a task from the start.
 */
export async function runTaskCall(
  exchange: Exchange,
  session: Pick<PlaneSession, "handle">,
  parts: TaskCallParts,
  options: { readonly atOnce: boolean; readonly ttlMs?: number | undefined },
): Promise<TaskCallOutcome> {
  const { clock, afterMs } = parts;
  const controller = new AbortController();
  const { signal } = controller;
  const abort = (reason: unknown): void => controller.abort(reason);
  const clientGone = (): void => abort(exchange.signal.reason);
  if (exchange.signal.aborted) clientGone();
  exchange.signal.addEventListener("abort", clientGone, { once: true });
  /** The call's task, once it is stored. */
  let task: RunningTask | undefined;
  /** The number of questions that the client gets before a task exists. */
  let asking = 0;
  let becomeTask = (): void => undefined;
  let share: Share | undefined;
  let unwatch: (() => void) | undefined;

  const ask: Ask = async (...question) => {
    if (task !== undefined) return task.ask(...question);
    asking += 1;
    try {
      return await exchange.ask(...question);
    } finally {
      asking -= 1;
    }
  };
  const notify = (notification: RpcNotification): void => {
    if (task === undefined) return exchange.notify(notification);
    if (notification.method === "notifications/progress") task.report(notification.params?.["message"]);
  };
  const run = (params: JsonObject): Promise<JsonObject> =>
    session.handle({ ...exchange, params, signal, abort, ask, notify, becomesTask: () => becomeTask() });

  async function create(): Promise<RunningTask> {
    const { inputResponses: _, requestState: __, ...params } = exchange.params;
    const created = createRunningTask({
      ...parts,
      ttlMs: options.ttlMs ?? parts.ttlMs,
      peer: exchange.peer,
      owner: parts.replica.id,
      abort,
      repeat: (answers) => run({ ...params, ...answers }),
    });
    share = await keepTask(created, exchange, parts);
    exchange.signal.removeEventListener("abort", clientGone);
    // From now on, the call no longer depends on an open request.
    unwatch = exchange.onRevoked?.((reason) => void created.cancel(reason).catch(() => undefined));
    task = created;
    return created;
  }

  function forget({ record }: RunningTask): void {
    parts.running.delete(record.taskId);
    unwatch?.();
    share?.release();
  }

  function follow(created: RunningTask, outcome: Promise<JsonObject>): TaskCallOutcome {
    void created.follow(outcome, signal).finally(() => forget(created));
    return { task: created };
  }

  if (options.atOnce) {
    const created = await create();
    return follow(created, run(exchange.params));
  }

  const isDue = Promise.withResolvers<"due">();
  let stopTimer = clock.after(afterMs, due, { background: true });
  /** The timer is restarted while questions are open, because a client must answer them before it can get a task. */
  function due(): void {
    if (asking > 0) stopTimer = clock.after(afterMs, due, { background: true });
    else isDue.resolve("due");
  }
  becomeTask = () => isDue.resolve("due");
  let isSettled = false;
  const outcome = run(exchange.params).finally(() => (isSettled = true));
  try {
    const first = await Promise.race([outcome, isDue.promise]);
    if (first !== "due") return { result: first };
    const created = await create().catch(() => undefined);
    // Without room or a store, the client waits for the result as it would without tasks.
    if (created === undefined) return { result: await outcome };
    if (!isSettled) return follow(created, outcome);
    forget(created);
    void parts.store.delete(exchange.peer.principal, created.record.taskId).catch(() => undefined);
    return { result: await outcome };
  } finally {
    stopTimer();
    outcome.catch(() => undefined);
  }
}

/** Stores a new task and makes this process reachable for requests about it. Rejects if there is no room. */
async function keepTask(
  created: RunningTask,
  { peer, params }: Pick<Exchange, "peer" | "params">,
  { store, replica, room, running }: TaskCallParts,
): Promise<Share> {
  const { principal } = peer;
  const gaveWay = fixable(
    "RATE_LIMITED",
    "The task was dropped to make room for callers with fewer tasks.",
    "Call the tool again later.",
  );
  const share = room.tasks.take(principal, {
    bytes: JSON.stringify(params).length,
    isInUse: () => true,
    giveWay: () => void created.fail(gaveWay),
  });
  if (share === undefined || (await store.count(principal)) >= MOST_TASKS) {
    share?.release();
    const problem = "There is no room for another task.";
    throw fixable("RATE_LIMITED", problem, "Wait until tasks have ended or expired, or call the tool without a task.");
  }
  const { taskId } = created.record;
  try {
    await replica.enter();
    running.set(taskId, created);
    await created.create();
    return share;
  } catch (error) {
    running.delete(taskId);
    share.release();
    throw error;
  }
}
