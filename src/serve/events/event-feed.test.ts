import { describe, expect, it, onTestFinished } from "vitest";
import { memoryState } from "../../adapters/state/memory.ts";
import { createEvents, type Events } from "../../observe/emitter.ts";
import type { SharedState } from "../../state/shared-state.ts";
import { createManualClock } from "../../testing/manual-clock.ts";
import { createEventFeed, type EventFeed, type FeedEntry, type FollowOptions } from "./event-feed.ts";

const clock = createManualClock(1_000);

interface Process {
  readonly events: Events;
  readonly feed: EventFeed;
}

/** One process on a state. */
async function open(state: SharedState, write?: (event: unknown) => string): Promise<Process> {
  const events = createEvents({ sinks: [], clock });
  const feed = createEventFeed({ events, state, clock, ...(write && { write }) });
  onTestFinished(() => feed.close());
  await feed.ready;
  return { events, feed };
}

/** Follows a feed, and reads so many entries of it on demand. */
async function follow({ feed }: Process, options: Partial<FollowOptions> = {}) {
  const controller = new AbortController();
  const entries = await feed.follow({ reader: { id: "ada" }, signal: controller.signal, ...options });
  const reading = entries[Symbol.asyncIterator]();
  const read: FeedEntry[] = [];
  return {
    end: () => controller.abort(),
    async take(count: number): Promise<readonly FeedEntry[]> {
      while (read.length < count) {
        const next = await reading.next();
        if (next.done === true) break;
        read.push(...next.value);
      }
      return read.splice(0, count);
    },
  };
}

const deleted = ({ events }: Process, ...ids: readonly string[]): Promise<void> => {
  for (const toolId of ids) events.emit("tool-deleted", { toolId });
  return events.flush();
};
const numbered = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => String(index + 1));
const idsOf = (entries: readonly FeedEntry[]): readonly unknown[] =>
  entries.map(({ event: { name, data } }) => (name === "gap" ? data : (data as { toolId: string }).toolId));

describe("the event feed of one process", () => {
  it("gives every event from the moment it is followed on, in order, as events are", async () => {
    const one = await open(memoryState({ clock }));
    await deleted(one, "before");
    const { take } = await follow(one);
    await deleted(one, "a", "b");
    const entries = await take(2);
    expect(entries.map(({ event }) => event)).toEqual([
      { name: "tool-deleted", level: "info", at: 1_000, data: { toolId: "a" } },
      { name: "tool-deleted", level: "info", at: 1_000, data: { toolId: "b" } },
    ]);
    expect(new Set(entries.map(({ id }) => id)).size).toBe(2);
  });

  it("writes an event once for all its readers, and not at all if nobody reads it", async () => {
    const written: unknown[] = [];
    const write = (event: unknown): string => (written.push(event), JSON.stringify(event));
    const one = await open(memoryState({ clock }), write);
    const readers = [await follow(one), await follow(one, { reader: { id: "eve" } }), await follow(one)];
    const loud = await follow(one, { level: "error" });
    await deleted(one, "a", "b");
    const texts = await Promise.all(
      readers.map(async ({ take }) =>
        (await take(2)).map(({ event, text }) => [JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? ""), event]),
      ),
    );
    for (const read of texts) for (const [text, event] of read) expect(text).toEqual(event);
    expect(written).toHaveLength(2);
    for (const reader of readers) reader.end();
    await deleted(one, "c");
    expect(written).toHaveLength(2);
    loud.end();
  });

  it("shows hidden characters", async () => {
    const one = await open(memoryState({ clock }));
    const { take } = await follow(one);
    await deleted(one, "a\u202Eb\u200B");
    const [entry] = await take(1);
    expect(entry?.text).toContain(String.raw`"toolId":"a\u202eb\u200b"`);
  });

  it("has a bounded number of readers, those of one caller fewer, and lets nobody lock others out", async () => {
    const one = await open(memoryState({ clock }));
    const readers = await Promise.all(Array.from({ length: 64 }, () => follow(one)));
    await expect(follow(one)).rejects.toMatchObject({ code: "RATE_LIMITED" });
    for (const id of ["bob", "cleo", "dan"])
      await Promise.all(Array.from({ length: 64 }, () => follow(one, { reader: { id } })));
    const { take } = await follow(one, { reader: { id: "eve" } });
    await deleted(one, "a");
    expect(idsOf(await take(1))).toEqual(["a"]);
    expect(idsOf((await readers[0]?.take(2)) ?? [])).toEqual([
      { missed: 0, reason: "The limit of readers was reached. Reconnect to continue." },
    ]);
    for (const { end } of readers) end();
    await follow(one);
  });

  it("cuts off a reader that is too many characters behind", async () => {
    const one = await open(memoryState({ clock }));
    const { take } = await follow(one);
    await deleted(one, "x".repeat(3_000_000));
    await deleted(one, "y".repeat(3_000_000), "z");
    expect(idsOf(await take(3))).toEqual([{ missed: 2, reason: "You read too slowly. Reconnect to continue." }]);
  });

  it("gives only events of the names, the level and the tenant that are asked for", async () => {
    const one = await open(memoryState({ clock }));
    const named = await follow(one, { names: ["sink-failed"] });
    const loud = await follow(one, { level: "warn" });
    const north = await follow(one, { tenant: "north" });
    await deleted(one, "a");
    one.events.emit("sink-failed", { sink: "s", message: "", dropped: 1 });
    const call = { toolId: "t", traceId: "", spanId: "", status: "success", attempts: 1, queuedMs: 0, latencyMs: 1 };
    for (const tenant of [undefined, "south", "north"])
      one.events.emit("call-finished", { ...call, principal: "p", ...(tenant && { tenant }) } as never);
    await one.events.flush();
    expect((await named.take(1)).map(({ event }) => event.name)).toEqual(["sink-failed"]);
    expect((await loud.take(1)).map(({ event }) => event.name)).toEqual(["sink-failed"]);
    expect((await north.take(1)).map(({ event }) => event.data)).toMatchObject([{ tenant: "north" }]);
  });

  it("goes on after the last event that a reader had", async () => {
    const one = await open(memoryState({ clock }));
    const first = await follow(one);
    await deleted(one, "a", "b");
    const [last] = await first.take(1);
    first.end();
    await deleted(one, "c");
    const again = await follow(one, { after: last?.id });
    expect(idsOf(await again.take(2))).toEqual(["b", "c"]);
  });

  it("says how many events a reader missed that are no longer kept", async () => {
    const one = await open(memoryState({ clock }));
    const first = await follow(one);
    await deleted(one, "a");
    const [last] = await first.take(1);
    first.end();
    await deleted(one, ...numbered(1_005));
    const again = await follow(one, { after: last?.id });
    expect(idsOf(await again.take(2))).toEqual([{ missed: 5, reason: expect.any(String) }, "6"]);
    const stranger = await follow(one, { after: "another-process-7" });
    expect(idsOf(await stranger.take(1))).toEqual([{ reason: expect.stringContaining("another process") }]);
  });

  it("cuts off a reader that is too slow, with a gap, and keeps the others", async () => {
    const one = await open(memoryState({ clock }));
    const slow = await follow(one);
    const quick = await follow(one);
    for (let round = 0; round < 5; round++) {
      await deleted(one, ...numbered(500));
      expect(await quick.take(500)).toHaveLength(500);
    }
    expect(idsOf(await slow.take(10))).toEqual([{ missed: 2_001, reason: expect.stringContaining("slowly") }]);
    await deleted(one, "last");
    expect(idsOf(await quick.take(1))).toEqual(["last"]);
  });

  it("listens to nothing while nobody follows it, nor some time after the last one left", async () => {
    const one = await open(memoryState({ clock }));
    const reader = await follow(one);
    await deleted(one, "first");
    const [first] = await reader.take(1);
    reader.end();
    await clock.advance(60_000);
    await deleted(one, "unheard");
    const { take } = await follow(one, { after: first?.id });
    await deleted(one, "heard");
    expect(idsOf(await take(2))).toEqual([{ reason: expect.stringContaining("no longer stored") }, "heard"]);
  });
});

