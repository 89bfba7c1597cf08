import { TaskState } from "@a2a-js/sdk";
import { ArsenalError } from "../../../errors/arsenal-error.ts";
import { type Clock, systemClock } from "../../../observe/clock.ts";
import type { ListedState, State } from "../../../state/state.port.ts";
import { sha256 } from "../../../base/crypto.ts";
import { crowdedOut, type Holder, type Holding, type ShareBounds } from "../../../base/shares.ts";
import type { Replica } from "../../replica.ts";
import { setNewest } from "../../../base/remember.ts";
import { MOST_TASK_BYTES } from "./kept-task.ts";

/** The part of a task that listing and pruning need. Tasks themselves are separate documents. */
export interface TaskEntry {
  readonly id: string;
  readonly contextId: string;
  readonly state: TaskState;
  /** The time of the last state change. */
  readonly timestamp: string;
  readonly bytes: number;
  /** The owner in the format of `ownerOf`. Empty for a task that an earlier release stored without an owner. */
  readonly owner: string;
  /** The process that runs the task, if any. */
  readonly runner?: string;
}

/** Additional documents of a task: its push notification configs, and the run that waits for an approval. */
export type Attachment = "push" | "run";

const INDEX = "a2a/index/";
export const TASKS = "a2a/task/";

/** Limits for stored tasks with their attachments. */
const BOUNDS: ShareBounds = { count: 10_000, bytes: 64 * 1024 * 1024 };
const PER_CALLER: ShareBounds = { count: 1_000, bytes: 16 * 1024 * 1024 };

/** A process checks the limits, for all callers together and for one caller, after this many new tasks or stored bytes. */
const CHECK_ALL_AFTER = { count: 256, bytes: 8 * 1024 * 1024 };
const CHECK_ONE_AFTER = { count: 32, bytes: 2 * 1024 * 1024 };
/** Maximum number of callers whose new tasks are counted. */
const MOST_COUNTED = 10_000;

/** A created task that has not started after this time will never start. */
const BEGINS_WITHIN_MS = 60_000;

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

/** Returns true for a state in which a task runs or is about to run. */
export const isActiveState = (state: TaskState | undefined): boolean => ACTIVE.has(state);
/** Returns true for a final state. */
export const isLastState = (state: TaskState | undefined): boolean => ENDED.has(state);

/** Returns the key of an owner's task. Ids are hashed, because callers choose them. */
export function placeOf(owner: string, taskId: string): string {
  return `${ownerPlace(owner)}${sha256(taskId, "base64url")}`;
}

const ownerPlace = (owner: string): string => `${sha256(owner, "base64url")}/`;

export const pushKey = (owner: string, taskId: string): string => `a2a/push/${placeOf(owner, taskId)}`;
export const runKey = (owner: string, taskId: string): string =>
  `a2a/run/${sha256(JSON.stringify([owner, taskId]), "base64url")}`;

/** Records the size of an attachment. It counts for the task's owner and is removed with the task. 0 bytes removes it now. */
export async function bookAttachment(
  documents: State,
  kind: Attachment,
  {
    owner,
    taskId,
    bytes,
    expiresAt,
  }: { readonly owner: string; readonly taskId: string; readonly bytes: number; readonly expiresAt: number },
): Promise<void> {
  const key = `${INDEX}${placeOf(owner, taskId)}.${kind}`;
  if (bytes === 0) await documents.delete(key);
  else await documents.set(key, { id: taskId, owner, bytes }, { expiresAt });
}

/** A task with its attachments, for the limits of its owner. */
interface HeldTask extends Holding {
  readonly place: string;
  readonly id: string;
  readonly owner: string;
  readonly isOver: boolean;
  readonly timestamp: string;
}

