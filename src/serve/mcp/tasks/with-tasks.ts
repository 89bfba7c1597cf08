import { announces, EXTENSIONS, missingExtension, withExtensions } from "../../../mcp/extensions.ts";
import { type JsonObject, RPC, RpcError } from "../../../mcp/protocol.ts";
import { type Clock, systemClock } from "../../../observe/clock.ts";
import { isPlainObject } from "../../../tool/json-schema.ts";
import type { Replica } from "../../replica.ts";
import { type Exchange, type Peer, type Plane, type PlaneSession, type Push } from "../plane.ts";
import { createMcpRoom, type McpRoom } from "../room.ts";
import { pageOf } from "../aggregate/listings.ts";
import type { RunningTask } from "./running-task.ts";
import { runTaskCall, type TaskCallParts } from "./task-call.ts";
import { isOver, toCreated, toDetailed, toLegacyTask, type TaskRecord } from "./task-record.ts";
import { createTaskStore } from "./task-store.ts";
import { putNewQuestions, type TaskWays, waitForTask } from "./wait-for-task.ts";

export interface TaskSettings {
  /** Time in milliseconds after which a call becomes a task. */
  readonly afterMs: number;
  /** Lifetime of a task from its creation, in milliseconds. */
  readonly ttlMs: number;
}

export const TASK_DEFAULTS: TaskSettings = { afterMs: 5_000, ttlMs: 3_600_000 };

/** The revision before 2026-07-28 that includes tasks. */
const TASKS_IN_CORE = "2025-11-25";
/** Maximum lifetime of a task that a client can request. */
const MAX_TTL_MS = 86_400_000;
const RELATED_TASK = "io.modelcontextprotocol/related-task";
const CORE_CAPABILITY = { list: {}, cancel: {}, requests: { tools: { call: {} } } };

/**
 * Adds tasks to a plane, in the format of each era: long calls continue without their clients, and any process answers for them. Clients without
 * support for tasks never get one.
 */
