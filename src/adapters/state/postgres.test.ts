import { once } from "node:events";
import { createServer } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { countedPostgres } from "../../../test/services/counted-postgres.ts";
import { some } from "../../../test/kit/effort.ts";
import { pglite, type RealPostgres, realPostgres } from "../../../test/services/postgres.ts";
import { createManualClock } from "../../testing/manual-clock.ts";
import { changesContract, limitsContract, type StateBackend, stateContract } from "../../testing/index.ts";
import { type Clock, systemClock } from "../../observe/clock.ts";
import type { Admission, Pass } from "../../state/limits.port.ts";
import { withLocalLimits } from "../../state/with-local-limits.ts";
import type { EmbeddedPostgres, PostgresClient, PostgresPool } from "../postgres/client.ts";
import { openPostgres } from "../postgres/postgres.ts";
import { postgresState } from "./postgres.ts";

const server = await realPostgres();
afterAll(() => server?.remove());

let schemas = 0;

/** Runs the suites on a database, in a schema of its own each time. */
function suites(client: () => PostgresClient, pick = <Case>(cases: readonly Case[]) => cases): void {
  const backend = (): StateBackend => {
    const counted = countedPostgres(client());
    const schema = `state ${++schemas}`;
    return {
      open: (clock) => postgresState({ url: "unused", client: counted.client, schema, clock, ownTime: true }),
      settle: counted.settle,
    };
  };
  const cases = [...stateContract(backend), ...limitsContract(backend), ...changesContract(backend)];
  for (const { name, run } of pick(cases)) it(name, run);
}

describe("postgresState in PGlite, as shared state", () => {
  let embedded: EmbeddedPostgres & { close(): Promise<void> };
  beforeAll(async () => (embedded = await pglite()), 120_000);
  afterAll(() => embedded.close());
  // The server below runs all of them every time.
  suites(
    () => embedded,
    (cases) => (server === undefined ? cases : some(cases, 12)),
  );
});

