import { expect, it } from "vitest";
import { createManualClock } from "../testing/manual-clock.ts";
import { createWork } from "./work.ts";

it("tells refused callers to come back when the time for running calls is over, and never at once", async () => {
  const clock = createManualClock();
  const work = createWork(clock);
  const finish = Promise.withResolvers<void>();
  const running = work.run(new AbortController().signal, () => finish.promise);
  const drained = work.drain(8_000, { delayMs: 1_000 });
  await clock.advance(1_000);
  expect(work.retryAfterS).toBe(8);
  await clock.advance(6_500);
  expect(work.retryAfterS).toBe(2);
  await clock.advance(1_400);
  expect(work.retryAfterS).toBe(1);
  finish.resolve();
  await running;
  await drained;
  await clock.advance(60_000);
  expect(work.retryAfterS).toBe(1);
});
