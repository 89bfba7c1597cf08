import { createHash } from "node:crypto";
import type { Principal } from "../../../guard/principal.ts";
import type { Clock } from "../../../observe/clock.ts";
import { type Replica, processLost } from "../../replica.ts";
import { errorBody } from "../plane.ts";
import type { SealBinding } from "../modern/seal.ts";
import { isOver, type TaskRecord } from "./task-record.ts";

type Owner = Pick<Principal, "id" | "tenant">;

/** Stores tasks as sealed documents. Only requests of the same caller can open them, in any process. */
export type TaskStore = ReturnType<typeof createTaskStore>;

const DOCUMENTS = "mcp/task/";
const TOPIC = "mcp/tasks";

/** Creates the store of one plane's tasks. Tasks of other addresses are not visible in it. */
export function createTaskStore(replica: Replica, plane: string, clock: Clock) {
  const { seal, state } = replica;
  const { documents, changes } = state;

  const prefixOf = ({ id, tenant }: Owner): string => {
    const owner = createHash("sha256").update(JSON.stringify([plane, tenant ?? null, id]));
    return `${DOCUMENTS}${owner.digest("base64url")}/`;
  };
  const bindingOf = ({ id, tenant }: Owner, taskId: string): SealBinding => ({
    principal: { id, ...(tenant !== undefined && { tenant }) },
    plane: `task/${plane}`,
    method: "tasks/get",
    params: { taskId },
  });

  async function write(
    owner: Owner,
    record: TaskRecord,
    condition: { readonly ifVersion?: number | "absent" } = {},
  ): Promise<boolean> {
    const { taskId, createdAt, ttlMs } = record;
    const expiresAt = Date.parse(createdAt) + ttlMs;
    const left = Math.max(1, expiresAt - clock.now());
    const sealed = seal.seal({ ...record }, bindingOf(owner, taskId), left);
    const isWritten = await documents.set(prefixOf(owner) + taskId, sealed, { expiresAt, ...condition });
    // The task is stored. Without the message, other processes read its state with their next poll.
    if (isWritten) await changes.publish(TOPIC, prefixOf(owner) + taskId).catch(() => undefined);
    return isWritten;
  }

  function opened(owner: Owner, taskId: string, value: unknown): TaskRecord | undefined {
    const record = typeof value === "string" ? seal.open(value, bindingOf(owner, taskId)) : undefined;
    return record as TaskRecord | undefined;
  }

  /** Reads a task. If its process has ended, the task becomes a failed one. `isRunning` is true for a task that this process still runs. */
  async function read(
    owner: Owner,
    taskId: string,
    isRunning: (taskId: string) => boolean,
  ): Promise<TaskRecord | undefined> {
    const entry = await documents.get(prefixOf(owner) + taskId);
    const record = entry && opened(owner, taskId, entry.value);
    if (entry === undefined || record === undefined || isOver(record)) return record;
    const isAlive = record.owner === replica.id ? isRunning(taskId) : await replica.isPresent(record.owner);
    if (isAlive) return record;
    const error = errorBody(processLost());
    const { inputRequests: _, ...kept } = record;
    const lastUpdatedAt = new Date(clock.now()).toISOString();
    const lost: TaskRecord = { ...kept, status: "failed", statusMessage: error.message, error, lastUpdatedAt };
    return (await write(owner, lost, { ifVersion: entry.version })) ? lost : read(owner, taskId, isRunning);
  }

  return {
    read,
    write,
    delete: (owner: Owner, taskId: string) => documents.delete(prefixOf(owner) + taskId),
    count: async (owner: Owner): Promise<number> => (await documents.keys(prefixOf(owner))).length,
    /** Returns all tasks of a caller, newest first. */
    async list(owner: Owner): Promise<readonly TaskRecord[]> {
      const prefix = prefixOf(owner);
      const kept = await documents.list(prefix);
      return kept
        .flatMap(({ key, value }) => opened(owner, key.slice(prefix.length), value) ?? [])
        .toSorted((one, other) => other.createdAt.localeCompare(one.createdAt));
    },
    /** Calls back after each change of one task, in any process. Returns a function that unsubscribes. */
    watch(owner: Owner, taskId: string, changed: () => void): () => void {
      const key = prefixOf(owner) + taskId;
      return changes.subscribe(TOPIC, (data) => {
        if (data === key) changed();
      });
    },
  };
}
