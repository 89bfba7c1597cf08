import { randomBytes } from "node:crypto";
import { ArsenalError } from "../../../errors/arsenal-error.ts";
import type { Ask } from "../../../mcp/connection.ts";
import { isInputRequired, type JsonObject, RPC, RpcError } from "../../../mcp/protocol.ts";
import type { Clock } from "../../../observe/clock.ts";
import { isPlainObject } from "../../../tool/json-schema.ts";
import { pause } from "../../../base/turns/until-aborted.ts";
import { unaskable } from "../client-abilities.ts";
import { errorBody, type Peer } from "../plane.ts";
import { isOver, POLL_MS, type TaskRecord } from "./task-record.ts";
import type { TaskStore } from "./task-store.ts";

export type RunningTask = ReturnType<typeof createRunningTask>;

interface TaskParts {
  readonly peer: Peer;
  readonly store: TaskStore;
  readonly clock: Clock;
  readonly owner: string;
  readonly ttlMs: number;
  abort(reason: unknown): void;
  /** Repeats the request with a client's answers to the questions in its result. */
  repeat(answers: JsonObject): Promise<JsonObject>;
}

/** Maximum length of a stored result, in characters of JSON. */
const MAX_RESULT = 4 * 1024 * 1024;
/** Delays between attempts to write the final state of a task while the store is unavailable. */
const PAUSES_MS: readonly number[] = [1_000, 5_000, 30_000];
/** Maximum length of a message about a task's progress, in characters. */
const MAX_MESSAGE = 500;

/** Tracks the state of one task, and writes each change to the store. `create` must be called first. */
export function createRunningTask({ peer, store, clock, owner, ttlMs, abort, repeat }: TaskParts) {
  const now = (): string => new Date(clock.now()).toISOString();
  const startedAt = now();
  let record: TaskRecord = {
    taskId: randomBytes(24).toString("base64url"),
    status: "working",
    createdAt: startedAt,
    lastUpdatedAt: startedAt,
    ttlMs,
    owner,
  };
  const questions = new Map<string, { readonly request: JsonObject; answer(response: JsonObject): void }>();
  /** Questions that a client of 2025-11-25 has received. */
  const claimed = new Set<string>();
  let questionCount = 0;
  let reportedAt = 0;
  let written = record;
  let writing: Promise<void> | undefined;

  /** Writes the newest state until it is stored, one write at a time. Gives up if the store stays unavailable. */
  async function writeNewest(): Promise<void> {
    for (let failures = 0; written !== record;) {
      const current = record;
      try {
        await store.write(peer.principal, current);
        written = current;
      } catch {
        const wait = PAUSES_MS[failures++];
        if (wait === undefined) return;
        await pause(wait, clock, { background: true });
      }
    }
  }

  function save(): Promise<void> {
    writing = (writing ?? Promise.resolve()).then(writeNewest);
    return writing;
  }

  function change(changed: Partial<TaskRecord>): Promise<void> {
    if (isOver(record)) return Promise.resolve();
    const { inputRequests: _, ...kept } = record;
    const open = Object.fromEntries([...questions].map(([key, { request }]) => [key, request]));
    const status = questions.size > 0 ? "input_required" : "working";
    const inputs = status === "input_required" && changed.status === undefined ? { inputRequests: open } : {};
    record = { ...kept, status, ...inputs, ...changed, lastUpdatedAt: now() };
    return save();
  }

  const ask: Ask = (method, params, { signal }) => {
    const { era, capabilities } = peer;
    const refused = unaskable(method, params, { era, capabilities });
    if (refused !== undefined) return Promise.reject(refused);
    if (signal.aborted) return Promise.reject(signal.reason as Error);
    const { promise, resolve, reject } = Promise.withResolvers<JsonObject>();
    const key = `input-${++questionCount}`;
    const withdraw = (): void => reject(signal.reason);
    signal.addEventListener("abort", withdraw, { once: true });
    questions.set(key, { request: { method, ...(params && { params }) }, answer: resolve });
    void change({});
    return promise.finally(() => {
      signal.removeEventListener("abort", withdraw);
      if (questions.delete(key)) void change({});
    });
  };

  /** Sends the questions of a result to the client, all in parallel. */
  async function answersTo({ inputRequests, requestState }: JsonObject, signal: AbortSignal): Promise<JsonObject> {
    const requests = Object.entries(isPlainObject(inputRequests) ? inputRequests : {});
    const answers = await Promise.all(
      requests.map(async ([key, request]) => {
        const { method, params } = isPlainObject(request) ? request : {};
        return [key, await ask(String(method), isPlainObject(params) ? params : undefined, { signal })] as const;
      }),
    );
    return { inputResponses: Object.fromEntries(answers), ...(requestState !== undefined && { requestState }) };
  }

  function toOutcome(result: JsonObject): Partial<TaskRecord> {
    if (JSON.stringify(result).length <= MAX_RESULT) return { status: "completed", result };
    const message = `The result has more than ${MAX_RESULT} characters, which is too long for a task. Call the tool without a task.`;
    return { status: "failed", statusMessage: message, error: { code: RPC.internalError, message } };
  }

  return {
    /** The newest state, which may not be stored yet. */
    get record(): TaskRecord {
      return record;
    },
    /** Stores the task. Rejects if it cannot be stored; the task then does not exist. */
    async create(): Promise<void> {
      await store.write(peer.principal, record, { ifVersion: "absent" });
      written = record;
    },
    ask,
    /** Stores the progress that the call reports, at most once per polling interval of clients. */
    report(message: unknown): void {
      if (typeof message !== "string" || message === "" || clock.now() - reportedAt < POLL_MS) return;
      reportedAt = clock.now();
      void change({ statusMessage: message.slice(0, MAX_MESSAGE) });
    },
    /** Waits for the call's outcome, passes the server's questions to the client, and stores the result. Never rejects. */
    async follow(outcome: Promise<JsonObject>, signal: AbortSignal): Promise<void> {
      try {
        let result = await outcome;
        while (isInputRequired(result)) result = await repeat(await answersTo(result, signal));
        await change(toOutcome(result));
      } catch (error) {
        const body = errorBody(error);
        await change({ status: "failed", statusMessage: body.message, error: body });
      }
    },
    /** Marks a question as sent to the client. Returns false if it was already sent, or is no longer open. */
    claim(key: unknown): boolean {
      if (typeof key !== "string" || !questions.has(key) || claimed.has(key)) return false;
      claimed.add(key);
      return true;
    },
    /** Accepts a client's answers. Keys without an open question are ignored. */
    update(inputResponses: unknown): void {
      if (!isPlainObject(inputResponses) || !Object.values(inputResponses).every(isPlainObject)) {
        const message = "inputResponses must map the keys of inputRequests to objects.";
        throw new RpcError({ code: RPC.invalidParams, message });
      }
      for (const [key, response] of Object.entries(inputResponses)) {
        const question = questions.get(key);
        if (question === undefined) continue;
        questions.delete(key);
        question.answer(response as JsonObject);
      }
      void change({});
    },
    /** Ends the call. Resolves once the state is stored. */
    async cancel(reason = new ArsenalError("CANCELLED", "The client cancelled the task.")): Promise<void> {
      const saved = change({ status: "cancelled", statusMessage: reason.message });
      abort(reason);
      await saved;
    },
    /** Ends the call for a reason of the gateway, such as a shutdown. */
    async fail(error: ArsenalError): Promise<void> {
      const body = errorBody(error);
      const saved = change({ status: "failed", statusMessage: body.message, error: body });
      abort(error);
      await saved;
    },
  };
}
