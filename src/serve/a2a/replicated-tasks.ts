import { StreamResponse } from "@a2a-js/sdk";
import { TaskNotCancelableError, TaskNotFoundError, UnsupportedOperationError } from "@a2a-js/sdk/errors";
import { TaskState } from "@a2a-js/sdk";
import type { ServerCallContext } from "@a2a-js/sdk/server";
import type { Replica } from "../mcp/replica.ts";
import { ownerContext } from "./call-context.ts";
import { createEventQueue } from "./event-queue.ts";
import type { TaskHandler } from "./task-handler.ts";
import type { SharedTasks } from "./task-store.ts";

const CANCEL = "a2a/cancel";
const SUBSCRIBE = "a2a/subscribe";

/** Tasks that run in another process: they are followed and cancelled there. */
export function replicateTasks(
  handler: TaskHandler,
  { replica, tasks }: { readonly replica: Replica; readonly tasks: SharedTasks },
): TaskHandler & { close(): void } {
  const ends = [
    replica.serve(CANCEL, async ({ taskId, owner }) => {
      await handler.cancelTask({ id: String(taskId), tenant: "", metadata: {} }, ownerContext(String(owner)));
      return {};
    }),
    replica.serve(SUBSCRIBE, async ({ taskId, owner }, { signal, note }) => {
      const events = handler.resubscribe({ id: String(taskId), tenant: "" }, ownerContext(String(owner)));
      signal.addEventListener("abort", () => void events.return(), { once: true });
      for await (const event of events) note({ event: StreamResponse.toJSON(event) });
      return {};
    }),
  ];

  const bodyFor = (taskId: string, { user }: ServerCallContext) => ({ taskId, owner: user?.userName ?? "" });

  /** The process to ask about a task; undefined if it is this one, or none runs it. */
  async function elsewhere(taskId: string, context: ServerCallContext): Promise<string | undefined> {
    return handler.isRunning(taskId, context) ? undefined : tasks.runnerOf(taskId, context);
  }

  async function* follow(
    runner: string,
    taskId: string,
    context: ServerCallContext,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    const gone = new AbortController();
    const queue = createEventQueue<StreamResponse>();
    void replica
      .call(runner, SUBSCRIBE, bodyFor(taskId, context), {
        signal: gone.signal,
        note: ({ event }) => queue.push(StreamResponse.fromJSON(event)),
      })
      .then(queue.end, queue.fail);
    try {
      yield* queue.events();
    } catch {
      // The process ended, or the task did before it was reached. How it ended is in the store.
      const task = await tasks.load(taskId, context);
      if (task === undefined) throw new TaskNotFoundError(`Task not found: ${taskId}`);
      const { contextId, status } = task;
      yield { payload: { $case: "statusUpdate", value: { taskId, contextId, status, metadata: undefined } } };
    } finally {
      gone.abort();
    }
  }

  async function refuseIfRunning(taskId: string | undefined, context: ServerCallContext): Promise<void> {
    if (!taskId || (await elsewhere(taskId, context)) === undefined) return;
    throw new UnsupportedOperationError(`Task ${taskId} is still running. Wait until it ends, or cancel it.`);
  }

  return {
    ...handler,
    async sendMessage(params, context) {
      await refuseIfRunning(params.message?.taskId, context);
      return handler.sendMessage(params, context);
    },
    async *sendMessageStream(params, context) {
      await refuseIfRunning(params.message?.taskId, context);
      yield* handler.sendMessageStream(params, context);
    },
    async *resubscribe(params, context) {
      const runner = params.id === "" ? undefined : await elsewhere(params.id, context);
      yield* runner === undefined ? handler.resubscribe(params, context) : follow(runner, params.id, context);
    },
    async cancelTask(params, context) {
      const { id } = params;
      const runner = id === "" ? undefined : await elsewhere(id, context);
      if (runner === undefined) return handler.cancelTask(params, context);
      // If it cannot be cancelled there, the store says how it ended.
      await replica
        .call(runner, CANCEL, bodyFor(id, context), { signal: new AbortController().signal })
        .catch(() => undefined);
      const task = await tasks.load(id, context);
      if (task?.status?.state === TaskState.TASK_STATE_CANCELED) return task;
      throw new TaskNotCancelableError(`Task not cancelable: ${id}`);
    },
    close() {
      for (const end of ends) end();
    },
  };
}
