import { randomUUID } from "node:crypto";
import type { Task } from "@a2a-js/sdk";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { A2A_WAYS, asking, outcomeOf } from "../../serve/a2a-clients.ts";
import { elsewhereMissing } from "../gateway-process.ts";
import { eventsOf } from "../../mcp/sample-endpoint.ts";
import { IS_DEEP, some } from "../../kit/effort.ts";
import { auditOf } from "./audit-log.ts";
import { accepted, type Called, legacyClient, modernClient } from "./clients.ts";
import { eventually } from "./eventually.ts";
import { type Fleet, startFleet } from "./fleet.ts";
import { type LoadedCall, startLoad } from "./load.ts";
import { BROKEN, sendCall } from "./rest-caller.ts";
import { STORES } from "./states.ts";
import { startUpstream, type Upstream } from "./upstream.ts";

/** Within this time, in milliseconds, everything that a killed process held is free: 15 seconds, and more if other tests take the processor. */
const FREE_WITHIN_MS = IS_DEEP ? 15_000 : 60_000;

/** Calls that the server `narrow` takes at once. A killed replica holds every place, in each of the ways to call. */
const PLACES = 4;

/** The last replica cannot be looked up by the others, so they have to wait for it to fall silent. */
const ELSEWHERE = elsewhereMissing() === undefined ? [2] : [];

