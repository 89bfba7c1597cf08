import { describe, expect, it } from "vitest";
import { memoryState } from "../adapters/state/memory.ts";
import { createManualClock, type ManualClock } from "../testing/manual-clock.ts";
import { defineTool } from "../tool/define-tool.ts";
import { createIdempotency, type Idempotency, type KeyedCall, type Once } from "./idempotency.ts";
import { localOperator } from "./principal.ts";
import type { State } from "../state/state.port.ts";

const pay = defineTool({ name: "pay", description: "Pays an amount to somebody.", parameters: {}, createdAt: 0 });
const call: KeyedCall = { tool: pay, arguments: { amount: 5 }, principal: localOperator(), idempotencyKey: "key-1" };

interface Setup {
  readonly clock: ManualClock;
  readonly state: State;
  readonly idempotency: Idempotency;
  runs: number;
  /** Makes a call whose value tells which run it was. */
  once(
    made?: Partial<KeyedCall>,
    options?: { readonly final?: boolean; readonly signal?: AbortSignal },
  ): Promise<Once<number>>;
}

function setUp(clock = createManualClock(1_000), state: State = memoryState({ clock }).documents): Setup {
  const idempotency = createIdempotency(state, clock);
  const setup: Setup = {
    clock,
    state,
    idempotency,
    runs: 0,
    once: (made = {}, { final = true, signal } = {}) =>
      idempotency.once(
        { ...call, ...made },
        {
          waitMs: 1_000,
          leaseMs: 5_000,
          signal,
          run: async () => ({ value: ++setup.runs, final }),
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

  it("keeps what JSON can say of a value, and undefined", async () => {
    const { idempotency } = setUp();
    const options = { waitMs: 0, leaseMs: 1_000 };
    const run = (value: unknown) => async () => ({ value, final: true });
    const strange = { date: new Date(0), list: [1, undefined], call: () => 1 };
    await idempotency.once(call, { ...options, run: run(strange) });
    const again = await idempotency.once<unknown>(call, { ...options, run: run("not run") });
    expect(again).toEqual({ kind: "replayed", value: { date: "1970-01-01T00:00:00.000Z", list: [1, null] } });
    const other = { ...call, idempotencyKey: "void" };
    await idempotency.once(other, { ...options, run: run(undefined) });
    expect(await idempotency.once<unknown>(other, { ...options, run: run("not run") })).toEqual({ kind: "replayed" });
  });
});

describe("a call whose key is used by another that still runs", () => {
  /** A run that ends when told. */
  function running({ idempotency }: Setup): { end(): void; readonly ended: Promise<Once<string>> } {
    let end = (): void => {};
    const until = new Promise<void>((resolve) => (end = resolve));
    const ended = idempotency.once<string>(call, {
      waitMs: 0,
      leaseMs: 5_000,
      run: async () => (await until, { value: "done", final: true }),
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
    const here = setUp(there.clock, there.state);
    const { end, ended } = running(there);
    await there.clock.advance(0);
    const waiting = here.once();
    await there.clock.advance(150);
    end();
    await ended;
    await there.clock.advance(100);
    expect(await waiting).toEqual({ kind: "replayed", value: "done" });
  });

  it("is told that the outcome is unknown where the process that ran it died", async () => {
    const there = setUp();
    const here = setUp(there.clock, there.state);
    void running(there);
    await there.clock.advance(4_999);
    const tooEarly = here.once();
    await there.clock.advance(1);
    await there.clock.advance(1_000);
    expect(await tooEarly).toEqual({ kind: "unknown" });
    expect(await here.once()).toEqual({ kind: "unknown" });
    expect(here.runs).toBe(0);
  });

  it("is told the same where the result could not be kept", async () => {
    const clock = createManualClock();
    const state = memoryState({ clock }).documents;
    let fails = false;
    const failing: State = {
      ...state,
      set: (...given) => (fails ? Promise.reject(new Error("full")) : state.set(...given)),
    };
    const setup = setUp(clock, failing);
    const first = setup.idempotency.once(call, {
      waitMs: 0,
      leaseMs: 5_000,
      run: async () => ((fails = true), { value: 1, final: true }),
    });
    expect(await first).toEqual({ kind: "ran", value: 1 });
    await clock.advance(5_000);
    expect(await setup.once()).toEqual({ kind: "unknown" });
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
