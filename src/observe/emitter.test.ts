import { describe, expect, it } from "vitest";
import { createManualClock } from "../testing/manual-clock.ts";
import { createEvents, type Events } from "./emitter.ts";
import type { ArsenalEvent } from "./events.ts";
import type { Sink } from "./sink.port.ts";

interface Recorder extends Sink {
  readonly batches: (readonly ArsenalEvent[])[];
  readonly events: readonly ArsenalEvent[];
  readonly closed: number;
}

/** A sink that keeps what it is given. */
function recorder(name: string, write: (events: readonly ArsenalEvent[]) => void | Promise<void> = () => {}): Recorder {
  const batches: (readonly ArsenalEvent[])[] = [];
  let closed = 0;
  return {
    name,
    batches,
    get events() {
      return batches.flat();
    },
    get closed() {
      return closed;
    },
    write(events) {
      batches.push(events);
      return write(events);
    },
    close() {
      closed++;
    },
  };
}

const never = (): Promise<void> => new Promise(() => {});

const fail = (): never => {
  throw new Error("disk full");
};

function deleteTools(events: Events, from: number, to: number): void {
  for (let tool = from; tool <= to; tool++) events.emit("tool-deleted", { toolId: `t.${tool}` });
}

function toolIds(events: readonly ArsenalEvent[]): readonly string[] {
  return events.flatMap((event) => (event.name === "tool-deleted" ? [event.data.toolId] : []));
}

function failures(events: readonly ArsenalEvent[]): readonly unknown[] {
  return events.flatMap((event) => (event.name === "sink-failed" ? [event.data] : []));
}

describe("emit", () => {
  it("stamps the event with its level and time", async () => {
    const sink = recorder("a");
    const { emit, flush } = createEvents({ sinks: [sink], clock: createManualClock(5_000) });
    emit("circuit-closed", { toolId: "a.b" });
    await flush();
    expect(sink.events).toEqual([{ name: "circuit-closed", level: "info", at: 5_000, data: { toolId: "a.b" } }]);
  });

  it("returns before any sink or listener is called, also after the promises of a call have settled [000-5.5-sinks-apart]", async () => {
    const sink = recorder("a");
    const heard: ArsenalEvent[] = [];
    const events = createEvents({ sinks: [sink], clock: createManualClock() });
    events.subscribe((event) => void heard.push(event));
    deleteTools(events, 1, 1);
    expect([sink.batches.length, heard.length]).toEqual([0, 0]);
    for (let turn = 0; turn < 50; turn++) await Promise.resolve();
    expect([sink.batches.length, heard.length]).toEqual([0, 0]);
    await events.flush();
    expect([sink.batches.length, heard.length]).toEqual([1, 1]);
  });

  it("does not even look at the time where nobody listens", () => {
    let looked = 0;
    const { emit } = createEvents({ sinks: [], clock: { now: () => looked++, after: () => () => undefined } });
    emit("tool-deleted", { toolId: "a.b" });
    expect(looked).toBe(0);
  });

  it("says whether anybody wants a debug event, as listeners come and go", () => {
    const events = createEvents({ sinks: [{ ...recorder("quiet"), wants: () => false }], clock: createManualClock() });
    const wanted: unknown[] = [events.emit.wants?.("call-started")];
    const end = events.subscribe(() => {}, { names: ["call-started"] });
    wanted.push(events.emit.wants?.("call-started"), events.emit.wants?.("upstream-called"));
    end();
    wanted.push(events.emit.wants?.("call-started"));
    expect(wanted).toEqual([false, true, false, false]);
  });

  it("hands events over in order, together, and in batches that stay small", async () => {
    const sink = recorder("a");
    const events = createEvents({ sinks: [sink], clock: createManualClock() });
    deleteTools(events, 1, 600);
    await events.flush();
    expect(sink.batches.map((batch) => batch.length)).toEqual([256, 256, 88]);
    expect(toolIds(sink.events)).toEqual(Array.from({ length: 600 }, (_, index) => `t.${index + 1}`));
  });

  it("takes what happens while a batch is written", async () => {
    const sink = recorder("a", () => {
      if (sink.batches.length === 1) events.emit("tool-deleted", { toolId: "t.2" });
    });
    const events: Events = createEvents({ sinks: [sink], clock: createManualClock() });
    deleteTools(events, 1, 1);
    await events.flush();
    expect(toolIds(sink.events)).toEqual(["t.1", "t.2"]);
  });

  it("waits for a sink's promise before it hands over the next batch", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const sink = recorder("slow", () => promise);
    const other = recorder("other");
    const events = createEvents({ sinks: [sink, other], clock: createManualClock() });
    deleteTools(events, 1, 300);
    await until(() => other.events.length === 300);
    expect(sink.batches).toHaveLength(1);
    resolve();
    await events.flush();
    expect(sink.events).toHaveLength(300);
  });
});

