import { expect, it } from "vitest";
import { createManualClock, type ManualClock } from "../../../../testing/manual-clock.ts";
import { type ConnectionPool, createConnectionPool, type PoolUseOptions } from "./connection-pool.ts";
import type { McpConnection } from "../../../../mcp/connection.ts";

interface Sample {
  readonly pool: ConnectionPool;
  readonly clock: ManualClock;
  /** What became of the connections, in order. */
  readonly log: string[];
  readonly primary: McpConnection;
}

/** A pool over connections that only know their name. */
function sample(max: number, { refuses = false } = {}): Sample {
  const clock = createManualClock();
  const log: string[] = [];
  let count = 0;
  const make = (): McpConnection => {
    const name = `connection ${++count}`;
    const listeners: (() => void)[] = [];
    let open = true;
    return {
      protocolVersion: name,
      get open() {
        return open;
      },
      onClosed: (listener: () => void) => void listeners.push(listener),
      async close() {
        open = false;
        log.push(`${name} closed`);
        for (const listener of listeners) listener();
      },
    } as unknown as McpConnection;
  };
  const open = async (): Promise<McpConnection> => {
    if (refuses) throw new Error("one is enough");
    return make();
  };
  const pool = createConnectionPool({ name: "sample", clock, max, open });
  const primary = make();
  pool.setPrimary(primary);
  return { pool, clock, log, primary };
}

/** Uses a connection until told to stop. */
function using(pool: ConnectionPool, how: "share" | "claim", options?: PoolUseOptions) {
  const begun = Promise.withResolvers<string>();
  const end = Promise.withResolvers<void>();
  const done = pool[how](async ({ protocolVersion }) => {
    begun.resolve(protocolVersion);
    await end.promise;
  }, options);
  done.catch(begun.reject);
  begun.promise.catch(() => {});
  return { begun: begun.promise, done, end: () => (end.resolve(), done) };
}

it("has everybody share the primary, and gives it to one alone where nobody uses it", async () => {
  const { pool } = sample(3);
  const sharing = [using(pool, "share"), using(pool, "share")];
  expect(await Promise.all(sharing.map(({ begun }) => begun))).toEqual(["connection 1", "connection 1"]);
  await Promise.all(sharing.map(({ end }) => end()));
  const alone = using(pool, "claim");
  expect(await alone.begun).toBe("connection 1");
  await alone.end();
});

it("opens another for whoever needs one alone, or shares none that is free", async () => {
  const { pool } = sample(3);
  const first = using(pool, "claim");
  const second = using(pool, "claim");
  const sharing = [using(pool, "share"), using(pool, "share")];
  expect(await Promise.all([first.begun, second.begun])).toEqual(["connection 1", "connection 2"]);
  expect(await Promise.all(sharing.map(({ begun }) => begun))).toEqual(["connection 3", "connection 3"]);
  await Promise.all([first, second, ...sharing].map(({ end }) => end()));
});

it("gives whoever needs one alone none that others share", async () => {
  const { pool } = sample(2);
  const sharing = using(pool, "share");
  const alone = using(pool, "claim");
  expect(await Promise.all([sharing.begun, alone.begun])).toEqual(["connection 1", "connection 2"]);
  await Promise.all([sharing.end(), alone.end()]);
});

it("lets nobody who shares the only connection pass one who needs it alone", async () => {
  const { pool, clock } = sample(1);
  const order: string[] = [];
  const sharing = [using(pool, "share"), using(pool, "share")];
  const alone = using(pool, "claim");
  const late = using(pool, "share");
  for (const [name, { begun }] of Object.entries({ alone, late })) void begun.then(() => order.push(name));
  await sharing[0]?.end();
  await clock.advance(0);
  expect(order).toEqual([]);
  await sharing[1]?.end();
  await alone.begun;
  await alone.end();
  await late.begun;
  await late.end();
  expect(order).toEqual(["alone", "late"]);
});

