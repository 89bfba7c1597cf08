import { expect, it } from "vitest";
import { createManualClock } from "../../../../testing/manual-clock.ts";
import { createFloodGate } from "./flood-gate.ts";

it("holds a stream back until what it said is paid for, a millisecond a message", async () => {
  const clock = createManualClock();
  const gate = createFloodGate(clock);
  const told: string[] = [];
  const stream = { pause: () => told.push("pause"), resume: () => told.push("resume") };
  for (let count = 0; count < 100; count++) gate.count(false);
  gate.hold(stream);
  expect(told).toEqual([]);
  for (let count = 0; count < 500; count++) gate.count(false);
  gate.hold(stream);
  gate.hold(stream);
  expect(told).toEqual(["pause"]);
  await clock.advance(599);
  expect(told).toEqual(["pause"]);
  await clock.advance(1);
  expect(told).toEqual(["pause", "resume"]);
});

it("lets through what is said slowly, and many answers", async () => {
  const clock = createManualClock();
  const gate = createFloodGate(clock);
  let pauses = 0;
  for (let moment = 0; moment < 100; moment++) {
    for (let count = 0; count < 80; count++) gate.count(false);
    for (let count = 0; count < 500; count++) gate.count(true);
    gate.hold({ pause: () => pauses++, resume: () => {} });
    await clock.advance(100);
  }
  expect(pauses).toBe(0);
});

it("has streams that were held back take turns", async () => {
  const clock = createManualClock();
  const gate = createFloodGate(clock);
  const resumed: string[] = [];
  const stream = (name: string) => ({ pause: () => {}, resume: () => void resumed.push(`${name} ${clock.now()}`) });
  for (let count = 0; count < 1000; count++) gate.count(false);
  for (const name of ["a", "b", "c"]) gate.hold(stream(name));
  await clock.advance(2000);
  expect(resumed).toEqual(["a 1000", "b 1020", "c 1040"]);
});
