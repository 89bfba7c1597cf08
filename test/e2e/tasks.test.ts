import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ToolArsenal } from "../../src/arsenal.ts";
import { EXTENSIONS } from "../../src/mcp/extensions.ts";
import { type JsonObject, META } from "../../src/mcp/protocol.ts";
import type { ServedGateway } from "../../src/serve/serve-arsenal.ts";
import { post, taskClient } from "../mcp/task-clients.ts";
import { startTaskServer, type TaskServer } from "../mcp/task-server.ts";
import { peerProgram } from "../peers/peers.ts";
import { type Caller, type GatewayPair, startPair, TOKENS } from "./gateway-pair.ts";

const folder = mkdtempSync(join(tmpdir(), "toolarsenal-tasks-"));
const as = (name: Caller) => ({ authorization: `Bearer ${TOKENS[name]}` });
/** Two gateways on one state, in front of a server that makes tasks and one of 2025-11-25 that has a tool for tasks only. */
let upstream: TaskServer;
let a: ServedGateway;
let b: ServedGateway;
let pair: GatewayPair;
/** Lets the function `build` end. */
let built = Promise.withResolvers<string>();

beforeAll(async () => {
  upstream = await startTaskServer();
  pair = await startPair(async () => {
    const arsenal = new ToolArsenal({
      telemetry: { enabled: false },
      audit: { file: join(folder, "audit.jsonl") },
      state: { file: join(folder, "state.sqlite") },
      mcp: { taskAfterMs: 50 },
      security: { maxRequestsPerMinute: 10_000 },
    });
    const parameters = { type: "object", properties: {} } as const;
    arsenal.register(
      { name: "build", description: "Builds the project.", parameters, timeoutMs: 60_000 },
      (_, { signal }) => {
        const stopped = new Promise<never>((_resolve, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
        });
        return Promise.race([built.promise, stopped]);
      },
    );
    await arsenal.addMcpServer({ name: "jobs", transport: { kind: "http", url: upstream.url } });
    const { file } = peerProgram("@modelcontextprotocol/server-everything");
    const transport = { kind: "stdio", command: process.execPath, args: [file, "stdio"] } as const;
    await arsenal.addMcpServer({ name: "old", transport });
    return arsenal;
  });
  ({ a, b } = pair);
});

afterAll(async () => {
  await pair.close();
  await upstream.close();
  rmSync(folder, { recursive: true, force: true });
});

const ANNOUNCED = { elicitation: { form: {} }, extensions: { [EXTENSIONS.tasks]: {} } };

/** One request of a client of 2026-07-28. */
function ask(
  { url }: ServedGateway,
  method: string,
  params: JsonObject,
  {
    who = "ann",
    path = "/mcp",
    capabilities = ANNOUNCED as JsonObject,
    signal,
  }: {
    readonly who?: Caller;
    readonly path?: string;
    readonly capabilities?: JsonObject;
    readonly signal?: AbortSignal;
  } = {},
) {
  const _meta = {
    [META.protocolVersion]: "2026-07-28",
    [META.clientInfo]: { name: "raw", version: "1" },
    [META.clientCapabilities]: capabilities,
  };
  return post(
    new URL(path, url).href,
    { jsonrpc: "2.0", id: 1, method, params: { ...params, _meta } },
    as(who),
    signal,
  );
}

const call = (at: ServedGateway, name: string, options?: Parameters<typeof ask>[3]) =>
  ask(at, "tools/call", { name, arguments: {} }, options);
const stateOf = async (at: ServedGateway, taskId: unknown, options?: Parameters<typeof ask>[3]) =>
  (await ask(at, "tasks/get", { taskId }, options)).result ?? {};

describe.each(["legacy", "modern"] as const)("a %s client of the official tasks package", (era) => {
  it.each([
    ["/mcp", "jobs-confirm_delete", "deleted"],
    ["/mcp/upstreams/jobs", "multi_input", "Ada"],
  ])("follows a task over %s, answers its questions and gets its result: %s", async (path, name, said) => {
    const { session, close } = await taskClient(era, new URL(path, a.url).href, as("ann"));
    const execution = await session.callTool(name, {}, { task: { preference: "prefer" } } as never);
    const { outcome, lastTask } = await execution.settle();
    expect({ status: outcome.status, kind: execution.kind }).toEqual({ status: "completed", kind: "task" });
    expect(JSON.stringify(outcome)).toContain(said);
    expect(lastTask?.status).toBe("completed");
    await close();
  });
});

