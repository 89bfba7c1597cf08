import { describe, expect, it } from "vitest";
import type { Emit } from "../../observe/events.ts";
import { createHealth, type HealthBook } from "../../observe/health.ts";
import { createManualClock, type ManualClock } from "../../testing/manual-clock.ts";
import { createBreakers, type Breakers, type Pass } from "./breaker.ts";

function setUp(): { breakers: Breakers; clock: ManualClock; events: unknown[]; health: HealthBook } {
  const clock = createManualClock();
  const events: unknown[] = [];
  const emit: Emit = (name, data) => {
    if (name.startsWith("circuit-")) events.push([name, data]);
  };
  const health = createHealth({ clock, emit });
  return { breakers: createBreakers({ threshold: 3, coolDownMs: 1000, clock, emit, health }), clock, events, health };
}

function pass(breakers: Breakers): Pass {
  const acquired = breakers.acquire("a.b");
  if (!acquired.allowed) throw new Error("refused");
  return acquired;
}

function fail(breakers: Breakers, times: number): void {
  for (let count = 0; count < times; count++) breakers.settle(pass(breakers), "failure");
}

describe("breaker", () => {
  it("opens after as many failures in a row as its threshold, and says for how long [000-6.3-circuit-opens]", async () => {
    const { breakers, clock, events, health } = setUp();
    fail(breakers, 2);
    expect(breakers.refusal("a.b")).toBeUndefined();
    fail(breakers, 1);
    expect(breakers.refusal("a.b")).toEqual({ allowed: false, retryAfterMs: 1000 });
    await clock.advance(400);
    expect(breakers.acquire("a.b")).toEqual({ allowed: false, retryAfterMs: 600 });
    expect(breakers.refusal("a.other")).toBeUndefined();
    expect(events).toEqual([["circuit-opened", { toolId: "a.b", consecutiveFailures: 3, retryAfterMs: 1000 }]]);
    expect(health.of("a.b").circuitOpen).toBe(true);
  });

  it("starts counting again after a success, and not after a neutral outcome", () => {
    const { breakers } = setUp();
    fail(breakers, 2);
    breakers.settle(pass(breakers), "success");
    fail(breakers, 2);
    expect(breakers.refusal("a.b")).toBeUndefined();
    breakers.settle(pass(breakers), "neutral");
    fail(breakers, 1);
    expect(breakers.refusal("a.b")).toBeDefined();
  });

  it("lets one probe through after the cool-down, and closes where it succeeds [000-6.3-circuit-closes]", async () => {
    const { breakers, clock, events, health } = setUp();
    fail(breakers, 3);
    await clock.advance(1000);
    expect(breakers.refusal("a.b")).toBeUndefined();
    const probe = pass(breakers);
    expect(probe.probe).toBe(true);
    expect(breakers.acquire("a.b")).toEqual({ allowed: false });
    breakers.settle(probe, "success");
    expect(pass(breakers).probe).toBe(false);
    expect(events.slice(1)).toEqual([
      ["circuit-probed", { toolId: "a.b" }],
      ["circuit-closed", { toolId: "a.b" }],
    ]);
    expect(health.of("a.b").circuitOpen).toBe(false);
    fail(breakers, 2);
    expect(breakers.refusal("a.b")).toBeUndefined();
  });

  it("opens for another cool-down where the probe fails [000-6.3-circuit-closes]", async () => {
    const { breakers, clock, events } = setUp();
    fail(breakers, 3);
    await clock.advance(1000);
    breakers.settle(pass(breakers), "failure");
    expect(breakers.refusal("a.b")).toEqual({ allowed: false, retryAfterMs: 1000 });
    expect(events.at(-1)).toEqual(["circuit-opened", { toolId: "a.b", consecutiveFailures: 4, retryAfterMs: 1000 }]);
  });

  it("gives the probe to the next caller where the first did not find out", async () => {
    const { breakers, clock } = setUp();
    fail(breakers, 3);
    await clock.advance(1000);
    breakers.settle(pass(breakers), "neutral");
    expect(pass(breakers).probe).toBe(true);
  });

  it("does not count calls that began before its state changed", async () => {
    const { breakers, clock } = setUp();
    const early = [pass(breakers), pass(breakers), pass(breakers), pass(breakers)];
    fail(breakers, 3);
    const [first, ...others] = early;
    if (first !== undefined) breakers.settle(first, "success");
    expect(breakers.refusal("a.b")).toBeDefined();
    await clock.advance(1000);
    breakers.settle(pass(breakers), "success");
    for (const late of others) breakers.settle(late, "failure");
    expect(breakers.refusal("a.b")).toBeUndefined();
  });

  it("forgets a tool together with its open circuit", () => {
    const { breakers, health } = setUp();
    fail(breakers, 3);
    breakers.forget("a.b");
    expect(breakers.refusal("a.b")).toBeUndefined();
    expect(health.of("a.b").circuitOpen).toBe(false);
  });
});