export function withTasks(
  plane: Plane,
  parts: {
    readonly replica: Replica;
    readonly room?: Pick<McpRoom, "tasks"> | undefined;
    readonly clock?: Clock | undefined;
    readonly tasks?: TaskSettings | undefined;
  },
): Plane {
  const { replica, room = createMcpRoom(), clock = systemClock, tasks: settings = TASK_DEFAULTS } = parts;
  const store = createTaskStore(replica, plane.name, clock);
  const running = new Map<string, RunningTask>();
  const callParts: TaskCallParts = { store, replica, clock, room, running, ...settings };
  const isRunning = (taskId: string): boolean => running.has(taskId);
  const kind = `task/${plane.name}`;
  const stopServing = replica.serve(kind, async ({ taskId, ...given }) => {
    const task = running.get(String(taskId));
    return task === undefined ? {} : apply(task, given);
  });

  /** Returns the state of a caller's task. Throws the protocol's error if the caller has no such task. */
  async function find({ params, peer }: Pick<Exchange, "params" | "peer">): Promise<TaskRecord> {
    const { taskId } = params;
    const known = typeof taskId === "string" ? await store.read(peer.principal, taskId, isRunning) : undefined;
    if (known === undefined) {
      const message = "Task not found: it has expired, or this caller has no task of that id.";
      throw new RpcError({ code: RPC.invalidParams, message });
    }
    return running.get(known.taskId)?.record ?? known;
  }

  /** Passes a change to the process that runs the task. */
  async function change(record: TaskRecord, { signal }: Exchange, given: TaskChange): Promise<JsonObject> {
    if (isOver(record)) return {};
    const { taskId, owner } = record;
    const own = running.get(taskId);
    return own === undefined ? replica.call(owner, kind, { taskId, ...given }, { signal }) : apply(own, given);
  }

  /** Gives a request of 2025-11-25 access to a task. The request may carry the task's questions to the client. */
  const waysOf = (exchange: Exchange): TaskWays => ({
    find: () => find(exchange),
    answer: (record, inputResponses) => change(record, exchange, { inputResponses }),
    claim: async (record, claim) => (await change(record, exchange, { claim }))["isFirst"] === true,
    watch: (changed) => store.watch(exchange.peer.principal, String(exchange.params["taskId"]), changed),
    clock,
  });

  const modernAnswers: Readonly<Record<string, (exchange: Exchange) => Promise<JsonObject>>> = {
    "tasks/get": async (exchange) => toDetailed(await find(exchange)),
    async "tasks/update"(exchange) {
      const { inputResponses = {} } = exchange.params;
      await change(await find(exchange), exchange, { inputResponses });
      return {};
    },
    async "tasks/cancel"(exchange) {
      await change(await find(exchange), exchange, { cancel: true });
      return {};
    },
  };

  const legacyAnswers: Readonly<Record<string, (exchange: Exchange) => Promise<JsonObject>>> = {
    async "tasks/get"(exchange) {
      const record = await find(exchange);
      await putNewQuestions(record, exchange, waysOf(exchange));
      return toLegacyTask(record);
    },
    "tasks/list": async ({ peer, params }) =>
      pageOf("tasks", (await store.list(peer.principal)).map(toLegacyTask), params["cursor"]),
    async "tasks/cancel"(exchange) {
      const record = await find(exchange);
      if (isOver(record)) {
        const message = `The task has already ended as ${record.status}.`;
        throw new RpcError({ code: RPC.invalidParams, message });
      }
      await change(record, exchange, { cancel: true });
      return toLegacyTask(await find(exchange));
    },
    async "tasks/result"(exchange) {
      const { taskId, result, error, status } = await waitForTask(exchange, waysOf(exchange));
      if (error !== undefined) throw new RpcError(error);
      if (result === undefined)
        throw new RpcError({ code: RPC.invalidRequest, message: `The task ended as ${status}.` });
      const meta = isPlainObject(result["_meta"]) ? result["_meta"] : {};
      return { ...result, _meta: { ...meta, [RELATED_TASK]: { taskId } } };
    },
  };

  /** Runs a call. `held` answers it if the call may become a task, otherwise `session` does. */
  function call(exchange: Exchange, session: PlaneSession, held: PlaneSession): Promise<JsonObject> {
    const { task: asked } = exchange.params;
    const { era, protocolVersion, capabilities } = exchange.peer;
    const given = asked === undefined ? exchange : withoutTask(exchange);
    if (era === "modern")
      return announces(capabilities, EXTENSIONS.tasks) ? callModern(given, held) : session.handle(given);
    const isAsked = protocolVersion === TASKS_IN_CORE && isPlainObject(asked);
    return isAsked ? callLegacy(given, held, asked) : session.handle(given);
  }

  async function callModern(exchange: Exchange, held: PlaneSession): Promise<JsonObject> {
    const outcome = await runTaskCall(exchange, held, callParts, { atOnce: false });
    return "task" in outcome ? toCreated(outcome.task.record) : outcome.result;
  }

  async function callLegacy(exchange: Exchange, held: PlaneSession, asked: JsonObject): Promise<JsonObject> {
    const outcome = await runTaskCall(exchange, held, callParts, { atOnce: true, ttlMs: ttlOf(asked) });
    return "task" in outcome ? { task: toLegacyTask(outcome.task.record) } : outcome.result;
  }

  function handle(exchange: Exchange, session: PlaneSession, held = session): Promise<JsonObject> {
    const { method, peer } = exchange;
    if (method === "tools/call") return call(exchange, session, held);
    if (method.startsWith("tasks/")) return answerAbout(exchange);
    const answer = session.handle(exchange);
    return method === "tools/list" && peer.protocolVersion === TASKS_IN_CORE ? answer.then(withTaskSupport) : answer;
  }

  async function answerAbout(exchange: Exchange): Promise<JsonObject> {
    const { method, peer } = exchange;
    const answers = peer.era === "modern" ? modernAnswers : peer.protocolVersion === TASKS_IN_CORE ? legacyAnswers : {};
    const answer = Object.hasOwn(answers, method) ? answers[method] : undefined;
    if (answer === undefined) throw new RpcError({ code: RPC.methodNotFound, message: `Method not found: ${method}` });
    if (peer.era === "modern" && !announces(peer.capabilities, EXTENSIONS.tasks))
      throw missingExtension(EXTENSIONS.tasks);
    return answer(exchange);
  }

  /** Sends a client the state of its tasks after each change. Returns the ids of the existing tasks. */
  async function listenTo(
    taskIds: readonly unknown[],
    push: Push,
    { peer, signal }: { readonly peer: Peer; readonly signal: AbortSignal },
  ): Promise<readonly string[]> {
    if (!announces(peer.capabilities, EXTENSIONS.tasks)) throw missingExtension(EXTENSIONS.tasks);
    const found = await Promise.all(
      taskIds.map(async (taskId) => (await find({ peer, params: { taskId } }).catch(() => undefined))?.taskId ?? []),
    );
    const known = found.flat();
    for (const taskId of known) {
      const tell = async (): Promise<void> => {
        const record = await find({ peer, params: { taskId } });
        if (!signal.aborted) push({ jsonrpc: "2.0", method: "notifications/tasks", params: toDetailed(record) });
      };
      const end = store.watch(peer.principal, taskId, () => void tell().catch(() => undefined));
      signal.addEventListener("abort", end, { once: true });
    }
    return known;
  }

  return {
    ...plane,
    shared: {
      ...plane.shared,
      async describe() {
        const described = await plane.shared.describe();
        const { tasks: _, ...capabilities } = described.capabilities;
        return { ...described, capabilities: withExtensions(capabilities, { [EXTENSIONS.tasks]: {} }) };
      },
      handle: (exchange) => handle(exchange, plane.shared),
    },
    async openSession(peer, channel) {
      const session = await plane.openSession(peer, channel);
      const calls = new Set<Promise<unknown>>();
      const held: PlaneSession = {
        ...session,
        handle(exchange) {
          const answer = session.handle(exchange);
          calls.add(answer);
          const forget = (): void => void calls.delete(answer);
          answer.then(forget, forget);
          return answer;
        },
      };
      return {
        ...session,
        async describe() {
          const described = await session.describe();
          const { tasks: _, ...capabilities } = described.capabilities;
          const hasTasks = peer.protocolVersion === TASKS_IN_CORE;
          return { ...described, capabilities: hasTasks ? { ...capabilities, tasks: CORE_CAPABILITY } : capabilities };
        },
        handle: (exchange) => handle(exchange, session, held),
        // After the client has left, a task may still need the session's own connection to its server.
        async close() {
          if (calls.size === 0) return session.close();
          void Promise.allSettled(calls).then(() => session.close());
        },
      };
    },
    async listen(filter, push, options) {
      const { taskIds, ...others } = filter;
      if (taskIds === undefined) return plane.listen(filter, push, options);
      const known = await listenTo(Array.isArray(taskIds) ? taskIds.slice(0, MOST_FOLLOWED) : [], push, options);
      return { ...(await plane.listen(others, push, options)), taskIds: known };
    },
    async close() {
      stopServing();
      await plane.close();
    },
  };
}

