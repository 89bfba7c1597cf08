import { type ListTasksRequest, type ListTasksResponse, Task, TaskState } from "@a2a-js/sdk";
import { RequestMalformedError } from "@a2a-js/sdk/errors";
import type { ServerCallContext, TaskStore } from "@a2a-js/sdk/server";
import { type Clock, systemClock } from "../../../observe/clock.ts";
import { isPlainObject } from "../../../tool/json-schema.ts";
import { sha256 } from "../../../tool/crypto.ts";
import type { Replica } from "../../mcp/replica.ts";
import { ownerIn } from "../call-context.ts";
import { agentMessage, textPart } from "../events.ts";

/** Tasks in the shared state: any process reads a task, whichever runs it. */
export interface SharedTasks extends TaskStore {
  /** The process that runs a task; undefined if none does, or this one. */
  runnerOf(taskId: string, context: ServerCallContext): Promise<string | undefined>;
}

/** What is kept of a task. */
interface Kept {
  readonly task: unknown;
  /** The process that runs it. Omitted once it rests. */
  readonly runner?: string;
}

const PREFIX = "a2a/task/";

/** Bounds of what one caller can make the gateway keep. */
const MOST_TASKS = 1_000;
const MOST_BYTES = 4 * 1024 * 1024;
const MOST_MESSAGES = 100;
/** New tasks of one process between two looks whether their caller has too many. */
const TASKS_A_LOOK = 50;

const ACTIVE: ReadonlySet<TaskState | undefined> = new Set([
  TaskState.TASK_STATE_SUBMITTED,
  TaskState.TASK_STATE_WORKING,
]);
const ENDED: ReadonlySet<TaskState | undefined> = new Set([
  TaskState.TASK_STATE_COMPLETED,
  TaskState.TASK_STATE_FAILED,
  TaskState.TASK_STATE_CANCELED,
  TaskState.TASK_STATE_REJECTED,
]);

function isActive({ status }: Pick<Task, "status">): boolean {
  return ACTIVE.has(status?.state);
}

/** True for a task in a state that it never leaves. */
export function hasEnded({ status }: Pick<Task, "status">): boolean {
  return ENDED.has(status?.state);
}

/** Keeps tasks by their owner. A task is forgotten `ttlMs` after its last change; the oldest ended ones sooner, if there are too many. */
export function createSharedTasks(
  replica: Replica,
  options: {
    readonly ttlMs: number;
    /** Whether this process still runs a task. Defaults to true. */
    readonly isRunning?: (taskId: string, context: ServerCallContext) => boolean;
    readonly clock?: Clock;
  },
): SharedTasks {
  const { ttlMs, isRunning = () => true, clock = systemClock } = options;
  const { documents } = replica.state;
  const keyOf = (taskId: string, context: ServerCallContext): string =>
    `${ownerKey(context)}${sha256(taskId, "base64url")}`;
  const expiresAt = (): number => clock.now() + ttlMs;
  let created = 0;

  async function read(
    taskId: string,
    context: ServerCallContext,
  ): Promise<{ readonly task: Task; readonly runner: string | undefined } | undefined> {
    const key = keyOf(taskId, context);
    const entry = await documents.get(key);
    if (entry === undefined) return undefined;
    const { task: json, runner } = entry.value as Kept;
    const task = Task.fromJSON(json);
    if (runner === undefined || !isActive(task)) return { task, runner: undefined };
    if (runner === replica.id) {
      // A task that is only submitted is about to run. One that works nowhere could not be stored when it ended.
      const isLost = task.status?.state === TaskState.TASK_STATE_WORKING && !isRunning(taskId, context);
      if (!isLost) return { task, runner: undefined };
    } else if (await replica.isPresent(runner)) return { task, runner };
    const failed = { ...task, status: lostStatus(task, clock) };
    const kept = await documents.set(
      key,
      { task: Task.toJSON(failed) },
      { ifVersion: entry.version, expiresAt: expiresAt() },
    );
    return kept ? { task: failed, runner: undefined } : read(taskId, context);
  }

  /** Forgets the oldest ended tasks of an owner who has too many. */
  async function prune(context: ServerCallContext): Promise<void> {
    const all = await documents.list(ownerKey(context));
    const ended = all
      .map(({ key, value }) => ({ key, task: Task.fromJSON((value as Kept).task) }))
      .filter(({ task }) => hasEnded(task))
      .sort((left, right) => (order(left.task) < order(right.task) ? -1 : 1));
    const excess = all.length - MOST_TASKS;
    for (const { key } of ended.slice(0, Math.max(0, excess))) await documents.delete(key);
  }

  return {
    async load(taskId, context) {
      return (await read(taskId, context))?.task;
    },
    async runnerOf(taskId, context) {
      return (await read(taskId, context))?.runner;
    },
    async save(task, context) {
      const isNew = task.status?.state === TaskState.TASK_STATE_SUBMITTED;
      if (isNew && ++created % TASKS_A_LOOK === 0) await prune(context);
      if (isActive(task)) await replica.enter();
      const kept: Kept = { task: bounded(task), ...(isActive(task) && { runner: replica.id }) };
      await documents.set(keyOf(task.id, context), kept, { expiresAt: expiresAt() });
    },
    async list(params, context) {
      const entries = await documents.list(ownerKey(context));
      return page(
        entries.map(({ value }) => Task.fromJSON((value as Kept).task)),
        params,
      );
    },
  };
}

