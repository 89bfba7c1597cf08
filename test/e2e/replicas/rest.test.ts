import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { askAt, eventsOf, type RestAnswer } from "../../serve/rest-gateway.ts";
import { some } from "../../kit/effort.ts";
import { messagesIn } from "./clients.ts";
import { eventually } from "./eventually.ts";
import { type Fleet, startFleet } from "./fleet.ts";
import { STATES } from "./states.ts";
import { held } from "./upstream.ts";

describe.each(some(STATES, 1, "rest"))("three replicas on $name are one REST API", ({ open }) => {
  let fleet: Fleet;
  beforeAll(async () => {
    fleet = await startFleet(open);
  });
  afterAll(() => fleet?.close());

  const said = (text: string) => ({ content: [{ type: "text", text }] });

  /** Runs a tool at a replica, under an idempotency key if one is given. */
  function execute(
    index: number,
    toolName: string,
    id: string,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<RestAnswer> {
    const ask = askAt(`${fleet.replica(index).url}/api/v1`);
    const sent = { "x-api-key": fleet.keys.asker, ...headers };
    return ask("POST", "/execute", { body: { toolName, arguments: { id } }, headers: sent });
  }

  it("replay a call whose idempotency key another of them saw, and refuse it with other arguments", async () => {
    const key = { "idempotency-key": "ticket 1" };
    const first = await execute(0, "young.book", "seat 1", key);
    expect(first).toMatchObject({ status: 200, body: { status: "success", attempts: 1 } });
    expect(first.body.replayed).toBeUndefined();
    const again = await execute(1, "young.book", "seat 1", key);
    expect(again).toMatchObject({ status: 200, body: { replayed: true, result: first.body.result } });
    const streamed = await execute(2, "young.book", "seat 1", { ...key, accept: "text/event-stream" });
    expect(eventsOf(streamed.text)).toMatchObject([{ event: "result", data: { replayed: true } }]);
    const other = await execute(2, "young.book", "seat 2", key);
    expect(other).toMatchObject({ status: 409, body: { code: "IDEMPOTENCY_CONFLICT", result: { attempts: 0 } } });
    expect(fleet.young.executed.get("seat 1")).toBe(1);
    expect(fleet.young.executed.has("seat 2")).toBe(false);
  });

  it("run a call once that all of them are asked for at the same time under one key", async () => {
    const key = { "idempotency-key": "ticket 2" };
    const waiting = held(fleet.young, "seat 3");
    const calls = [0, 1, 2, 0, 1, 2].map((index) => execute(index, "young.hold", "seat 3", key));
    await waiting;
    expect(await execute(2, "young.hold", "seat 4", key)).toMatchObject({ status: 409 });
    fleet.young.events.emit("go", "seat 3");
    const answers = await Promise.all(calls);
    for (const { body } of answers) expect(body).toMatchObject({ status: "success", result: said("held seat 3") });
    expect(answers.filter(({ body }) => body.replayed === true)).toHaveLength(5);
    expect(fleet.young.executed.get("seat 3")).toBe(1);
    expect(fleet.young.executed.has("seat 4")).toBe(false);
  });

  it("keep the keys of one caller apart from those of another", async () => {
    const key = { "idempotency-key": "ticket 3" };
    await execute(0, "young.book", "seat 5", key);
    const other = await execute(1, "young.book", "seat 6", { ...key, "x-api-key": fleet.keys.approver });
    expect(other).toMatchObject({ status: 200, body: { status: "success", result: said("booked seat 6") } });
  });

  it("show in the event stream of any of them the calls of all of them, each once", async () => {
    const controller = new AbortController();
    const streams = await Promise.all(
      [0, 1, 2].map(async (index) => {
        const response = await fetch(`${fleet.replica(index).url}/api/v1/events?names=call-finished`, {
          headers: { "x-api-key": fleet.keys.operator },
          signal: controller.signal,
        });
        expect(response.status).toBe(200);
        return response;
      }),
    );
    const seen = streams.map((): string[] => []);
    const read = streams.map(async (stream, index) => {
      for await (const { name, data } of messagesIn(stream))
        seen[index]?.push(name === "gap" ? "gap" : (data as { readonly spanId: string }).spanId);
    });
    const call = async (index: number, id: string): Promise<string> =>
      (await execute(index, "old.book", id)).body.spanId as string;

    // Others learn within a moment that somebody watches, and tell nothing before.
    for (const index of [0, 1, 2]) {
      const early: string[] = [];
      await eventually(`all streams show calls of replica ${index}`, async () => {
        early.push(await call(index, `early ${index} ${early.length}`));
        return seen.every((ids) => early.some((id) => ids.includes(id)));
      });
    }
    const callAll = (what: string, each: number): Promise<readonly string[]> =>
      Promise.all(Array.from({ length: 3 * each }, (_, index) => call(index % 3, `${what} ${index}`)));
    const made = await callAll("late", 20);
    // Each replica tells its calls in order, so whatever comes twice has come before these.
    const last = await callAll("last", 1);
    await eventually("all streams show the last calls", () =>
      seen.every((ids) => last.every((id) => ids.includes(id))),
    );
    const shown = (ids: readonly string[]): readonly string[] => ids.filter((id) => made.includes(id) || id === "gap");
    for (const ids of seen) expect(shown(ids).toSorted()).toEqual(made.toSorted());
    controller.abort();
    await Promise.allSettled(read);
  });
});