describe("the event feeds of processes on one state", () => {
  it("give the events of all of them, each once", async () => {
    const state = memoryState({ clock });
    const [one, other, third] = [await open(state), await open(state), await open(state)];
    const readers = [await follow(one), await follow(other)];
    await deleted(one, "one");
    await deleted(other, "other");
    await deleted(third, "third");
    await clock.advance(1_000);
    for (const { take } of readers) expect(idsOf(await take(3)).toSorted()).toEqual(["one", "other", "third"]);
    await deleted(third, "last");
    await clock.advance(1_000);
    for (const { take } of readers) expect(idsOf(await take(1))).toEqual(["last"]);
  });

  it("publish nothing while nobody follows any of them, and for as long as somebody does", async () => {
    const state = memoryState({ clock });
    const published: unknown[] = [];
    state.changes.subscribe("events/feed", (data) => void published.push(data));
    const [one, other] = [await open(state), await open(state)];
    await deleted(other, "unwatched");
    await clock.advance(10_000);
    expect(published).toEqual([]);
    const reader = await follow(one);
    for (let minute = 1; minute <= 5; minute++) {
      await deleted(other, String(minute));
      await clock.advance(60_000);
      expect(idsOf(await reader.take(1))).toEqual([String(minute)]);
    }
    expect(published).toHaveLength(5);
    reader.end();
    await clock.advance(120_000);
    await deleted(other, "unwatched");
    await clock.advance(10_000);
    expect(published).toHaveLength(5);
  });

  it("include a process that starts while somebody follows", async () => {
    const state = memoryState({ clock });
    const one = await open(state);
    const reader = await follow(one);
    const late = await open(state);
    await deleted(late, "late");
    await clock.advance(1_000);
    expect(idsOf(await reader.take(1))).toEqual(["late"]);
  });

  it("say what a process could not send because there was too much of it", async () => {
    const state = memoryState({ clock });
    const [one, other] = [await open(state), await open(state)];
    const reader = await follow(one);
    await deleted(other, ...numbered(1_500));
    await clock.advance(1_000);
    const taken = idsOf(await reader.take(1_001));
    expect(taken.slice(0, 2)).toEqual(["1", "2"]);
    expect(taken.slice(-2)).toEqual(["1000", { missed: 500, reason: expect.any(String) }]);
  });
});