/** A task as JSON, without what makes it larger than is kept. */
function bounded(task: Task): unknown {
  const history = task.history.length <= MOST_MESSAGES ? task.history : task.history.slice(-MOST_MESSAGES);
  const json = Task.toJSON({ ...task, history });
  const size = Buffer.byteLength(JSON.stringify(json));
  if (size <= MOST_BYTES) return json;
  const note = textPart(`This was left out: the task is larger than ${MOST_BYTES} bytes.`);
  const artifacts = task.artifacts.map((artifact) => ({ ...artifact, parts: [note] }));
  return Task.toJSON({ ...task, history: [], artifacts });
}

function page(tasks: readonly Task[], params: ListTasksRequest): ListTasksResponse {
  const { contextId, status, pageSize = 50, pageToken, statusTimestampAfter, includeArtifacts = false } = params;
  const after = statusTimestampAfter ? Date.parse(statusTimestampAfter) : undefined;
  const matching = tasks
    .filter((task) => !contextId || task.contextId === contextId)
    .filter((task) => !status || task.status?.state === status)
    .filter((task) => after === undefined || Date.parse(task.status?.timestamp ?? "") > after)
    .sort((left, right) => (order(left) < order(right) ? 1 : -1));
  const from = pageToken ? readToken(pageToken) : undefined;
  const rest = from === undefined ? matching : matching.filter((task) => order(task) < from);
  const shown = rest.slice(0, pageSize);
  const last = shown.at(-1);
  return {
    tasks: includeArtifacts ? shown : shown.map((task) => ({ ...task, artifacts: [] })),
    nextPageToken: last !== undefined && rest.length > shown.length ? toToken(order(last)) : "",
    pageSize,
    totalSize: matching.length,
  };
}

/** What tasks are ordered by: when they last changed, then their id. */
const order = ({ id, status }: Task): string => `${status?.timestamp ?? ""} ${id}`;

const toToken = (place: string): string => Buffer.from(JSON.stringify({ place })).toString("base64url");

function readToken(token: string): string {
  try {
    const read: unknown = JSON.parse(Buffer.from(token, "base64url").toString("utf8"));
    if (isPlainObject(read) && typeof read["place"] === "string") return read["place"];
  } catch {
    // It is refused below.
  }
  throw new RequestMalformedError("pageToken is not one that this agent gave out.");
}

/** Ids are the callers' and may be long or odd. */
const ownerKey = (context: ServerCallContext): string => `${PREFIX}${sha256(ownerIn(context), "base64url")}/`;

function lostStatus({ id: taskId, contextId }: Task, clock: Pick<Clock, "now">): NonNullable<Task["status"]> {
  const text =
    "The gateway process that ran this task ended, or could not store how it ended, so its outcome is unknown. Check whether the call took effect before you repeat it.";
  return {
    state: TaskState.TASK_STATE_FAILED,
    message: agentMessage([textPart(text)], { taskId, contextId }),
    timestamp: new Date(clock.now()).toISOString(),
  };
}