/** A change of a task that a client requests, possibly through another process. */
interface TaskChange {
  readonly cancel?: unknown;
  readonly inputResponses?: unknown;
  /** The key of a question that is about to be sent to the client. */
  readonly claim?: unknown;
}

async function apply(task: RunningTask, { cancel, claim, inputResponses }: TaskChange): Promise<JsonObject> {
  if (claim !== undefined) return { isFirst: task.claim(claim) };
  if (cancel === true) await task.cancel();
  else task.update(inputResponses);
  return {};
}

/** Removes the member that requests a task, because only the gateway reads it. */
function withoutTask(exchange: Exchange): Exchange {
  const { task: _, ...params } = exchange.params;
  return { ...exchange, params };
}

const MOST_FOLLOWED = 100;

/** Adds support for tasks to listed tools: in 2025-11-25, a client may call a tool as a task only if the tool declares it. */
function withTaskSupport(result: JsonObject): JsonObject {
  const { tools } = result;
  if (!Array.isArray(tools)) return result;
  const execution = { taskSupport: "optional" };
  return { ...result, tools: tools.map((tool: unknown) => (isPlainObject(tool) ? { ...tool, execution } : tool)) };
}

function ttlOf({ ttl }: JsonObject): number | undefined {
  return typeof ttl === "number" && ttl > 0 ? Math.min(Math.round(ttl), MAX_TTL_MS) : undefined;
}
