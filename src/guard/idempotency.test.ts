import { describe, expect, it } from "vitest";
import { memoryState } from "../adapters/state/memory.ts";
import { createManualClock, type ManualClock } from "../testing/manual-clock.ts";
import { defineTool } from "../tool/define-tool.ts";
import { createIdempotency, type Idempotency, type KeyedCall, type Once } from "./idempotency.ts";
import { localOperator } from "./principal.ts";
import type { State } from "../state/state.port.ts";

const pay = defineTool({ name: "pay", description: "Pays an amount to somebody.", parameters: {}, createdAt: 0 });
const call: KeyedCall = { tool: pay, arguments: { amount: 5 }, principal: localOperator(), idempotencyKey: "key-1" };

interface Shared {
  readonly state: State;
  /** The processes that run. */
  readonly processes: Set<string>;
}

interface Setup extends Shared {
  readonly clock: ManualClock;
  readonly idempotency: Idempotency;
  runs: number;
  /** Makes a call whose value tells which run it was. */
  once(
    made?: Partial<KeyedCall>,
    options?: { readonly final?: boolean; readonly signal?: AbortSignal },
  ): Promise<Once<number>>;
}

/** A value that is kept as it is. */
const ran = <Value>(value: Value, final = true) => ({ value, final, kept: value, brief: "success" });

/** The keys' book of one process. Give it another one's state, and it is another process that shares it. */
function setUp(clock = createManualClock(1_000), shared?: Shared, documents?: State): Setup {
  const memory = memoryState({ clock });
  const state = documents ?? shared?.state ?? memory.documents;
  const processes = shared?.processes ?? new Set<string>();
  const id = `process ${processes.size + 1}`;
  processes.add(id);
  const presence = { enter: () => id, isPresent: async (other: string) => processes.has(other) };
  const idempotency = createIdempotency({ documents: state, presence }, clock);
  const setup: Setup = {
    clock,
    state,
    processes,
    idempotency,
    runs: 0,
    once: (made = {}, { final = true, signal } = {}) =>
      idempotency.once(
        { ...call, ...made },
        {
          waitMs: 1_000,
          signal,
          run: async () => ran(++setup.runs, final),
        },
      ),
  };
  return setup;
}

describe("a key", () => {
  it("lets one of fifty calls at once run, and gives all of them its value", async () => {
    const setup = setUp();
    const all = await Promise.all(Array.from({ length: 50 }, () => setup.once()));
    expect(setup.runs).toBe(1);
    expect(all.filter(({ kind }) => kind === "ran")).toEqual([{ kind: "ran", value: 1 }]);
    expect(all.filter(({ kind }) => kind === "replayed")).toEqual(
      Array.from({ length: 49 }, () => ({ kind: "replayed", value: 1 })),
    );
    expect(setup.clock.pending).toBe(0);
  });

  it("gives the same value later, for arguments in any order", async () => {
    const { once } = setUp();
    await once({ arguments: { amount: 5, to: { a: 1, b: 2 } } });
    expect(await once({ arguments: { to: { b: 2, a: 1 }, amount: 5 } })).toEqual({ kind: "replayed", value: 1 });
  });

  it("is a conflict with other arguments, and stays good for its own", async () => {
    const { once } = setUp();
    await once();
    expect(await once({ arguments: { amount: 6 } })).toEqual({ kind: "conflict" });
    expect(await once()).toEqual({ kind: "replayed", value: 1 });
  });

  it("is another one for another tool, caller, tenant and key", async () => {
    const setup = setUp();
    await setup.once();
    const others: Partial<KeyedCall>[] = [
      { tool: { ...pay, id: "default.pay_all" } },
      { principal: localOperator({ id: "other" }) },
      { principal: localOperator({ tenant: "acme" }) },
      { idempotencyKey: "key-2" },
    ];
    for (const other of others) expect(await setup.once(other)).toMatchObject({ kind: "ran" });
    expect(setup.runs).toBe(5);
  });

  it("is free again where the run did nothing, for one of those who waited", async () => {
    const setup = setUp();
    expect(await setup.once({}, { final: false })).toEqual({ kind: "ran", value: 1 });
    const all = await Promise.all([setup.once(), setup.once()]);
    expect(all).toEqual([
      { kind: "ran", value: 2 },
      { kind: "replayed", value: 2 },
    ]);
  });

  it("is forgotten after a day", async () => {
    const setup = setUp();
    await setup.once();
    await setup.clock.advance(24 * 60 * 60 * 1_000 - 1);
    expect(await setup.once()).toMatchObject({ kind: "replayed" });
    await setup.clock.advance(1);
    expect(await setup.once()).toMatchObject({ kind: "ran", value: 2 });
  });

  it("keeps what JSON can say of a value", async () => {
    const { idempotency } = setUp();
    const options = { waitMs: 0 };
    const run = (value: unknown) => async () => ran(value);
    const strange = { date: new Date(0), list: [1, undefined], call: () => 1 };
    await idempotency.once(call, { ...options, run: run(strange) });
    const again = await idempotency.once<unknown>(call, { ...options, run: run("not run") });
    expect(again).toEqual({ kind: "replayed", value: { date: "1970-01-01T00:00:00.000Z", list: [1, null] } });
  });
});

