import { describe, expect, it } from "vitest";
import { createManualClock } from "../testing/manual-clock.ts";
import type { Limits } from "./limits.port.ts";
import { createLocalLimits } from "./local-limits.ts";
import { withLocalLimits } from "./with-local-limits.ts";

const BREAKER = { key: "tool", threshold: 2, coolDownMs: 60_000 };

/** Limits over a store that can be taken away, and what they tell. */
function setUp() {
  const clock = createManualClock();
  const inner = createLocalLimits({ clock });
  const store = { away: false, asked: 0 };
  const reached = <Answer>(run: () => Answer): Promise<Answer> => {
    store.asked++;
    return store.away ? Promise.reject(new Error("connection refused")) : Promise.resolve(run());
  };
  const shared: Limits = {
    ...inner,
    admit: (request, options) => reached(() => inner.admit(request, options)).then((answer) => answer),
    release: (pass, outcome) => reached(() => inner.release(pass, outcome)).then((answer) => answer),
    retry: (budget) => reached(() => inner.retry(budget)).then((answer) => answer),
    forget: (key) => reached(() => inner.forget(key)).then((answer) => answer),
  };
  const events: unknown[] = [];
  const limits = withLocalLimits(shared, { clock, emit: (name, data) => void events.push([name, data]) });
  return { limits, inner, store, clock, events };
}

function window(calls: number): Parameters<Limits["admit"]>[0] {
  return { windows: [{ key: "w", calls, windowMs: 60_000 }], holdMs: 10_000_000 };
}

describe("limits whose store is away", () => {
  it("are kept by this process alone, with an event, and shared again when the store is back", async () => {
    const { limits, store, clock, events } = setUp();
    expect(await limits.admit(window(3))).toMatchObject({ admitted: true });
    store.away = true;
    const alone = [];
    for (let call = 0; call < 5; call++) alone.push((await limits.admit(window(3))).admitted);
    expect(alone).toEqual([true, true, true, false, false]);
    expect(events).toEqual([["state-unavailable", { part: "limits", fails: "open", message: "connection refused" }]]);
    store.away = false;
    await clock.advance(1_000);
    const together = [];
    for (let call = 0; call < 3; call++) together.push((await limits.admit(window(3))).admitted);
    expect(together).toEqual([true, true, false]);
    expect(events.slice(1)).toEqual([["state-restored", { part: "limits" }]]);
  });

  it("say that the store is back, though nobody calls", async () => {
    const { limits, store, clock, events } = setUp();
    store.away = true;
    await limits.admit(window(3));
    await clock.advance(3_000);
    store.away = false;
    await clock.advance(1_000);
    expect(events.slice(1)).toEqual([["state-restored", { part: "limits" }]]);
    expect(clock.pending).toBe(0);
  });

  it("do not ask the store for every call meanwhile", async () => {
    const { limits, store, clock } = setUp();
    store.away = true;
    for (let call = 0; call < 100; call++) await limits.admit(window(1_000));
    expect(store.asked).toBe(1);
    await clock.advance(1_000);
    for (let call = 0; call < 100; call++) await limits.admit(window(1_000));
    expect(store.asked).toBe(2);
  });

  it("give places back once the store is there again, without being asked", async () => {
    const { limits, inner, store, clock } = setUp();
    const request = { places: [{ key: "p", limit: 1 }], holdMs: 10_000_000 };
    const admission = await limits.admit(request);
    if (!admission.admitted) throw new Error("refused");
    store.away = true;
    expect(await limits.release(admission.pass, "success")).toEqual({});
    await clock.advance(3_000);
    store.away = false;
    expect(await inner.admit(request)).toMatchObject({ admitted: false });
    await clock.advance(1_000);
    expect(await inner.admit(request)).toMatchObject({ admitted: true });
    expect(clock.pending).toBe(0);
  });

  it("open and close circuits for this process, and leave none open that the store knows nothing of", async () => {
    const { limits, store, clock } = setUp();
    const heard: unknown[] = [];
    limits.watchBreakers((change) => void heard.push(change));
    store.away = true;
    for (let failure = 0; failure < 2; failure++) {
      const admission = await limits.admit({ breaker: BREAKER, holdMs: 10_000_000 });
      if (admission.admitted) await limits.release(admission.pass, "failure");
    }
    expect(await limits.admit({ breaker: BREAKER, holdMs: 10_000_000 })).toMatchObject({ because: "breaker" });
    expect(await limits.retry({ key: "b", share: 0.2 })).toBe(true);
    store.away = false;
    await clock.advance(1_000);
    expect(await limits.admit({ breaker: BREAKER, holdMs: 10_000_000 })).toMatchObject({ admitted: true });
    expect(heard).toEqual([{ key: "tool", probeAt: 60_000 }, { key: "tool" }]);
  });

  it("tell nothing and set no timer once they are closed", async () => {
    const { limits, store, clock, events } = setUp();
    const admission = await limits.admit(window(3));
    if (!admission.admitted) throw new Error("refused");
    store.away = true;
    limits.close();
    await limits.release(admission.pass, "success");
    expect(events).toEqual([]);
    expect(clock.pending).toBe(0);
  });
});
