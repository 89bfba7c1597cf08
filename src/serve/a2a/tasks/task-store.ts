import { type ListTasksRequest, type ListTasksResponse, Task, TaskState } from "@a2a-js/sdk";
import { RequestMalformedError } from "@a2a-js/sdk/errors";
import type { ServerCallContext, TaskStore } from "@a2a-js/sdk/server";
import { type Clock, systemClock } from "../../../observe/clock.ts";
import { isPlainObject } from "../../../tool/json-schema.ts";
import type { Replica } from "../../replica.ts";
import { ownerContext, ownerIn } from "../call-context.ts";
import { agentMessage, textPart } from "../events.ts";
import { MOST_ID_LENGTH } from "../request-limits.ts";
import { setNewest } from "../../../base/remember.ts";
import { cutTask } from "./kept-task.ts";
import { createTaskIndex, isActiveState, isLastState, placeOf, type TaskEntry, TASKS } from "./task-index.ts";

/** Tasks in the shared state. Every process can read every task. */
export interface SharedTasks extends TaskStore {
  /** Returns the process that runs a task; undefined if it is this process, or if no process runs it. */
  runnerOf(taskId: string, context: ServerCallContext): Promise<string | undefined>;
  /** Makes room for another task of the caller. Rejects with `RATE_LIMITED` if all the caller's tasks are still running. */
  makeRoom(context: ServerCallContext): Promise<void>;
}

interface StoredTask {
  readonly task: unknown;
  /** The process that runs the task. Omitted if the task does not run. */
  readonly runner?: string;
}

/** Maximum size of the tasks on one page, in bytes. A page has at least one task. */
const MOST_PAGE_BYTES = 1024 * 1024;
/** Maximum number of running tasks whose index entry is cached. */
const MOST_WRITTEN = 2_000;

export function hasEnded({ status }: Pick<Task, "status">): boolean {
  return isLastState(status?.state);
}

