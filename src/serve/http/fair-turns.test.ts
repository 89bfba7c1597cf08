import { describe, expect, it } from "vitest";
import { createFairTurns, type FairTurns } from "./fair-turns.ts";

/** Turns whose time a test decides. `run` lets everything that is due within so many milliseconds happen. */
function turnsAt(load: number) {
  let now = 0;
  let ends: (() => void)[] = [];
  let timers: { readonly at: number; readonly callback: () => void }[] = [];
  const turns = createFairTurns({
    now: () => now,
    load: () => load,
    afterThisTurn: (callback) => void ends.push(callback),
    after: (ms, callback) => void timers.push({ at: now + ms, callback }),
  });
  function endTurn(): void {
    const due = ends;
    ends = [];
    for (const end of due) end();
  }
  return {
    turns,
    /** Uses the event loop for so long, then ends the turn. */
    use(ms: number): void {
      now += ms;
      endTurn();
    },
    async run(ms: number): Promise<void> {
      for (const end = now + ms; now < end;) {
        now += 1;
        const due = timers.filter(({ at }) => at <= now);
        timers = timers.filter(({ at }) => at > now);
        for (const { callback } of due) callback();
        endTurn();
        await Promise.resolve();
      }
    },
  };
}

const eve = { id: "eve" };
const ada = { id: "ada" };

/** Requests that take 10 ms each, until one must wait. Returns how many went on at once. */
function flood(turns: FairTurns, use: (ms: number) => void, holder = eve): number {
  for (let count = 0; count < 1000; count++) {
    if (turns.take(holder) !== "now") return count;
    use(10);
  }
  return 1000;
}

describe("fair turns", () => {
  it("let a caller use all of the time while the event loop has some to spare", () => {
    const { turns, use } = turnsAt(0.3);
    for (const caller of [ada, eve]) turns.take(caller);
    use(150);
    expect(flood(turns, use)).toBe(1000);
  });

  it("let a caller use all of the time while nobody else asks for any", () => {
    const { turns, use } = turnsAt(1);
    expect(flood(turns, use)).toBe(1000);
    turns.charge(eve, 10_000);
    expect(turns.take(eve)).toBe("now");
  });

  it("make a caller wait that used more than its share, and not the others", async () => {
    const { turns, use, run } = turnsAt(1);
    turns.take(ada);
    use(100);
    expect(flood(turns, use)).toBeLessThan(30);
    expect(turns.take(ada)).toBe("now");
    let went = 0;
    for (let sent = 0; sent < 20; sent++) void Promise.resolve(turns.take(eve)).then(() => went++);
    expect(turns.take(ada)).toBe("now");
    await run(20);
    expect(went).toBeLessThan(10);
    await run(2_000);
    expect(went).toBe(20);
  });

  it("count what a large body is expected to take, and what it took", () => {
    for (const charge of [
      (turns: FairTurns) => turns.take(eve, 8 * 1024 * 1024),
      (turns: FairTurns) => turns.charge(eve, 90),
    ]) {
      const { turns, use } = turnsAt(1);
      for (const caller of [ada, eve]) turns.take(caller);
      use(150);
      charge(turns);
      expect(turns.take(ada)).toBe("now");
      expect(turns.take(eve)).toBeInstanceOf(Promise);
    }
  });

  it("refuse a caller with too many waiting requests, and only that caller", () => {
    const { turns, use } = turnsAt(1);
    for (const caller of [ada, eve]) turns.take(caller);
    use(150);
    turns.charge(eve, 10_000);
    const taken = Array.from({ length: 300 }, () => turns.take(eve));
    expect(taken.filter((turn) => turn === "refused")).toHaveLength(44);
    expect(turns.take(ada)).toBe("now");
  });

  it("keep callers of one name in two tenants apart", () => {
    const { turns, use } = turnsAt(1);
    for (const tenant of ["a", "b"]) turns.take({ id: "eve", tenant });
    use(150);
    turns.charge({ id: "eve", tenant: "a" }, 10_000);
    expect(turns.take({ id: "eve", tenant: "b" })).toBe("now");
    expect(turns.take({ id: "eve", tenant: "a" })).toBeInstanceOf(Promise);
  });
});
