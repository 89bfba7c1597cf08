import { pause } from "../../../../base/turns/until-aborted.ts";
import { ArsenalError } from "../../../../errors/arsenal-error.ts";
import type { Ask, Requester } from "../../../../mcp/connection.ts";
import { type JsonObject, RPC, RpcError, type RpcErrorBody } from "../../../../mcp/protocol.ts";
import { type Clock, systemClock } from "../../../../observe/clock.ts";
import { isPlainObject } from "../../../../tool/json-schema.ts";

export interface FollowOptions {
  readonly server: string;
  readonly signal?: AbortSignal | undefined;
  readonly ask?: Ask | undefined;
  /** Returns the members of `_meta`, such as the client's identity, that every request about the task repeats. */
  readonly metaOf?: (() => JsonObject) | undefined;
  readonly onTask?: (() => void) | undefined;
  readonly clock?: Clock | undefined;
}

/** Bounds and default of the polling interval, in milliseconds. The server may suggest one. */
const SHORTEST_POLL_MS = 100;
const LONGEST_POLL_MS = 30_000;
const DEFAULT_POLL_MS = 1_000;
/** After this many consecutive failed polls, the call fails. */
const MOST_FAILURES = 5;
/** How long a server may take to confirm a cancellation. */
const CANCEL_MS = 5_000;

/**
 * Returns a server's result unchanged. If the server answers with a task, follows the task and returns its result. Passes the task's questions to the
 * caller. Cancels the task if the call is cancelled.
 */
export function followTask(
  answer: JsonObject,
  requester: Requester,
  options: FollowOptions,
): JsonObject | Promise<JsonObject> {
  if (answer["resultType"] === "task" && typeof answer["taskId"] === "string") {
    options.onTask?.();
    return cancelling(answer["taskId"], requester, options, () => pollTask(answer, requester, options));
  }
  const { task } = answer;
  if (answer["content"] !== undefined || !isPlainObject(task) || typeof task["taskId"] !== "string") return answer;
  options.onTask?.();
  const { taskId } = task;
  // `tasks/result` returns when the task ends. Until then, the server sends the task's questions on the same stream.
  const result = (): Promise<JsonObject> =>
    requester.request("tasks/result", { taskId }, { ...(options.signal && { signal: options.signal }) });
  return cancelling(taskId, requester, options, result);
}

/** Runs `follow`, and cancels the task if the caller aborts. */
async function cancelling(
  taskId: string,
  requester: Requester,
  { signal, metaOf }: FollowOptions,
  follow: () => Promise<JsonObject>,
): Promise<JsonObject> {
  const cancel = (): void => {
    const params = { taskId, ...(metaOf && { _meta: metaOf() }) };
    requester.request("tasks/cancel", params, { signal: AbortSignal.timeout(CANCEL_MS) }).catch(() => undefined);
  };
  signal?.addEventListener("abort", cancel, { once: true });
  try {
    return await follow();
  } finally {
    signal?.removeEventListener("abort", cancel);
  }
}

async function pollTask(created: JsonObject, requester: Requester, options: FollowOptions): Promise<JsonObject> {
  const { signal, metaOf, server, clock = systemClock } = options;
  const { taskId } = created;
  const answered = new Set<string>();
  const request = (method: string, params: JsonObject): Promise<JsonObject> =>
    requester.request(method, { taskId, ...params, ...(metaOf && { _meta: metaOf() }) }, { ...(signal && { signal }) });
  let task = created;
  let failures = 0;
  for (;;) {
    await pause(pollInterval(task), clock, { signal });
    try {
      task = await request("tasks/get", {});
      failures = 0;
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof RpcError || ++failures === MOST_FAILURES) throw error;
      continue;
    }
    switch (task["status"]) {
      case "completed":
        return isPlainObject(task["result"]) ? task["result"] : {};
      case "failed":
        throw new RpcError(errorOf(task["error"], task["statusMessage"]));
      case "cancelled":
        throw new ArsenalError("CANCELLED", `The MCP server "${server}" cancelled its task.`, { answered: true });
      case "input_required":
        await answerQuestions(task["inputRequests"], answered, options, request);
    }
  }
}

/** Passes the task's new questions to the caller, all at once, and returns each answer to the server. */
async function answerQuestions(
  inputRequests: unknown,
  answered: Set<string>,
  { ask, server, signal = new AbortController().signal }: FollowOptions,
  request: (method: string, params: JsonObject) => Promise<JsonObject>,
): Promise<void> {
  const open = Object.entries(isPlainObject(inputRequests) ? inputRequests : {}).filter(([key]) => !answered.has(key));
  if (open.length > 0 && ask === undefined) {
    const message = `The task of the MCP server "${server}" asks for input, but this caller cannot answer questions.`;
    const fix = "Call it from a client that supports elicitation.";
    throw new ArsenalError("EXECUTION_FAILED", message, { fix, answered: true });
  }
  await Promise.all(
    open.map(async ([key, given]) => {
      answered.add(key);
      const { method, params } = isPlainObject(given) ? given : {};
      const response = await ask?.(String(method), isPlainObject(params) ? params : undefined, { signal });
      await request("tasks/update", { inputResponses: { [key]: response } });
    }),
  );
}

function pollInterval({ pollIntervalMs }: JsonObject): number {
  const wanted = typeof pollIntervalMs === "number" ? pollIntervalMs : DEFAULT_POLL_MS;
  return Math.min(Math.max(wanted, SHORTEST_POLL_MS), LONGEST_POLL_MS);
}

function errorOf(error: unknown, statusMessage: unknown): RpcErrorBody {
  if (isPlainObject(error) && typeof error["code"] === "number" && typeof error["message"] === "string")
    return error as unknown as RpcErrorBody;
  const message = typeof statusMessage === "string" ? statusMessage : "The task failed.";
  return { code: RPC.internalError, message };
}
