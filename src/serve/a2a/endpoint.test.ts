import { type AgentCard, type StreamResponse, TaskState } from "@a2a-js/sdk";
import { ClientFactory } from "@a2a-js/sdk/client";
import { AgentEvent, type AgentExecutor, type ExecutionEventBus, type RequestContext } from "@a2a-js/sdk/server";
import { describe, expect, it, onTestFinished } from "vitest";
import { A2A_WAYS, asking, contentOf, eventText, outcomeOf, readEvents } from "../../../test/serve/a2a-clients.ts";
import { createManualClock } from "../../testing/manual-clock.ts";
import { memoryState } from "../../adapters/state/memory.ts";
import { createHttpServer } from "../http/http-server.ts";
import { createReplica } from "../replica.ts";
import { type A2aEndpointParts, createA2aEndpoint } from "./endpoint.ts";

const card = (url = ""): AgentCard => ({
  name: "echo",
  description: "Repeats what it is told.",
  version: "1",
  provider: undefined,
  supportedInterfaces: ["1.0", "0.3"].flatMap((protocolVersion) => [
    { url: `${url}/a2a`, protocolBinding: "JSONRPC", tenant: "", protocolVersion },
    {
      url: protocolVersion === "1.0" ? `${url}/a2a/v1` : `${url}/a2a`,
      protocolBinding: "HTTP+JSON",
      tenant: "",
      protocolVersion,
    },
  ]),
  capabilities: { streaming: true, pushNotifications: false, extensions: [], extendedAgentCard: false },
  securitySchemes: {},
  securityRequirements: [],
  defaultInputModes: ["text/plain"],
  defaultOutputModes: ["text/plain"],
  skills: [],
  signatures: [],
});

/** Says a word again. `wait` works until it is cancelled; `ask` asks once and then repeats the answer. */
function echo(): AgentExecutor & { readonly waiting: Promise<void> } {
  const cancels = new Map<string, () => void>();
  const waiting = Promise.withResolvers<void>();
  async function execute(
    { taskId, contextId, userMessage, task }: RequestContext,
    bus: ExecutionEventBus,
  ): Promise<void> {
    const status = (state: TaskState) => ({ state, message: undefined, timestamp: "2026-01-01T00:00:00Z" });
    const update = (state: TaskState): void =>
      bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status: status(state), metadata: undefined }));
    const started = { id: taskId, contextId, artifacts: [], history: [], metadata: undefined };
    bus.publish(AgentEvent.task(task ?? { ...started, status: status(TaskState.TASK_STATE_SUBMITTED) }));
    update(TaskState.TASK_STATE_WORKING);
    const [said] = contentOf(userMessage.parts);
    if (said === "ask") return update(TaskState.TASK_STATE_INPUT_REQUIRED);
    if (said === "wait") {
      await new Promise<void>((resolve) => {
        cancels.set(taskId, resolve);
        waiting.resolve();
      });
      return update(TaskState.TASK_STATE_CANCELED);
    }
    const artifact = {
      artifactId: "echo",
      name: "",
      description: "",
      parts: userMessage.parts,
      metadata: undefined,
      extensions: [],
    };
    const event = { taskId, contextId, artifact, append: false, lastChunk: true, metadata: undefined };
    bus.publish(AgentEvent.artifactUpdate(event));
    update(TaskState.TASK_STATE_COMPLETED);
  }
  return { execute, cancelTask: async (taskId) => cancels.get(taskId)?.(), waiting: waiting.promise };
}

async function serve(parts: Partial<A2aEndpointParts> = {}): Promise<string> {
  let url = "";
  const replica = await createReplica(memoryState());
  const agent = { executor: echo(), abilities: card(), card: () => card(url) };
  const endpoint = createA2aEndpoint({ ...agent, replica, ttlMs: 60_000, ...parts });
  const server = await createHttpServer({ port: 0, routes: endpoint.routes });
  ({ url } = server);
  onTestFinished(async () => {
    endpoint.close();
    await server.close();
  });
  return url;
}

const DONE = { state: "completed", said: [], made: ["hello"] };

