import {
  type AgentCard,
  type Artifact,
  type Message,
  type SendMessageRequest,
  type StreamResponse,
  type Task,
  type TaskArtifactUpdateEvent,
  TaskState,
} from "@a2a-js/sdk";
import {
  A2AError,
  ContentTypeNotSupportedError,
  InvalidAgentResponseError,
  RequestMalformedError,
  TaskNotFoundError,
  UnsupportedOperationError,
} from "@a2a-js/sdk/errors";
import {
  type A2ARequestHandler,
  type AgentExecutor,
  DefaultExecutionEventBusManager,
  DefaultRequestHandler,
  type PushNotificationSender,
  type PushNotificationStore,
  type ServerCallContext,
} from "@a2a-js/sdk/server";
import { isArsenalError } from "../../../errors/arsenal-error.ts";
import { showValue } from "../../../errors/show-value.ts";
import type { Work } from "../../work.ts";
import { stateOf, taskKey } from "../call-context.ts";
import { createEventQueue, type EventQueue } from "../../events/event-queue.ts";
import { createFollowers } from "./followers.ts";
import { cutMessage } from "./kept-task.ts";
import type { SharedTasks } from "./task-store.ts";

export interface TaskParts {
  readonly card: AgentCard;
  readonly executor: AgentExecutor;
  readonly store: SharedTasks;
  readonly work: Work;
  readonly push?: { readonly store: PushNotificationStore; readonly sender: PushNotificationSender } | undefined;
  readonly extendedCard?: ((context: ServerCallContext) => Promise<AgentCard>) | undefined;
}

export interface TaskHandler extends A2ARequestHandler {
  /** Creates a task with an id that the caller chose, unless it exists. */
  create(taskId: string, contextId: string, context: ServerCallContext): Promise<void>;
  /** Returns true if the task currently runs in this process. */
  isRunning(taskId: string, context: ServerCallContext): boolean;
}

/**
 * Creates the SDK's request handler, with these changes: a task outlives its caller's connection, counts as work until it is stored, and can be
 * followed to its end.
 */
export function createTaskHandler(parts: TaskParts): TaskHandler {
  const { card, executor, store, work, push, extendedCard } = parts;
  const buses = new DefaultExecutionEventBusManager();
  const base = new DefaultRequestHandler(
    card,
    store,
    withWholeMessage(executor),
    buses,
    push?.store,
    push?.sender,
    extendedCard,
    undefined,
    // A task that waits for input is continued by a new run, here or in another process.
    { keepBusAliveStates: [] },
  );
  const followers = createFollowers();
  const forever = new AbortController().signal;
  const underWay = new Set<string>();

  /** Starts a run in the background. The run counts as work until it has ended and `answered` has resolved. */
  function begin(
    params: SendMessageRequest,
    context: ServerCallContext,
    answered?: Promise<void>,
  ): EventQueue<StreamResponse> {
    const queue = createEventQueue<StreamResponse>();
    const state = stateOf(context);
    const { run: share } = state;
    delete state.run;
    const { message } = params;
    // The SDK copies and stores its message several times, so it gets the shortened message that is stored.
    const kept = message && cutMessage(message);
    if (kept !== message) state.message = message;
    void work
      .run(forever, async (signal) => {
        state.signal = signal;
        let key = taskKey(params.message?.taskId ?? "", context);
        try {
          for await (const event of base.sendMessageStream({ ...params, message: kept }, context)) {
            if (event.payload?.$case === "task") underWay.add((key = taskKey(event.payload.value.id, context)));
            queue.push(event);
            followers.tell(event, context);
          }
        } finally {
          underWay.delete(key);
        }
        queue.end();
        await answered;
      })
      .then(queue.end, queue.fail)
      .finally(() => share?.release());
    return queue;
  }

  /** Refuses an empty message, and a message to a task that is still running. */
  async function checkMessage(params: SendMessageRequest, context: ServerCallContext): Promise<void> {
    if (!params.message?.parts.length) throw new RequestMalformedError("message.parts needs at least one part.");
    checkMediaTypes(params.message, card.defaultInputModes);
    checkHistoryLength(params.configuration);
    const { taskId } = params.message;
    if (taskId === undefined || taskId === "" || !isRunning(taskId, context)) return;
    if ((await store.load(taskId, context)) === undefined) throw new TaskNotFoundError(`Task not found: ${taskId}`);
    throw new UnsupportedOperationError(`Task ${taskId} is still running. Wait until it ends, or cancel it.`);
  }

  async function answerOf(
    { configuration }: SendMessageRequest,
    context: ServerCallContext,
    queue: EventQueue<StreamResponse>,
  ): Promise<Message | Task> {
    const returnsAtOnce = configuration?.returnImmediately === true;
    let taskId: string | undefined;
    const made = new Map<string, Artifact>();
    for await (const { payload } of queue.events()) {
      if (payload?.$case === "message") return payload.value;
      if (payload?.$case === "task") taskId = payload.value.id;
      if (payload?.$case === "artifactUpdate") collect(made, payload.value);
      const needsSignIn =
        payload?.$case === "statusUpdate" && payload.value.status?.state === TaskState.TASK_STATE_AUTH_REQUIRED;
      if (returnsAtOnce || needsSignIn) break;
    }
    const task = taskId === undefined ? undefined : await store.load(taskId, context);
    if (task === undefined) throw new InvalidAgentResponseError("The agent ended without an answer.");
    const length = configuration?.historyLength;
    // The store has only the beginning of a large artifact.
    const artifacts = task.artifacts.map((artifact) => made.get(artifact.artifactId) ?? artifact);
    const answer = { ...task, artifacts };
    return length === undefined ? answer : { ...answer, history: length <= 0 ? [] : task.history.slice(-length) };
  }

  // A run ends when its last event is stored, which is after its executor has returned.
  const isRunning = (taskId: string, context: ServerCallContext): boolean =>
    underWay.has(taskKey(taskId, context)) || buses.getByTaskId(taskId, context) !== undefined;

  return {
    async create(id, contextId, context) {
      if ((await shown(store.load(id, context))) !== undefined) return;
      const status = { state: TaskState.TASK_STATE_SUBMITTED, message: undefined, timestamp: new Date().toISOString() };
      await shown(store.save({ id, contextId, status, artifacts: [], history: [], metadata: undefined }, context));
    },
    isRunning,
    getAgentCard: () => base.getAgentCard(),
    getAuthenticatedExtendedAgentCard: (...given) => shown(base.getAuthenticatedExtendedAgentCard(...given)),
    async sendMessage(params, context) {
      await shown(checkMessage(params, context));
      const answered = Promise.withResolvers<void>();
      return shown(answerOf(params, context, begin(params, context, answered.promise))).finally(answered.resolve);
    },
    async *sendMessageStream(params, context) {
      await shown(checkMessage(params, context));
      yield* shownStream(begin(params, context).events());
    },
    async getTask(params, context) {
      checkHistoryLength(params);
      return shown(base.getTask(params, context));
    },
    listTasks: (...given) => shown(base.listTasks(...given)),
    async cancelTask(params, context) {
      const task = await shown(base.cancelTask(params, context));
      const { id: taskId, contextId, status } = task;
      const value = { taskId, contextId, status, metadata: undefined };
      followers.tell({ payload: { $case: "statusUpdate", value } }, context);
      return task;
    },
    /** Follows a task until it ends, even while the task waits for input and nothing runs. */
    async *resubscribe(params, context) {
      const followed = followers.follow(params.id, context);
      try {
        for await (const event of shownStream(base.resubscribe(params, context))) {
          yield event;
          break;
        }
        yield* followed.events();
      } finally {
        followed.leave();
      }
    },
    createTaskPushNotificationConfig: (...given) => shown(base.createTaskPushNotificationConfig(...given)),
    getTaskPushNotificationConfig: (...given) => shown(base.getTaskPushNotificationConfig(...given)),
    listTaskPushNotificationConfigs: (...given) => shown(base.listTaskPushNotificationConfigs(...given)),
    deleteTaskPushNotificationConfig: (...given) => shown(base.deleteTaskPushNotificationConfig(...given)),
  };
}

