import { afterEach, describe, expect, it } from "vitest";
import {
  answerJson as json,
  hangUp,
  type HttpAnswers,
  httpAnswers,
  type Respond,
} from "../../test/doubles/http-answers.ts";
import { skippingClock } from "../../test/doubles/skipping-clock.ts";
import { createClient, type ArsenalClient, type ClientOptions } from "./index.ts";

const TIMEOUT_MS = 30_000;
const opened: HttpAnswers[] = [];
afterEach(async () => {
  for (const server of opened.splice(0)) await server[Symbol.asyncDispose]();
});

/** A client of a real server that answers as `respond` says, and counts. */
async function against(respond: Respond, options: ClientOptions = {}) {
  const server = await httpAnswers(respond);
  opened.push(server);
  const clock = skippingClock(TIMEOUT_MS);
  return { client: createClient({ url: server.url, clock, ...options }), seen: server.seen, clock };
}

const done = { toolName: "pay", status: "success", attempts: 1 };
const call = { toolName: "pay", arguments: { amount: 5 } };

const SAFE: Readonly<Record<string, (client: ArsenalClient) => Promise<unknown>>> = {
  healthCheck: (client) => client.healthCheck(),
  getTool: (client) => client.getTool("pay"),
  retrieve: (client) => client.retrieve({ context: { query: "pay" } }),
  exportTools: (client) => client.exportTools("openai", ["default.pay"]),
  "execute with an idempotency key": (client) => client.execute({ ...call, idempotencyKey: "once" }),
};

const UNSAFE: Readonly<Record<string, (client: ArsenalClient) => Promise<unknown>>> = {
  addTool: (client) => client.addTool({ name: "pay", description: "Pays an amount of money." }),
  deleteTool: (client) => client.deleteTool("pay"),
  "policy.reload": (client) => client.policy.reload(),
};

describe("a request whose answer was lost", () => {
  it.each(Object.entries(SAFE))("is repeated if that is safe: %s", async (_name, use) => {
    const { client, seen } = await against((_request, response, count) =>
      count < 3 ? hangUp(response) : json(response, 200, done),
    );
    expect(await use(client)).toEqual(done);
    expect(new Set(seen).size).toBe(1);
    expect(seen).toHaveLength(3);
  });

  it.each(Object.entries(UNSAFE))("is not repeated if that may do something twice: %s", async (_name, use) => {
    const { client, seen } = await against((_request, response) => hangUp(response));
    await expect(use(client)).rejects.toMatchObject({ code: "TRANSPORT_FAILED" });
    expect(seen).toHaveLength(1);
  });

  it("leaves a call of unknown outcome, alone and in a batch, and says what to do", async () => {
    const { client, seen } = await against((_request, response) => hangUp(response));
    const unknown = {
      toolName: "pay",
      status: "failure",
      attempts: 1,
      error: { code: "OUTCOME_UNKNOWN", message: expect.stringContaining("idempotencyKey") as string },
    };
    expect(await client.execute(call)).toMatchObject(unknown);
    const batch = await client.executeBatch({ calls: [{ ...call, idempotencyKey: "a" }, call] });
    expect(batch).toMatchObject({ results: [unknown, unknown], successfulCount: 0, failedCount: 2 });
    expect(seen).toHaveLength(2);
  });

  it("is given up after as many repetitions as were asked for, with growing pauses", async () => {
    const { client, seen, clock } = await against((_request, response) => hangUp(response), { retries: 4 });
    await expect(client.healthCheck()).rejects.toMatchObject({ code: "TRANSPORT_FAILED" });
    expect(seen).toHaveLength(5);
    expect(clock.pauses).toHaveLength(4);
    for (const [index, pause] of clock.pauses.entries()) {
      expect(pause).toBeGreaterThanOrEqual(100 * 2 ** index);
      expect(pause).toBeLessThanOrEqual(200 * 2 ** index);
    }
  });
});

