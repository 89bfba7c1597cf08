import { expect, it } from "vitest";
import type { McpConnection } from "../../../../mcp/connection.ts";
import { createManualClock } from "../../../../testing/manual-clock.ts";
import type { UpstreamState } from "../upstream/upstream.ts";
import { createKeeper } from "./keep-connected.ts";

const REFUSED = new Error("Sign in first.");

it("connects after a retry that was asked for while an attempt was under way that cannot know the reason", async () => {
  const clock = createManualClock();
  const attempts: PromiseWithResolvers<McpConnection>[] = [];
  const states: UpstreamState[] = [];
  const keeper = createKeeper({
    name: "sample",
    clock,
    random: () => 0,
    explain: () => "",
    timeoutMs: 30_000,
    connect() {
      const attempt = Promise.withResolvers<McpConnection>();
      attempts.push(attempt);
      return attempt.promise;
    },
    changed: (state) => void states.push(state),
  });

  await expect.poll(() => attempts.length).toBe(1);
  const retried = keeper.retry();
  attempts[0]?.reject(REFUSED);
  await expect.poll(() => attempts.length).toBe(2);
  // Without the retry, the next attempt would come after a pause.
  expect([clock.now(), states.map(({ kind }) => kind)]).toEqual([0, ["failed", "connecting"]]);
  attempts[1]?.reject(REFUSED);
  await retried;
  expect(keeper.state).toMatchObject({ kind: "failed", error: REFUSED });
  await keeper.close();
});
