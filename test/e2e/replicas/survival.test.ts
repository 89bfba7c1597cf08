import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { repeats, some } from "../../kit/effort.ts";
import { type LegacyClient, legacyClient, modernClient } from "./clients.ts";
import { eventually } from "./eventually.ts";
import { type Fleet, startFleet } from "./fleet.ts";
import { type LoadedCall, startLoad } from "./load.ts";
import { BROKEN } from "./rest-caller.ts";
import { STATES } from "./states.ts";

// The strongest state of this machine: the others differ in what is tested elsewhere.
describe.each(STATES.slice(-1))("three replicas on $name", ({ open }) => {
  let fleet: Fleet;
  beforeAll(async () => {
    fleet = await startFleet(open);
  });
  afterAll(() => fleet?.close());

  /** How often each server executed a call. */
  const executions = ({ server, id }: LoadedCall): number => fleet[server].executed.get(id) ?? 0;

  it("are restarted one after the other under load, and no call fails", async () => {
    const load = await startLoad(fleet, { callers: repeats(2, 4) });
    for (const index of some([0, 1, 2], 2)) {
      const { length } = load.ended;
      expect(await fleet.stop(index)).toBe(0);
      await fleet.start(index);
      await eventually("calls go on", () => load.ended.length > length + 20);
    }
    const calls = await load.stop();
    expect(calls.filter(({ failed }) => failed !== undefined)).toEqual([]);
    expect(calls.filter((call) => executions(call) !== 1)).toEqual([]);
  });

  it("keep an older client's session when the replica that began it dies", async () => {
    const sessions: LegacyClient[] = [];
    for (const { url } of fleet.running())
      sessions.push(
        await legacyClient({ url: fleet.proxy.url, key: fleet.keys.asker }),
        await legacyClient({ url, key: fleet.keys.asker }),
      );
    const survivor = fleet.replica(1).url;
    await fleet.kill(0);
    for (const [index, session] of sessions.entries()) {
      const params = { name: "old-book", arguments: { id: `after death ${index}` } };
      const response = await session.post({ jsonrpc: "2.0", id: 99, method: "tools/call", params }, survivor);
      expect(await response.text()).toContain(`booked after death ${index}`);
    }
    await fleet.start(0);
  });

  it("execute no call twice and lose none without an error, whichever of them is killed", async () => {
    const load = await startLoad(fleet, { callers: repeats(4, 6) });
    for (const index of some([0, 1, 2], 1)) {
      const { length } = load.ended;
      await eventually("calls are under way", () => load.ended.length > length + 20);
      await fleet.kill(index);
      const after = load.ended.length;
      await eventually("calls go on", () => load.ended.length > after + 20);
      await fleet.start(index);
    }
    const calls = await load.stop();
    expect(calls.filter((call) => executions(call) > 1)).toEqual([]);
    expect(calls.filter((call) => call.said !== undefined && executions(call) !== 1)).toEqual([]);
    const failures = calls.filter(({ failed }) => failed !== undefined);
    // Their callers hear of a broken connection, not of a call that was refused or timed out.
    const isReadable = ({ failed = "" }: LoadedCall): boolean =>
      BROKEN.test(failed) || failed.includes("outcome is unknown");
    expect(failures.filter((call) => !isReadable(call))).toEqual([]);
    // Each kill breaks at most the calls that were under way.
    expect(failures.length).toBeLessThanOrEqual(3 * 8);
    const healthy = await modernClient({ url: fleet.proxy.url, key: fleet.keys.asker }).call("old-book", { id: "end" });
    expect(healthy.said).toBe("booked end");
  });
});