/** Passes the original message to an executor instead of the shortened message that is stored. */
function withWholeMessage(executor: AgentExecutor): AgentExecutor {
  return {
    execute(request, bus) {
      const state = stateOf(request.context);
      const { taskId, contextId } = request;
      if (state.message !== undefined) request.request.message = { ...state.message, taskId, contextId };
      delete state.message;
      return executor.execute(request, bus);
    },
    cancelTask: (...given) => executor.cancelTask(...given),
  };
}

/** Adds an event's part of an artifact to the whole artifact. An artifact that began in an earlier run is skipped, because the store has it. */
function collect(made: Map<string, Artifact>, { artifact, append }: TaskArtifactUpdateEvent): void {
  if (artifact === undefined) return;
  const { artifactId, parts, metadata } = artifact;
  const before = made.get(artifactId);
  if (!append) made.set(artifactId, { ...artifact, parts: [...parts] });
  else if (before !== undefined) {
    before.parts.push(...parts);
    before.metadata = metadata ?? before.metadata;
  }
}

function checkMediaTypes({ parts }: Message, read: readonly string[]): void {
  const other = parts.find(({ mediaType }) => mediaType !== "" && !read.includes(mediaType));
  if (read.length === 0 || other === undefined) return;
  throw new ContentTypeNotSupportedError(
    `Media type ${showValue(other.mediaType)} is not supported. Supported media types: ${read.join(", ")}.`,
  );
}

function checkHistoryLength(given: { readonly historyLength?: number | undefined } | undefined): void {
  if ((given?.historyLength ?? 0) < 0) throw new RequestMalformedError("historyLength cannot be negative.");
}

function shown<Value>(answering: Promise<Value>): Promise<Value> {
  return answering.catch((error: unknown) => Promise.reject(toShownError(error)));
}

async function* shownStream<Value>(
  stream: AsyncGenerator<Value, void, undefined>,
): AsyncGenerator<Value, void, undefined> {
  try {
    yield* stream;
  } catch (error) {
    throw toShownError(error);
  }
}

/** Returns the error for the caller. Details of an unexpected error are only for the operator. */
function toShownError(error: unknown): Error {
  if (error instanceof A2AError) return error;
  if (isArsenalError(error)) return new A2AError({ message: error.message, metadata: { code: error.code } });
  return new A2AError("The gateway failed to answer.");
}
