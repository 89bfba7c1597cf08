import { expect, it } from "vitest";
import { createManualClock } from "../../testing/manual-clock.ts";
import { closeInTime } from "./close-in-time.ts";

it("closes one thing after the other", async () => {
  const steps: string[] = [];
  const step = (name: string) => async () => void steps.push(name);
  expect(await closeInTime([step("a"), step("b")], { err: { write: () => 0 } }, createManualClock())).toBe(0);
  expect(steps).toEqual(["a", "b"]);
});

it("leaves after five seconds what hangs, and says so", async () => {
  const clock = createManualClock();
  let said = "";
  const closing = closeInTime([() => new Promise<void>(() => {})], { err: { write: (text) => (said += text) } }, clock);
  await clock.advance(4999);
  expect(said).toBe("");
  await clock.advance(1);
  expect(await closing).toBe(1);
  expect(said).toBe("Not everything closed within 5 s; leaving all the same.\n");
});