/** Stores tasks by owner. A task is removed `ttlMs` after its last change, and ended tasks sooner if there are too many. */
export function createSharedTasks(
  replica: Replica,
  options: {
    readonly ttlMs: number;
    /** Returns true if this process still runs a task. Always true by default. */
    readonly isRunning?: (taskId: string, context: ServerCallContext) => boolean;
    readonly clock?: Clock;
  },
): SharedTasks {
  const { ttlMs, isRunning = () => true, clock = systemClock } = options;
  const { documents } = replica.state;
  const index = createTaskIndex(replica, {
    isRunning: (taskId, owner) => isRunning(taskId, ownerContext(owner)),
    clock,
  });
  const expiresAt = (): number => clock.now() + ttlMs;
  /** The index entries of running tasks, by key. */
  const written = new Map<string, Pick<TaskEntry, "state" | "bytes"> & { readonly at: number }>();
  let adopting: Promise<void> | undefined;

  /** Stores a task with its index entry. Returns false if `ifVersion` does not match. */
  async function write(
    task: Task,
    { owner, place, runner }: { readonly owner: string; readonly place: string; readonly runner?: string | undefined },
    ifVersion?: number,
  ): Promise<boolean> {
    const { json, bytes } = cutTask(task);
    const stored: StoredTask = { task: json, ...(runner !== undefined && { runner }) };
    const known = written.get(place);
    const state = task.status?.state ?? TaskState.TASK_STATE_UNSPECIFIED;
    const now = clock.now();
    // Progress of a running task does not change its index entry while the task is small.
    const isCurrent = known?.state === state && bytes <= 2 * known.bytes && now - known.at < ttlMs / 2;
    const putEntry = async (): Promise<void> => {
      if (isCurrent) return;
      const { id, contextId, status } = task;
      const entry = { id, contextId, state, timestamp: status?.timestamp ?? "", bytes, owner };
      await index.put(place, { ...entry, ...(runner !== undefined && { runner }) }, expiresAt());
    };
    const setTask = (): Promise<boolean> =>
      documents.set(`${TASKS}${place}`, stored, {
        expiresAt: expiresAt(),
        ...(ifVersion !== undefined && { ifVersion }),
      });
    if (ifVersion === undefined) await Promise.all([setTask(), putEntry()]);
    else if (await setTask()) await putEntry();
    else return false;

    if (!isCurrent) written.delete(place);
    if (!isCurrent && isActiveState(state)) setNewest(written, place, { state, bytes, at: now }, MOST_WRITTEN);
    const more = bytes - (known?.bytes ?? 0);
    if (!isCurrent && more > 0 && index.grew(owner, more)) await index.makeRoom(owner).catch(() => {});
    return true;
  }

  async function read(
    taskId: string,
    context: ServerCallContext,
  ): Promise<{ readonly task: Task; readonly runner: string | undefined } | undefined> {
    const owner = ownerIn(context);
    const place = placeOf(owner, taskId);
    const entry = await documents.get(`${TASKS}${place}`);
    if (entry === undefined) return undefined;
    const { task: json, runner } = entry.value as StoredTask;
    const task = Task.fromJSON(json);
    if (runner === undefined || !isActiveState(task.status?.state)) return { task, runner: undefined };
    if (runner === replica.id) {
      // A submitted task is about to run. A working task that does not run in this process has ended, but its end could not be stored.
      const isLost = task.status?.state === TaskState.TASK_STATE_WORKING && !isRunning(taskId, context);
      if (!isLost) return { task, runner: undefined };
    } else if (await replica.isPresent(runner)) return { task, runner };
    const failed = { ...task, status: lostStatus(task, clock) };
    const isKept = await write(failed, { owner, place }, entry.version);
    return isKept ? { task: failed, runner: undefined } : read(taskId, context);
  }

  /** Adds tasks that an earlier release stored to the index, shortened to the current limits. Reads one task at a time, because they may be large. */
  async function adopt(): Promise<void> {
    for (const place of await index.missing()) {
      const key = `${TASKS}${place}`;
      const entry = await documents.get(key);
      if (entry === undefined) continue;
      const { task: json, runner } = entry.value as StoredTask;
      const task = Task.fromJSON(json);
      if (task.id.length > MOST_ID_LENGTH) await documents.delete(key, { ifVersion: entry.version });
      else await write(task, { owner: "", place, runner }, entry.version);
    }
  }

  /** Adds them once per process. If that fails, the next request retries. */
  function adopted(): Promise<void> {
    adopting ??= adopt().catch((error: unknown) => {
      adopting = undefined;
      throw error;
    });
    return adopting;
  }

  return {
    async load(taskId, context) {
      return (await read(taskId, context))?.task;
    },
    async runnerOf(taskId, context) {
      return (await read(taskId, context))?.runner;
    },
    async makeRoom(context) {
      await adopted();
      await index.makeRoom(ownerIn(context));
    },
    async save(task, context) {
      const isActive = isActiveState(task.status?.state);
      if (isActive) await replica.enter();
      const owner = ownerIn(context);
      await write(task, { owner, place: placeOf(owner, task.id), runner: isActive ? replica.id : undefined });
    },
    async list(params, context) {
      await adopted();
      const { pageSize = 50, pageToken, includeArtifacts = false } = params;
      const matching = select(await index.of(ownerIn(context)), params);
      const from = pageToken ? readToken(pageToken) : undefined;
      const rest = from === undefined ? matching : matching.filter((entry) => order(entry) < from);
      const tasks: Task[] = [];
      let bytes = 0;
      let last: TaskEntry | undefined;
      for (const entry of rest) {
        bytes += entry.bytes;
        if (tasks.length >= pageSize || (tasks.length > 0 && bytes > MOST_PAGE_BYTES)) break;
        last = entry;
        const task = (await read(entry.id, context))?.task;
        if (task !== undefined) tasks.push(includeArtifacts ? task : { ...task, artifacts: [] });
      }
      const nextPageToken = last === undefined || last === rest.at(-1) ? "" : toToken(order(last));
      return { tasks, nextPageToken, pageSize, totalSize: matching.length } satisfies ListTasksResponse;
    },
  };
}

/** Returns the tasks that match a request, newest first. */
function select(entries: readonly TaskEntry[], params: ListTasksRequest): readonly TaskEntry[] {
  const { contextId, status, statusTimestampAfter } = params;
  const after = statusTimestampAfter ? Date.parse(statusTimestampAfter) : undefined;
  return entries
    .filter((entry) => !contextId || entry.contextId === contextId)
    .filter((entry) => !status || entry.state === status)
    .filter((entry) => after === undefined || Date.parse(entry.timestamp) > after)
    .sort((left, right) => (order(left) < order(right) ? 1 : -1));
}

/** Sorts tasks by the time of their last change, then by id. */
const order = ({ id, timestamp }: TaskEntry): string => `${timestamp} ${id}`;

const toToken = (place: string): string => Buffer.from(JSON.stringify({ place })).toString("base64url");

function readToken(token: string): string {
  try {
    const read: unknown = JSON.parse(Buffer.from(token, "base64url").toString("utf8"));
    if (isPlainObject(read) && typeof read["place"] === "string") return read["place"];
  } catch {
    // An invalid token is refused below.
  }
  throw new RequestMalformedError("pageToken is invalid. Use nextPageToken of a previous answer.");
}

function lostStatus({ id: taskId, contextId }: Task, clock: Pick<Clock, "now">): NonNullable<Task["status"]> {
  const text =
    "The gateway process that ran this task ended, or could not store how it ended, so its outcome is unknown. Check whether the call took effect before you repeat it.";
  return {
    state: TaskState.TASK_STATE_FAILED,
    message: agentMessage([textPart(text)], { taskId, contextId }),
    timestamp: new Date(clock.now()).toISOString(),
  };
}
