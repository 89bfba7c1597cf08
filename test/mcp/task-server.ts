import { randomUUID } from "node:crypto";
import { announces, EXTENSIONS, missingExtension } from "../../src/mcp/extensions.ts";
import { type JsonObject, RPC, RpcError } from "../../src/mcp/protocol.ts";
import { isPlainObject } from "../../src/tool/json-schema.ts";
import { serveRawModern } from "./raw-modern-server.ts";

interface TestTask {
  readonly taskId: string;
  readonly createdAt: string;
  status: string;
  inputRequests: Record<string, JsonObject>;
  readonly answers: Record<string, JsonObject>;
  result?: JsonObject;
  error?: JsonObject;
  onAnswers?: () => void;
}

/** A server of 2026-07-28 that makes tasks of most calls, as the conformance suite wants it. */
export interface TaskServer {
  readonly url: string;
  /** The tasks that it was told to cancel. */
  readonly cancelled: string[];
  /** Lets the tool `wait` end with this text. */
  finish(text: string): void;
  close(): Promise<void>;
}

const TOOLS = ["greet", "slow_compute", "failing_job", "protocol_error_job", "confirm_delete", "multi_input", "wait"];
const text = (said: string, isError = false): JsonObject => ({ content: [{ type: "text", text: said }], isError });
const form = (message: string): JsonObject => ({
  method: "elicitation/create",
  params: { mode: "form", message, requestedSchema: { type: "object", properties: { name: { type: "string" } } } },
});

export async function startTaskServer(): Promise<TaskServer> {
  const tasks = new Map<string, TestTask>();
  const timers = new Set<NodeJS.Timeout>();
  const waiting = new Set<(said: string) => void>();
  const cancelled: string[] = [];

  function create(begin: (task: TestTask) => void): JsonObject {
    const createdAt = new Date().toISOString();
    const task: TestTask = { taskId: randomUUID(), createdAt, status: "working", inputRequests: {}, answers: {} };
    tasks.set(task.taskId, task);
    begin(task);
    return { resultType: "task", ...shown(task) };
  }

  function shown({ taskId, createdAt, status, inputRequests, result, error }: TestTask): JsonObject {
    return {
      taskId,
      status,
      createdAt,
      lastUpdatedAt: createdAt,
      ttlMs: 60_000,
      pollIntervalMs: 100,
      ...(status === "input_required" && { inputRequests }),
      ...(status === "completed" && { result }),
      ...(status === "failed" && { error }),
    };
  }

  function end(task: TestTask, status: string, outcome: Pick<TestTask, "result" | "error"> = {}): void {
    if (task.status === "working" || task.status === "input_required") Object.assign(task, { status, ...outcome });
  }

  function later(seconds: number, run: () => void): void {
    const timer = setTimeout(() => (timers.delete(timer), run()), seconds * 1000);
    timers.add(timer);
  }

  function asking(task: TestTask, requests: Record<string, JsonObject>, done: (answers: JsonObject) => string): void {
    Object.assign(task, { status: "input_required", inputRequests: requests });
    task.onAnswers = () => {
      if (Object.keys(task.inputRequests).length === 0) end(task, "completed", { result: text(done(task.answers)) });
    };
  }

  function call({ name, arguments: given, inputResponses }: JsonObject, withTasks: boolean): JsonObject {
    const args = isPlainObject(given) ? given : {};
    if (name === "greet") return text(`Hello, ${String(args["name"])}!`);
    if (name === "test_tool_with_task") {
      const answer = isPlainObject(inputResponses) ? inputResponses["user_name"] : undefined;
      if (answer === undefined)
        return { resultType: "input_required", inputRequests: { user_name: form("Who?") }, requestState: "round-1" };
      const said = JSON.stringify(answer);
      return create((task) => later(0.2, () => end(task, "completed", { result: text(`Done for ${said}`) })));
    }
    if (name === "slow_compute") {
      const done = text(`computed ${String(args["label"])}`);
      if (!withTasks) return done;
      return create((task) => later(Number(args["seconds"]), () => end(task, "completed", { result: done })));
    }
    if (!withTasks) throw missingExtension(EXTENSIONS.tasks);
    return create((task) => {
      if (name === "failing_job") later(0.2, () => end(task, "completed", { result: text("It broke.", true) }));
      if (name === "protocol_error_job")
        later(0.2, () => end(task, "failed", { error: { code: -32_603, message: "panic" } }));
      if (name === "confirm_delete") asking(task, { "q-1": form("Delete it?") }, () => "deleted");
      if (name === "multi_input") asking(task, { "q-1": form("One?"), "q-2": form("Two?") }, JSON.stringify);
      if (name === "wait") waiting.add((said) => end(task, "completed", { result: text(said) }));
    });
  }

  const server = await serveRawModern(({ method, params, capabilities }) => {
    const hasTasks = announces(capabilities, EXTENSIONS.tasks);
    const task = tasks.get(String(params["taskId"]));
    switch (method) {
      case "server/discover":
        return {
          supportedVersions: ["2026-07-28"],
          capabilities: { tools: {}, extensions: { [EXTENSIONS.tasks]: {} } },
          ttlMs: 0,
          cacheScope: "private",
          _meta: { "io.modelcontextprotocol/serverInfo": { name: "tasks", version: "1.0.0" } },
        };
      case "tools/list": {
        const tools = [...TOOLS, "test_tool_with_task"].map((name) => ({
          name,
          description: `Runs ${name}.`,
          inputSchema: { type: "object" },
        }));
        return { tools, ttlMs: 0, cacheScope: "private" };
      }
      case "tools/call":
        return call(params, hasTasks);
      case "tasks/get":
        if (task === undefined) throw new RpcError({ code: RPC.invalidParams, message: "Task not found" });
        return shown(task);
      case "tasks/update":
        for (const [key, answer] of Object.entries((params["inputResponses"] ?? {}) as Record<string, JsonObject>)) {
          if (task === undefined || task.inputRequests[key] === undefined) continue;
          delete task.inputRequests[key];
          task.answers[key] = answer;
        }
        task?.onAnswers?.();
        return {};
      case "tasks/cancel":
        if (task !== undefined) end(task, "cancelled");
        cancelled.push(String(params["taskId"]));
        return {};
      default:
        throw new RpcError({ code: RPC.methodNotFound, message: `Method not found: ${method}` });
    }
  });
  return {
    url: server.url,
    cancelled,
    finish(said) {
      for (const done of waiting) done(said);
      waiting.clear();
    },
    async close() {
      for (const timer of timers) clearTimeout(timer);
      await server.close();
    },
  };
}
