import type { Task } from "@a2a-js/sdk";
import type { Transport } from "@a2a-js/sdk/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { A2A_WAYS, asking, eventText, outcomeOf, readEvents } from "../../serve/a2a-clients.ts";
import { IS_DEEP, some } from "../../kit/effort.ts";
import { eventually } from "./eventually.ts";
import { type Fleet, startFleet } from "./fleet.ts";
import { STATES } from "./states.ts";
import { held } from "./upstream.ts";

describe.each(some(STATES, 1, "a2a"))("three replicas on $name are one A2A agent", ({ open }) => {
  let fleet: Fleet;
  beforeAll(async () => {
    fleet = await startFleet(open);
  });
  afterAll(() => fleet?.close());

  const [way] = A2A_WAYS;
  const at = (index: number): Promise<Transport> =>
    way.connect(fleet.replica(index).url, { "x-api-key": fleet.keys.asker });
  const by = (id: string) => ({ id, tenant: "", metadata: {} });

  /** Starts a task at the first replica that holds a seat at the server. */
  async function hold(id: string): Promise<Task> {
    const waiting = held(fleet.young, id);
    const call = { tool: "young.hold", arguments: { id } };
    const started = await (await at(0)).sendMessage(asking(call, { returnImmediately: true }));
    await waiting;
    return started as Task;
  }

  it("read and stream a task that another of them runs", async () => {
    const { id } = await hold("seat 1");
    const [b, c] = [await at(1), await at(2)];
    // What is stored may be a moment behind what runs.
    expect(outcomeOf(await b.getTask(by(id))).state).toMatch(/submitted|working/);
    const stream = c.resubscribeTask(by(id));
    const first = await stream.next();
    expect(first.done === true ? "" : eventText(first.value)).toMatch(/^task (submitted|working)/);
    fleet.young.events.emit("go", "seat 1");
    expect((await readEvents(stream)).slice(-2)).toEqual(['artifact "held seat 1"', "completed"]);
    expect(outcomeOf(await b.getTask(by(id)))).toMatchObject({ state: "completed", made: ["held seat 1"] });
    expect(fleet.young.executed.get("seat 1")).toBe(1);
  });

  it("cancel a task that another of them runs", async () => {
    const { id } = await hold("seat 2");
    const [b, c] = [await at(1), await at(2)];
    const stream = c.resubscribeTask(by(id));
    await stream.next();
    expect(outcomeOf(await b.cancelTask(by(id))).state).toBe("canceled");
    expect((await readEvents(stream)).at(-1)).toBe("canceled");
    expect(outcomeOf(await (await at(0)).getTask(by(id))).state).toBe("canceled");
    expect(fleet.young.executed.get("seat 2")).toBe(1);
  });

  it("say that a task failed whose replica was killed", async () => {
    const { id } = await hold("seat 3");
    const b = await at(1);
    await fleet.kill(0);
    const read = async () => outcomeOf(await b.getTask(by(id)));
    // A replica counts as gone when it has not renewed its lease for 10 s. A busy machine may take longer to notice.
    const withinMs = IS_DEEP ? 15_000 : 60_000;
    await eventually("the task has failed", async () => (await read()).state === "failed", { withinMs });
    expect((await read()).said[0]).toContain("outcome is unknown");
    await fleet.start(0);
  });
});