describe.each(A2A_WAYS)("an executor behind $name", ({ connect }) => {
  it("answers a message with the finished task, which can be read again", async () => {
    const client = await connect(await serve());
    const task = await client.sendMessage(asking("hello"));
    expect(outcomeOf(task)).toEqual(DONE);
    const { id } = task as { readonly id: string };
    expect(outcomeOf(await client.getTask({ id, tenant: "" }))).toEqual(DONE);
  });

  it("streams the events of a task", async () => {
    const client = await connect(await serve());
    const events = await readEvents(client.sendMessageStream(asking("hello")));
    expect(events).toEqual(["task submitted", "working", 'artifact "hello"', "completed"]);
  });

  it("asks for input, and goes on with the same task", async () => {
    const client = await connect(await serve());
    const asked = await client.sendMessage(asking("ask"));
    expect(outcomeOf(asked).state).toBe("input_required");
    const { id: taskId } = asked as { readonly id: string };
    const answered = await client.sendMessage(asking("hello", { taskId }));
    expect(answered).toMatchObject({ id: taskId });
    expect(outcomeOf(answered)).toEqual(DONE);
  });

  it("returns at once if asked to, lets others follow the task, and cancels it", async () => {
    const executor = echo();
    const client = await connect(await serve({ executor }));
    const started = await client.sendMessage(asking("wait", { returnImmediately: true }));
    expect(outcomeOf(started).state).toMatch(/submitted|working/);
    const { id } = started as { readonly id: string };
    await executor.waiting;
    const followed = client.resubscribeTask({ id, tenant: "" });
    const first = await followed.next();
    expect(first.done === true ? "" : eventText(first.value)).toMatch(/^task /);
    expect(outcomeOf(await client.cancelTask({ id, tenant: "", metadata: {} })).state).toBe("canceled");
    expect(await readEvents(followed)).toContain("canceled");
    await expect(client.cancelTask({ id: "unknown", tenant: "", metadata: {} })).rejects.toThrow(/not found/i);
  });

  it("lets others follow a task that waits for input, until it ends", async () => {
    const client = await connect(await serve());
    const follow = async (id: string): Promise<AsyncGenerator<StreamResponse, void, undefined>> => {
      const followed = client.resubscribeTask({ id, tenant: "" });
      const first = await followed.next();
      expect(first.done === true ? "" : eventText(first.value)).toBe("task input_required");
      return followed;
    };
    const { id: taskId } = (await client.sendMessage(asking("ask"))) as { readonly id: string };
    const followed = await follow(taskId);
    await client.sendMessage(asking("hello", { taskId }));
    expect((await readEvents(followed)).slice(-2)).toEqual(['artifact "hello"', "completed"]);
    await expect(readEvents(client.resubscribeTask({ id: taskId, tenant: "" }))).rejects.toThrow(/terminal/);

    const { id } = (await client.sendMessage(asking("ask"))) as { readonly id: string };
    const cancelled = await follow(id);
    await client.cancelTask({ id, tenant: "", metadata: {} });
    expect(await readEvents(cancelled)).toEqual(["canceled"]);
  });

  it("goes on with a task whose reader has hung up", async () => {
    const client = await connect(await serve());
    const stream = client.sendMessageStream(asking("hello"));
    const first = await stream.next();
    await stream.return();
    const id = first.value?.payload?.$case === "task" ? first.value.payload.value.id : "";
    let task = await client.getTask({ id, tenant: "" });
    while (task.status?.state !== TaskState.TASK_STATE_COMPLETED) task = await client.getTask({ id, tenant: "" });
    expect(outcomeOf(task)).toEqual(DONE);
  });

  it("refuses a message to a task that nobody knows", async () => {
    const client = await connect(await serve());
    await expect(client.sendMessage(asking("hello", { taskId: "unknown" }))).rejects.toThrow(/not found/i);
  });
});

describe("the card of an agent", () => {
  it("is found by the SDK's client, which then speaks 1.0", async () => {
    const client = await new ClientFactory().createFromUrl(await serve());
    expect(client.protocolVersion).toBe("1.0");
    expect(outcomeOf((await client.sendMessage(asking("hello"))) as never)).toEqual(DONE);
  });

  it("has the shape of the version that is asked for, and of both if none is", async () => {
    const url = await serve();
    const read = async (path: string, version?: string): Promise<Record<string, unknown>> => {
      const headers = version === undefined ? {} : { "A2A-Version": version };
      return (await (await fetch(`${url}${path}`, { headers })).json()) as Record<string, unknown>;
    };
    const current = await read("/.well-known/agent-card.json", "1.0");
    expect(current).toHaveProperty("supportedInterfaces");
    expect(current).not.toHaveProperty("url");
    const older = { url: `${url}/a2a`, preferredTransport: "JSONRPC", protocolVersion: "0.3.0" };
    expect(await read("/.well-known/agent-card.json", "0.3")).toMatchObject(older);
    expect(await read("/.well-known/agent.json")).toMatchObject(older);
    expect(await read("/.well-known/agent-card.json")).toMatchObject({ ...current, ...older });
  });

  it("says when it changed last", async () => {
    const clock = createManualClock();
    let description = "first";
    const changing = (): AgentCard => ({ ...card(), description });
    const url = `${await serve({ card: changing, clock })}/.well-known/agent-card.json`;
    const changed = async (): Promise<string | null> => (await fetch(url)).headers.get("last-modified");
    const first = new Date(clock.now()).toUTCString();
    expect(await changed()).toBe(first);
    await clock.advance(60_000);
    expect(await changed()).toBe(first);
    description = "second";
    expect(await changed()).toBe(new Date(clock.now()).toUTCString());
  });

  it("is not sent again to a reader who has it", async () => {
    const url = `${await serve()}/.well-known/agent-card.json`;
    const etag = (await fetch(url)).headers.get("etag") ?? "";
    expect((await fetch(url, { headers: { "if-none-match": etag } })).status).toBe(304);
  });
});

