import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { createClient, createCluster } from "redis";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { freePort, redisMissing, type RedisService, startRedis } from "../../../test/services/redis.ts";
import { TEST_AUTHORITY, TEST_SERVER_ONE } from "../../../test/test-certificates.ts";
import { createRedactor } from "../../guard/redaction/redactor.ts";
import { createSecrets } from "../../guard/secrets/secrets.ts";
import { type Clock, systemClock } from "../../observe/clock.ts";
import type { SharedState } from "../../state/shared-state.ts";
import type { Surroundings } from "../surroundings.ts";
import { check, create, type RedisClient, redisState, type RedisStateOptions } from "./redis.ts";

const missing = redisMissing();
let server: RedisService;
const opened: { close(): Promise<void> }[] = [];
beforeAll(async () => {
  if (missing === undefined) server = await startRedis();
});
afterEach(async () => {
  for (const each of opened.splice(0).toReversed()) await each.close();
});
afterAll(() => server?.stop());

function open(options: RedisStateOptions = {}): SharedState {
  const state = redisState({ url: server.url, keyPrefix: randomUUID(), ...options });
  opened.push(state);
  return state;
}

/** A server of the test's own. */
async function ownServer(settings?: Readonly<Record<string, string>>): Promise<RedisService> {
  const own = await startRedis(settings);
  opened.push({ close: own.stop });
  return own;
}

function offBy(ms: number): Clock {
  return { now: () => systemClock.now() + ms, after: systemClock.after };
}

function surroundings(environment: Readonly<Record<string, string>>): Surroundings {
  const secrets = createSecrets({ environment, redactor: createRedactor() });
  return { clock: systemClock, emit: () => {}, secrets, egress: {} as Surroundings["egress"] };
}

const EVERYTHING = {
  windows: [
    { key: "tool", calls: 100, windowMs: 60_000 },
    { key: "tenant", calls: 1_000, windowMs: 60_000 },
  ],
  places: [
    { key: "all", limit: 10 },
    { key: "ensemble", limit: 5 },
  ],
  breaker: { key: "tool", threshold: 3, coolDownMs: 60_000 },
  budget: { key: "tool", share: 0.2 },
  waitMs: 1_000,
  holdMs: 60_000,
};