// because PostgreSQL is not installed everywhere; with CI=true its absence fails.
describe.skipIf(server === undefined)("postgresState on a server", () => {
  const real = server as RealPostgres;

  describe("as shared state", () => {
    let pool: PostgresPool & { end(): Promise<void> };
    beforeAll(async () => (pool = await newPool(real.url)));
    afterAll(() => pool.end());
    suites(() => pool);
  });

  it("takes one round trip before a call and one after it, and shares them between calls", async () => {
    const pool = await newPool(await real.database());
    const counted = countedPostgres(pool);
    const state = postgresState({ url: "unused", client: counted.client });
    await state.presence.enter();
    const request = {
      windows: [{ key: "w", calls: 100, windowMs: 60_000 }],
      places: [{ key: "p", limit: 100 }],
      breaker: { key: "b", threshold: 3, coolDownMs: 1_000 },
      budget: { key: "b", share: 0.2 },
      holdMs: 60_000,
    };
    const queries = async (work: () => Promise<unknown>): Promise<number> => {
      const before = counted.asked;
      await work();
      // A connection is taken from the pool for each.
      return (counted.asked - before) / 2;
    };
    expect(await queries(async () => admitted(await state.limits.admit(request)))).toBe(1);
    const pass = admitted(await state.limits.admit(request));
    expect(await queries(async () => state.limits.release(pass, "success"))).toBe(1);
    const many = Array.from({ length: 50 }, () => state.limits.admit(request));
    expect(await queries(() => Promise.all(many))).toBe(1);
    await state.close();
    await pool.end();
  });

  it("goes by the server's clock, however much those of two processes differ", async () => {
    const url = await real.database();
    const shifted = (ms: number): Clock => ({ ...systemClock, now: () => systemClock.now() + ms });
    const clocks = [shifted(-600_000), shifted(600_000)] as const;
    const [early, late] = clocks.map((clock) => postgresState({ url, clock }));
    const request = { windows: [{ key: "w", calls: 2, windowMs: 60_000 }], holdMs: 60_000 };
    expect(await early?.limits.admit(request)).toMatchObject({ admitted: true });
    expect(await late?.limits.admit(request)).toMatchObject({ admitted: true });
    expect(await early?.limits.admit(request)).toMatchObject({ admitted: false, because: "window" });
    expect(await late?.limits.admit(request)).toMatchObject({ admitted: false, because: "window" });
    const breaker = { key: "b", threshold: 1, coolDownMs: 60_000 };
    const probes = [early, late].map(
      (state) => new Promise<number>((resolve) => state?.limits.watchBreakers(({ probeAt = 0 }) => resolve(probeAt))),
    );
    await early?.limits.release(admitted(await early.limits.admit({ breaker, holdMs: 60_000 })), "failure");
    for (const [index, probeAt] of (await Promise.all(probes)).entries()) {
      const left = probeAt - (clocks[index]?.now() ?? 0);
      expect(left).toBeGreaterThan(0);
      expect(left).toBeLessThanOrEqual(60_000);
    }
    expect(await early?.leases.acquire("l", { ttlMs: 60_000 })).toBeDefined();
    expect(await late?.leases.acquire("l", { ttlMs: 60_000 })).toBeUndefined();
    await early?.close();
    await late?.close();
  });

  it("misses no message of a process that takes long to publish it", async () => {
    const url = await real.database();
    const [state, admin] = [postgresState({ url }), openPostgres({ url, what: "A test", field: "url" })];
    const heard: unknown[] = [];
    const all = new Promise<void>((resolve) => {
      state.changes.subscribe("t", (data) => {
        heard.push(data);
        if (data === "third") resolve();
      });
    });
    await state.documents.get("tables are there");
    let second: Promise<void> | undefined;
    await admin.transaction(async (query) => {
      await query("SELECT toolarsenal.state_publish('t', '\"first\"', NULL)", []);
      const published = new AbortController();
      second = state.changes.publish("t", "second").then(() => published.abort());
      // Until it waits for its turn, or has not waited.
      const sql = "SELECT 1 AS waits FROM pg_locks WHERE locktype = 'advisory' AND NOT granted";
      while (!published.signal.aborted && (await admin.query(sql, [])).length === 0);
    });
    await second;
    await state.changes.publish("t", "third");
    await all;
    expect(heard).toEqual(["first", "second", "third"]);
    await state.close();
    await admin.close();
  });

  it("keeps what was kept when the server is killed, and goes on unaided", async () => {
    const own = (await realPostgres()) as RealPostgres;
    const [state, other] = [postgresState({ url: own.url }), postgresState({ url: own.url })];
    const heard: unknown[] = [];
    let told = (): void => {};
    const next = (): Promise<void> => new Promise((resolve) => (told = resolve));
    state.changes.subscribe("t", (data) => {
      heard.push(data);
      told();
    });
    const events: string[] = [];
    const restored = Promise.withResolvers<void>();
    const emit = (name: string): void => {
      events.push(name);
      if (name === "state-restored") restored.resolve();
    };
    const limits = withLocalLimits(state.limits, { clock: systemClock, emit });
    const first = next();
    await state.documents.set("a", 1);
    await other.changes.publish("t", "before");
    await first;
    const pass = admitted(await limits.admit({ places: [{ key: "p", limit: 1 }], holdMs: 600_000 }));

    await own.kill();
    await expect(state.documents.set("a", 2)).rejects.toMatchObject({ code: "STORE_FAILED" });
    expect(await state.healthCheck()).toBe(false);
    expect(await limits.admit({ places: [{ key: "q", limit: 1 }], holdMs: 1_000 })).toMatchObject({ admitted: true });
    await limits.release(pass, "success");
    expect(events).toEqual(["state-unavailable"]);

    await own.start();
    const second = next();
    await other.changes.publish("t", "after");
    await second;
    expect(heard).toEqual(["before", "after"]);
    expect(await state.documents.get("a")).toMatchObject({ value: 1 });
    expect(await state.healthCheck()).toBe(true);
    // What ended meanwhile is reported by itself.
    await restored.promise;
    expect(events).toEqual(["state-unavailable", "state-restored"]);
    expect(await other.limits.admit({ places: [{ key: "p", limit: 1 }], holdMs: 1_000 })).toMatchObject({
      admitted: true,
    });
    limits.close();
    await state.close();
    await other.close();
    await own.remove();
  });

  it("leaves no timer behind when it is closed", async () => {
    const clock = createManualClock();
    const state = postgresState({ url: await real.database(), clock });
    state.changes.subscribe("t", () => {});
    state.limits.watchBreakers(() => {});
    await state.leases.acquire("l", { ttlMs: 1_000 });
    expect(clock.pending).toBeGreaterThan(0);
    await state.close();
    expect(clock.pending).toBe(0);
  });

  it("gives up on a server that never answers", async () => {
    const silent = createServer(() => {}).listen(0, "127.0.0.1");
    await once(silent, "listening");
    const { port } = silent.address() as { readonly port: number };
    const state = postgresState({ url: `postgres://user:secret@127.0.0.1:${port}/x` });
    await expect(state.limits.admit({ holdMs: 1 })).rejects.toThrow("PostgreSQL did not answer within 2000 ms.");
    await state.close();
    silent.close();
  });

  it("refuses tables of a later release, and changes nothing", async () => {
    const url = await real.database();
    const first = postgresState({ url });
    await first.documents.set("a", 1);
    await first.close();
    const admin = openPostgres({ url, what: "A test", field: "url" });
    await admin.query("UPDATE toolarsenal.versions SET version = 99 WHERE part = 'state'", []);
    const state = postgresState({ url });
    for (let time = 0; time < 2; time++)
      await expect(state.documents.set("a", 2)).rejects.toThrow("were written by a later release (version 99");
    await state.close();
    expect(await admin.query("SELECT value FROM toolarsenal.state_document", [])).toEqual([{ value: "1" }]);
    await admin.close();
  });

  it.each([
    [
      "a wrong password",
      (url: string) => url.replace(/:[0-9a-f]+@/, ":wrong@"),
      "Check the user and the password in state.url.",
    ],
    ["an unknown database", (url: string) => url.replace("/postgres?", "/nowhere?"), "Create the database"],
    ["a server that is away", () => "postgres://user:secret@127.0.0.1:1/x", "Check that the server is running"],
  ])("says how to fix %s", async (_what, change, fix) => {
    const state = postgresState({ url: change(real.url) });
    const failure = await state.documents.get("a").catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: "STORE_FAILED", details: { field: "state.url" } });
    expect(String(failure)).toContain("The state cannot use PostgreSQL at ");
    expect(String(failure)).toContain(fix);
    expect(String(failure)).not.toMatch(/wrong@|secret@/);
    await state.close();
  });

  it("says that a server is a read-only replica, and is not healthy there", async () => {
    const url = await real.database();
    const state = postgresState({ url });
    await state.documents.set("a", 1);
    await state.close();
    const admin = openPostgres({ url: real.url, what: "A test", field: "url" });
    const name = new URL(url.replace("@/", "@x/")).pathname.slice(1);
    await admin.query(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
    await admin.close();
    const replica = postgresState({ url });
    await expect(replica.documents.set("a", 2)).rejects.toThrow(
      "This server is a read-only replica. Name the primary in state.url.",
    );
    expect(await replica.documents.get("a")).toMatchObject({ value: 1 });
    expect(await replica.healthCheck()).toBe(false);
    await replica.close();
  });
});

async function newPool(url: string): Promise<PostgresPool & { end(): Promise<void> }> {
  const { Pool } = (await import("pg")).default;
  const pool = new Pool({ connectionString: url, max: 40 });
  pool.on("error", () => {});
  return pool as unknown as PostgresPool & { end(): Promise<void> };
}

function admitted(admission: Admission): Pass {
  if (!admission.admitted) throw new Error(`Refused: ${JSON.stringify(admission)}`);
  return admission.pass;
}
