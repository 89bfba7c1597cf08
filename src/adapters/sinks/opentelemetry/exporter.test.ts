import type { IncomingMessage, ServerResponse } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { type Misbehave, type OtlpCollector, startCollector } from "../../../../test/doubles/otlp-collector.ts";
import type { ArsenalEvent, EventMap } from "../../../observe/events.ts";
import { createMetricRegistry } from "../../../observe/metrics/registry.ts";
import type { Sink } from "../../../observe/sink.port.ts";
import { createManualClock, type ManualClock } from "../../../testing/manual-clock.ts";
import { openTelemetrySink } from "./opentelemetry.ts";

const open: OtlpCollector[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

interface Watched {
  readonly collector: OtlpCollector;
  readonly clock: ManualClock;
  readonly sink: Sink;
  /** What was reported as lost. */
  readonly told: EventMap["sink-failed"][];
  /** Events that the collector has. */
  readonly arrived: () => readonly string[];
}

/** A sink for logs, one record an event, on a clock that tests move. */
async function watched(
  misbehave?: Misbehave,
  otlp: { queueSize?: number; batchSize?: number; timeoutMs?: number } = {},
): Promise<Watched> {
  const collector = await startCollector(misbehave);
  open.push(collector);
  const clock = createManualClock(1_000_000);
  const told: EventMap["sink-failed"][] = [];
  const sink = openTelemetrySink(
    { otlp: { endpoint: collector.url, traces: false, metrics: false, ...otlp } },
    {
      environment: {},
      clock,
      random: () => 0.5,
      emit: (_name, data) => void told.push(data as EventMap["sink-failed"]),
    },
  );
  const arrived = () => collector.logs().map(({ attributes }) => String(attributes["toolarsenal.tool_id"]));
  return { collector, clock, sink, told, arrived };
}

function numbered(from: number, to: number): readonly ArsenalEvent[] {
  return Array.from({ length: to - from }, (_, at) => ({
    name: "circuit-opened",
    level: "warn",
    at: 0,
    data: { toolId: `t${from + at}`, consecutiveFailures: 5, retryAfterMs: 1 },
  }));
}

/** Answers the first so many requests with a status, and takes the others. */
function refusing(times: number, status: number, headers: Record<string, string> = {}): Misbehave & { asked: number } {
  const misbehave = (_request: IncomingMessage, response: ServerResponse): boolean => {
    if (++misbehave.asked > times) return false;
    response.writeHead(status, headers).end();
    return true;
  };
  misbehave.asked = 0;
  return misbehave;
}

describe("exporting", () => {
  it("sends a full batch at once, and a smaller one when it has waited long enough", async () => {
    const { sink, collector, clock, arrived } = await watched(undefined, { batchSize: 4 });
    await sink.write(numbered(0, 4));
    await collector.until(() => arrived().length === 4);
    await sink.write(numbered(4, 6));
    await clock.advance(4999);
    expect(arrived()).toHaveLength(4);
    await clock.advance(1);
    await collector.until(() => arrived().length === 6);
    await sink.close?.();
    expect(collector.requests).toHaveLength(2);
  });

  it("gathers what comes while a request is under way, and sends it as one batch", async () => {
    const held: ServerResponse[] = [];
    const { sink, collector, clock, arrived } = await watched(
      (_request, response) => held.length === 0 && held.push(response) > 0,
      { batchSize: 4 },
    );
    await sink.write(numbered(0, 4));
    while (held.length === 0) await clock.advance(0);
    await sink.write(numbered(4, 6));
    held[0]?.writeHead(200).end();
    for (let turn = 0; turn < 50; turn++) await clock.advance(0);
    await sink.write(numbered(6, 8));
    await collector.until(() => arrived().length === 4);
    await sink.write(numbered(8, 9));
    await clock.advance(5000);
    await collector.until(() => arrived().length === 5);
    await sink.close?.();
    expect([collector.requests.length, arrived()]).toEqual([2, ["t4", "t5", "t6", "t7", "t8"]]);
  });

  it("keeps no more than its queue while a collector hangs, drops the oldest, and reports how many", async () => {
    const hung: ServerResponse[] = [];
    const { sink, collector, clock, told, arrived } = await watched(
      (_request, response) => {
        if (hung.length > 0) return false;
        hung.push(response);
        return true;
      },
      { queueSize: 10, batchSize: 5, timeoutMs: 600_000 },
    );
    await sink.write(numbered(0, 5));
    for (let from = 5; from < 10_005; from += 100) await sink.write(numbered(from, from + 100));
    expect(told).toEqual([{ sink: "opentelemetry", message: "its queue of 10 is full", dropped: 1 }]);
    while (hung.length === 0) await clock.advance(0);
    hung[0]?.destroy();
    // The batch that hung is sent again after a second, and then the ten newest.
    while (arrived().length < 5) await clock.advance(100);
    await collector.until(() => arrived().length === 15);
    expect(arrived().slice(0, 5)).toEqual(["t0", "t1", "t2", "t3", "t4"]);
    expect(arrived().slice(5)).toEqual(numbered(9995, 10_005).map(({ data }) => (data as { toolId: string }).toolId));
    await sink.close?.();
    expect(told.map(({ dropped }) => dropped)).toEqual([1, 9989]);
  });

  it.each([429, 502, 503, 504])("repeats a request that was answered with %i, and loses nothing", async (status) => {
    const { sink, collector, clock, told, arrived } = await watched(refusing(2, status), { batchSize: 2 });
    await sink.write(numbered(0, 2));
    while (arrived().length < 2) await clock.advance(500);
    await sink.close?.();
    expect([collector.requests.length, told]).toEqual([1, []]);
  });

  it("waits as long as a collector asks", async () => {
    const misbehave = refusing(1, 429, { "retry-after": "20" });
    const { sink, collector, clock, arrived } = await watched(misbehave, { batchSize: 1 });
    await sink.write(numbered(0, 1));
    while (clock.pending === 0 || misbehave.asked === 0) await clock.advance(0);
    await clock.advance(19_999);
    expect([misbehave.asked, arrived()]).toEqual([1, []]);
    await clock.advance(1);
    await collector.until(() => arrived().length === 1);
    await sink.close?.();
  });

  it.each([
    [
      "says that the request is wrong",
      (_: IncomingMessage, answer: ServerResponse) => answer.writeHead(400).end("no <b>spans</b>"),
      "answered with status 400: no <b>spans</b>",
    ],
    ["fails", (_: IncomingMessage, answer: ServerResponse) => answer.writeHead(500).end(), "answered with status 500"],
    [
      "redirects elsewhere",
      (_: IncomingMessage, answer: ServerResponse) => answer.writeHead(307, { location: "http://127.0.0.1:1/" }).end(),
      "answered with status 307",
    ],
  ])("gives a batch up if the collector %s", async (_what, answer, message) => {
    const { sink, clock, told } = await watched((request, response) => (answer(request, response), true), {
      batchSize: 3,
    });
    await sink.write(numbered(0, 3));
    while (told.length === 0) await clock.advance(0);
    expect(told).toEqual([{ sink: "opentelemetry", message: expect.stringContaining(message), dropped: 3 }]);
    await sink.close?.();
  });

  it("leaves a collector alone for a while that took nothing, and longer if it still does not", async () => {
    const misbehave = refusing(2, 500);
    const { sink, collector, clock, arrived } = await watched(misbehave, { batchSize: 1, queueSize: 2 });
    await sink.write(numbered(0, 1));
    while (misbehave.asked < 1) await clock.advance(0);
    await sink.write(numbered(1, 10));
    await clock.advance(999);
    expect(misbehave.asked).toBe(1);
    await clock.advance(1);
    while (misbehave.asked < 2) await clock.advance(0);
    await clock.advance(1999);
    expect(misbehave.asked).toBe(2);
    await clock.advance(1);
    await collector.until(() => arrived().length === 1);
    expect(arrived()).toEqual(["t9"]);
    await sink.close?.();
  });

  it.each([
    ["closes every connection", (request: IncomingMessage) => request.socket.destroy()],
    ["answers garbage", (request: IncomingMessage) => request.socket.end("\u0000\u0001 garbage\r\n\r\n")],
    [
      "breaks off its answers",
      (_: IncomingMessage, response: ServerResponse) => (
        response.writeHead(503, { "content-length": "99" }),
        response.write("x"),
        response.destroy()
      ),
    ],
  ])("gives a batch up after five attempts if the collector %s", async (_what, act) => {
    let asked = 0;
    const { sink, clock, told } = await watched((request, response) => (asked++, act(request, response), true), {
      batchSize: 3,
    });
    await sink.write(numbered(0, 3));
    while (told.length === 0) await clock.advance(1000);
    expect([asked, told.map(({ dropped }) => dropped)]).toEqual([5, [3]]);
    await sink.close?.();
  });

  it("reports that nothing listens at its address and what to do, also while events pile up and when it closes", async () => {
    const gone = await startCollector();
    await gone.close();
    const clock = createManualClock(1_000_000);
    const told: EventMap["sink-failed"][] = [];
    const registry = createMetricRegistry();
    registry.counter("calls_total", "Calls.");
    const sink = openTelemetrySink(
      { otlp: { endpoint: gone.url, batchSize: 1, queueSize: 2, metricsDelayMs: 1000 } },
      {
        environment: {},
        clock,
        random: () => 0.5,
        metrics: async () => registry,
        emit: (_name, data) => void told.push(data as EventMap["sink-failed"]),
      },
    );
    await sink.write(numbered(0, 1));
    while (told.length < 1) await clock.advance(1000);
    for (let minute = 1; told.length < 3; minute++) {
      await sink.write(numbered(minute * 10, minute * 10 + 10));
      await clock.advance(10_000);
    }
    await sink.write(numbered(0, 10));
    await sink.close?.();
    expect(new Set(told.map(({ message }) => message))).toEqual(
      new Set([
        `the collector at ${gone.url} cannot be reached: connection refused. Start the collector, or correct telemetry.otlp.endpoint: it needs the collector's HTTP port (4318), not the gRPC one (4317).`,
      ]),
    );
  });

  it("reads no more of an endless answer than it must", async () => {
    const { sink, clock, told } = await watched(
      (_request, response) => {
        response.writeHead(400, { "content-type": "text/plain" });
        const pour = (): void => {
          while (!response.destroyed && response.write("x".repeat(65_536)));
          response.once("drain", pour);
        };
        pour();
        return true;
      },
      { batchSize: 1 },
    );
    await sink.write(numbered(0, 1));
    while (told.length === 0) await clock.advance(0);
    expect(told[0]?.message).toContain("status 400");
    await sink.close?.();
  });

  it("closes within its bound while the collector hangs, and says what was not sent", async () => {
    const { sink, clock, told } = await watched(() => true, { batchSize: 2 });
    await sink.write(numbered(0, 5));
    const closing = sink.close?.();
    await clock.advance(4000);
    await closing;
    expect(told.reduce((sum, { dropped }) => sum + dropped, 0)).toBe(5);
  });
});