describe.each(some(STORES, 1, "killed"))("of three replicas on $name, one that is killed under load", ({ open }) => {
  let fleet: Fleet;
  let narrow: Upstream;
  /** The key of a second caller: one alone does not get every place. */
  let second: string;
  beforeAll(async () => {
    narrow = await startUpstream("modern");
    const withArguments = async (folder: string) => {
      const state = await open(folder);
      const audit = { ...(state.settings["audit"] as object), arguments: "full" };
      return { ...state, settings: { ...state.settings, audit } };
    };
    const servers = { narrow: { type: "http", url: narrow.url, max_concurrent: PLACES } } as const;
    fleet = await startFleet(withArguments, { servers, elsewhere: ELSEWHERE });
    second = await fleet.addKey("second");
  });
  afterAll(async () => {
    await fleet?.close();
    await narrow?.close();
  });

  const at = (index: number, key = fleet.keys.asker) => ({ url: fleet.replica(index).url, key });
  const agentAt = (index: number) => A2A_WAYS[0].connect(at(index).url, { "x-api-key": fleet.keys.asker });
  const isHeld = (id: string): boolean => narrow.executed.has(id);
  /** A short call at the narrow server. It fails, and is never run, if it gets no place soon. */
  const bookNarrow = (index: number, id: string) =>
    sendCall(at(index), { toolName: "narrow.book", arguments: { id }, timeoutMs: 1_000 });
  const holdKeyed = (index: number, id: string) =>
    sendCall(at(index), { toolName: "narrow.hold", arguments: { id } }, `key of ${id}`);

  /** Takes every place of the narrow server at a replica, each in another way, and waits until the server has the calls. */
  async function fill(index: number) {
    const [old, young, keyed, task] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
    const session = await legacyClient(at(index, second));
    const asked = {
      jsonrpc: "2.0",
      id: 7,
      method: "tools/call",
      params: { name: "narrow-hold", arguments: { id: old } },
    };
    // A call that takes long is answered on a stream that its client can come back for.
    const stream = eventsOf(await session.post(asked));
    const lastEventId = (await stream.next()).value?.id ?? "";
    const calls = [
      stream.next().then((): Called => ({ said: "an event" }), failed),
      modernClient(at(index)).call("narrow-hold", { id: young }),
      holdKeyed(index, keyed).then(({ status }): Called => ({ said: `HTTP ${status}` }), failed),
    ];
    const call = { tool: "narrow.hold", arguments: { id: task } };
    const sent = (await (await agentAt(index)).sendMessage(asking(call, { returnImmediately: true }))) as Task;
    const ids = [old, young, keyed, task];
    await eventually("every place is taken", () => ids.every(isHeld));
    return { calls, keyed, taskId: sent.id, ids, resume: (url: string) => session.resume(lastEventId, url) };
  }

  /** Takes every place of the narrow server at a replica, and gives them back. */
  async function refill(index: number): Promise<void> {
    const ids = Array.from({ length: PLACES }, () => randomUUID());
    const calls = ids.map((id, place) =>
      modernClient(at(index, place === 0 ? second : undefined)).call("narrow-hold", { id }),
    );
    await eventually("every place is taken again", () => ids.every(isHeld), { withinMs: FREE_WITHIN_MS });
    for (const id of ids) narrow.events.emit("go", id);
    expect((await Promise.all(calls)).map(({ said }) => said)).toEqual(ids.map((id) => `held ${id}`));
  }

  /** Calls a replica from many sides until it is gone. Returns what it answered so far. */
  function burst(index: number) {
    const client = modernClient(at(index));
    const answered: string[] = [];
    async function callOn(): Promise<void> {
      for (;;) {
        const id = randomUUID();
        if ((await client.call("young-book", { id })).said === undefined) return;
        answered.push(id);
      }
    }
    return { answered, ended: Promise.all(Array.from({ length: 24 }, callOn)) };
  }

  /** Kills a replica that holds everything it can, and checks at another that all of it comes free. Then starts it again. Returns the calls that it answered last. */
  async function killAndCheck(index: number, survivor: number): Promise<readonly string[]> {
    const greeting = { id: randomUUID() };
    const asked = await modernClient(at(index), { asks: true }).call("old-greet", greeting);
    const held = await fill(index);
    const waits = randomUUID();
    const waiting = modernClient(at(index)).call("narrow-hold", { id: waits });
    // Nobody else gets a place.
    const refused = await bookNarrow(survivor, randomUUID());
    expect(refused.text).toContain("for other calls to end");

    const { answered: last, ended } = burst(index);
    await eventually("it answers", () => last.length > 50);
    const since = performance.now();
    await fleet.kill(index);
    await ended;
    const restarted = fleet.start(index);
    const agent = await agentAt(survivor);
    const readTask = async () =>
      outcomeOf(await agent.getTask({ id: held.taskId, tenant: "", historyLength: undefined }));
    const isFailed = async (): Promise<boolean> => (await readTask()).state === "failed";
    const [resumed, repeated, answered] = await Promise.all([
      held.resume(at(survivor).url),
      holdKeyed(survivor, held.keyed),
      modernClient(at(survivor), { asks: true }).call("old-greet", greeting, accepted(asked, { name: "Ada" })),
      refill(survivor),
      eventually("its task has failed", isFailed, { withinMs: FREE_WITHIN_MS }),
    ]);
    expect(performance.now() - since).toBeLessThan(FREE_WITHIN_MS);
    expect(resumed.failed).toContain("OUTCOME_UNKNOWN");
    expect(repeated.text).toContain("OUTCOME_UNKNOWN");
    expect(answered.failed).toContain("OUTCOME_UNKNOWN");
    expect((await readTask()).said[0]).toContain("outcome is unknown");

    // Each caller learns that the connection broke. What waited for a place was never run, and nothing ran twice.
    const broken = await Promise.all([...held.calls, waiting]);
    expect(broken.filter(({ failed: why }) => !BROKEN.test(why ?? ""))).toEqual([]);
    expect(isHeld(waits)).toBe(false);
    expect(held.ids.map((id) => narrow.executed.get(id))).toEqual(held.ids.map(() => 1));

    await restarted;
    expect((await bookNarrow(index, randomUUID())).body).toMatchObject({ status: "success" });
    await refill(index);
    return last;
  }

  it("frees all that it held soon, and no call is lost, doubled or answered without a record", async () => {
    const load = await startLoad(fleet, { callers: 2, rest: 2 });
    const last: string[] = [];
    for (const index of some([0, 1, 2], 2)) {
      const { length } = load.ended;
      await eventually("calls are under way", () => load.ended.length > length + 20);
      last.push(...(await killAndCheck(index, (index + 1) % 3)));
    }
    const calls = await load.stop();
    const executions = ({ server, id }: LoadedCall): number => fleet[server].executed.get(id) ?? 0;
    expect(calls.filter((call) => executions(call) > 1)).toEqual([]);
    expect(calls.filter((call) => call.said !== undefined && executions(call) !== 1)).toEqual([]);
    const isReadable = ({ failed: why, code }: LoadedCall): boolean =>
      why === undefined || code === "OUTCOME_UNKNOWN" || BROKEN.test(why) || why.includes("outcome is unknown");
    expect(calls.filter((call) => !isReadable(call))).toEqual([]);

    // Whatever was answered has one record for each answer. A call whose connection broke may have one, or none.
    const { idsOf, verified } = await auditOf(fleet.replica(0).url, fleet.keys.operator);
    const records = new Map([...(await idsOf("old.book")), ...(await idsOf("young.book"))]);
    const answers = ({ said, code }: LoadedCall): number => (said !== undefined || code !== undefined ? 1 : 0);
    const isRecorded = (call: LoadedCall): boolean => {
      const count = records.get(call.id) ?? 0;
      return count >= answers(call) && count <= call.sent;
    };
    expect(calls.filter((call) => !isRecorded(call))).toEqual([]);
    expect(last.filter((id) => records.get(id) !== 1 || fleet.young.executed.get(id) !== 1)).toEqual([]);
    expect(await verified()).toMatchObject({ ok: true });
  });

  it("leaves nothing held when it was the last one, and another starts", async () => {
    await fleet.kill(2);
    await refill(1);
    await fleet.stop(1);
    const held = await fill(0);
    await fleet.kill(0);
    await Promise.all(held.calls);
    await fleet.start(0);
    expect((await bookNarrow(0, randomUUID())).body).toMatchObject({ status: "success" });
    expect((await holdKeyed(0, held.keyed)).text).toContain("OUTCOME_UNKNOWN");
    await refill(0);
    expect(narrow.executed.get(held.keyed)).toBe(1);
  });
});

function failed(error: Error): Called {
  return { failed: `${error.message}: ${String(error.cause)}` };
}