describe("a broken sink", () => {
  it.each([
    ["throws", fail],
    ["rejects", () => Promise.reject(new Error("disk full"))],
  ])("that %s loses its batch, and the others are told", async (_, write) => {
    const broken = recorder("broken", write);
    const healthy = recorder("healthy");
    const events = createEvents({ sinks: [broken, healthy], clock: createManualClock() });
    deleteTools(events, 1, 3);
    await events.flush();
    await events.flush();
    expect(toolIds(healthy.events)).toEqual(["t.1", "t.2", "t.3"]);
    expect(failures(healthy.events)).toEqual([{ sink: "broken", message: "disk full", dropped: 3 }]);
    expect(failures(broken.events)).toEqual([]);
  });

  it("is handed later events all the same", async () => {
    let fixed = false;
    const sink = recorder("a", () => (fixed ? undefined : fail()));
    const events = createEvents({ sinks: [sink], clock: createManualClock() });
    deleteTools(events, 1, 1);
    await events.flush();
    fixed = true;
    deleteTools(events, 2, 2);
    await events.flush();
    expect(toolIds(sink.batches[1] ?? [])).toEqual(["t.2"]);
  });

  it("is reported once a minute, with everything it lost in between", async () => {
    const clock = createManualClock();
    const broken = recorder("broken", fail);
    const healthy = recorder("healthy");
    const events = createEvents({ sinks: [broken, healthy], clock });
    const deleteOne = async (): Promise<void> => {
      deleteTools(events, 1, 1);
      await events.flush();
      await events.flush();
    };
    for (let time = 0; time < 10; time++) await deleteOne();
    expect(failures(healthy.events)).toEqual([{ sink: "broken", message: "disk full", dropped: 1 }]);
    await clock.advance(60_000);
    await deleteOne();
    expect(failures(healthy.events).slice(1)).toEqual([{ sink: "broken", message: "disk full", dropped: 10 }]);
  });

  it("does not start a storm with another broken one", async () => {
    const sinks = [recorder("one", fail), recorder("two", fail)];
    const events = createEvents({ sinks, clock: createManualClock() });
    deleteTools(events, 1, 1);
    for (let turn = 0; turn < 20; turn++) await events.flush();
    expect(sinks.map((sink) => sink.events.length)).toEqual([2, 2]);
  });

  it("that never answers blocks only itself, keeps its newest events and is reported [000-5.5-sinks-apart]", async () => {
    const hanging = recorder("hanging", never);
    const healthy = recorder("healthy");
    const events = createEvents({ sinks: [hanging, healthy], clock: createManualClock(), maxBuffered: 5 });
    deleteTools(events, 1, 1);
    await until(() => hanging.batches.length === 1);
    for (let tool = 2; tool <= 20; tool++) {
      deleteTools(events, tool, tool);
      await until(() => toolIds(healthy.events).length === tool);
    }
    await until(() => failures(healthy.events).length === 1);
    expect(hanging.batches).toHaveLength(1);
    expect(failures(healthy.events)).toEqual([
      { sink: "hanging", message: "its queue of 5 events is full", dropped: 1 },
    ]);
  });

  it("that was slow gets the newest of what it missed", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const sink = recorder("slow", () => promise);
    const events = createEvents({ sinks: [sink], clock: createManualClock(), maxBuffered: 3 });
    deleteTools(events, 1, 1);
    await until(() => sink.batches.length === 1);
    deleteTools(events, 2, 10);
    resolve();
    await events.flush();
    expect(toolIds(sink.events)).toEqual(["t.1", "t.8", "t.9", "t.10"]);
  });
});

