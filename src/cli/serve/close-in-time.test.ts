import { expect, it } from "vitest";
import { createManualClock } from "../../testing/manual-clock.ts";
import { closeInTime } from "./close-in-time.ts";

it("closes one thing after the other", async () => {
  const steps: string[] = [];
  const step = (name: string) => async () => void steps.push(name);
  expect(
    await closeInTime([step("a"), step("b")], { err: { write: () => 0 } }, { drainMs: 0, clock: createManualClock() }),
  ).toBe(0);
  expect(steps).toEqual(["a", "b"]);
});

it("leaves what hangs five seconds after the calls had their time, and says so", async () => {
  const clock = createManualClock();
  let said = "";
  const err = { write: (text: string) => (said += text) };
  const closing = closeInTime([() => new Promise<void>(() => {})], { err }, { drainMs: 2000, clock });
  await clock.advance(6999);
  expect(said).toBe("");
  await clock.advance(1);
  expect(await closing).toBe(1);
  expect(said).toBe("Not everything closed within 7 s. Exiting anyway.\n");
});