describe("a call that takes long", () => {
  it("outlives its client, and any process has its result", async () => {
    built = Promise.withResolvers();
    const { result } = await call(a, "build");
    expect(result).toMatchObject({ resultType: "task", status: "working", pollIntervalMs: 1000, ttlMs: 3_600_000 });
    const taskId = result?.["taskId"];
    expect(await stateOf(b, taskId)).toMatchObject({ status: "working" });
    built.resolve("built");
    await expect
      .poll(() => stateOf(b, taskId))
      .toMatchObject({
        status: "completed",
        result: { content: [{ type: "text", text: "built" }] },
      });
  });

  it("is cancelled from another process, and the tool's signal fires", async () => {
    built = Promise.withResolvers();
    const taskId = (await call(a, "build")).result?.["taskId"];
    expect((await ask(b, "tasks/cancel", { taskId })).result).toMatchObject({ resultType: "complete" });
    expect(await stateOf(a, taskId)).toMatchObject({ status: "cancelled" });
  });

  it("cancels the task that its server made", async () => {
    const taskId = (await call(a, "jobs-wait")).result?.["taskId"];
    const before = upstream.cancelled.length;
    await ask(b, "tasks/cancel", { taskId });
    await expect.poll(() => upstream.cancelled.length).toBe(before + 1);
  });

  it("is nobody else's, and exists at its own address only", async () => {
    built = Promise.withResolvers();
    const taskId = (await call(a, "build")).result?.["taskId"];
    const notFound = { code: -32_602 };
    expect((await ask(a, "tasks/get", { taskId }, { who: "bob" })).error).toMatchObject(notFound);
    expect((await ask(a, "tasks/cancel", { taskId }, { who: "bob" })).error).toMatchObject(notFound);
    expect((await ask(a, "tasks/get", { taskId }, { path: "/mcp/upstreams/jobs" })).error).toMatchObject(notFound);
    await ask(a, "tasks/cancel", { taskId });
  });

  it("is answered as ever for a client that does not announce tasks, also if the server makes a task of it", async () => {
    const { result } = await call(a, "jobs-failing_job", { capabilities: {} });
    expect(result).toMatchObject({ resultType: "complete", isError: true, content: [{ text: "It broke." }] });
    expect((await ask(a, "tasks/get", { taskId: "x" }, { capabilities: {} })).error).toMatchObject({ code: -32_021 });
  });

  it("is answered at once if it does not take long", async () => {
    const { result } = await ask(a, "tools/call", { name: "jobs-greet", arguments: { name: "Ada" } });
    expect(result).toMatchObject({ resultType: "complete", content: [{ text: "Hello, Ada!" }] });
  });

  it("tells a client that listens at another process how its task ends", async () => {
    built = Promise.withResolvers();
    const taskId = (await call(a, "build")).result?.["taskId"];
    const over = new AbortController();
    const _meta = {
      [META.protocolVersion]: "2026-07-28",
      [META.clientCapabilities]: ANNOUNCED,
    };
    const response = await fetch(new URL("/mcp", b.url), {
      method: "POST",
      signal: over.signal,
      headers: {
        ...as("ann"),
        accept: "application/json, text/event-stream",
        "content-type": "application/json",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "subscriptions/listen",
      },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 5,
        method: "subscriptions/listen",
        params: { notifications: { taskIds: [taskId, "unknown"] }, _meta },
      }),
    });
    let heard = "";
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      heard += decoder.decode(chunk as Uint8Array, { stream: true });
      if (heard.includes("acknowledged")) built.resolve("built and told");
      if (heard.includes("built and told")) break;
    }
    over.abort();
    expect(heard).toContain(`"taskIds":["${String(taskId)}"]`);
    expect(heard).toContain('"method":"notifications/tasks"');
  });
});

describe("a tool of 2025-11-25 that runs as a task only", () => {
  it("is called by a client that knows nothing of tasks", async () => {
    const args = { topic: "tasks", ambiguous: false };
    const { result } = await ask(
      a,
      "tools/call",
      { name: "old-simulate-research-query", arguments: args },
      { capabilities: {} },
    );
    expect(JSON.stringify(result)).toContain("Research Report");
  });
});