describe("JSON-RPC requests to an agent", () => {
  const post = async (
    url: string,
    body: string,
    headers: Record<string, string> = {},
    path = "/a2a",
  ): Promise<unknown> => {
    const init = { method: "POST", headers: { "content-type": "application/json", ...headers }, body };
    return (await fetch(`${url}${path}`, init)).json();
  };
  const rpc = (method: string, params: object): string => JSON.stringify({ jsonrpc: "2.0", id: 7, method, params });

  it.each([
    ["text that is not JSON", "{", {}, -32_700],
    ["the same key twice", '{"jsonrpc":"2.0","id":1,"id":2,"method":"GetTask"}', {}, -32_600],
    ["a list", "[]", {}, -32_600],
    ["another protocol", '{"jsonrpc":"1.0","id":1,"method":"GetTask"}', {}, -32_600],
    ["a method there is not", rpc("Sing", {}), {}, -32_601],
    ["a method of another version", rpc("message/send", {}), { "A2A-Version": "1.0" }, -32_601],
    ["a version there is not", rpc("GetTask", { id: "x" }), { "A2A-Version": "9.9" }, -32_009],
    ["no parameters", '{"jsonrpc":"2.0","id":1,"method":"GetTask"}', {}, -32_602],
    ["a task there is not", rpc("GetTask", { id: "x" }), {}, -32_001],
    [
      "a message without parts",
      rpc("SendMessage", { message: { messageId: "m", role: "ROLE_USER", parts: [] } }),
      {},
      -32_602,
    ],
    ["a history of less than nothing", rpc("GetTask", { id: "x", historyLength: -1 }), {}, -32_602],
    [
      "the same with a message",
      rpc("SendMessage", {
        message: { messageId: "m", role: "ROLE_USER", parts: [{ text: "hello" }] },
        configuration: { historyLength: -1 },
      }),
      {},
      -32_602,
    ],
    ["another type of body", rpc("GetTask", { id: "x" }), { "content-type": "text/plain" }, -32_005],
  ])("refuses %s in the protocol's own form", async (_what, body, headers, code) => {
    expect(await post(await serve(), body, headers)).toMatchObject({ jsonrpc: "2.0", error: { code } });
  });

  it("takes a slash after its path", async () => {
    const answer = await post(await serve(), rpc("GetTask", { id: "x" }), {}, "/a2a/");
    expect(answer).toMatchObject({ error: { code: -32_001 } });
  });

  it("takes tasks/send with an id of the caller's own, and reads and cancels that task [000-8.3-send]", async () => {
    const url = await serve();
    const message = { role: "user", parts: [{ type: "text", text: "hello" }] };
    const sent = await post(url, rpc("tasks/send", { id: "my-task", sessionId: "s", message }));
    const parts = [{ type: "text", text: "hello" }];
    expect(sent).toMatchObject({
      id: 7,
      result: { id: "my-task", sessionId: "s", status: { state: "completed" }, artifacts: [{ parts }] },
    });
    const read = await post(url, rpc("tasks/get", { id: "my-task" }));
    expect(read).toMatchObject({ result: { id: "my-task", status: { state: "completed" } } });
    expect(await post(url, rpc("tasks/cancel", { id: "my-task" }))).toMatchObject({ error: { code: -32_002 } });
    expect(await post(url, rpc("tasks/send", { id: "", message }))).toMatchObject({ error: { code: -32_602 } });
  });

  it("streams tasks/sendSubscribe", async () => {
    const message = { role: "user", parts: [{ type: "text", text: "hello" }] };
    const response = await fetch(`${await serve()}/a2a`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: rpc("tasks/sendSubscribe", { id: "my-task", message }),
    });
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    const events = (await response.text()).split("\n\n").filter((each) => each !== "");
    expect(JSON.parse(events.at(-1)?.split("data: ")[1] ?? "")).toMatchObject({
      result: { id: "my-task", status: { state: "completed" }, final: true },
    });
  });
});
