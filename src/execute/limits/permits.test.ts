import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createPermits } from "./permits.ts";

describe("permits", () => {
  it("are given in the order they were asked for [004-control-fifo]", async () => {
    const permits = createPermits(1);
    const order: number[] = [];
    const waiters = [0, 1, 2, 3].map(async (index) => {
      await permits.acquire(new AbortController().signal);
      order.push(index);
      permits.release();
    });
    await Promise.all(waiters);
    expect(order).toEqual([0, 1, 2, 3]);
    expect(permits.inUse).toBe(0);
  });

  it("are not taken past those who wait", async () => {
    const permits = createPermits(1);
    expect(permits.tryAcquire()).toBe(true);
    const waiting = permits.acquire(new AbortController().signal);
    permits.release();
    expect(permits.tryAcquire()).toBe(false);
    expect(await waiting).toBe(true);
  });

  it("let a waiter leave from the middle of the queue", async () => {
    const permits = createPermits(1);
    permits.tryAcquire();
    const leaving = new AbortController();
    const [first, second, third] = [new AbortController(), leaving, new AbortController()].map(({ signal }) =>
      permits.acquire(signal),
    );
    leaving.abort();
    expect(await second).toBe(false);
    expect(permits.waiting).toBe(2);
    permits.release();
    expect(await first).toBe(true);
    permits.release();
    expect(await third).toBe(true);
  });

  it("are refused at once to one who has left already", async () => {
    const permits = createPermits(1);
    expect(await permits.acquire(AbortSignal.abort())).toBe(false);
    expect(permits.inUse).toBe(0);
  });

  it("grow to those who wait, and shrink without taking any back", async () => {
    const permits = createPermits(1);
    permits.tryAcquire();
    const waiting = permits.acquire(new AbortController().signal);
    permits.resize(2);
    expect(await waiting).toBe(true);
    permits.resize(1);
    expect(permits.inUse).toBe(2);
    permits.release();
    expect(permits.tryAcquire()).toBe(false);
    permits.release();
    expect(permits.tryAcquire()).toBe(true);
  });

  it("never exceed their number and are never lost, whatever happens [004-control-release]", async () => {
    const step = fc.constantFrom("acquire", "release", "abort");
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 4 }), fc.array(step, { maxLength: 60 }), async (limit, steps) => {
        const permits = createPermits(limit);
        const controllers: AbortController[] = [];
        let held = 0;
        const acquired: Promise<void>[] = [];
        for (const one of steps) {
          if (one === "acquire") {
            const controller = new AbortController();
            controllers.push(controller);
            acquired.push(permits.acquire(controller.signal).then((got) => void (held += got ? 1 : 0)));
          }
          if (one === "abort") controllers.shift()?.abort();
          await Promise.resolve();
          if (one === "release" && held > 0) {
            held--;
            permits.release();
          }
          expect(permits.inUse).toBeLessThanOrEqual(limit);
        }
        for (const controller of controllers) controller.abort();
        await Promise.all(acquired);
        for (; held > 0; held--) permits.release();
        expect([permits.inUse, permits.waiting]).toEqual([0, 0]);
      }),
    );
  });
});