describe("a call whose key is used by another that still runs", () => {
  /** A run that ends when told. */
  function running({ idempotency }: Setup): { end(): void; readonly ended: Promise<Once<string>> } {
    let end = (): void => {};
    const until = new Promise<void>((resolve) => (end = resolve));
    const ended = idempotency.once<string>(call, {
      waitMs: 0,
      run: async () => (await until, ran("done")),
    });
    return { end, ended };
  }

  it("waits as long as it may, then says so", async () => {
    const setup = setUp();
    const { end, ended } = running(setup);
    const waiting = setup.once();
    await setup.clock.advance(999);
    await setup.clock.advance(1);
    expect(await waiting).toEqual({ kind: "running" });
    end();
    expect(await ended).toEqual({ kind: "ran", value: "done" });
  });

  it("stops waiting where its caller gives up", async () => {
    const setup = setUp();
    const { end, ended } = running(setup);
    const controller = new AbortController();
    const waiting = setup.once({}, { signal: controller.signal });
    await setup.clock.advance(10);
    controller.abort();
    expect(await waiting).toEqual({ kind: "running" });
    end();
    await ended;
    expect(setup.clock.pending).toBe(0);
  });

  it("gets its value from another process", async () => {
    const there = setUp();
    const here = setUp(there.clock, there);
    const { end, ended } = running(there);
    await there.clock.advance(0);
    const waiting = here.once();
    await there.clock.advance(150);
    end();
    await ended;
    await there.clock.advance(100);
    expect(await waiting).toEqual({ kind: "replayed", value: "done" });
  });

  it("is told that the outcome is unknown as soon as the process that ran it is gone", async () => {
    const there = setUp();
    const here = setUp(there.clock, there);
    void running(there);
    await there.clock.advance(0);
    const waiting = here.once();
    await there.clock.advance(500);
    there.processes.delete("process 1");
    await there.clock.advance(500);
    expect(await waiting).toEqual({ kind: "unknown" });
    expect(await here.once()).toEqual({ kind: "unknown" });
    expect(await here.once({ arguments: {} })).toEqual({ kind: "conflict" });
    expect(here.runs).toBe(0);
  });

  it("gets the value of a process that ended right after it recorded it", async () => {
    const there = setUp();
    const { end, ended } = running(there);
    await there.clock.advance(0);
    // It records its end between the look at the key and the look at the process.
    const isPresent = async (): Promise<boolean> => {
      end();
      await ended;
      return false;
    };
    const here = createIdempotency(
      { documents: there.state, presence: { enter: () => "process 2", isPresent } },
      there.clock,
    );
    const again = await here.once<string>(call, { waitMs: 0, run: async () => ran("ran twice") });
    expect(again).toEqual({ kind: "replayed", value: "done" });
  });

  it("is told the same at once where the result could not be kept", async () => {
    const clock = createManualClock();
    const state = memoryState({ clock }).documents;
    let fails = false;
    const failing: State = {
      ...state,
      set: (...given) => (fails ? Promise.reject(new Error("full")) : state.set(...given)),
    };
    const setup = setUp(clock, undefined, failing);
    const first = setup.idempotency.once(call, { waitMs: 0, run: async () => ((fails = true), ran(1)) });
    expect(await first).toEqual({ kind: "ran", value: 1 });
    expect(await setup.once()).toEqual({ kind: "unknown" });
  });
});

