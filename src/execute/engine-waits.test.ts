import { describe, expect, it } from "vitest";
import { directExecutor } from "../adapters/executors/direct.ts";
import { memoryState } from "../adapters/state/memory.ts";
import { jsonSchemaValidator } from "../adapters/validators/json-schema/json-schema.ts";
import { ArsenalError } from "../errors/arsenal-error.ts";
import { type Aegis, createAegis } from "../guard/aegis.ts";
import { localOperator } from "../guard/principal.ts";
import type { Emit } from "../observe/events.ts";
import { createHealth, type HealthBook } from "../observe/health.ts";
import { createLocalLimits } from "../state/local-limits.ts";
import { createManualClock, type ManualClock } from "../testing/manual-clock.ts";
import { defineTool } from "../tool/define-tool.ts";
import type { Handler } from "../tool/handler.ts";
import type { ToolDraft } from "../tool/draft.ts";
import { createEngine, type Engine } from "./engine.ts";
import type { EngineParts } from "./engine.ts";
import type { ToolResult } from "./result.ts";
import { DEFAULT_ENGINE_SETTINGS } from "../../test/execute/engine-settings.ts";
import type { EngineSettings } from "./settings.ts";

interface Bench {
  readonly engine: Engine;
  readonly clock: ManualClock;
  readonly health: HealthBook;
  events(name: string): readonly Record<string, unknown>[];
}

const allowing: Aegis = createAegis({
  policy: { sees: () => true, decide: () => ({ effect: "allow" }) },
  state: memoryState({ clock: createManualClock() }).documents,
  clock: createManualClock(),
  emit: () => {},
  settings: { maxRequestsPerMinute: Number.POSITIVE_INFINITY, confirmationTimeoutS: 600, selfApproval: "never" },
});

/** An engine over one tool, `t`, or several of them that differ in name only. */
function setUp(
  handler: Handler,
  draft: Partial<ToolDraft> = {},
  options: { readonly settings?: Partial<EngineSettings> } & Partial<Omit<EngineParts, "settings">> = {},
): Bench {
  const { settings, ...parts } = options;
  const clock = createManualClock();
  const events: { name: string; data: unknown }[] = [];
  const emit: Emit = (name, data) => void events.push({ name, data });
  const health = createHealth({ clock, emit });
  const engine = createEngine({
    find: (name) => {
      const parameters = { type: "object", properties: { limit: { type: "number" } } };
      const description = "A tool that tests how the engine waits.";
      return { handler, tool: defineTool({ name, description, parameters, ...draft }) };
    },
    aegis: allowing,
    validator: jsonSchemaValidator(),
    executors: [directExecutor()],
    limits: createLocalLimits({ clock }),
    health,
    ensembleSettings: () => ({}),
    emit,
    clock,
    random: () => 1,
    localPrincipal: localOperator(),
    settings: { ...DEFAULT_ENGINE_SETTINGS, ...settings },
    ...parts,
  });
  const named = (name: string): readonly Record<string, unknown>[] =>
    events.filter((event) => event.name === name).map(({ data }) => data as Record<string, unknown>);
  return { engine, clock, health, events: named };
}

const readOnly: Partial<ToolDraft> = { annotations: { confirmed: true, readOnly: true } };
const idempotent: Partial<ToolDraft> = { annotations: { confirmed: true, idempotent: true } };

/** Never ends, whatever its signal says; remembers each start. */
function hanging(): { readonly handler: Handler; readonly signals: AbortSignal[] } {
  const signals: AbortSignal[] = [];
  const handler: Handler = (_args, { signal }) => {
    signals.push(signal);
    return new Promise(() => {});
  };
  return { handler, signals };
}

/** Throws each error in turn, then succeeds. */
function throwing(...errors: readonly unknown[]): { readonly handler: Handler; calls(): number } {
  let calls = 0;
  const handler: Handler = () => {
    if (calls++ < errors.length) throw errors[calls - 1];
    return "done";
  };
  return { handler, calls: () => calls };
}

