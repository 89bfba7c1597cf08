import { describe, expect, it } from "vitest";
import type { EventLevel, EventName } from "../../observe/events.ts";
import type { Sink } from "../../observe/sink.port.ts";
import { eventSink, protocolSink } from "./event-sink.ts";

const wanted = (sink: Sink, ...events: readonly (readonly [EventName, EventLevel])[]): readonly unknown[] =>
  events.map(([name, level]) => sink.wants?.(name, level));

const WITHOUT: ReadonlySet<EventName> = new Set<EventName>(["pins-waiting", "ensemble-failed"]);

describe.each([
  ["a terminal", true],
  ["a pipe", false],
])("events on %s", (_where, isTTY) => {
  const err = { write: () => true, isTTY };
  const options = { level: "warn", json: false, without: WITHOUT } as const;

  it("are wanted from their level up, so that the others cost nothing", () => {
    const sink = eventSink({ err, environment: {} }, { ...options, levels: { execute: "info" } });
    expect(
      wanted(sink, ["retrieval-finished", "info"], ["call-finished", "info"], ["call-progressed", "debug"]),
    ).toEqual([false, true, false]);
  });

  it("are not wanted if something else shows them; one is only known by its data", () => {
    const sink = eventSink({ err, environment: {} }, options);
    expect(wanted(sink, ["pins-waiting", "warn"], ["ensemble-failed", "warn"])).toEqual([false, true]);
  });

  it("of the protocol are wanted alone", () => {
    const sink = protocolSink({ err, json: false });
    expect(wanted(sink, ["mcp-message", "debug"], ["call-finished", "error"])).toEqual([true, false]);
  });
});
