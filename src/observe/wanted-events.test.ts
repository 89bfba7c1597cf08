import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createManualClock } from "../testing/manual-clock.ts";
import { createEvents } from "./emitter.ts";
import type { ArsenalEvent } from "./events.ts";
import type { Sink } from "./sink.port.ts";

function recorder(wants?: Sink["wants"]): Sink & { readonly names: string[] } {
  const names: string[] = [];
  const write = (events: readonly ArsenalEvent[]): void => void names.push(...events.map(({ name }) => name));
  return { name: "recorder", names, write, ...(wants && { wants }) };
}

/** Counts what is redacted. */
function counting() {
  const seen: unknown[] = [];
  return {
    seen,
    value: <Value>(value: Value): Value => (seen.push(value), value),
    stream: () => (part: string) => part,
  };
}

const CALL = { toolId: "a.b", traceId: "t", spanId: "1" };
const FINISHED = {
  ...CALL,
  status: "success",
  attempts: 1,
  queuedMs: 0,
  latencyMs: 1,
  principal: "local",
  startedAt: 0,
  durationMs: 1,
  steps: {},
} as const;

describe("what sinks want", () => {
  it("is all that they get", async () => {
    const [loud, all] = [recorder((_name, level) => level === "error"), recorder()];
    const { emit, flush } = createEvents({ sinks: [loud, all], clock: createManualClock() });
    emit("circuit-closed", { toolId: "a.b" });
    emit("audit-failed", { records: 1, message: "disk full" });
    await flush();
    expect([loud.names, all.names]).toEqual([["audit-failed"], ["circuit-closed", "audit-failed"]]);
  });

  it("is redacted once for all of them, and what nobody wants is not looked at", async () => {
    const redactor = counting();
    const wants = (name: string): boolean => name === "circuit-closed";
    const sinks = [recorder(wants), recorder(wants)];
    const { emit, flush } = createEvents({ sinks, clock: createManualClock(), redactor });
    emit("circuit-probed", { toolId: "a.b" });
    emit("circuit-closed", { toolId: "a.b" });
    expect(redactor.seen).toEqual([]);
    await flush();
    expect(redactor.seen).toEqual([{ toolId: "a.b" }]);
  });

  it("can be told by a listener too", async () => {
    const { emit, flush, subscribe } = createEvents({ sinks: [], clock: createManualClock() });
    const heard: string[] = [];
    subscribe(({ name }) => void heard.push(name), { wants: (name) => name === "circuit-closed" });
    emit("circuit-probed", { toolId: "a.b" });
    emit("circuit-closed", { toolId: "a.b" });
    await flush();
    expect(heard).toEqual(["circuit-closed"]);
  });

  it("may be the progress of calls without their end, and nothing is kept of calls that ended", async () => {
    const parts: number[] = [];
    const stream = () => {
      let count = 0;
      return (part: string) => (parts.push(++count), part);
    };
    const sink = recorder((name) => name === "call-progressed");
    const redactor = { value: <Value>(value: Value): Value => value, stream };
    const { emit, flush } = createEvents({ sinks: [sink], clock: createManualClock(), redactor });
    for (let call = 0; call < 2; call++) {
      emit("call-progressed", { ...CALL, progress: 1, message: "half" });
      emit("call-finished", FINISHED);
    }
    await flush();
    expect([sink.names, parts]).toEqual([
      ["call-progressed", "call-progressed"],
      [1, 1],
    ]);
  });

  it("reach a listener in the next turn, also those that only the patient were waiting for", async () => {
    const { emit, subscribe } = createEvents({ sinks: [], clock: createManualClock() });
    const heard: string[] = [];
    subscribe(({ name }) => void heard.push(`patient ${name}`), { isPatient: true });
    subscribe(({ name }) => void heard.push(name), { wants: (name) => name === "circuit-closed" });
    emit("circuit-probed", { toolId: "a.b" });
    await nextTurn();
    await nextTurn();
    expect(heard).toEqual([]);
    emit("circuit-closed", { toolId: "a.b" });
    await nextTurn();
    await nextTurn();
    expect(heard).toEqual(["patient circuit-probed", "patient circuit-closed", "circuit-closed"]);
  });
});