describe("a call that runs out of time", () => {
  it("has an unknown outcome and is not retried where the tool is not known to be idempotent [000-6.3-unknown-outcome]", async () => {
    for (const annotations of [{ confirmed: false, readOnly: true, idempotent: true }, { confirmed: true }]) {
      const { handler, signals } = hanging();
      const { engine, clock, health } = setUp(handler, { annotations });
      const running = engine.execute({ toolName: "t", timeoutMs: 500, retryCount: 5 });
      await clock.advance(500);
      const result = await running;
      expect(result).toMatchObject({
        status: "timeout",
        attempts: 1,
        latencyMs: 500,
        error: { code: "OUTCOME_UNKNOWN" },
      });
      expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
      expect(signals[0]?.reason).toMatchObject({ name: "TimeoutError" });
      expect(health.of(result.toolId ?? "").consecutiveFailures).toBe(1);
      expect(clock.pending).toBe(0);
    }
  });

  it("is tried again where that is safe, and then says so [000-6.3-deadline] [001-errors-timeout] [002-errors-timeout]", async () => {
    const { handler, signals } = hanging();
    const { engine, clock } = setUp(handler, idempotent);
    const running = engine.execute({ toolName: "t", timeoutMs: 500, retryCount: 2 });
    await clock.advance(500 + 200 + 500);
    expect(await running).toMatchObject({ status: "timeout", attempts: 2, error: { code: "TIMEOUT" } });
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
  });

  it("is bounded by the call's time, then the tool's, then its ensemble's, then the default [000-4.3-timeout-range] [002-types-timeout] [001-ensemble-defaults]", async () => {
    const cases: readonly (readonly [Partial<ToolDraft>, number | undefined, number])[] = [
      [{ timeoutMs: 2000, ensemble: "e" }, 1000, 1000],
      [{ timeoutMs: 2000, ensemble: "e" }, undefined, 2000],
      [{ ensemble: "e" }, undefined, 3000],
      [{}, undefined, 30_000],
    ];
    for (const [draft, timeoutMs, expected] of cases) {
      const { engine, clock } = setUp(hanging().handler, draft, { ensembleSettings: () => ({ timeoutMs: 3000 }) });
      const running = engine.execute({ toolName: "t", ...(timeoutMs !== undefined && { timeoutMs }) });
      await clock.advance(100_000);
      expect((await running).latencyMs).toBe(expected);
    }
  });

  it("is not disturbed by what its handler does later", async () => {
    const handler: Handler = (_args, { progress, signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => progress({ progress: 1 }));
        clock.after(900, () => {
          progress({ progress: 1 });
          reject(new Error("late"));
        });
      });
    const { engine, clock, events } = setUp(handler);
    const running = engine.execute({ toolName: "t", timeoutMs: 500 });
    await clock.advance(2000);
    expect((await running).status).toBe("timeout");
    expect(events("call-finished")).toHaveLength(1);
    expect(events("call-progressed")).toHaveLength(0);
  });

  it("was safely never started where it waited for others", async () => {
    const { handler, signals } = hanging();
    const { engine, clock, health } = setUp(handler, {}, { settings: { maxConcurrent: 1 } });
    const first = engine.execute({ toolName: "t", timeoutMs: 5000 });
    const second = engine.execute({ toolName: "u", timeoutMs: 1000 });
    await clock.advance(1000);
    const result = await second;
    expect(result).toMatchObject({ status: "timeout", attempts: 0, latencyMs: 0, error: { code: "TIMEOUT" } });
    expect(health.of(result.toolId ?? "").totalCalls).toBe(0);
    expect(signals).toHaveLength(1);
    await clock.advance(4000);
    await first;
    expect(clock.pending).toBe(0);
  });

  it("is never started where the guard does not decide", async () => {
    const aegis: Aegis = { ...allowing, decide: () => new Promise(() => {}) };
    const { engine, clock } = setUp(() => 1, {}, { aegis });
    const running = engine.execute({ toolName: "t", timeoutMs: 100 });
    await clock.advance(100);
    expect(await running).toMatchObject({ status: "timeout", attempts: 0, error: { code: "TIMEOUT" } });
  });
});

