import { expect, it } from "vitest";
import { createManualClock } from "../../../../testing/manual-clock.ts";
import { createCalmChanges } from "./calm-changes.ts";

it("passes the first change on at once, and those of the next second as one", async () => {
  const clock = createManualClock();
  const passed: string[] = [];
  const { changed } = createCalmChanges<string>(clock, (key) => void passed.push(key));
  changed("tools");
  changed("prompts");
  for (let count = 0; count < 1000; count++) changed("tools");
  expect(passed).toEqual(["tools", "prompts"]);
  await clock.advance(999);
  expect(passed).toHaveLength(2);
  await clock.advance(1);
  expect(passed).toEqual(["tools", "prompts", "tools"]);
});

it("passes a flood on less and less often, down to once a minute, and calms down with it", async () => {
  const clock = createManualClock();
  const at: number[] = [];
  const { changed } = createCalmChanges<string>(clock, () => void at.push(clock.now() / 1000));
  for (let tenth = 0; tenth < 3000; tenth++) {
    changed("tools");
    await clock.advance(100);
  }
  expect(at).toEqual([0, 1, 3, 7, 15, 31, 63, 123, 183, 243]);
  await clock.advance(120_000);
  changed("tools");
  changed("tools");
  await clock.advance(1000);
  expect(at.slice(-2)).toEqual([420, 421]);
});
