import { describe, expect, it } from "vitest";
import { createManualClock, type ManualClock } from "../testing/manual-clock.ts";
import type { Emit, EventMap } from "./events.ts";
import { createHealth, type HealthBook } from "./health.ts";

interface Setup {
  readonly health: HealthBook;
  readonly clock: ManualClock;
  readonly changes: EventMap["health-changed"][];
}

function setUp(): Setup {
  const clock = createManualClock(1_000);
  const changes: EventMap["health-changed"][] = [];
  const emit: Emit = (_, data) => void changes.push(data as EventMap["health-changed"]);
  return { health: createHealth({ clock, emit }), clock, changes };
}

function repeat(times: number, run: () => void): void {
  for (let time = 0; time < times; time++) run();
}

describe("createHealth", () => {
  it("takes a tool that was never called for healthy", () => {
    expect(setUp().health.of("a.b")).toEqual({
      successRate: 1,
      averageLatencyMs: 0,
      totalCalls: 0,
      consecutiveFailures: 0,
      circuitOpen: false,
    });
  });

  it("keeps rate, latency, failures in a row and the times [000-4.1-health]", async () => {
    const { health, clock } = setUp();
    health.recordSuccess("a.b", 10);
    await clock.advance(500);
    health.recordFailure("a.b", 30);
    health.recordFailure("a.b", 50);
    expect(health.of("a.b")).toEqual({
      successRate: 1 / 3,
      averageLatencyMs: 30,
      totalCalls: 3,
      consecutiveFailures: 2,
      lastSuccess: 1_000,
      lastFailure: 1_500,
      circuitOpen: false,
    });
    health.recordSuccess("a.b", 10);
    expect(health.of("a.b")).toMatchObject({ consecutiveFailures: 0, successRate: 0.5, averageLatencyMs: 25 });
  });

  it("goes by the last hundred calls, so that a fixed tool recovers", () => {
    const { health } = setUp();
    repeat(200, () => health.recordFailure("a.b", 1_000));
    repeat(99, () => health.recordSuccess("a.b", 10));
    expect(health.of("a.b")).toMatchObject({ successRate: 0.99, averageLatencyMs: 19.9, totalCalls: 299 });
    health.recordSuccess("a.b", 10);
    expect(health.of("a.b")).toMatchObject({ successRate: 1, averageLatencyMs: 10, totalCalls: 300 });
  });

  it("keeps each tool apart and forgets one when told", () => {
    const { health } = setUp();
    health.recordFailure("a.b", 1);
    health.recordSuccess("a.c", 1);
    health.forget("a.b");
    expect(health.of("a.b")).toMatchObject({ totalCalls: 0, successRate: 1 });
    expect(health.of("a.c")).toMatchObject({ totalCalls: 1 });
  });

  it("gives out snapshots: what was read does not change later", () => {
    const { health } = setUp();
    health.recordSuccess("a.b", 1);
    const before = health.of("a.b");
    health.recordFailure("a.b", 1);
    expect(before).toMatchObject({ totalCalls: 1, successRate: 1 });
  });

  it("says nothing of calls that change nothing much", () => {
    const { health, changes } = setUp();
    repeat(50, () => health.recordSuccess("a.b", 10));
    expect(changes).toEqual([]);
    health.recordFailure("a.b", 10);
    expect(changes).toHaveLength(1);
    repeat(2, () => health.recordFailure("a.b", 10));
    repeat(20, () => health.recordSuccess("a.b", 10));
    expect(changes).toHaveLength(1);
  });

  it("tells of the first failure, with before and after [000-5.5-health-change]", () => {
    const { health, changes } = setUp();
    repeat(19, () => health.recordSuccess("a.b", 10));
    health.recordFailure("a.b", 10);
    expect(changes).toMatchObject([
      { toolId: "a.b", before: { successRate: 1, totalCalls: 19 }, after: { successRate: 0.95, totalCalls: 20 } },
    ]);
  });

  it("tells when the success rate crosses 0.9 and 0.5, either way", () => {
    const { health, changes } = setUp();
    repeat(100, () => health.recordSuccess("a.b", 10));
    repeat(100, () => health.recordFailure("a.b", 10));
    repeat(100, () => health.recordSuccess("a.b", 10));
    expect(changes.map(({ before, after }) => [before.successRate, after.successRate])).toEqual([
      [1, 0.99],
      [0.9, 0.89],
      [0.5, 0.49],
      [0.49, 0.5],
      [0.89, 0.9],
    ]);
  });

  it("tells when a circuit opens or closes, once each", () => {
    const { health, changes } = setUp();
    health.setCircuit("a.b", false);
    health.setCircuit("a.b", true);
    health.setCircuit("a.b", true);
    expect(health.of("a.b").circuitOpen).toBe(true);
    health.recordSuccess("a.b", 1);
    health.setCircuit("a.b", false);
    expect(changes.map(({ before, after }) => [before.circuitOpen, after.circuitOpen])).toEqual([
      [false, true],
      [true, false],
    ]);
  });
});
