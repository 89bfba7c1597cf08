import { describe, expect, it } from "vitest";
import { memoryState } from "../../adapters/state/memory.ts";
import { createRedactor } from "../../guard/redaction/redactor.ts";
import type { State } from "../../state/state.port.ts";
import { createManualClock, type ManualClock } from "../../testing/manual-clock.ts";
import { costsBy, readCosts } from "./costs.ts";
import { createHistory, type History, readHistory } from "./history.ts";
import type { CallRecord } from "./record.ts";

const START = Date.parse("2026-01-31T23:59:00Z");

function call(number: number, more: Partial<CallRecord> = {}): CallRecord {
  return {
    kind: "call",
    at: START + number,
    traceId: String(number).padStart(32, "0"),
    spanId: "1".repeat(16),
    toolId: "shop.pay",
    status: "success",
    attempts: 1,
    queuedMs: 0,
    latencyMs: 1,
    principal: "local",
    ...more,
  };
}

let ids = 0;
function open(state: State, clock: ManualClock, told: unknown[] = [], max = 1_000): History {
  const settings = { max, maxAgeDays: 7, text: true };
  const emit = (...event: unknown[]): void => void told.push(event);
  return createHistory({ state, clock, redactor: createRedactor(), settings, emit, newId: () => String(ids++) });
}

describe("createHistory", () => {
  it("writes what came within a second at once, and not before", async () => {
    const clock = createManualClock(START);
    const { documents } = memoryState({ clock });
    const written: string[] = [];
    const history = open(
      { ...documents, set: (key, ...rest) => (written.push(key), documents.set(key, ...rest)) },
      clock,
    );
    for (let number = 0; number < 50; number++) history.note(() => call(number));
    await clock.advance(999);
    expect(written).toEqual([]);
    await clock.advance(1);
    expect(written).toHaveLength(2);
    expect(await readHistory(documents, () => true)).toHaveLength(50);
  });

  it("holds its bound while several processes write at once", async () => {
    const clock = createManualClock(START);
    const { documents } = memoryState({ clock });
    const histories = Array.from({ length: 4 }, () => open(documents, clock, [], 300));
    for (let number = 0; number < 400; number++) histories[number % 4]?.note(() => call(number));
    await Promise.all(histories.map((history) => history.flush()));
    const { length } = await readHistory(documents, () => true);
    expect(length).toBeGreaterThan(200);
    expect(length).toBeLessThanOrEqual(300);
  });

  it("loses what comes while the store is away, says so once a minute, and goes on", async () => {
    const clock = createManualClock(START);
    const { documents } = memoryState({ clock });
    const told: unknown[] = [];
    let isAway = true;
    const state: State = {
      ...documents,
      set: async (...given) => (isAway ? Promise.reject(new Error("away")) : documents.set(...given)),
    };
    const history = open(state, clock, told);
    for (let number = 0; number < 3; number++) {
      history.note(() => call(number));
      await clock.advance(1_000);
    }
    const message = "The history could not be written: away";
    expect(told).toEqual([["sink-failed", { sink: "history", message, dropped: 1 }]]);
    isAway = false;
    history.note(() => call(3));
    await clock.advance(1_000);
    expect((await readHistory(documents, () => true)).map(({ at }) => at)).toEqual([START + 3]);
  });

  it("drops the oldest when more comes than can wait", async () => {
    const clock = createManualClock(START);
    const { documents } = memoryState({ clock });
    const told: unknown[] = [];
    const history = open(documents, clock, told, 100_000);
    for (let number = 0; number < 5_100; number++) history.note(() => call(number));
    await history.close();
    const kept = await readHistory(documents, () => true);
    expect([kept.length, kept[0]?.at]).toEqual([5_000, START + 100]);
    expect(told).toMatchObject([["sink-failed", { sink: "history", dropped: 100 }]]);
  });
});

describe("a record", () => {
  it("is kept as one text, so that no store has to copy or compare its parts", async () => {
    const clock = createManualClock(START);
    const { documents } = memoryState({ clock });
    const history = open(documents, clock);
    history.note(() => call(1));
    await history.flush();
    const [chunk] = await documents.list("history:");
    expect(chunk?.value).toEqual([JSON.stringify(call(1))]);
  });

  it("that cannot be made is lost and reported, and disturbs nothing", async () => {
    const clock = createManualClock(START);
    const { documents } = memoryState({ clock });
    const told: unknown[] = [];
    const history = open(documents, clock, told);
    history.note(() => {
      throw new Error("the engine is closed");
    });
    history.note(() => call(1));
    await history.close();
    expect(await readHistory(documents, () => true)).toEqual([call(1)]);
    const message = "A request could not be explained: the engine is closed";
    expect(told).toEqual([["sink-failed", { sink: "history", message, dropped: 1 }]]);
  });
});

describe("readCosts", () => {
  it("counts calls whose records were dropped because too many came at once", async () => {
    const clock = createManualClock(START);
    const { documents } = memoryState({ clock });
    const history = open(documents, clock);
    for (let number = 0; number < 6_000; number++) history.note(() => call(0, { cost: 1 }));
    await history.close();
    expect(await readCosts(documents, { days: 1, now: START })).toMatchObject([{ calls: 6_000, cost: 6_000 }]);
  });

  it("adds up by tool, tenant and day, from the day that was asked for", async () => {
    const clock = createManualClock(START);
    const { documents } = memoryState({ clock });
    const history = open(documents, clock);
    const minutes = 60_000;
    history.note(() => call(0, { cost: 2, tenant: "acme" }));
    history.note(() => call(2 * minutes, { cost: 1, tenant: "acme" }));
    history.note(() => call(2 * minutes, { cost: 3, toolId: "shop.ship" }));
    history.note(() => call(2 * minutes));
    await history.close();
    const costs = (days: number): ReturnType<typeof readCosts> =>
      readCosts(documents, { days, now: START + 2 * minutes });
    expect(await costs(2)).toEqual([
      { day: "2026-01-31", toolId: "shop.pay", tenant: "acme", calls: 1, cost: 2 },
      { day: "2026-02-01", toolId: "shop.pay", tenant: "acme", calls: 1, cost: 1 },
      { day: "2026-02-01", toolId: "shop.ship", calls: 1, cost: 3 },
    ]);
    expect(costsBy(await costs(1), "tenant")).toEqual([
      { name: "none", calls: 1, cost: 3 },
      { name: "acme", calls: 1, cost: 1 },
    ]);
  });
});
