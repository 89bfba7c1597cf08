import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createManualClock } from "../testing/manual-clock.ts";
import type { Admission, Limits, RateWindow } from "./limits.port.ts";
import { createLocalLimits } from "./local-limits.ts";

function aMinute(key: string, calls: number): readonly RateWindow[] {
  return [{ key, calls, windowMs: 60_000 }];
}

function take(limits: Limits, windows: readonly RateWindow[]): Admission {
  const admission = limits.admit({ windows, holdMs: 0 });
  if (admission instanceof Promise) throw new Error("Nothing to wait for.");
  return admission;
}

describe("createLocalLimits", () => {
  it("forgets tools that are idle", async () => {
    const clock = createManualClock();
    const limits = createLocalLimits({ clock });
    for (let tool = 0; tool < 100; tool++) take(limits, aMinute(`tool-${tool}`, 60));
    expect(limits.size.windows).toBe(100);
    await clock.advance(60_000);
    for (let call = 0; call < 60; call++) take(limits, aMinute("busy", 60));
    expect(limits.size.windows).toBe(1);
  });

  it("forgets idle tools behind one that is always busy", async () => {
    const clock = createManualClock();
    const limits = createLocalLimits({ clock });
    take(limits, aMinute("busy", 1_000));
    for (let tool = 0; tool < 20; tool++) take(limits, aMinute(`tool-${tool}`, 60));
    for (let second = 0; second < 120; second++) {
      await clock.advance(1_000);
      take(limits, aMinute("busy", 1_000));
    }
    expect(limits.size.windows).toBe(1);
  });

  it("remembers no more calls than the limit, for however long a tool is used", async () => {
    const clock = createManualClock();
    const limits = createLocalLimits({ clock });
    for (let second = 0; second < 600; second++) {
      for (let call = 0; call < 3; call++) take(limits, aMinute("busy", 20));
      await clock.advance(1_000);
    }
    expect(limits.size.calls).toBe(20);
  });

  it("forgets two calls at most with each, so that none pays for all that lie behind", async () => {
    const clock = createManualClock();
    const limits = createLocalLimits({ clock });
    for (let call = 0; call < 9; call++) take(limits, aMinute("a", 20));
    await clock.advance(30_000);
    take(limits, aMinute("a", 20));
    take(limits, aMinute("b", 20));
    expect(limits.size.calls).toBe(11);
    await clock.advance(30_000);
    take(limits, aMinute("a", 20));
    expect(limits.size.calls).toBe(10);
  });

  it("forgets two idle tools at most with each call", async () => {
    const clock = createManualClock();
    const limits = createLocalLimits({ clock });
    for (let tool = 0; tool < 100; tool++) take(limits, aMinute(`tool-${tool}`, 60));
    await clock.advance(60_000);
    take(limits, aMinute("busy", 60));
    expect(limits.size.windows).toBe(99);
  });

  it("keeps the order of calls when a burst follows steady use", async () => {
    const clock = createManualClock();
    const limits = createLocalLimits({ clock });
    for (let call = 0; call < 13; call++) {
      take(limits, aMinute("a", 12));
      if (call < 12) await clock.advance(10_000);
    }
    // At 120 s the last minute holds the calls of 70, 80, … 120 s, so six more fit.
    const burst = Array.from({ length: 8 }, () => take(limits, aMinute("a", 12)).admitted);
    expect(burst).toEqual([true, true, true, true, true, true, false, false]);
    for (const seconds of [10, 10, 10, 10, 10]) {
      expect(take(limits, aMinute("a", 12))).toMatchObject({ admitted: false, retryAfterMs: 10_000 });
      await clock.advance(seconds * 1_000);
      expect(take(limits, aMinute("a", 12)).admitted).toBe(true);
    }
  });

  it("keeps every window to every limit, refuses nothing that has room, and uses up nothing where it refuses", async () => {
    const limit = fc.record({
      key: fc.constantFrom("a", "b"),
      calls: fc.integer({ max: 12, min: 1 }),
      windowMs: fc.constantFrom(1_000, 60_000, 3_600_000),
    });
    // Within one arsenal a key has one number of calls in a window.
    const known = fc.uniqueArray(limit, {
      maxLength: 4,
      minLength: 1,
      selector: ({ key, windowMs }) => key + windowMs,
    });
    const gap = fc.oneof(...[0, 300, 2_000, 9_000, 70_000, 4_000_000].map((max) => fc.integer({ max, min: 0 })));
    const call = fc.record({ gap, chosen: fc.integer({ max: 15, min: 1 }) });
    await fc.assert(
      fc.asyncProperty(known, fc.array(call, { maxLength: 120 }), async (windows, calls) => {
        let now = 0;
        const limits = createLocalLimits({ clock: { now: () => now, after: () => () => undefined } });
        const admitted = new Map(windows.map((each): [RateWindow, number[]] => [each, []]));
        const waitFor = (each: RateWindow): number => {
          const last = (admitted.get(each) ?? []).filter((at) => at > now - each.windowMs);
          return last.length < each.calls ? 0 : (last[last.length - each.calls] ?? 0) + each.windowMs - now;
        };
        for (const { gap: wait, chosen } of calls) {
          now += wait;
          const asked = windows.filter((_, index) => (chosen >> index) % 2 === 1);
          const longest = Math.max(0, ...asked.map(waitFor));
          const answer = take(limits, asked);
          expect(answer.admitted).toBe(longest === 0);
          if (answer.admitted) for (const each of asked) admitted.get(each)?.push(now);
          else {
            expect(answer.retryAfterMs).toBe(longest);
            const tightest = asked.find(({ key, windowMs }) => key === answer.key && windowMs === answer.windowMs);
            expect(tightest && waitFor(tightest)).toBe(longest);
          }
        }
        for (const [{ calls: most, windowMs }, times] of admitted) {
          for (const start of times) {
            expect(times.filter((at) => at >= start && at < start + windowMs).length).toBeLessThanOrEqual(most);
          }
        }
      }),
    );
  });

  it("forgets places that nobody holds, such as those of callers who came once", async () => {
    const limits = createLocalLimits({ clock: createManualClock() });
    for (let caller = 0; caller < 10_000; caller++) {
      const places = [{ key: `caller ${caller}`, limit: 1 }];
      const admission = await limits.admit({ places, holdMs: 1_000 });
      if (admission.admitted) await limits.release(admission.pass, "success");
    }
    expect(limits.size.places).toBeLessThanOrEqual(1_024);
  });

  it("forgets what is idle in one window behind what a longer one remembers", async () => {
    const clock = createManualClock();
    const limits = createLocalLimits({ clock });
    take(limits, [{ key: "daily", calls: 5, windowMs: 86_400_000 }]);
    for (let tool = 0; tool < 10; tool++) take(limits, aMinute(`tool-${tool}`, 60));
    await clock.advance(60_000);
    for (let call = 0; call < 10; call++) take(limits, aMinute("busy", 60));
    expect(limits.size.windows).toBe(2);
  });

  it("leaves no timer behind, and forgets passes that were never given back", async () => {
    const clock = createManualClock();
    const limits = createLocalLimits({ clock });
    const request = { places: [{ key: "p", limit: 1 }], waitMs: 9_000, holdMs: 5_000 };
    limits.admit(request);
    const waiting = [limits.admit({ ...request, holdMs: 90_000 }), limits.admit({ ...request, waitMs: 100 })];
    await clock.advance(5_000);
    expect(await Promise.all(waiting)).toMatchObject([{ admitted: true }, { because: "places" }]);
    const closing = limits.admit(request);
    limits.close();
    expect(await closing).toMatchObject({ because: "aborted" });
    expect(clock.pending).toBe(0);
  });
});