/** The index of stored tasks, and the limits on the tasks that callers can store. */
export function createTaskIndex(
  replica: Replica,
  {
    isRunning,
    clock = systemClock,
  }: { readonly isRunning: (taskId: string, owner: string) => boolean; readonly clock?: Clock },
) {
  const { documents } = replica.state;
  const added = new Map<string, AddedSize>();
  let addedInAll: AddedSize | undefined;

  function count(owner: string, tasks: number, bytes: number): void {
    for (const total of [added.get(owner), addedInAll]) {
      if (total === undefined) continue;
      total.count += tasks;
      total.bytes += bytes;
    }
  }

  function beginCounting(owner: string): void {
    setNewest(added, owner, { count: 0, bytes: 0 }, MOST_COUNTED);
  }

  async function toHeld(listed: readonly ListedState[]): Promise<readonly HeldTask[]> {
    const present = new Map<string, Promise<boolean>>();
    async function isBusy({ id, owner, state, runner, timestamp }: TaskEntry): Promise<boolean> {
      if (!isActiveState(state)) return false;
      if (runner === undefined || runner === replica.id)
        return isRunning(id, owner) || clock.now() - Date.parse(timestamp) < BEGINS_WITHIN_MS;
      const asked = present.get(runner) ?? replica.isPresent(runner);
      present.set(runner, asked);
      return asked;
    }
    const held = new Map<string, HeldTask & { bytes: number }>();
    for (const { key, value } of listed) {
      const entry = value as TaskEntry;
      const [place = ""] = key.slice(INDEX.length).split(".");
      const known = held.get(place);
      const bytes = entry.bytes + (known?.bytes ?? 0);
      const { id, owner } = entry;
      const holder = holderOf(owner, place);
      const isTask = place.length === key.length - INDEX.length;
      if (!isTask)
        held.set(place, { busy: false, isOver: true, timestamp: "", ...known, place, id, owner, holder, bytes });
      else {
        const { state, timestamp } = entry;
        const busy = await isBusy(entry);
        held.set(place, { place, id, owner, holder, bytes, busy, isOver: isLastState(state), timestamp });
      }
    }
    // Ended tasks are removed before tasks that wait for input; within each group, oldest first.
    return [...held.values()].sort(
      (left, right) => Number(right.isOver) - Number(left.isOver) || (left.timestamp < right.timestamp ? -1 : 1),
    );
  }

  async function forget({ place, owner, id }: HeldTask): Promise<void> {
    const keys = [`${TASKS}${place}`, `${INDEX}${place}`, `${INDEX}${place}.push`, `${INDEX}${place}.run`];
    await Promise.all([...keys, `a2a/push/${place}`, runKey(owner, id)].map((key) => documents.delete(key)));
  }

  /** Removes tasks so that the owner can add one. Returns false if no task may be removed. */
  async function makeRoomBelow(prefix: string, owner: string, bounds: ShareBounds): Promise<boolean> {
    const held = await toHeld(await documents.list(prefix));
    const gone = crowdedOut(held, { holder: holderOf(owner), bytes: MOST_TASK_BYTES }, bounds);
    for (const task of gone ?? []) await forget(task);
    return gone !== undefined;
  }

  return {
    /** Makes room for one more task. Lists the tasks of the owner, or all tasks, only after many were added. */
    async makeRoom(owner: string): Promise<void> {
      if (isDue(added.get(owner), CHECK_ONE_AFTER)) {
        beginCounting(owner);
        if (!(await makeRoomBelow(`${INDEX}${ownerPlace(owner)}`, owner, PER_CALLER))) {
          added.delete(owner);
          throw tooMany(
            `This caller has ${PER_CALLER.count} tasks, or ${PER_CALLER.bytes} bytes of tasks, and all of them are still running.`,
          );
        }
      }
      if (isDue(addedInAll, CHECK_ALL_AFTER)) {
        addedInAll = { count: 0, bytes: 0 };
        if (!(await makeRoomBelow(INDEX, owner, BOUNDS))) {
          addedInAll = undefined;
          throw tooMany("The gateway has no room for another task: all its tasks are still running.");
        }
      }
      count(owner, 1, 0);
    },
    /** Counts bytes that were added to a task. Returns true if it is time to check the limits. */
    grew(owner: string, bytes: number): boolean {
      count(owner, 0, bytes);
      return isDue(added.get(owner), CHECK_ONE_AFTER) || isDue(addedInAll, CHECK_ALL_AFTER);
    },
    async put(place: string, entry: TaskEntry, expiresAt: number): Promise<void> {
      await documents.set(`${INDEX}${place}`, entry, { expiresAt });
    },
    async of(owner: string): Promise<readonly TaskEntry[]> {
      const listed = await documents.list(`${INDEX}${ownerPlace(owner)}`);
      return listed.filter(({ key }) => !key.includes(".")).map(({ value }) => value as TaskEntry);
    },
    /** Returns the keys of stored tasks that are not in the index, because earlier releases had no index. */
    async missing(): Promise<readonly string[]> {
      const known = new Set((await documents.keys(INDEX)).map((key) => key.slice(INDEX.length)));
      return (await documents.keys(TASKS)).map((key) => key.slice(TASKS.length)).filter((place) => !known.has(place));
    },
  };
}

interface AddedSize {
  count: number;
  bytes: number;
}

function isDue(counted: AddedSize | undefined, most: AddedSize): boolean {
  return counted === undefined || counted.count >= most.count || counted.bytes >= most.bytes;
}

/** Returns the owner that a task counts for. If the owner was not stored, it is derived from the task's key. */
export function holderOf(owner: string, place = ""): Holder {
  if (owner === "") return { id: place.split("/", 1)[0] ?? "" };
  try {
    const [first, second] = JSON.parse(owner) as readonly string[];
    return second === undefined ? { id: String(first) } : { id: second, tenant: String(first) };
  } catch {
    return { id: owner };
  }
}

function tooMany(problem: string): ArsenalError {
  return new ArsenalError("RATE_LIMITED", `${problem} Cancel one, or wait until one ends.`, { retryAfterMs: 5_000 });
}