describe("results", () => {
  const MIB = 1024 * 1024;

  /** Makes a call with a key, whose result has a size. */
  function keyed({ idempotency }: Setup, caller: string, key: number, bytes: number): Promise<Once<string>> {
    const made = { ...call, principal: localOperator({ id: caller }), idempotencyKey: `${key}` };
    return idempotency.once(made, { waitMs: 0, run: async () => ran("x".repeat(bytes)) });
  }

  it("of more than a mebibyte are not kept, but the call is not repeated", async () => {
    const setup = setUp();
    expect((await keyed(setup, "ada", 1, MIB)).kind).toBe("ran");
    expect(await keyed(setup, "ada", 1, 1)).toEqual({ kind: "dropped", brief: "success" });
  });

  it("of one caller take 8 MiB at most: the oldest give way, and their calls are not repeated", async () => {
    const setup = setUp();
    const size = MIB / 2;
    await keyed(setup, "bob", 0, size);
    for (let key = 0; key < 200; key++) await keyed(setup, "ada", key, size);
    const kinds = await Promise.all(
      Array.from({ length: 200 }, async (_, key) => (await keyed(setup, "ada", key, 1)).kind),
    );
    expect(kinds.filter((kind) => kind === "ran")).toEqual([]);
    const replayed = kinds.filter((kind) => kind === "replayed").length;
    expect(replayed).toBeGreaterThan(0);
    expect(replayed).toBeLessThanOrEqual(16);
    expect(kinds.at(-1)).toBe("replayed");
    expect((await keyed(setup, "bob", 0, 1)).kind).toBe("replayed");
  });

  it("of all callers are bounded, and a caller with few keeps its own", async () => {
    const setup = setUp();
    await keyed(setup, "few", 0, 1_000);
    for (let caller = 0; caller < 8; caller++)
      for (let key = 0; key < 16; key++) await keyed(setup, `caller ${caller}`, key, MIB / 2);
    const kept = (await setup.state.list("idempotency:")).map(({ value }) => JSON.stringify(value).length);
    expect(kept.length).toBe(129);
    expect(kept.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThan(33 * MIB);
    expect((await keyed(setup, "few", 0, 1)).kind).toBe("replayed");
  });

  it("do not keep keys without end: a caller's oldest are forgotten, and no other caller's", async () => {
    const setup = setUp();
    await keyed(setup, "bob", 0, 1);
    for (let key = 0; key < 60_000; key++) await keyed(setup, "ada", key, 1);
    expect((await setup.state.keys("idempotency:")).length).toBeLessThan(53_000);
    expect((await keyed(setup, "ada", 59_999, 1)).kind).toBe("replayed");
    expect((await keyed(setup, "ada", 20_000, 1)).kind).toBe("replayed");
    expect((await keyed(setup, "bob", 0, 1)).kind).toBe("replayed");
  });

  it("make room again when they have expired", async () => {
    const setup = setUp();
    for (let key = 0; key < 15; key++) await keyed(setup, "ada", key, MIB / 2);
    await setup.clock.advance(25 * 60 * 60 * 1_000);
    for (let key = 0; key < 15; key++) await keyed(setup, "ada", key, MIB / 2);
    for (let key = 0; key < 15; key++) expect((await keyed(setup, "ada", key, 1)).kind).toBe("replayed");
  });
});

describe("recall", () => {
  it("gives what was kept and runs nothing", async () => {
    const { idempotency, once } = setUp();
    expect(await idempotency.recall(call, { waitMs: 0 })).toBeUndefined();
    await once();
    expect(await idempotency.recall(call, { waitMs: 0 })).toEqual({ kind: "replayed", value: 1 });
    expect(await idempotency.recall({ ...call, arguments: {} }, { waitMs: 0 })).toEqual({ kind: "conflict" });
  });
});