describe("retrying", () => {
  it("repeats a confirmed read-only tool, doubling the wait, until it succeeds [000-6.3-retry] [000-6.3-backoff]", async () => {
    const { handler, calls } = throwing(new Error("one"), new Error("two"));
    const { engine, clock, events, health } = setUp(handler, readOnly);
    const running = engine.execute({ toolName: "t" });
    await clock.advance(10_000);
    const result = await running;
    expect(result).toMatchObject({ status: "success", result: "done", attempts: 3, latencyMs: 600 });
    expect(events("call-retried").map(({ delayMs, message }) => [delayMs, message])).toEqual([
      [200, "one"],
      [400, "two"],
    ]);
    expect(calls()).toBe(3);
    expect(health.of(result.toolId ?? "")).toMatchObject({ totalCalls: 1, successRate: 1 });
  });

  it("spreads the waits at random, and waits at least as long as the tool asks [000-6.3-backoff]", async () => {
    const busy = new ArsenalError("RATE_LIMITED", "busy", { retryAfterMs: 700 });
    const { handler } = throwing(new Error("one"), busy);
    const { engine, clock, events } = setUp(handler, readOnly, { random: () => 0.25 });
    const running = engine.execute({ toolName: "t" });
    await clock.advance(10_000);
    expect((await running).status).toBe("success");
    expect(events("call-retried").map(({ delayMs }) => delayMs)).toEqual([50, 700]);
  });

  it("does not wait for a tool that asks for longer than a call may take", async () => {
    const busy = new ArsenalError("RATE_LIMITED", "busy", { retryAfterMs: 60_000 });
    const { handler, calls } = throwing(busy);
    const { engine } = setUp(handler, readOnly);
    expect((await engine.execute({ toolName: "t" })).error).toMatchObject({
      code: "RATE_LIMITED",
      retryAfterMs: 60_000,
    });
    expect(calls()).toBe(1);
  });

  it("makes as many attempts as the call or the settings say, and gives the last error [000-4.3-attempts] [000-6.3-retry]", async () => {
    for (const [retryCount, attempts] of [
      [0, 3],
      [1, 1],
      [4, 4],
    ] as const) {
      const { handler } = throwing(...[1, 2, 3, 4, 5].map((number) => new Error(`failure ${number}`)));
      const { engine, clock } = setUp(handler, readOnly);
      const running = engine.execute({ toolName: "t", retryCount });
      await clock.advance(60_000);
      expect(await running).toMatchObject({ status: "failure", attempts, error: { message: `failure ${attempts}` } });
    }
  });

  it("leaves alone what was not confirmed as safe, unless nothing had been sent [000-6.3-no-retry]", async () => {
    const hinted: Partial<ToolDraft> = { annotations: { confirmed: false, readOnly: true, idempotent: true } };
    const plain = throwing(new Error("no"));
    expect((await setUp(plain.handler, hinted).engine.execute({ toolName: "t" })).attempts).toBe(1);
    const unsent = throwing(new ArsenalError("TRANSPORT_FAILED", "refused", { beforeSend: true }));
    const { engine, clock } = setUp(unsent.handler);
    const running = engine.execute({ toolName: "t" });
    await clock.advance(1000);
    expect(await running).toMatchObject({ status: "success", attempts: 2 });
    const never = setUp(throwing(new ArsenalError("TRANSPORT_FAILED", "refused", { beforeSend: true })).handler);
    expect((await never.engine.execute({ toolName: "t", retryCount: 1 })).error?.code).toBe("TRANSPORT_FAILED");
  });

  it("reports an answer lost on the way as an unknown outcome where repeating is not safe", async () => {
    for (const code of ["TRANSPORT_FAILED", "PROTOCOL_ERROR"] as const) {
      const { engine } = setUp(throwing(new ArsenalError(code, "connection reset")).handler);
      const result = await engine.execute({ toolName: "t" });
      expect(result).toMatchObject({ status: "failure", attempts: 1, error: { code: "OUTCOME_UNKNOWN" } });
      expect(result.error?.message).toContain("connection reset. ");
      const safe = setUp(throwing(new ArsenalError(code, "connection reset")).handler, readOnly);
      expect((await safe.engine.execute({ toolName: "t", retryCount: 1 })).error?.code).toBe(code);
    }
  });

  it("never repeats what would be refused again", async () => {
    for (const code of ["ARGUMENTS_INVALID", "PERMISSION_DENIED", "CANCELLED", "HANDLER_MISSING"] as const) {
      const { handler, calls } = throwing(new ArsenalError(code, "no", { beforeSend: true }));
      const { engine, clock } = setUp(handler, readOnly);
      const running = engine.execute({ toolName: "t" });
      await clock.advance(10_000);
      expect((await running).error?.code).toBe(code);
      expect(calls()).toBe(1);
    }
  });

  it("gives each attempt the arguments as they were checked", async () => {
    const seen: unknown[] = [];
    const handler: Handler = (args, { attempt }) => {
      seen.push(structuredClone(args));
      (args["list"] as unknown[]).push("changed");
      if (attempt === 1) throw new Error("again");
    };
    const { engine, clock } = setUp(handler, { ...readOnly, parameters: { type: "object" } });
    const running = engine.execute({ toolName: "t", arguments: { list: [1] } });
    await clock.advance(1000);
    await running;
    expect(seen).toEqual([{ list: [1] }, { list: [1] }]);
  });
});

