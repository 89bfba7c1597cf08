import { expect, it } from "vitest";
import { systemClock } from "../observe/clock.ts";
import { createWaitingCalls } from "./waiting-calls.ts";

it("keeps the pass of a call that holds a place, and none of a request that was only counted", () => {
  const calls = createWaitingCalls(
    systemClock,
    () => () => {},
    () => {},
  );
  const passOf = (id: string) => ({ admitted: true, pass: { id, probe: false, places: [], era: 0 } }) as const;
  calls.hold({ holdMs: 0 }, passOf("a search"));
  calls.hold({ holdMs: 1_000 }, passOf("a call"));
  expect([...calls.held.keys()]).toEqual(["a call"]);
});
