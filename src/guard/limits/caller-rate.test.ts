import { describe, expect, it } from "vitest";
import { createLocalLimits } from "../../state/local-limits.ts";
import { createManualClock } from "../../testing/manual-clock.ts";
import { createSearchLimit } from "./caller-rate.ts";

const caller = (id: string, tenant?: string) => ({
  id,
  roles: [],
  capabilities: [],
  scopes: [],
  local: false,
  ...(tenant !== undefined && { tenant }),
});

describe("the limit on searches", () => {
  it("refuses a caller who searches too often, says when to try again, and leaves others alone", async () => {
    const clock = createManualClock();
    const take = createSearchLimit({ limits: createLocalLimits({ clock }), perMinute: 2 });
    await take(caller("ada"));
    await take(caller("ada"));
    await expect(take(caller("ada"))).rejects.toMatchObject({
      code: "RATE_LIMITED",
      message: expect.stringContaining('"ada" searched for tools more than 2 times in a minute. Try again in '),
      details: { retryAfterMs: expect.any(Number) },
    });
    await take(caller("ada", "north"));
    await take(caller("bob"));
    await clock.advance(60_001);
    await take(caller("ada"));
  });
});