describe("cancelling", () => {
  it("runs nothing where it came first", async () => {
    const { handler, calls } = throwing();
    const { engine, events } = setUp(handler);
    const result = await engine.execute({ toolName: "t", timeoutMs: 1, signal: AbortSignal.abort() });
    expect(result).toMatchObject({ status: "cancelled", attempts: 0, error: { code: "CANCELLED" } });
    const controller = new AbortController();
    const limitsOf: Aegis["limitsOf"] = () => (controller.abort(), []);
    const late = setUp(handler, {}, { aegis: { ...allowing, limitsOf } });
    expect((await late.engine.execute({ toolName: "t", signal: controller.signal })).status).toBe("cancelled");
    expect(calls()).toBe(0);
    expect(events("call-finished")).toHaveLength(1);
  });

  it("fires the handler's signal and gives the permit to the next in line [000-6.3-cancel] [000-3.1-cancel]", async () => {
    const { handler, signals } = hanging();
    const { engine, clock, health } = setUp(handler, {}, { settings: { maxConcurrent: 1 } });
    const [first, second] = [new AbortController(), new AbortController()];
    const running = engine.execute({ toolName: "t", signal: first.signal });
    const waiting = engine.execute({ toolName: "t", signal: second.signal });
    await clock.advance(10);
    expect(signals).toHaveLength(1);
    first.abort();
    const result = await running;
    expect(result).toMatchObject({ status: "cancelled", attempts: 1, latencyMs: 10, error: { code: "CANCELLED" } });
    expect(signals[0]?.aborted).toBe(true);
    await clock.advance(0);
    expect(signals).toHaveLength(2);
    second.abort();
    await waiting;
    expect(clock.pending).toBe(0);
    expect(health.of(result.toolId ?? "").totalCalls).toBe(0);
  });

  it("takes a waiting call out of the queue, in its ensemble and in all", async () => {
    for (const ensemble of ["e", undefined]) {
      const { handler, signals } = hanging();
      const draft = ensemble === undefined ? {} : { ensemble };
      const settings = ensemble === undefined ? { maxConcurrent: 1 } : { maxConcurrentPerEnsemble: 1 };
      const { engine, clock } = setUp(handler, draft, { settings });
      const controllers = [0, 1, 2].map(() => new AbortController());
      const running = controllers.map(({ signal }) => engine.execute({ toolName: "t", signal }));
      await clock.advance(0);
      controllers[1]?.abort();
      expect(await running[1]).toMatchObject({ status: "cancelled", attempts: 0 });
      controllers[0]?.abort();
      await clock.advance(0);
      expect(signals).toHaveLength(2);
      controllers[2]?.abort();
      await Promise.all(running);
      expect(clock.pending).toBe(0);
    }
  });

  it("ends a wait between attempts, and a wait for the guard", async () => {
    const retrying = setUp(throwing(new Error("again")).handler, readOnly);
    const controller = new AbortController();
    const running = retrying.engine.execute({ toolName: "t", signal: controller.signal });
    await retrying.clock.advance(100);
    controller.abort();
    expect(await running).toMatchObject({ status: "cancelled", attempts: 1 });
    expect(retrying.clock.pending).toBe(0);

    const aegis: Aegis = { ...allowing, decide: () => new Promise(() => {}) };
    const deciding = setUp(() => 1, {}, { aegis });
    const other = new AbortController();
    const asked = deciding.engine.execute({ toolName: "t", signal: other.signal });
    await deciding.clock.advance(0);
    other.abort();
    expect(await asked).toMatchObject({ status: "cancelled", attempts: 0 });
    expect(deciding.clock.pending).toBe(0);
  });
});

