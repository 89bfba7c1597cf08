import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { repeats, some } from "../../kit/effort.ts";
import { auditOf } from "./audit-log.ts";
import { eventually } from "./eventually.ts";
import { type Fleet, startFleet } from "./fleet.ts";
import { startLoad } from "./load.ts";
import { STATES } from "./states.ts";

describe.each(some(STATES, 1, "audited"))("three replicas on $name with one audit log", ({ open }) => {
  let fleet: Fleet;
  beforeAll(async () => {
    fleet = await startFleet(async (folder) => {
      const state = await open(folder);
      const audit = { ...(state.settings["audit"] as object), arguments: "full" };
      return { ...state, settings: { ...state.settings, audit } };
    });
  });
  afterAll(() => fleet?.close());

  it("have a record of every call that one of them answered, whichever of them is killed under load", async () => {
    const load = await startLoad(fleet, { callers: repeats(6, 12) });
    for (const index of some([0, 1, 2], 1)) {
      const { length } = load.ended;
      await eventually("calls are under way", () => load.ended.length > length + 50);
      await fleet.kill(index);
      const after = load.ended.length;
      await eventually("calls go on", () => load.ended.length > after + 20);
      await fleet.start(index);
    }
    const answered = (await load.stop()).filter(({ said }) => said !== undefined);
    const { idsOf, verified } = await auditOf(fleet.replica(0).url, fleet.keys.operator);
    const records = new Map([...(await idsOf("old.book")), ...(await idsOf("young.book"))]);
    expect(answered.filter(({ id }) => records.get(id) !== 1)).toEqual([]);
    expect([...records.values()].filter((count) => count !== 1)).toEqual([]);
    expect(await verified()).toMatchObject({ ok: true });
  });
});