describe("subscribe", () => {
  it("hears what happens from then on, until it is ended", async () => {
    const events = createEvents({ sinks: [], clock: createManualClock() });
    const heard: ArsenalEvent[] = [];
    deleteTools(events, 1, 1);
    const unsubscribe = events.subscribe((event) => void heard.push(event));
    deleteTools(events, 2, 2);
    await events.flush();
    deleteTools(events, 3, 3);
    unsubscribe();
    deleteTools(events, 4, 4);
    await nextTurn();
    await nextTurn();
    expect(toolIds(heard)).toEqual(["t.2"]);
  });

  it("hears nothing more after it ended itself in the middle of a batch", async () => {
    const events = createEvents({ sinks: [], clock: createManualClock() });
    const heard: ArsenalEvent[] = [];
    const unsubscribe = events.subscribe((event) => {
      heard.push(event);
      unsubscribe();
    });
    deleteTools(events, 1, 3);
    await events.flush();
    await nextTurn();
    expect(toolIds(heard)).toEqual(["t.1"]);
  });

  it("loses only the event it threw or rejected on, and the sinks are told", async () => {
    const sink = recorder("a");
    const events = createEvents({ sinks: [sink], clock: createManualClock() });
    const heard: string[] = [];
    events.subscribe(async (event) => {
      if (event.name !== "tool-deleted") return;
      if (event.data.toolId === "t.1") throw new Error("oops");
      heard.push(event.data.toolId);
    });
    deleteTools(events, 1, 3);
    await events.flush();
    await events.flush();
    expect(heard).toEqual(["t.2", "t.3"]);
    expect(failures(sink.events)).toMatchObject([{ sink: "listener", message: "oops" }]);
  });
});

describe("flush", () => {
  it("gives up on a sink that hangs once the bound is reached, and leaves no timer", async () => {
    const clock = createManualClock();
    const events = createEvents({ sinks: [recorder("hanging", never)], clock, maxWaitMs: 100 });
    deleteTools(events, 1, 1);
    let flushed = false;
    const flushing = events.flush().then(() => (flushed = true));
    await clock.advance(99);
    expect(flushed).toBe(false);
    await clock.advance(1);
    await flushing;
    expect(clock.pending).toBe(0);
  });

  it("leaves no timer where all went well", async () => {
    const clock = createManualClock();
    const events = createEvents({ sinks: [recorder("a")], clock });
    deleteTools(events, 1, 1);
    await events.flush();
    expect(clock.pending).toBe(0);
  });
});