describe("forgetting a tool", () => {
  it("lets its replacement be called though the circuit was open", async () => {
    const { handler } = throwing(new Error("down"));
    const { engine } = setUp(handler, {}, { settings: { circuitBreakerThreshold: 1 } });
    const { toolId = "" } = await engine.execute({ toolName: "t" });
    // Nothing more is asked while the circuit is open, not even whether the arguments are right.
    expect((await engine.execute({ toolName: "t", arguments: { limit: "x" } })).status).toBe("circuit_open");
    engine.forget(toolId);
    expect((await engine.execute({ toolName: "t" })).status).toBe("success");
  });
});

describe("concurrency", () => {
  it("runs as many calls as allowed and starts the others in the order they came [004-control-fifo]", async () => {
    const started: unknown[] = [];
    const ends: (() => void)[] = [];
    const handler: Handler = (_args, { auxdata }) => {
      started.push(auxdata["index"]);
      return new Promise<void>((resolve) => ends.push(resolve));
    };
    const { engine, clock } = setUp(handler, {}, { settings: { maxConcurrent: 2 } });
    const running = [0, 1, 2, 3, 4].map((index) => engine.execute({ toolName: "t", auxdata: { index } }));
    await clock.advance(0);
    expect(started).toEqual([0, 1]);
    ends[1]?.();
    await clock.advance(0);
    expect(started).toEqual([0, 1, 2]);
    ends[0]?.();
    ends[2]?.();
    await clock.advance(0);
    expect(started).toEqual([0, 1, 2, 3, 4]);
    ends.forEach((end) => end());
    await Promise.all(running);
  });

  it("does not let one ensemble take all places [004-control-per-ensemble] [001-ensemble-defaults]", async () => {
    const { handler, signals } = hanging();
    const { engine, clock } = setUp(handler, { ensemble: "e" }, { ensembleSettings: () => ({ maxConcurrent: 2 }) });
    const running: Promise<ToolResult>[] = [];
    for (let count = 0; count < 5; count++) running.push(engine.execute({ toolName: "t", timeoutMs: 100 }));
    await clock.advance(0);
    expect(signals).toHaveLength(2);
    await clock.advance(1000);
    await Promise.all(running);
  });
});
