import type { JsonObject, RpcErrorBody } from "../../../mcp/protocol.ts";

/** The states of a task. The last three are final. */
export type TaskStatus = "working" | "input_required" | "completed" | "failed" | "cancelled";

/** One call that goes on without its client, as it is kept in the shared state. */
export interface TaskRecord {
  readonly taskId: string;
  readonly status: TaskStatus;
  readonly statusMessage?: string;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly lastUpdatedAt: string;
  /** Milliseconds from its creation until it is forgotten. */
  readonly ttlMs: number;
  /** The process that runs the call. */
  readonly owner: string;
  /** The questions that the client has not answered yet, by key. A key is used once. */
  readonly inputRequests?: JsonObject;
  readonly result?: JsonObject;
  readonly error?: RpcErrorBody;
}

/** Suggested interval between two requests for a task's state, in milliseconds. */
export const POLL_MS = 1_000;

export function isOver({ status }: Pick<TaskRecord, "status">): boolean {
  return status !== "working" && status !== "input_required";
}

/** A new task in place of a result, as 2026-07-28 has it. */
export function toCreated(record: TaskRecord): JsonObject {
  return { resultType: "task", ...commonOf(record), ttlMs: record.ttlMs, pollIntervalMs: POLL_MS };
}

/** A task with its questions, its result or its error, as 2026-07-28 has it. */
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

/** A task as 2025-11-25 has it: without its result, for which `tasks/result` is there. */
export function toLegacyTask(record: TaskRecord): JsonObject {
  return { ...commonOf(record), ttl: record.ttlMs, pollInterval: POLL_MS };
}

function commonOf({ taskId, status, statusMessage, createdAt, lastUpdatedAt }: TaskRecord): JsonObject {
  return { taskId, status, ...(statusMessage !== undefined && { statusMessage }), createdAt, lastUpdatedAt };
}