// because redis-server may not be installed; CI has it
describe.skipIf(missing !== undefined)("redisState", () => {
  it("asks the server once for a call's limits and once when it ends", async () => {
    const { limits } = open();
    const warm = await limits.admit(EVERYTHING);
    if (warm.admitted) await limits.release(warm.pass, "success");
    const before = commandsOf(server);
    for (let call = 0; call < 10; call++) {
      const admission = await limits.admit(EVERYTHING);
      if (!admission.admitted) throw new Error("refused");
      await limits.release(admission.pass, call % 2 === 0 ? "failure" : "success");
    }
    const after = commandsOf(server);
    expect((after["evalsha"] ?? 0) - (before["evalsha"] ?? 0)).toBe(20);
    expect(after["eval"]).toBe(before["eval"]);
  });

  it("measures time by the server, whatever the clocks of processes say", async () => {
    const keyPrefix = randomUUID();
    const [early, late] = [open({ keyPrefix, clock: offBy(-300_000) }), open({ keyPrefix, clock: offBy(300_000) })];
    const windows = [{ key: "w", calls: 2, windowMs: 60_000 }];
    for (const { limits } of [early, late])
      expect(await limits.admit({ windows, holdMs: 1 })).toMatchObject({ admitted: true });
    for (const { limits } of [early, late]) {
      const refused = await limits.admit({ windows, holdMs: 1 });
      expect(refused).toMatchObject({ because: "window" });
      const { retryAfterMs = 0 } = refused as { readonly retryAfterMs?: number };
      expect(retryAfterMs).toBeGreaterThan(50_000);
      expect(retryAfterMs).toBeLessThanOrEqual(60_000);
    }
    // Each sees the other's entry, which by its own clock has expired or lasts for ten minutes more.
    await early.documents.set("a", 1, { expiresAt: offBy(-300_000).now() + 60_000 });
    await late.documents.set("b", 1, { expiresAt: offBy(300_000).now() + 60_000 });
    expect(await late.documents.get("a")).toMatchObject({ value: 1 });
    const left = Number(server.command("PTTL", `{${keyPrefix}}document:b`));
    expect(left).toBeGreaterThan(50_000);
    expect(left).toBeLessThanOrEqual(60_000);
    expect(await late.leases.acquire("l", { ttlMs: 60_000 })).toBeDefined();
    expect(await early.leases.acquire("l", { ttlMs: 60_000 })).toBeUndefined();
  });

  it("tells each process by its own clock when an open circuit may be probed", async () => {
    const keyPrefix = randomUUID();
    const [one, other] = [open({ keyPrefix }), open({ keyPrefix, clock: offBy(300_000) })];
    const heard = new Promise<number>((resolve) => {
      other.limits.watchBreakers(({ probeAt = 0 }) => resolve(probeAt));
    });
    const breaker = { key: "tool", threshold: 1, coolDownMs: 60_000 };
    const admission = await one.limits.admit({ breaker, holdMs: 1_000 });
    if (admission.admitted) await one.limits.release(admission.pass, "failure");
    const inMs = (await heard) - offBy(300_000).now();
    expect(inMs).toBeGreaterThan(50_000);
    expect(inMs).toBeLessThanOrEqual(60_000);
  });

  it("wakes a process whose call waits, and does not keep asking meanwhile", async () => {
    const keyPrefix = randomUUID();
    const [one, other] = [open({ keyPrefix }), open({ keyPrefix })];
    const request = { places: [{ key: "p", limit: 1 }], waitMs: 60_000, holdMs: 60_000 };
    const first = await one.limits.admit(request);
    if (!first.admitted) throw new Error("refused");
    await other.presence.enter();
    const waiting = Array.from({ length: 50 }, () => other.limits.admit(request));
    await other.healthCheck();
    const before = commandsOf(server)["evalsha"] ?? 0;
    let next = first;
    await one.limits.release(next.pass, "success");
    for (const each of waiting) {
      const admission = await each;
      if (!admission.admitted) throw new Error("refused");
      next = admission;
      await other.limits.release(next.pass, "success");
    }
    // A release for each, one look that was woken, and a few that go by time.
    expect((commandsOf(server)["evalsha"] ?? 0) - before).toBeLessThan(70);
  });

  it("lets a process that died while many of its calls waited hold a place once, for two seconds", async () => {
    const keyPrefix = randomUUID();
    const request = { places: [{ key: "p", limit: 1 }], waitMs: 60_000, holdMs: 60_000 };
    const one = open({ keyPrefix });
    const first = await one.limits.admit(request);
    if (!first.admitted) throw new Error("refused");
    const module = new URL("redis.ts", import.meta.url).href;
    const text = `import { redisState } from ${JSON.stringify(module)};
      const { limits, healthCheck } = redisState({ url: ${JSON.stringify(server.url)}, keyPrefix: ${JSON.stringify(keyPrefix)} });
      for (let call = 0; call < 10; call++) limits.admit(${JSON.stringify(request)});
      await healthCheck();
      process.kill(process.pid, "SIGKILL");`;
    await expect(promisify(execFile)(process.execPath, ["--input-type=module", "--eval", text])).rejects.toMatchObject({
      signal: "SIGKILL",
    });
    const waiting = one.limits.admit(request);
    const from = performance.now();
    await one.limits.release(first.pass, "success");
    expect(await waiting).toMatchObject({ admitted: true });
    // Ten calls of two seconds each would be twenty.
    expect(performance.now() - from).toBeLessThan(10_000);
  });

  it("keeps every key in one slot of a cluster, and works on one", async () => {
    const cluster = await ownServer({ "cluster-enabled": "yes", "cluster-port": String(await freePort()) });
    cluster.command("CLUSTER", "ADDSLOTSRANGE", "0", "16383");
    await expect.poll(() => cluster.command("CLUSTER", "INFO"), { timeout: 20_000 }).toContain("cluster_state:ok");
    const client = (): RedisClient => createCluster({ rootNodes: [{ url: cluster.url }] });
    const [one, other] = [open({ client, keyPrefix: "c:" }), open({ client, keyPrefix: "c:" })];
    const heard = new Promise((resolve) => {
      other.changes.subscribe("t", resolve);
    });
    await one.documents.set("a", { x: 1 });
    expect(await other.documents.list("")).toMatchObject([{ key: "a", value: { x: 1 } }]);
    await one.changes.publish("t", 1);
    expect(await heard).toBe(1);
    const request = { ...EVERYTHING, places: [{ key: "p", limit: 1 }] };
    const first = await one.limits.admit(request);
    if (!first.admitted) throw new Error("refused");
    const waiting = other.limits.admit(request);
    await other.healthCheck();
    await one.limits.release(first.pass, "failure");
    expect(await waiting).toMatchObject({ admitted: true });
    expect(await one.leases.acquire("l", { ttlMs: 1_000 })).toBeDefined();
    const keys = cluster.command("KEYS", "*").trim().split("\n");
    expect(keys.length).toBeGreaterThan(5);
    expect(keys.filter((key) => !key.startsWith("{c:}"))).toEqual([]);
  });

  it("goes on after the server forgot its scripts", async () => {
    const state = open();
    await state.documents.set("a", 1);
    server.command("SCRIPT", "FLUSH");
    expect(await state.documents.get("a")).toMatchObject({ value: 1 });
  });

  it("takes keys and values with whatever characters", async () => {
    const { limits, documents } = open();
    const key = "\uD800 \u0000 %s ${x} {y} 'z' ä";
    const request = { windows: [{ key, calls: 1, windowMs: 60_000 }], places: [{ key, limit: 1 }], holdMs: 1_000 };
    expect(await limits.admit(request)).toMatchObject({ admitted: true });
    expect(await limits.admit(request)).toMatchObject({ because: "window", key });
    await documents.set("ä\u0000%", { [key]: "\uDFFF" });
    expect(await documents.list("ä\u0000")).toMatchObject([{ key: "ä\u0000%", value: { [key]: "\uDFFF" } }]);
  });

  it("keeps nothing that has expired by the time it is written", async () => {
    const { documents } = open({ keyPrefix: randomUUID() });
    // Rounded up, the span of the first is -0.
    for (const agoMs of [0.25, 0, 5_000]) await documents.set("late", 1, { expiresAt: systemClock.now() - agoMs });
    await expect.poll(() => documents.get("late")).toBe(undefined);
  });

  it("lists thousands of entries, and leaves nothing behind of those that expired", async () => {
    const keyPrefix = randomUUID();
    const { documents } = open({ keyPrefix });
    const keys = Array.from({ length: 1_200 }, (_, index) => `k:${String(index).padStart(4, "0")}`);
    await Promise.all(keys.map((key) => documents.set(key, 1)));
    await documents.set("l:1", 1);
    expect((await documents.list("k:")).map(({ key }) => key).toSorted()).toEqual(keys);
    await Promise.all(keys.map((key) => documents.set(key, 1, { expiresAt: systemClock.now() + 1 })));
    await expect.poll(() => documents.list("k:")).toEqual([]);
    for (let write = 0; write < 130; write++) await documents.set("l:1", write);
    expect(server.command("ZCARD", `{${keyPrefix}}index`).trim()).toBe("1");
    expect(server.command("ZCARD", `{${keyPrefix}}expiring`).trim()).toBe("0");
  });

  it("looks the password up when it connects, with whatever characters it has", async () => {
    const password = "p@ss/w%rd: ü";
    const own = await ownServer({ requirepass: password });
    const url = `redis://:\${secret:env:REDIS_PASSWORD}@127.0.0.1:${own.port}`;
    const around = surroundings({
      REDIS_PASSWORD: password,
      REDIS_URL: `redis://:p%40ss%2Fw%25rd%3A%20%C3%BC@127.0.0.1:${own.port}`,
    });
    for (const written of [url, "env:REDIS_URL"]) {
      const state = create({ url: written }, around);
      opened.push(state);
      expect(await state.documents.set("a", 1)).toBe(true);
    }
    expect(await check({ url }, around)).toBe(`keeps state in Redis at 127.0.0.1:${own.port}`);
  });

  it("connects with TLS, and says so if the certificate is not trusted", async () => {
    const folder = mkdtempSync(join(tmpdir(), "arsenal-redis-tls-"));
    opened.push({ close: async () => rmSync(folder, { recursive: true }) });
    const [key, cert, port] = [join(folder, "key.pem"), join(folder, "cert.pem"), await freePort()];
    writeFileSync(key, TEST_SERVER_ONE.key);
    writeFileSync(cert, TEST_SERVER_ONE.cert);
    const tls = { "tls-port": String(port), "tls-cert-file": cert, "tls-key-file": key, "tls-auth-clients": "no" };
    await ownServer({ ...tls, "tls-ca-cert-file": cert });
    const url = `rediss://127.0.0.1:${port}`;
    await expect(open({ url }).documents.get("a")).rejects.toThrow(
      `Cannot use Redis at 127.0.0.1:${port}: its certificate is not trusted. Start Node with NODE_EXTRA_CA_CERTS`,
    );
    const client = (): RedisClient =>
      createClient({ url, socket: { tls: true, ca: TEST_AUTHORITY, reconnectStrategy: false } });
    expect(await open({ client }).documents.set("a", 1)).toBe(true);
  });

  it("works with the permissions that its page names, and says so if they are missing", async () => {
    const own = await ownServer();
    const page = readFileSync(new URL("../../../docs/reference/adapters/state/redis.md", import.meta.url), "utf8");
    const rules = /the user needs `([^`]+)`, `([^`]+)` and `([^`]+)`/.exec(page)?.slice(1).join(" ").split(" ") ?? [];
    own.command("ACL", "SETUSER", "arsenal", "on", ">secret", ...rules);
    own.command("ACL", "SETUSER", "nobody", "on", ">secret", "+@connection");
    const at = `127.0.0.1:${own.port}`;
    const state = open({ url: `redis://arsenal:secret@${at}`, keyPrefix: "toolarsenal:" });
    const heard = new Promise((resolve) => {
      state.changes.subscribe("t", resolve);
    });
    await state.documents.set("a", 1, { expiresAt: systemClock.now() + 60_000 });
    await state.changes.publish("t", 1);
    expect(await heard).toBe(1);
    const admission = await state.limits.admit(EVERYTHING);
    if (!admission.admitted) throw new Error("refused");
    await state.limits.release(admission.pass, "failure");
    expect(await state.limits.retry(EVERYTHING.budget)).toBe(true);
    await expect(open({ url: `redis://nobody:secret@${at}` }).documents.get("a")).rejects.toThrow(
      `Cannot use Redis at ${at}: the user lacks permissions.`,
    );
  });

  it("forgets the places of callers who came once, and frees those of a process that ended all the same", async () => {
    const keyPrefix = randomUUID();
    const [one, other] = [open({ keyPrefix }), open({ keyPrefix })];
    const places = (caller: string) => [{ key: `caller ${caller}`, limit: 1 }];
    const held = await one.limits.admit({ places: places("eve"), holdMs: 60_000 });
    const waiting = one.limits.admit({ places: places("eve"), waitMs: 60_000, holdMs: 60_000 });
    const known = server.command("KEYS", `{${keyPrefix}}places:*`).trim();
    for (let batch = 0; batch < 50; batch++)
      await Promise.all(
        Array.from({ length: 100 }, async (_, index) => {
          const admission = await one.limits.admit({ places: places(`${batch} ${index}`), holdMs: 60_000 });
          if (admission.admitted) await one.limits.release(admission.pass, "success");
        }),
      );
    expect(Number(server.command("SCARD", known))).toBeLessThan(1_100);
    expect(server.command("SISMEMBER", known, "caller eve").trim()).toBe("1");
    if (held.admitted) await one.limits.release(held.pass, "success");
    expect(await waiting).toMatchObject({ admitted: true });
    await one.close();
    expect(await other.limits.admit({ places: places("eve"), holdMs: 1_000 })).toMatchObject({ admitted: true });
  });

  it("does not keep a process alive that has nothing more to do", async () => {
    const module = new URL("redis.ts", import.meta.url).href;
    const text = `import { redisState } from ${JSON.stringify(module)};
      const state = redisState({ url: ${JSON.stringify(server.url)}, keyPrefix: "alive:" });
      state.changes.subscribe("t", () => {});
      state.limits.watchBreakers(() => {});
      process.stdout.write(String(await state.documents.set("a", 1)));`;
    const { stdout, stderr } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", text]);
    expect({ stdout, stderr }).toEqual({ stdout: "true", stderr: "" });
  });

  it("says how to install the library if it is missing", async () => {
    const module = new URL("redis.ts", import.meta.url).href;
    const text = `import { registerHooks } from "node:module";
      registerHooks({ resolve(name, context, next) { if (name === "redis") throw new Error("not found"); return next(name, context); } });
      const { redisState } = await import(${JSON.stringify(module)});
      const state = redisState({ url: "redis://127.0.0.1:1" });
      await state.documents.get("a").catch(({ code, message }) => process.stdout.write(code + " " + message));
      await state.close();`;
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", text]);
    expect(stdout).toBe("LIBRARY_MISSING State in Redis needs a library: npm install redis");
  });
});

/** How often each command was called, those of scripts included. */
function commandsOf({ command }: RedisService): Readonly<Record<string, number>> {
  const lines = command("INFO", "commandstats").matchAll(/cmdstat_(\w+):calls=(\d+)/g);
  return Object.fromEntries([...lines].map(([, name, calls]) => [name, Number(calls)]));
}
