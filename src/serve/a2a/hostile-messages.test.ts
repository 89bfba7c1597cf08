import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ticketArsenal } from "../../../test/mcp/toolset-gateway.ts";
import { bearerToken } from "../../adapters/identity/bearer-token.ts";
import { memoryState } from "../../adapters/state/memory.ts";
import type { ToolArsenalConfig } from "../../config/config.ts";

const ends: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

const KEYS = { eve: "token-of-eve-with-length", ada: "token-of-ada-with-length" };
const identity = bearerToken({
  tokens: Object.entries(KEYS).map(([id, token]) => ({
    token,
    principal: { id, local: false, roles: [], capabilities: [], scopes: [] },
  })),
});

async function serve(a2a: ToolArsenalConfig["a2a"] = {}) {
  const { documents, ...state } = memoryState();
  const arsenal = ticketArsenal({ a2a }, { state: { ...state, documents } });
  const gateway = await arsenal.serve({ port: 0, identity });
  ends.push(
    () => arsenal.close(),
    () => gateway.close(),
  );
  return { url: gateway.url ?? "", documents, arsenal };
}

type Json = Readonly<Record<string, unknown>>;

interface Answer {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly text: string;
}

async function post(url: string, body: object, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${KEYS.eve}`, ...headers },
    body: JSON.stringify(body),
  });
  return { status: response.status, retryAfter: response.headers.get("retry-after"), text: await response.text() };
}

const rpc =
  (method: string) =>
  (url: string, params: object, headers = {}): Promise<Answer> =>
    post(`${url}/a2a`, { jsonrpc: "2.0", id: 1, method, params }, headers);

/** Every way to send a message: the address, and how it calls the parts. */
const WAYS: readonly {
  readonly name: string;
  readonly parts?: string;
  send(url: string, params: object, headers?: Readonly<Record<string, string>>): Promise<Answer>;
}[] = [
  { name: "SendMessage", send: rpc("SendMessage") },
  { name: "SendStreamingMessage", send: rpc("SendStreamingMessage") },
  { name: "message/send", send: rpc("message/send") },
  { name: "message/stream", send: rpc("message/stream") },
  { name: "tasks/send", send: rpc("tasks/send") },
  { name: "tasks/sendSubscribe", send: rpc("tasks/sendSubscribe") },
  {
    name: "message:send of 1.0",
    send: (url, params, headers) => post(`${url}/a2a/v1/message:send`, params, { "a2a-version": "1.0", ...headers }),
  },
  {
    name: "message:stream of 1.0",
    send: (url, params, headers) => post(`${url}/a2a/v1/message:stream`, params, { "a2a-version": "1.0", ...headers }),
  },
  {
    name: "message:send of 0.3",
    parts: "content",
    send: (url, params, headers) => post(`${url}/a2a/v1/message:send`, params, headers),
  },
  {
    name: "message:stream of 0.3",
    parts: "content",
    send: (url, params, headers) => post(`${url}/a2a/v1/message:stream`, params, headers),
  },
];

const text = { kind: "text", type: "text", text: "create a ticket" };
const message = (more: Json = {}): Json => ({ messageId: "m", role: "user", kind: "message", parts: [text], ...more });

describe.each(WAYS)("a message by $name", ({ send, parts = "parts" }) => {
  const params = (more: Json = {}): Json => {
    const { parts: given, ...others } = message(more);
    return { message: { ...others, [parts]: given } };
  };

  let gateway: Awaited<ReturnType<typeof serve>>;
  beforeAll(async () => {
    gateway = await serve();
  });

  it("is answered if it is within the limits", async () => {
    const { url } = gateway;
    const { text: answer } = await send(url, params());
    expect(answer).toMatch(/completed/i);
  });

  it("is refused with the limit and the count if it has too many parts, and stores nothing", async () => {
    const { url, documents } = gateway;
    const before = await documents.keys("a2a/");
    const { status, text: answer } = await send(url, params({ parts: Array.from({ length: 5_000 }, () => text) }));
    expect(answer).toContain(`message.${parts} has 5000 entries; the limit is 256.`);
    expect([200, 400]).toContain(status);
    expect(await documents.keys("a2a/")).toEqual(before);
  });

  it("is refused if its ids are long or odd, or if it has much besides its parts", async () => {
    const { url, documents } = gateway;
    const before = await documents.keys("a2a/");
    const many = (length: number): readonly string[] => Array.from({ length }, () => "e");
    const note = "n".repeat(70_000);
    for (const [more, problem] of [
      [{ messageId: "m".repeat(300) }, /message\.messageId has 300 characters; the limit is 256/],
      [{ contextId: "c\u001b[2J" }, /message\.contextId has control characters/],
      [{ referenceTaskIds: many(17) }, /has 17 entries; the limit is 16/],
      [{ metadata: { note } }, /more than 65536 characters of JSON/],
      [{ extensions: many(40_000) }, /more than 65536 characters of JSON/],
      [{ parts: [{ ...text, metadata: { note } }] }, /more than 65536 characters of JSON/],
    ] as const)
      expect((await send(url, params(more))).text).toMatch(problem);
    expect(await documents.keys("a2a/")).toEqual(before);
  });

  it("is stored only as far as a few KiB, and says how much was left out", async () => {
    const { url, documents } = gateway;
    const { text: answer } = await send(url, params({ parts: [{ ...text, text: "ticket ".repeat(500_000) }] }));
    expect(answer.length).toBeLessThan(200_000);
    const kept = JSON.stringify(await documents.list("a2a/"));
    expect(kept.length).toBeLessThan(100_000);
    expect(kept).toMatch(/34\d{5} bytes were left out when this was stored/);
  });

  it("is limited per caller in a minute, and others are not", async () => {
    const { url } = await serve({ messagesPerMinute: 2 });
    for (let count = 0; count < 2; count++) expect((await send(url, params())).status).toBeLessThan(300);
    const { status, retryAfter, text: answer } = await send(url, params());
    expect(status).toBe(429);
    expect(Number(retryAfter)).toBeGreaterThan(0);
    expect(Number(retryAfter)).toBeLessThanOrEqual(60);
    expect(answer).toContain("2 messages within a minute");
    expect((await send(url, params(), { authorization: `Bearer ${KEYS.ada}` })).status).toBeLessThan(300);
  });
});

describe("a large call", () => {
  it("runs with everything that was sent, and is asked for again when it needs an approval", async () => {
    const { url, arsenal } = await serve();
    const given: unknown[] = [];
    arsenal.register({ name: "keep", namespace: "support", description: "Keeps." }, (args) => {
      given.push(args);
      return "x".repeat(1_000_000);
    });
    arsenal.register(
      { name: "pay", namespace: "support", description: "Pays.", requiresConfirmation: true },
      () => "paid",
    );
    const notes = "n".repeat(200_000);
    const call = (tool: string, more: Json = {}, args: Json = { notes }): Json =>
      message({ parts: [{ data: { tool, arguments: args } }], role: "ROLE_USER", ...more });
    const send = rpc("SendMessage");
    const { text: answer } = await send(url, { message: call("support.keep") });
    expect(given).toEqual([{ notes }]);
    const { id, artifacts } = (JSON.parse(answer) as { result: { task: Task } }).result.task;
    expect(artifacts[0]?.parts[0]?.text).toHaveLength(1_000_000);
    const read = JSON.parse((await rpc("GetTask")(url, { id })).text) as { result: Task };
    expect(read.result.artifacts[0]?.parts.at(-1)?.text).toMatch(/bytes were left out when this was stored/);

    // More than a task keeps of a request, and less than a person is asked to read.
    const asking = call("support.pay", {}, { notes: "n".repeat(40_000) });
    const waiting = JSON.parse((await send(url, { message: asking })).text) as { result: { task: Task } };
    const { id: taskId, contextId } = waiting.result.task;
    const alone = { parts: [{ data: { confirmationId: "some" } }], taskId, contextId, messageId: "m2" };
    expect((await send(url, { message: call("", alone) })).text).toContain("too large to be stored. Send its tool");
  });
});

interface Task {
  readonly id: string;
  readonly contextId: string;
  readonly artifacts: readonly { readonly parts: readonly { readonly text?: string }[] }[];
}

describe("a request at once with others", () => {
  it("is refused with 429 if its caller has too many, and others are not. It can still cancel", async () => {
    const { url, arsenal } = await serve();
    const finish = Promise.withResolvers<string>();
    arsenal.register(
      { name: "wait", namespace: "support", description: "Waits.", timeoutMs: 300_000, cost: { rateLimit: 1_000 } },
      () => finish.promise,
    );
    const wait = { message: message({ parts: [{ data: { tool: "support.wait" } }], role: "ROLE_USER" }) };
    const begin = { ...wait, configuration: { returnImmediately: true } };
    const send = rpc("SendMessage");
    const answers = await Promise.all(Array.from({ length: 101 }, () => send(url, begin)));
    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused).toMatchObject([{ status: 429, retryAfter: "1" }]);
    expect(refused[0]?.text).toContain("Too many running tasks at once. A caller can have 100");
    const ada = { authorization: `Bearer ${KEYS.ada}` };
    expect((await send(url, { message: message({ role: "ROLE_USER" }) }, ada)).status).toBe(200);
    const { id } = (JSON.parse(answers[0]?.text ?? "") as { result: { task: Task } }).result.task;
    expect((await rpc("CancelTask")(url, { id })).text).toContain("TASK_STATE_CANCELED");
    expect((await send(url, begin)).status).toBe(200);
    finish.resolve("done");
  });
});

describe("a JSON-RPC request", () => {
  it("is refused if its id is too long to be repeated in every event", async () => {
    const { url } = await serve();
    const { text: answer } = await post(`${url}/a2a`, { jsonrpc: "2.0", id: "i".repeat(1_000_000), method: "GetTask" });
    expect(answer).toContain("longer than 256 characters");
    expect(answer.length).toBeLessThan(1_000);
  });

  it("is refused by every method if it has more than a request needs", async () => {
    const { url } = await serve();
    const many = Array.from({ length: 60_000 }, () => "");
    for (const method of ["GetTask", "ListTasks", "CancelTask", "SubscribeToTask", "ListTaskPushNotificationConfigs"]) {
      expect((await rpc(method)(url, { id: "i".repeat(300) })).text).toContain(
        "id has 300 characters; the limit is 256",
      );
      expect((await rpc(method)(url, { pageToken: many })).text).toContain("more than 65536 characters of JSON");
    }
  });
});

describe("push notifications of a task", () => {
  it("are bounded by number and bytes", async () => {
    const { url, documents } = await serve();
    const sent = JSON.parse((await rpc("SendMessage")(url, { message: message({ role: "ROLE_USER" }) })).text) as {
      result: { task: Task };
    };
    const taskId = sent.result.task.id;
    const add = (id: string, token: string): Promise<Answer> =>
      rpc("CreateTaskPushNotificationConfig")(url, { taskId, id, url: "https://example.com/hook", token });
    expect((await add("large", "t".repeat(40_000))).text).toMatch(/take \d+ bytes; the limit is 32768/);
    for (let count = 0; count < 10; count++) expect((await add(`c${count}`, "t")).text).toContain("result");
    expect((await add("c10", "t")).text).toContain("A task can have 10");
    expect((await documents.keys("a2a/push/")).length).toBe(1);
  });
});
