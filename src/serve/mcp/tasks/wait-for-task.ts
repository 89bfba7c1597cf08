import type { JsonObject } from "../../../mcp/protocol.ts";
import type { Clock } from "../../../observe/clock.ts";
import { isPlainObject } from "../../../tool/json-schema.ts";
import { untilAborted } from "../../../base/turns/until-aborted.ts";
import type { Exchange } from "../plane.ts";
import { isOver, type TaskRecord } from "./task-record.ts";

/** Access for one request to its task, in whichever process the task runs. */
export interface TaskWays {
  find(): Promise<TaskRecord>;
  answer(record: TaskRecord, inputResponses: JsonObject): Promise<unknown>;
  /** Marks a question as sent to the client. Returns false if the client already has it. */
  claim(record: TaskRecord, key: string): Promise<boolean>;
  watch(changed: () => void): () => void;
  readonly clock: Clock;
}

type Asker = Pick<Exchange, "ask" | "signal">;

/** Interval at which the state is read again, in case the process that runs the task has ended. */
const LOOK_AGAIN_MS = 5_000;

/** Sends a client of 2025-11-25 the new questions on the stream of its request. Does not wait for the answers. */
export async function putNewQuestions(record: TaskRecord, { ask, signal }: Asker, ways: TaskWays): Promise<void> {
  for (const [key, request] of Object.entries(record.inputRequests ?? {})) {
    if (!(await ways.claim(record, key))) continue;
    const { method, params } = isPlainObject(request) ? request : {};
    const related = { "io.modelcontextprotocol/related-task": { taskId: record.taskId } };
    const given = isPlainObject(params) ? params : {};
    const meta = { ...(isPlainObject(given["_meta"]) ? given["_meta"] : {}), ...related };
    // A client that cannot or will not answer declines.
    ask(String(method), { ...given, _meta: meta }, { signal })
      .catch((error: unknown) => (signal.aborted ? Promise.reject(error) : { action: "cancel" }))
      .then((response) => ways.answer(record, { [key]: response }))
      .catch(() => undefined);
  }
}

/** Waits until a task has ended, for a client that reads its result in one request. Meanwhile the client gets the task's questions. */
export async function waitForTask(exchange: Asker, ways: TaskWays): Promise<TaskRecord> {
  let changed = Promise.withResolvers<void>();
  const stopWatching = ways.watch(() => changed.resolve());
  try {
    for (;;) {
      const record = await ways.find();
      if (isOver(record)) return record;
      await putNewQuestions(record, exchange, ways);
      const stopTimer = ways.clock.after(LOOK_AGAIN_MS, () => changed.resolve(), { background: true });
      await untilAborted(changed.promise, exchange.signal).finally(stopTimer);
      changed = Promise.withResolvers();
    }
  } finally {
    stopWatching();
  }
}