describe("a gateway that is busy", () => {
  it.each([429, 503])("is asked again when it says: %i", async (status) => {
    const { client, seen, clock } = await against((_request, response, count) =>
      count === 1 ? json(response, status, {}, { "retry-after": "2" }) : json(response, 200, done),
    );
    expect(await client.execute(call)).toEqual(done);
    expect(seen).toHaveLength(2);
    expect(clock.pauses).toHaveLength(1);
    expect(clock.pauses[0]).toBeGreaterThanOrEqual(2000);
    expect(clock.pauses[0]).toBeLessThanOrEqual(2100);
  });

  it("is not asked to run a call again if it does not say that it had not started", async () => {
    const { client, seen } = await against((_request, response) => json(response, 503, {}));
    expect((await client.execute(call)).error?.code).toBe("OUTCOME_UNKNOWN");
    expect(seen).toHaveLength(1);
  });

  it("is not waited for too long", async () => {
    const { client, seen, clock } = await against((_request, response) =>
      json(response, 429, { code: "RATE_LIMITED", detail: "Too many." }, { "retry-after": "60" }),
    );
    const refused = { code: "RATE_LIMITED", details: { retryAfterMs: 60_000 } };
    await expect(client.healthCheck()).rejects.toMatchObject(refused);
    const result = await client.execute(call);
    expect(result).toMatchObject({ status: "failure", attempts: 0, error: { code: "RATE_LIMITED", beforeSend: true } });
    expect([seen.length, clock.pauses]).toEqual([2, []]);
  });

  it("and shuts down is asked again sooner: its address may lead to another one", async () => {
    const { client, clock } = await against((_request, response, count) =>
      count === 1
        ? json(response, 503, { code: "CLOSED", detail: "Shutting down." }, { "retry-after": "60" })
        : json(response, 200, done),
    );
    expect(await client.execute(call)).toEqual(done);
    expect(clock.pauses).toHaveLength(1);
    expect(clock.pauses[0]).toBeLessThanOrEqual(10_100);
  });

  it("has answered if it says what became of a call: that is data, and final", async () => {
    const result = { toolName: "pay", status: "circuit_open", attempts: 0, error: { code: "CIRCUIT_OPEN" } };
    const { client, seen } = await against((_request, response) =>
      json(response, 503, { code: "CIRCUIT_OPEN", detail: "Left alone.", result }, { "retry-after": "1" }),
    );
    expect(await client.execute(call)).toEqual(result);
    expect(seen).toHaveLength(1);
  });
});

describe("a gateway that cannot be reached", () => {
  it("was certainly sent nothing, so everything is tried again", async () => {
    const { client: gone } = await against(() => {});
    for (const server of opened.splice(0)) await server[Symbol.asyncDispose]();
    await expect(gone.healthCheck()).rejects.toMatchObject({
      code: "TRANSPORT_FAILED",
      details: { beforeSend: true },
      message: expect.stringMatching(/Cannot connect to the gateway at http.*ECONNREFUSED/) as string,
    });
    expect(await gone.execute(call)).toMatchObject({
      status: "failure",
      attempts: 0,
      error: { code: "TRANSPORT_FAILED", beforeSend: true },
    });
  });

  it("runs a call once it is there", async () => {
    const { client, seen } = await against((_request, response) => json(response, 200, done), {
      fetch: await refusedOnce(),
    });
    expect(await client.execute(call)).toEqual(done);
    expect(seen).toHaveLength(1);
  });
});

/** `fetch`, whose first connection goes to a port where nobody listens. */
async function refusedOnce(): Promise<typeof fetch> {
  const gone = await httpAnswers(() => {});
  await gone[Symbol.asyncDispose]();
  let count = 0;
  return (url, init) => fetch(count++ === 0 ? gone.url : url, init);
}

describe("waiting", () => {
  it("ends with CANCELLED when the signal fires, during a request and between two", async () => {
    const stop = new AbortController();
    const { client } = await against(() => stop.abort());
    const query = { context: { query: "pay" } };
    await expect(client.retrieve({ ...query, signal: stop.signal })).rejects.toMatchObject({ code: "CANCELLED" });

    const later = new AbortController();
    const clock = { ...skippingClock(TIMEOUT_MS), after: () => (queueMicrotask(() => later.abort()), () => {}) };
    const busy = await against((_request, response) => json(response, 503, {}, { "retry-after": "5" }), { clock });
    const waiting = busy.client.retrieve({ ...query, signal: later.signal });
    await expect(waiting).rejects.toMatchObject({ code: "CANCELLED" });
    expect(busy.seen.length).toBeLessThanOrEqual(1);
  });

  it("makes a cancelled call a result, as in an embedded arsenal", async () => {
    const stop = new AbortController();
    const { client, seen } = await against(() => stop.abort());
    expect(await client.execute({ ...call, signal: stop.signal })).toMatchObject({
      toolName: "pay",
      status: "cancelled",
      error: { code: "CANCELLED" },
    });
    expect(seen).toEqual([`POST /api/v1/execute ${JSON.stringify(call)}`]);
    const late = await client.execute({ ...call, signal: AbortSignal.abort() });
    expect(late).toMatchObject({ status: "cancelled", attempts: 0 });
    expect(late.error?.message).toBe("The call of pay was cancelled. It was not started.");
    expect(seen).toHaveLength(1);
  });

  it("ends when the client's own signal fires", async () => {
    const stop = new AbortController();
    const { client } = await against(() => stop.abort(), { signal: stop.signal });
    await expect(client.healthCheck()).rejects.toMatchObject({ code: "CANCELLED" });
  });

  it("ends after timeoutMs, but for calls, which have their own limits", async () => {
    const timeout = Promise.withResolvers<void>();
    const { client, clock, seen } = await against((_request, _response, count) => {
      if (count === 1) for (const fire of clock.timeouts) fire();
      timeout.resolve();
    });
    await expect(client.healthCheck()).rejects.toMatchObject({ code: "TIMEOUT", details: { value: TIMEOUT_MS } });
    await timeout.promise;
    expect([seen.length, clock.timeouts.size]).toEqual([1, 0]);
    const stop = new AbortController();
    const running = client.execute({ ...call, signal: stop.signal });
    expect(clock.timeouts.size).toBe(0);
    stop.abort();
    expect((await running).status).toBe("cancelled");
  });
});
