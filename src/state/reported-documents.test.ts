import { describe, expect, it } from "vitest";
import { memoryState } from "../adapters/state/memory.ts";
import { createManualClock } from "../testing/manual-clock.ts";
import { reportDocuments } from "./reported-documents.ts";
import type { State } from "./state.port.ts";

/** Documents in a store that can be taken away, and what is told of it. */
function setUp() {
  const clock = createManualClock();
  const { documents } = memoryState({ clock });
  const store = { away: false, readable: false };
  const reached = <Answer>(run: () => Promise<Answer>): Promise<Answer> =>
    store.away ? Promise.reject(new Error("connection refused")) : run();
  const inner: State = {
    get: (...given) => (store.readable ? documents.get(...given) : reached(() => documents.get(...given))),
    set: (...given) => reached(() => documents.set(...given)),
    delete: (...given) => reached(() => documents.delete(...given)),
    list: (...given) => reached(() => documents.list(...given)),
    keys: (...given) => reached(() => documents.keys(...given)),
  };
  const events: unknown[] = [];
  const reported = reportDocuments(inner, { clock, emit: (name, data) => void events.push([name, data]) });
  return { reported, store, clock, events };
}

const AWAY = ["state-unavailable", { part: "documents", fails: "closed", message: "connection refused" }];
const BACK = ["state-restored", { part: "documents" }];

describe("documents whose store is away", () => {
  it("say so once, however often they are asked, and when it is back without being asked", async () => {
    const { reported, store, clock, events } = setUp();
    await reported.set("a", 1);
    store.away = true;
    for (const ask of [reported.get("a"), reported.set("a", 2), reported.delete("a"), reported.list("")])
      await expect(ask).rejects.toThrow("connection refused");
    await clock.advance(5_000);
    expect(events).toEqual([AWAY]);
    store.away = false;
    await clock.advance(1_000);
    expect(events).toEqual([AWAY, BACK]);
    expect(clock.pending).toBe(0);
    expect(await reported.get("a")).toMatchObject({ value: 1 });
    store.away = true;
    await expect(reported.get("a")).rejects.toThrow("connection refused");
    await clock.advance(0);
    expect(events).toEqual([AWAY, BACK, AWAY]);
  });

  it("say so of a store that can only be read", async () => {
    const { reported, store, clock, events } = setUp();
    store.readable = true;
    store.away = true;
    expect(await reported.get("a")).toBeUndefined();
    await expect(reported.set("a", 1)).rejects.toThrow("connection refused");
    await clock.advance(5_000);
    expect(events).toEqual([AWAY]);
    store.away = false;
    await clock.advance(1_000);
    expect(events).toEqual([AWAY, BACK]);
    expect(await reported.list("")).toEqual([]);
  });

  it("say nothing of a failure that the store is not to blame for", async () => {
    const { reported, clock, events } = setUp();
    const cycle: Record<string, unknown> = {};
    cycle["self"] = cycle;
    await expect(reported.set("a", cycle)).rejects.toMatchObject({ code: "STORE_FAILED" });
    await expect(reported.get("a", { signal: AbortSignal.abort(new Error("given up")) })).rejects.toThrow("given up");
    await clock.advance(5_000);
    expect(events).toEqual([]);
  });

  it("say nothing once they are closed", async () => {
    const { reported, store, clock, events } = setUp();
    store.away = true;
    const asked = reported.get("a");
    reported.close();
    await expect(asked).rejects.toThrow("connection refused");
    await clock.advance(5_000);
    expect(events).toEqual([]);
    expect(clock.pending).toBe(0);
  });
});
