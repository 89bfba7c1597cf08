import { describe, expect, it } from "vitest";
import { directExecutor } from "../adapters/executors/direct.ts";
import { memoryState } from "../adapters/state/memory.ts";
import { jsonSchemaValidator } from "../adapters/validators/json-schema/json-schema.ts";
import { createAegis, type Aegis } from "../guard/aegis.ts";
import { localOperator, type Principal } from "../guard/principal.ts";
import { createHealth } from "../observe/health.ts";
import { createLocalLimits } from "../state/local-limits.ts";
import { createManualClock, type ManualClock } from "../testing/manual-clock.ts";
import { defineTool } from "../tool/define-tool.ts";
import type { Handler } from "../tool/handler.ts";
import { createEngine, type Engine } from "./engine.ts";
import type { ToolCall } from "./call.ts";
import { DEFAULT_ENGINE_SETTINGS } from "../../test/execute/engine-settings.ts";
import type { EngineSettings } from "./settings.ts";

const caller: Principal = localOperator({ id: "caller", local: false });
const approver: Principal = localOperator({ id: "approver", local: false });

interface Bench {
  readonly engine: Engine;
  readonly aegis: Aegis;
  readonly clock: ManualClock;
  /** How often the handler was called by approved calls. */
  readonly runs: () => number;
  /** A call of `pay` that a person has approved. */
  approvedCall(): Promise<ToolCall>;
}

/** An engine over the tool `pay`, which asks for a confirmation where `pay` has an amount, and over others that do not. */
function setUp(
  options: {
    readonly settings?: Partial<EngineSettings>;
    readonly perMinute?: number;
    readonly confirmationTimeoutS?: number;
    readonly handler?: Handler;
  } = {},
): Bench {
  const { settings, perMinute = 1000, confirmationTimeoutS = 600, handler = () => "paid" } = options;
  const clock = createManualClock(1_000_000);
  const emit = (): void => {};
  const aegis = createAegis({
    state: memoryState({ clock }).documents,
    policy: {
      sees: () => true,
      decide: ({ arguments: { amount } }) =>
        amount === undefined ? { effect: "allow" } : { effect: "confirm", rule: "money", reason: "It is money." },
    },
    clock,
    emit,
    settings: { maxRequestsPerMinute: perMinute, confirmationTimeoutS, selfApproval: "never" },
  });
  let runs = 0;
  const parameters = { type: "object", properties: { amount: { type: "number" } } };
  const tool = defineTool({ name: "pay", description: "Pays somebody an amount of money.", parameters });
  const engine = createEngine({
    find: () => ({
      tool,
      handler(args, context) {
        if (args["amount"] !== undefined) runs++;
        return handler(args, context);
      },
    }),
    aegis,
    validator: jsonSchemaValidator(),
    executors: [directExecutor()],
    limits: createLocalLimits({ clock }),
    health: createHealth({ clock, emit }),
    ensembleSettings: () => ({}),
    emit,
    clock,
    localPrincipal: caller,
    settings: { ...DEFAULT_ENGINE_SETTINGS, ...settings },
  });
  return {
    engine,
    aegis,
    clock,
    runs: () => runs,
    async approvedCall() {
      const call = { toolName: "pay", arguments: { amount: 5 } };
      const { confirmationId = "" } = await engine.execute(call);
      await aegis.approvals.approve(confirmationId, approver);
      return { ...call, confirmationId };
    },
  };
}

const codeOf = async (engine: Engine, call: ToolCall): Promise<string | undefined> => {
  const { status, error } = await engine.execute(call);
  return error?.code ?? status;
};

