import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer, type Server } from "node:net";
import { createClient } from "redis";
import { afterEach, describe, expect, it } from "vitest";
import { freePort, redisMissing, type RedisService, startRedis } from "../../../test/services/redis.ts";
import { STATE_LOST } from "../../guard/state-loss.ts";
import { systemClock } from "../../observe/clock.ts";
import type { SharedState } from "../../state/shared-state.ts";
import { withLocalLimits } from "../../state/with-local-limits.ts";
import { redisState, type RedisStateOptions } from "./redis.ts";

const missing = redisMissing();
const opened: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const each of opened.splice(0).toReversed()) await each.close();
});

async function start(settings?: Readonly<Record<string, string>>): Promise<RedisService> {
  const server = await startRedis(settings);
  opened.push({ close: server.stop });
  return server;
}

function open(options: RedisStateOptions): SharedState {
  const state = redisState(options);
  opened.push(state);
  return state;
}

/** Resolves once the state works again, without asking for anything that would make it so. */
async function works(state: SharedState): Promise<void> {
  await expect.poll(() => state.healthCheck(), { timeout: 60_000, interval: 20 }).toBe(true);
}

async function portOf(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  opened.push({ close: async () => server.close() });
  return (server.address() as AddressInfo).port;
}

// because redis-server may not be installed; CI has it
describe.skipIf(missing !== undefined)("redisState, when the server is away", () => {
  it.each(["killed", "hanging"])(
    "lets calls go on under local limits while it is %s, says so once, and recovers unaided",
    { timeout: 60_000 },
    async (how) => {
      const server = await start();
      const state = open({ url: server.url });
      const events: string[] = [];
      let restored = (): void => {};
      const back = new Promise<void>((resolve) => (restored = resolve));
      const limits = withLocalLimits(state.limits, {
        clock: systemClock,
        emit(name) {
          events.push(name);
          if (name === "state-restored") restored();
        },
      });
      opened.push({ close: async () => limits.close() });
      const request = { places: [{ key: "p", limit: 4 }], waitMs: 60_000, holdMs: 600_000 };
      const ending = new AbortController();
      let calls = 0;
      const caller = async (): Promise<void> => {
        while (!ending.signal.aborted) {
          const admission = await limits.admit(request);
          if (!admission.admitted) throw new Error(`refused: ${admission.because}`);
          calls++;
          await new Promise((resolve) => void setImmediate(resolve));
          await limits.release(admission.pass, "success");
        }
      };
      const callers = Array.from({ length: 8 }, caller);
      await expect.poll(() => calls, { timeout: 60_000 }).toBeGreaterThan(100);
      if (how === "killed") await server.kill();
      else server.pause();
      await expect.poll(() => events, { timeout: 60_000 }).toEqual(["state-unavailable"]);
      const before = calls;
      await expect.poll(() => calls, { timeout: 60_000 }).toBeGreaterThan(before + 100);
      if (how === "killed") await server.restart();
      else server.resume();
      await back;
      const after = calls;
      await expect.poll(() => calls, { timeout: 60_000 }).toBeGreaterThan(after + 100);
      ending.abort();
      await Promise.all(callers);
      expect(events).toEqual(["state-unavailable", "state-restored"]);
      // Nothing is left of calls whose answer was lost: all places are free.
      const places = [{ key: "p", limit: 4 }];
      await expect
        .poll(
          async () => {
            const all = await Promise.all([1, 2, 3, 4].map(() => state.limits.admit({ places, holdMs: 600_000 })));
            for (const each of all) if (each.admitted) await state.limits.release(each.pass, "neutral");
            return all.filter(({ admitted }) => admitted).length;
          },
          { timeout: 60_000 },
        )
        .toBe(4);
    },
  );

  it("fails soon when the server hangs, then at once, and does nothing late that it said had failed", async () => {
    const server = await start();
    const state = open({ url: server.url });
    await state.documents.set("a", "before");
    server.pause();
    const hanging = state.documents.set("a", "late");
    await expect(hanging).rejects.toMatchObject({
      code: "STORE_FAILED",
      message: `Cannot use Redis at 127.0.0.1:${server.port}: it does not answer. Check that it is running. It is retried every second.`,
    });
    // The first attempt to connect again is waited for, the others are not.
    await expect(state.documents.get("a")).rejects.toThrow("it does not answer");
    const many = Array.from({ length: 1_000 }, () => state.documents.get("a"));
    const soon = new Promise<[]>((resolve) => void setImmediate(resolve, []));
    const outcomes = await Promise.race([Promise.allSettled(many), soon]);
    expect(outcomes.map(({ status }) => status)).toEqual(many.map(() => "rejected"));
    server.resume();
    await works(state);
    expect(await state.documents.get("a")).toMatchObject({ value: "before" });
  });

  it("tells a listener everything that was published while its own connection was away", async () => {
    const server = await start();
    let mayConnect = Promise.withResolvers<void>();
    mayConnect.resolve();
    const [one, other] = [
      open({ url: server.url }),
      open({
        async client() {
          await mayConnect.promise;
          return createClient({ url: server.url, socket: { reconnectStrategy: false } });
        },
      }),
    ];
    const heard: unknown[] = [];
    other.changes.subscribe("t", (data) => void heard.push(data));
    await one.changes.publish("t", 0);
    await expect.poll(() => heard).toEqual([0]);
    mayConnect = Promise.withResolvers();
    server.command("CLIENT", "KILL", "TYPE", "normal");
    server.command("CLIENT", "KILL", "TYPE", "pubsub");
    await works(one);
    for (let message = 1; message <= 1_200; message++) await one.changes.publish("t", message);
    expect(heard).toEqual([0]);
    mayConnect.resolve();
    await expect
      .poll(() => [...new Set(heard)], { timeout: 60_000 })
      .toEqual(Array.from({ length: 1_201 }, (_, index) => index));
  });

  it("tells how breakers stand once it is back", async () => {
    const server = await start({ appendonly: "yes", appendfsync: "always" });
    const [one, other] = [open({ url: server.url }), open({ url: server.url })];
    const heard: unknown[] = [];
    other.limits.watchBreakers(({ key, probeAt }) => void heard.push([key, probeAt !== undefined]));
    const fail = async (key: string): Promise<void> => {
      const admission = await one.limits.admit({ breaker: { key, threshold: 1, coolDownMs: 60_000 }, holdMs: 60_000 });
      if (admission.admitted) await one.limits.release(admission.pass, "failure");
    };
    await fail("first");
    await expect.poll(() => heard).toEqual([["first", true]]);
    await server.kill();
    await server.restart();
    await works(one);
    await fail("second");
    await expect
      .poll(() => heard, { timeout: 60_000 })
      .toEqual([
        ["first", true],
        ["second", true],
      ]);
  });

  it("keeps its data over kill -9 with an append-only file", async () => {
    const server = await start({ appendonly: "yes", appendfsync: "always" });
    const lost: string[] = [];
    const state = open({ url: server.url, onLost: ({ message }) => void lost.push(message) });
    await state.documents.set("a", 1);
    const before = await state.documents.get("a");
    await server.kill();
    await server.restart();
    await works(state);
    expect(await state.documents.get("a")).toEqual(before);
    expect(await state.documents.get(STATE_LOST)).toBeUndefined();
    expect(lost).toEqual([]);
  });

  it("never gives a version or an era twice, remembers the loss, and loses its leases if the data is gone", async () => {
    const server = await start();
    const lost: string[] = [];
    const state = open({ url: server.url, onLost: ({ message }) => void lost.push(message) });
    await state.documents.set("a", 1);
    const before = await state.documents.get("a");
    const lease = await state.leases.acquire("l", { ttlMs: 600_000 });
    const breaker = { key: "tool", threshold: 2, coolDownMs: 60_000 };
    const early = await state.limits.admit({ breaker, holdMs: 600_000 });
    await server.kill();
    await server.restart();
    await works(state);
    await state.documents.set("a", 1, { ifVersion: "absent" });
    expect(await state.documents.set("a", 2, { ifVersion: before?.version ?? 0 })).toBe(false);
    if (early.admitted) await state.limits.release(early.pass, "failure");
    const next = await state.limits.admit({ breaker, holdMs: 600_000 });
    if (next.admitted) expect(await state.limits.release(next.pass, "failure")).toEqual({});
    await expect.poll(() => lease?.lost.aborted).toBe(true);
    const why = `Redis at 127.0.0.1:${server.port} lost its data while it was in use. Turn on persistence (appendonly yes).`;
    await expect.poll(() => lost).toEqual([why]);
    expect(await state.documents.get(STATE_LOST)).toMatchObject({ value: { why } });
  });

  it("keeps a lease while the server is away for a short time, and loses it after its time", async () => {
    const server = await start({ appendonly: "yes", appendfsync: "always" });
    const state = open({ url: server.url });
    const [short, long] = [
      await state.leases.acquire("short", { ttlMs: 300 }),
      await state.leases.acquire("long", { ttlMs: 600_000 }),
    ];
    await server.kill();
    if (short?.lost.aborted === false) await once(short.lost, "abort");
    await server.restart();
    await works(state);
    expect(long?.lost.aborted).toBe(false);
    expect(await state.leases.acquire("long", { ttlMs: 1_000 })).toBeUndefined();
    // The server counts from when it got the request, so a lease ends there a little later than here.
    await expect.poll(() => state.leases.acquire("short", { ttlMs: 600_000 })).toBeDefined();
  });

  it("answers that a wrong password, or none, is the reason, and shows none", async () => {
    const server = await start({ requirepass: "secret-one" });
    const at = `127.0.0.1:${server.port}`;
    const wrong = open({ url: `redis://:secret-two@${at}` });
    await expect(wrong.documents.get("a")).rejects.toMatchObject({
      code: "STORE_FAILED",
      message: `Cannot use Redis at ${at}: wrong user name or password. Fix the user name and password in state.url.`,
      details: { field: "state.url" },
    });
    const none = open({ url: `redis://${at}` });
    await expect(none.limits.admit({ holdMs: 1 })).rejects.toThrow(
      `Cannot use Redis at ${at}: a password is required.`,
    );
    expect(await wrong.healthCheck()).toBe(false);
  });

  it("answers that nobody listens there, or something else than Redis", async () => {
    const port = await freePort();
    await expect(open({ url: `redis://127.0.0.1:${port}` }).documents.get("a")).rejects.toThrow(
      `Cannot use Redis at 127.0.0.1:${port}: connection refused. Check that it is running and that state.url is right.`,
    );
    const http = await portOf(createHttpServer((_, response) => response.end("hello")));
    await expect(open({ url: `redis://127.0.0.1:${http}` }).documents.get("a")).rejects.toThrow(
      "the server at this address is not Redis. Check the host and port in state.url.",
    );
    const silent = await portOf(createServer(() => {}));
    await expect(open({ url: `redis://127.0.0.1:${silent}` }).documents.get("a")).rejects.toThrow("it does not answer");
    await expect(open({ url: `rediss://127.0.0.1:${port}` }).documents.get("a")).rejects.toThrow("connection refused");
    expect(() => redisState({ url: "http://:secret@127.0.0.1" })).toThrow(
      'state.url is not the address of a Redis server: "http://…@127.0.0.1". Write redis://host:6379',
    );
  });

  it("reports what the server refuses: no memory left, and a replica", async () => {
    const server = await start();
    const state = open({ url: server.url });
    await state.documents.set("a", 1);
    server.command("CONFIG", "SET", "maxmemory", "1");
    await expect(state.documents.set("a", 2)).rejects.toThrow("it is out of memory. Raise maxmemory");
    server.command("CONFIG", "SET", "maxmemory", "0");
    server.command("REPLICAOF", "127.0.0.1", "1");
    await expect(state.documents.set("a", 2)).rejects.toThrow("it is a replica");
    server.command("REPLICAOF", "NO", "ONE");
    await works(state);
    expect(await state.documents.get("a")).toMatchObject({ value: 1 });
  });
});
