import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createBoundedQueue } from "./bounded-queue.ts";

describe("createBoundedQueue", () => {
  it("hands items back in order and drops the oldest beyond its capacity", () => {
    const queue = createBoundedQueue<number>(3);
    expect([1, 2, 3, 4, 5].map((item) => queue.push(item))).toEqual([true, true, true, false, false]);
    expect(queue.take(2)).toEqual([3, 4]);
    expect(queue.size).toBe(1);
    expect(queue.take(10)).toEqual([5]);
    expect(queue.take(10)).toEqual([]);
  });

  it("does what a plain list cut at its capacity does", () => {
    const step = fc.oneof(fc.constant("push" as const), fc.integer({ min: 0, max: 4 }));
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5 }), fc.array(step, { maxLength: 60 }), (capacity, steps) => {
        const queue = createBoundedQueue<number>(capacity);
        const list: number[] = [];
        steps.forEach((action, item) => {
          if (action === "push") {
            list.push(item);
            const fits = list.length <= capacity;
            if (!fits) list.shift();
            expect(queue.push(item)).toBe(fits);
          } else {
            expect(queue.take(action)).toEqual(list.splice(0, action));
          }
          expect(queue.size).toBe(list.length);
        });
      }),
    );
  });
});