describe("close", () => {
  it("writes out what is left, closes each sink once, and takes no more", async () => {
    const sink = recorder("a");
    const events = createEvents({ sinks: [sink], clock: createManualClock() });
    deleteTools(events, 1, 400);
    await Promise.all([events.close(), events.close()]);
    expect(sink.events).toHaveLength(400);
    expect(sink.closed).toBe(1);
    deleteTools(events, 401, 401);
    await nextTurn();
    await nextTurn();
    expect(sink.events).toHaveLength(400);
  });

  it("takes nothing more once it has begun", async () => {
    const sink = recorder("a");
    const events = createEvents({ sinks: [sink], clock: createManualClock() });
    deleteTools(events, 1, 1);
    const closing = events.close();
    deleteTools(events, 2, 2);
    await closing;
    expect(toolIds(sink.events)).toEqual(["t.1"]);
  });

  it("hands nothing to a sink after it was closed, though its last write ends later", async () => {
    const clock = createManualClock();
    const { promise, resolve } = Promise.withResolvers<void>();
    const sink = recorder("slow", () => promise);
    const events = createEvents({ sinks: [sink], clock, maxWaitMs: 100 });
    deleteTools(events, 1, 300);
    const closing = events.close();
    await clock.advance(100);
    await closing;
    expect(sink.closed).toBe(1);
    resolve();
    await nextTurn();
    await nextTurn();
    expect(sink.batches).toHaveLength(1);
  });

  it("closes the others in time where one hangs or throws on the way", async () => {
    const clock = createManualClock();
    const hanging = recorder("hanging", never);
    const stubborn: Sink = { ...recorder("stubborn"), close: never };
    const throwing: Sink = { ...recorder("throwing"), close: fail };
    const healthy = recorder("healthy");
    const events = createEvents({ sinks: [hanging, stubborn, throwing, healthy], clock, maxWaitMs: 100 });
    deleteTools(events, 1, 1);
    let closed = false;
    const closing = events.close().then(() => (closed = true));
    await clock.advance(100);
    expect(closed).toBe(false);
    await clock.advance(100);
    await closing;
    expect([hanging.closed, healthy.closed]).toEqual([1, 1]);
    expect(toolIds(healthy.events)).toEqual(["t.1"]);
    expect(clock.pending).toBe(0);
  });

  it("reports losses that were not reported yet", async () => {
    const broken = recorder("broken", fail);
    const healthy = recorder("healthy");
    const events = createEvents({ sinks: [broken, healthy], clock: createManualClock() });
    for (let tool = 1; tool <= 3; tool++) {
      deleteTools(events, tool, tool);
      await events.flush();
    }
    await events.close();
    expect(failures(healthy.events)).toEqual([
      { sink: "broken", message: "disk full", dropped: 1 },
      { sink: "broken", message: "disk full", dropped: 2 },
    ]);
  });
});

function nextTurn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

/** Lets the event loop turn until something holds; a claim that never comes true ends in the runner's time limit. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await nextTurn();
}

describe("secrets in events", () => {
  /** Knows one secret, and stands for the real one: a stage's tests import no other stage's values. */
  const redactor = {
    value: <Value>(value: Value): Value => JSON.parse(JSON.stringify(value).replaceAll("s3cr3t", "…")) as Value,
    stream: () => {
      let parts = 0;
      return (part: string) => `${part} (part ${++parts})`;
    },
  };
  const progress = (spanId: string, message: string) =>
    ({ toolId: "a.b", traceId: "t", spanId, progress: 1, message }) as const;

  it("reach no sink and no listener", async () => {
    const sink = recorder("a");
    const { emit, flush, subscribe } = createEvents({ sinks: [sink], clock: createManualClock(), redactor });
    const heard: unknown[] = [];
    subscribe((event) => heard.push(event.data));
    emit("ensemble-failed", { ensemble: "x", message: "was s3cr3t" });
    await flush();
    const data = { ensemble: "x", message: "was …" };
    expect([sink.events.map((event) => event.data), heard]).toEqual([[data], [data]]);
  });

  it("are looked for over all messages of one call's progress, and of no other's", async () => {
    const sink = recorder("a");
    const { emit, flush } = createEvents({ sinks: [sink], clock: createManualClock(), redactor });
    emit("call-progressed", progress("1", "a"));
    emit("call-progressed", progress("2", "b"));
    emit("call-progressed", progress("1", "c"));
    await flush();
    const messages = sink.events.map((event) => (event.data as { message?: string }).message);
    expect(messages).toEqual(["a (part 1)", "b (part 1)", "c (part 2)"]);
  });
});