/** Lets everything run that waits for nothing but its turn. */
const untilIdle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("an approval", () => {
  it("stays good where the rate limit refuses the call [000-6.2-approve-once]", async () => {
    const { engine, clock, approvedCall, runs } = setUp({ perMinute: 1 });
    const approved = await approvedCall();
    await engine.execute({ toolName: "pay" });
    expect(await codeOf(engine, approved)).toBe("RATE_LIMITED");
    await clock.advance(60_000);
    expect(await codeOf(engine, approved)).toBe("success");
    expect(runs()).toBe(1);
  });

  it("stays good where the circuit is open, and where another call probes it", async () => {
    let works = false;
    let finishProbe = (): void => {};
    const handler: Handler = ({ amount }) => {
      if (amount !== undefined) return "paid";
      if (!works) throw new Error("broken");
      return new Promise<void>((resolve) => (finishProbe = resolve));
    };
    const settings = { circuitBreakerThreshold: 1, circuitBreakerTimeoutMs: 1000 };
    const { engine, clock, approvedCall, runs } = setUp({ settings, handler });
    const approved = await approvedCall();
    await engine.execute({ toolName: "pay" });
    expect(await codeOf(engine, approved)).toBe("CIRCUIT_OPEN");
    await clock.advance(1000);
    works = true;
    const probe = engine.execute({ toolName: "pay" });
    const late = engine.execute(approved);
    expect((await late).error?.code).toBe("CIRCUIT_OPEN");
    finishProbe();
    await probe;
    expect(await codeOf(engine, approved)).toBe("success");
    expect(runs()).toBe(1);
  });

  it("stays good where the call runs out of time while it waits for others to end", async () => {
    let finish = (): void => {};
    const handler: Handler = ({ amount }) =>
      amount === undefined ? new Promise<void>((resolve) => (finish = resolve)) : "paid";
    const { engine, clock, approvedCall, runs } = setUp({ settings: { maxConcurrent: 1 }, handler });
    const approved = await approvedCall();
    const first = engine.execute({ toolName: "pay" });
    const waiting = engine.execute({ ...approved, timeoutMs: 100 });
    await clock.advance(100);
    expect((await waiting).error?.code).toBe("TIMEOUT");
    finish();
    await first;
    expect(await codeOf(engine, approved)).toBe("success");
    expect(runs()).toBe(1);
  });

  it("stays good where the caller gives up just as the call's turn comes", async () => {
    const outcomes = new Set<string>();
    for (let steps = 0; steps < 30; steps++) {
      let finish = (): void => {};
      const handler: Handler = ({ amount }) =>
        amount === undefined ? new Promise<void>((resolve) => (finish = resolve)) : "paid";
      const { engine, approvedCall, runs } = setUp({ settings: { maxConcurrent: 1 }, handler });
      const approved = await approvedCall();
      const first = engine.execute({ toolName: "pay" });
      const controller = new AbortController();
      const waiting = engine.execute({ ...approved, signal: controller.signal });
      await untilIdle();
      finish();
      for (let step = 0; step < steps; step++) await Promise.resolve();
      controller.abort();
      const [{ attempts }] = await Promise.all([waiting, first]);
      expect(await codeOf(engine, approved)).toBe(attempts === 0 ? "success" : "APPROVAL_INVALID");
      expect(runs()).toBe(1);
      outcomes.add(attempts === 0 ? "gave up in time" : "ran");
    }
    expect([...outcomes]).toEqual(["gave up in time", "ran"]);
  });

  it("is used by one of several calls that name it at once", async () => {
    const { engine, approvedCall, runs } = setUp();
    const approved = await approvedCall();
    const codes = await Promise.all([1, 2, 3].map(() => codeOf(engine, approved)));
    expect(codes.sort()).toEqual(["APPROVAL_INVALID", "APPROVAL_INVALID", "success"]);
    expect(runs()).toBe(1);
  });

  it("must still be good when the call's turn comes", async () => {
    let finish = (): void => {};
    const handler: Handler = ({ amount }) =>
      amount === undefined ? new Promise<void>((resolve) => (finish = resolve)) : "paid";
    const options = { settings: { maxConcurrent: 1 }, confirmationTimeoutS: 10, handler };
    const { engine, clock, approvedCall, runs } = setUp(options);
    const approved = await approvedCall();
    const first = engine.execute({ toolName: "pay" });
    const waiting = engine.execute(approved);
    await clock.advance(10_000);
    finish();
    await first;
    expect((await waiting).error?.message).toContain("has expired");
    expect(runs()).toBe(0);
  });

  it("that is wrong takes nothing from the rate limit", async () => {
    const { engine, approvedCall } = setUp({ perMinute: 2 });
    const approved = await approvedCall();
    for (const confirmationId of ["made-up", "", `${approved.confirmationId}x`]) {
      expect(await codeOf(engine, { ...approved, confirmationId })).toBe("APPROVAL_INVALID");
    }
    expect(await codeOf(engine, approved)).toBe("success");
  });

  it("that is waited for takes from the rate limit, each time, and is not asked for beyond it", async () => {
    const { engine, aegis } = setUp({ perMinute: 3 });
    const call = { toolName: "pay", arguments: { amount: 6 } };
    const { confirmationId = "" } = await engine.execute(call);
    expect(await codeOf(engine, call)).toBe("CONFIRMATION_REQUIRED");
    expect(await codeOf(engine, { ...call, confirmationId })).toBe("CONFIRMATION_REQUIRED");
    expect(await codeOf(engine, call)).toBe("RATE_LIMITED");
    expect(await codeOf(engine, { ...call, confirmationId })).toBe("RATE_LIMITED");
    expect(await codeOf(engine, { toolName: "pay", arguments: { amount: 7 } })).toBe("RATE_LIMITED");
    expect(await aegis.approvals.count()).toBe(1);
  });
});
