import { StreamResponse, type SubscribeToTaskRequest, TaskState } from "@a2a-js/sdk";
import { TaskNotCancelableError, TaskNotFoundError, UnsupportedOperationError } from "@a2a-js/sdk/errors";
import type { ServerCallContext } from "@a2a-js/sdk/server";
import { sha256 } from "../../../base/crypto.ts";
import type { Replica } from "../../replica.ts";
import { ownerContext, ownerIn, stateOf, taskKey } from "../call-context.ts";
import { createEventQueue } from "../../events/event-queue.ts";
import type { TaskHandler } from "./task-handler.ts";
import { hasEnded, type SharedTasks } from "./task-store.ts";

const CANCEL = "a2a/cancel";
const SUBSCRIBE = "a2a/subscribe";
/** Topic on which a process announces that it continues a task. */
const CONTINUED = "a2a/continued";

/** Follows and cancels tasks that run in other processes. */
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
      const context = ownerContext(String(owner), signal);
      for await (const event of handler.resubscribe({ id: String(taskId), tenant: "" }, context))
        note({ event: StreamResponse.toJSON(event) });
      return {};
    }),
  ];

  const { changes } = replica.state;
  const keyOf = (taskId: string, context: ServerCallContext) => sha256(taskKey(taskId, context), "base64url");
  const bodyFor = (taskId: string, context: ServerCallContext) => ({ taskId, owner: ownerIn(context) });

  /** Returns the process that runs a task; undefined if it is this process, or if no process runs it. */
  async function elsewhere(taskId: string, context: ServerCallContext): Promise<string | undefined> {
    return handler.isRunning(taskId, context) ? undefined : tasks.runnerOf(taskId, context);
  }

  /**
   * Follows a task to its end. If another process continues the task after it waited for input, that process announces this and is followed from then
   * on.
   */
  async function* follow(
    params: SubscribeToTaskRequest,
    context: ServerCallContext,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    const { id: taskId } = params;
    const queue = createEventQueue<StreamResponse>({ until: stateOf(context).gone });
    const gone = new AbortController();

    /** Follows a task in another process. Only the first attachment begins with the current task. */
    function attach(runner: string, isFirst: boolean): void {
      let isBeginning = !isFirst;
      void replica
        .call(runner, SUBSCRIBE, bodyFor(taskId, context), {
          signal: gone.signal,
          note({ event }) {
            const read = StreamResponse.fromJSON(event);
            for (const each of isBeginning ? updatesOf(read) : [read]) queue.push(each);
            isBeginning = false;
          },
        })
        .catch(() => (gone.signal.aborted ? undefined : lookUp()))
        .catch(queue.fail);
    }

    /** Reads the final state from the store, because the process ended, or the task ended before the process was reached. */
    async function lookUp(): Promise<void> {
      const value = await tasks.load(taskId, context);
      if (value === undefined) throw new TaskNotFoundError(`Task not found: ${taskId}`);
      if (hasEnded(value)) for (const each of updatesOf({ payload: { $case: "task", value } })) queue.push(each);
    }

    async function readHere(local: AsyncIterable<StreamResponse>): Promise<void> {
      for await (const event of local) queue.push(event);
    }

    const endListening = changes.subscribe(CONTINUED, (data) => {
      const { key, runner } = data as { readonly key: string; readonly runner: string };
      if (key === keyOf(taskId, context) && runner !== replica.id) attach(runner, false);
    });
    const local = handler.resubscribe(params, context);
    try {
      const runner = await elsewhere(taskId, context);
      if (runner === undefined) void readHere(local).catch(queue.fail);
      else attach(runner, true);
      for await (const event of queue.events()) {
        yield event;
        const { payload } = event;
        if (payload?.$case === "statusUpdate" && hasEnded(payload.value)) return;
      }
    } finally {
      gone.abort();
      endListening();
      void local.return();
    }
  }

  /** Announces to followers in other processes that a task continues here. Refuses a message to a task that another process runs. */
  async function goOn(taskId: string | undefined, context: ServerCallContext): Promise<void> {
    if (!taskId) return;
    if ((await elsewhere(taskId, context)) !== undefined)
      throw new UnsupportedOperationError(`Task ${taskId} is still running. Wait until it ends, or cancel it.`);
    if ((await tasks.load(taskId, context)) === undefined) return;
    await replica.enter();
    await changes.publish(CONTINUED, { key: keyOf(taskId, context), runner: replica.id });
  }

  return {
    ...handler,
    async sendMessage(params, context) {
      await goOn(params.message?.taskId, context);
      return handler.sendMessage(params, context);
    },
    async *sendMessageStream(params, context) {
      await goOn(params.message?.taskId, context);
      yield* handler.sendMessageStream(params, context);
    },
    resubscribe: (params, context) => follow(params, context),
    async cancelTask(params, context) {
      const { id } = params;
      const runner = id === "" ? undefined : await elsewhere(id, context);
      if (runner === undefined) return handler.cancelTask(params, context);
      // If the task cannot be cancelled there, its final state is already in the store.
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

/** Converts a task to updates, for readers that have an earlier state of it. Other events are not changed. */
function updatesOf(event: StreamResponse): readonly StreamResponse[] {
  const { payload } = event;
  if (payload?.$case !== "task") return [event];
  const { id: taskId, contextId, status, artifacts } = payload.value;
  const common = { taskId, contextId, metadata: undefined };
  return [
    ...artifacts.map((artifact): StreamResponse => ({
      payload: { $case: "artifactUpdate", value: { ...common, artifact, append: false, lastChunk: true } },
    })),
    { payload: { $case: "statusUpdate", value: { ...common, status } } },
  ];
}
