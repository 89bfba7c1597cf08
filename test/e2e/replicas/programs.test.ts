import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createClient } from "../../../src/client/index.ts";
import type { CodeResult } from "../../../src/programs/code-mode.ts";
import { repeats, some } from "../../kit/effort.ts";
import { type Fleet, startFleet } from "./fleet.ts";
import { startLoad } from "./load.ts";
import { STORES } from "./states.ts";
import { held } from "./upstream.ts";

/** Programs that wait for an approval when their process is killed. */
const PROGRAMS = repeats(15, 50);

/** Books two seats at once, pays when a person has approved it, and books again with the time and the number from before. */
const programOf = (n: number): string => `
  const at = [Date.now(), Math.random()];
  await Promise.all(["a", "b"].map((seat) => young.book({ id: seat + ${n} })));
  await young.pay({ id: "pay${n}" });
  await old.book({ id: "c${n}" });
  [at, Date.now() >= at[0]]`;

describe.each(some(STORES, 1, "programs"))("programs of a killed replica, on $name", ({ open }) => {
  let fleet: Fleet;
  beforeAll(async () => void (fleet = await startFleet(open, { size: 2 })));
  afterAll(() => fleet?.close());

  const at = (index: number, apiKey = fleet.keys.asker) =>
    createClient({ url: fleet.replica(index).url, apiKey, timeoutMs: 120_000 });
  const run = (index: number, n: number): Promise<CodeResult> => at(index).runCode({ code: programOf(n) });
  const countOf = (server: "old" | "young", id: string): number => fleet[server].executed.get(id) ?? 0;

  it("go on at another one after their approval, under load, and every call runs exactly once", async () => {
    const load = await startLoad(fleet, { callers: 2 });
    const all = Array.from({ length: PROGRAMS }, (_, n) => n);
    const waiting = await Promise.all(all.map((n) => run(0, n)));
    expect(waiting.filter(({ status }) => status !== "pending_confirmation")).toEqual([]);
    // One more is in the middle of a call.
    const middle = held(fleet.young, "middle");
    const code = 'try { await young.hold({ id: "middle" }); "held" } catch (error) { error.code }';
    at(0)
      .runCode({ code })
      .catch(() => undefined);
    await middle;
    await fleet.kill(0);

    const approver = at(1, fleet.keys.approver);
    await Promise.all(waiting.map(({ confirmationId = "" }) => approver.approvals.approve(confirmationId)));
    const ended = await Promise.all(all.map((n) => run(1, n)));
    expect(ended.map(({ status, runId }) => [status, runId])).toEqual(waiting.map(({ runId }) => ["success", runId]));
    const counts = all.map((n) => [
      ...["a", "b", "pay"].map((id) => countOf("young", id + n)),
      countOf("old", `c${n}`),
    ]);
    expect(counts).toEqual(all.map(() => [1, 1, 1, 1]));

    // The call that was under way may have taken effect: the program learns that, and it does not run again.
    const running = async (): Promise<number> => {
      const headers = { authorization: `Bearer ${fleet.keys.operator}` };
      const answer = await fetch(`${fleet.replica(1).url}/api/v1/runs?limit=200`, { headers });
      const { runs } = (await answer.json()) as { readonly runs: readonly { readonly status: string }[] };
      return runs.filter(({ status }) => status === "running").length;
    };
    await expect.poll(running, { timeout: 60_000 }).toBe(0);
    expect(countOf("young", "middle")).toBe(1);
    const loaded = await load.stop();
    expect(loaded.length).toBeGreaterThan(0);
    expect(loaded.filter(({ server, id }) => countOf(server, id) > 1)).toEqual([]);
  }, 300_000);
});
