import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createClient } from "../../../src/client/index.ts";
import { repeats, some } from "../../kit/effort.ts";
import { eventually } from "./eventually.ts";
import { type Fleet, startFleet } from "./fleet.ts";
import { startLoad } from "./load.ts";
import { STORES } from "./states.ts";

const STEPS = { type: "object", properties: { id: { type: "string" } }, required: ["id"] };

/** Books, waits for a person to approve the payment, and books again. */
const TRIP = {
  name: "trip",
  description: "Books a trip and pays for it.",
  inputs: STEPS,
  steps: [
    { id: "seats", tool: "young.book", forEach: '["1", "2"]', arguments: { id: "${{ inputs.id + item }}" } },
    { id: "pay", tool: "young.pay", needs: ["seats"], arguments: { id: "${{ inputs.id }}-pay" } },
    { id: "hotel", tool: "old.book", needs: ["pay"], arguments: { id: "${{ inputs.id }}-hotel" } },
  ],
  result: "${{ steps.hotel.result }}",
};

/** Is in the middle of a call when its process is killed. */
const HELD = {
  name: "held",
  description: "Holds a seat and books another.",
  inputs: STEPS,
  steps: [
    { id: "first", tool: "young.book", arguments: { id: "${{ inputs.id }}-first" } },
    { id: "hold", tool: "young.hold", needs: ["first"], arguments: { id: "${{ inputs.id }}" } },
    { id: "last", tool: "young.book", needs: ["hold"], arguments: { id: "${{ inputs.id }}-last" } },
  ],
};

/** Runs that wait for an approval when the process that started them is killed. */
const RUNS = repeats(15, 50);

describe.each(some(STORES, 1, "workflows"))("workflows of a killed replica, on $name", ({ open }) => {
  let fleet: Fleet;
  const flows = mkdtempSync(join(tmpdir(), "toolarsenal-flows-"));
  beforeAll(async () => {
    for (const each of [TRIP, HELD]) writeFileSync(join(flows, `${each.name}.yaml`), JSON.stringify(each));
    const settings = { sources: [{ type: "workflows", name: "flows", paths: [flows] }] };
    fleet = await startFleet(open, { size: 2, settings });
    for (const index of [0, 1])
      await eventually("the workflows have their tools", async () => (await flowsAt(index)) === 2);
  });
  afterAll(async () => {
    await fleet?.close();
    rmSync(flows, { recursive: true, force: true });
  });

  const at = (index: number, apiKey = fleet.keys.asker) =>
    createClient({ url: fleet.replica(index).url, apiKey, timeoutMs: 120_000 });
  const flowsAt = async (index: number): Promise<number> => (await at(index).listTools({ namespace: "flows" })).length;
  const countOf = (server: "old" | "young", id: string): number => fleet[server].executed.get(id) ?? 0;

  it("go on at another one after the approval, under load, and every step ran exactly once", async () => {
    const load = await startLoad(fleet, { callers: 2 });
    const ids = Array.from({ length: RUNS }, (_, index) => `trip-${index}-`);
    const call = (id: string) => ({ toolName: "flows.trip", arguments: { id } });
    const waiting = await Promise.all(ids.map((id) => at(0).execute(call(id))));
    expect(new Set(waiting.map(({ status }) => status))).toEqual(new Set(["pending_confirmation"]));
    expect(ids.map((id) => countOf("young", `${id}-pay`))).toEqual(ids.map(() => 0));
    await fleet.kill(0);

    const approver = at(1, fleet.keys.approver);
    await Promise.all(waiting.map(({ confirmationId = "" }) => approver.approvals.approve(confirmationId)));
    // Nobody asks for them: they go on by themselves.
    await eventually("all of them ended", () => ids.every((id) => countOf("old", `${id}-hotel`) > 0));
    const ended = await Promise.all(
      ids.map((id, index) => at(1).execute({ ...call(id), confirmationId: waiting[index]?.confirmationId ?? "" })),
    );
    expect(ended.map(({ result }) => result)).toEqual(ids.map((id) => `booked ${id}-hotel`));
    const counts = ids.map((id) => [
      countOf("young", `${id}1`),
      countOf("young", `${id}2`),
      countOf("young", `${id}-pay`),
      countOf("old", `${id}-hotel`),
    ]);
    expect(counts).toEqual(ids.map(() => [1, 1, 1, 1]));
    const loaded = await load.stop();
    expect(loaded.length).toBeGreaterThan(0);
    expect(loaded.filter(({ server, id }) => countOf(server, id) > 1)).toEqual([]);
    await fleet.start(0);
  });

  it("end with an unknown outcome if a call was under way, and nothing runs twice", async () => {
    await eventually("the workflows have their tools", async () => (await flowsAt(0)) === 2);
    const [id, flow] = ["cut", { toolName: "flows.held" }];
    const broken = at(0)
      .execute({ ...flow, arguments: { id } })
      .catch((error: Error) => error);
    await eventually("the call is under way", () => countOf("young", id) === 1);
    await fleet.kill(0);
    await broken;
    const operator = at(1, fleet.keys.operator);
    await eventually("another replica has ended the run", async () => {
      const { runs } = await operator.workflows.get("flows.held");
      return runs.some(({ status, message }) => status === "failed" && message?.includes("started and may have run"));
    });
    fleet.young.events.emit("go", id);
    expect([countOf("young", `${id}-first`), countOf("young", id), countOf("young", `${id}-last`)]).toEqual([1, 1, 0]);
  });
});
