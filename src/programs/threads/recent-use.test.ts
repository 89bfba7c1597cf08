import { expect, it } from "vitest";
import { createRecentUse } from "./recent-use.ts";

it("adds up what each caller used, and forgets it at a steady rate", () => {
  const use = createRecentUse({ most: 200, forgottenPerSecond: 100 });
  use.add("busy", 150, 0);
  expect(use.isHeavy("busy", 0)).toBe(false);
  use.add("busy", 100, 0);
  expect(use.isHeavy("busy", 0)).toBe(true);
  expect(use.isHeavy("other", 0)).toBe(false);
  expect(use.isHeavy("busy", 499)).toBe(true);
  expect(use.isHeavy("busy", 501)).toBe(false);
  use.add("busy", 10, 10_000);
  expect(use.isHeavy("busy", 10_000)).toBe(false);
});