it("has callers wait in order where no more may be opened, until their signal fires", async () => {
  const { pool } = sample(1);
  const controller = new AbortController();
  const order: string[] = [];
  const holder = using(pool, "claim");
  await holder.begun;
  const impatient = using(pool, "claim", { signal: controller.signal });
  const second = using(pool, "claim");
  const third = using(pool, "share");
  for (const [name, { begun }] of Object.entries({ second, third })) void begun.then(() => order.push(name));
  controller.abort(new Error("enough"));
  await expect(impatient.done).rejects.toThrow("enough");
  await holder.end();
  await second.begun;
  expect(order).toEqual(["second"]);
  await second.end();
  await third.begun;
  await third.end();
  expect(order).toEqual(["second", "third"]);
});

it("closes a connection beside the primary that was idle for 30 s", async () => {
  const { pool, clock, log } = sample(2);
  const first = using(pool, "claim");
  const second = using(pool, "claim");
  await second.begun;
  await Promise.all([first.end(), second.end()]);
  await clock.advance(29_999);
  expect(log).toEqual([]);
  await clock.advance(1);
  expect(log).toEqual(["connection 2 closed"]);
});

it("goes on with the connection it has where the server allows no other", async () => {
  const { pool } = sample(8, { refuses: true });
  const first = using(pool, "claim");
  const second = using(pool, "claim");
  await first.begun;
  await first.end();
  expect(await second.begun).toBe("connection 1");
  await second.end();
});

it("rejects whoever waits when the last connection is gone", async () => {
  const { pool, primary } = sample(1);
  const first = using(pool, "claim");
  const second = using(pool, "claim");
  await first.begun;
  await primary.close();
  await expect(second.done).rejects.toMatchObject({ code: "SOURCE_UNAVAILABLE" });
  await expect(pool.share(async () => 1)).rejects.toMatchObject({ code: "SOURCE_UNAVAILABLE" });
  await first.end();
});

it("gives one remote caller three quarters of the connections, and the next to another caller", async () => {
  const { pool, clock } = sample(8);
  const [eve, ada] = [{ id: "eve" }, { id: "ada" }];
  const hers = Array.from({ length: 9 }, () => using(pool, "claim", { caller: eve }));
  const begun: number[] = [];
  for (const [index, one] of hers.entries()) void one.begun.then(() => begun.push(index));
  await clock.advance(0);
  expect(begun).toEqual([0, 1, 2, 3, 4, 5]);
  const others = [using(pool, "claim", { caller: ada }), using(pool, "share", { caller: ada })];
  expect(await Promise.all(others.map((one) => one.begun))).toEqual(["connection 7", "connection 8"]);
  await hers[2]?.end();
  await hers[6]?.begun;
  expect(begun).toEqual([0, 1, 2, 3, 4, 5, 6]);
  await Promise.all([...hers, ...others].map(({ end }) => end()));
});

it("counts callers of one name in two tenants apart", async () => {
  const { pool } = sample(2);
  const both = ["a", "b"].map((tenant) => using(pool, "claim", { caller: { id: "eve", tenant } }));
  expect(await Promise.all(both.map(({ begun }) => begun))).toEqual(["connection 1", "connection 2"]);
  await Promise.all(both.map(({ end }) => end()));
});

it("gives the person at this machine every connection", async () => {
  const { pool } = sample(2);
  const both = [1, 2].map(() => using(pool, "claim", { caller: { id: "local", local: true } }));
  expect(await Promise.all(both.map(({ begun }) => begun))).toEqual(["connection 1", "connection 2"]);
  await Promise.all(both.map(({ end }) => end()));
});

it("puts those who share together, so that the other connections stay free for one alone", async () => {
  const { pool } = sample(3);
  const alone = using(pool, "claim");
  const first = using(pool, "share");
  expect(await Promise.all([alone.begun, first.begun])).toEqual(["connection 1", "connection 2"]);
  await alone.end();
  const second = using(pool, "share");
  expect(await second.begun).toBe("connection 2");
  await Promise.all([first.end(), second.end()]);
});
