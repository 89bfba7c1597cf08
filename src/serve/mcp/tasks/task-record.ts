import type { JsonObject, RpcErrorBody } from "../../../mcp/protocol.ts";

/** The states of a task. The last three are final. */
export type TaskStatus = "working" | "input_required" | "completed" | "failed" | "cancelled";

/** The stored data of a call that continues without its client. */
export interface TaskRecord {
  readonly taskId: string;
  readonly status: TaskStatus;
  readonly statusMessage?: string;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly lastUpdatedAt: string;
  /** Lifetime from the creation of the task, in milliseconds. */
  readonly ttlMs: number;
  /** The process that runs the call. */
  readonly owner: string;
  /** The unanswered questions to the client, by key. Keys are not reused. */
  readonly inputRequests?: JsonObject;
  readonly result?: JsonObject;
  readonly error?: RpcErrorBody;
}

/** Suggested interval between two requests for a task's state, in milliseconds. */
export const POLL_MS = 1_000;

export function isOver({ status }: Pick<TaskRecord, "status">): boolean {
  return status !== "working" && status !== "input_required";
}

/** Returns a new task in place of a result, in the format of 2026-07-28. */
export function toCreated(record: TaskRecord): JsonObject {
  return { resultType: "task", ...commonOf(record), ttlMs: record.ttlMs, pollIntervalMs: POLL_MS };
}

/** Returns a task with its questions, its result or its error, in the format of 2026-07-28. */
export function toDetailed(record: TaskRecord): JsonObject {
  const { status, inputRequests, result, error, ttlMs } = record;
  return {
    ...commonOf(record),
    ttlMs,
    pollIntervalMs: POLL_MS,
    ...(status === "input_required" && { inputRequests: inputRequests ?? {} }),
    ...(status === "completed" && { result: { resultType: "complete", ...result } }),
    ...(status === "failed" && { error }),
  };
}

/** Returns a task in the format of 2025-11-25, without its result, which `tasks/result` returns. */
export function toLegacyTask(record: TaskRecord): JsonObject {
  return { ...commonOf(record), ttl: record.ttlMs, pollInterval: POLL_MS };
}

function commonOf({ taskId, status, statusMessage, createdAt, lastUpdatedAt }: TaskRecord): JsonObject {
  return { taskId, status, ...(statusMessage !== undefined && { statusMessage }), createdAt, lastUpdatedAt };
}
