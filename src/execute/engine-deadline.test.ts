import { describe, expect, it } from "vitest";
import { directExecutor } from "../adapters/executors/direct.ts";
import { memoryState } from "../adapters/state/memory.ts";
import { jsonSchemaValidator } from "../adapters/validators/json-schema/json-schema.ts";
import { ArsenalError } from "../errors/arsenal-error.ts";
import { type Aegis, createAegis } from "../guard/aegis.ts";
import { createIdempotency } from "../guard/idempotency.ts";
import type { Policy } from "../guard/policy.port.ts";
import { localOperator } from "../guard/principal.ts";
import { createHealth } from "../observe/health.ts";
import { createLocalLimits } from "../state/local-limits.ts";
import { createManualClock, type ManualClock } from "../testing/manual-clock.ts";
import { defineTool } from "../tool/define-tool.ts";
import type { ToolDraft } from "../tool/draft.ts";
import type { Handler } from "../tool/handler.ts";
import { createEngine, type Engine } from "./engine.ts";
import { DEFAULT_ENGINE_SETTINGS } from "../../test/execute/engine-settings.ts";
import type { EngineSettings } from "./settings.ts";

const ALLOW: Policy = { sees: () => true, decide: () => ({ effect: "allow" }) };
const readOnly: Partial<ToolDraft> = { annotations: { confirmed: true, readOnly: true } };

interface Options {
  readonly policy?: Policy;
  readonly draft?: Partial<ToolDraft>;
  readonly settings?: Partial<EngineSettings>;
}

interface Bench {
  readonly engine: Engine;
  readonly aegis: Aegis;
  readonly clock: ManualClock;
}

/** An engine whose tools all have this handler. The time is 10,000 ms. */
function setUp(handler: Handler, { policy = ALLOW, draft, settings }: Options = {}): Bench {
  const clock = createManualClock(10_000);
  const shared = memoryState({ clock });
  const state = shared.documents;
  const aegis = createAegis({
    policy,
    state,
    clock,
    emit: () => {},
    settings: { maxRequestsPerMinute: 1_000, confirmationTimeoutS: 600, selfApproval: "never" },
  });
  const engine = createEngine({
    find: (name) => {
      const parameters = { type: "object", properties: {} };
      return { handler, tool: defineTool({ name, description: "Does work.", parameters, ...draft }) };
    },
    aegis,
    validator: jsonSchemaValidator(),
    executors: [directExecutor()],
    limits: createLocalLimits({ clock }),
    idempotency: createIdempotency(shared, clock),
    health: createHealth({ clock, emit: () => {} }),
    ensembleSettings: () => ({}),
    emit: () => {},
    clock,
    random: () => 1,
    localPrincipal: localOperator(),
    settings: { ...DEFAULT_ENGINE_SETTINGS, ...settings },
  });
  return { engine, aegis, clock };
}

const hanging: Handler = () => new Promise(() => {});

describe("a call with a deadline", () => {
  it("ends with it, however long an attempt may take", async () => {
    const { engine, clock } = setUp(hanging);
    const running = engine.execute({ toolName: "t", deadline: 10_500, timeoutMs: 30_000 });
    await clock.advance(500);
    expect(await running).toMatchObject({
      status: "timeout",
      completedAt: 10_500,
      error: {
        code: "OUTCOME_UNKNOWN",
        message:
          "default.t did not answer before the call's deadline. default.t may or may not have taken effect. Check whether it took effect before you call it again.",
      },
    });
    expect(clock.pending).toBe(0);
  });

  it("is not started once it has passed, nor is anybody asked about it", async () => {
    let runs = 0;
    const decide = (): never => expect.unreachable("The policy is not asked.");
    const { engine } = setUp(() => runs++, { policy: { ...ALLOW, decide } });
    for (const deadline of [0, 10_000]) {
      const result = await engine.execute({ toolName: "t", deadline });
      expect(result).toMatchObject({ status: "timeout", attempts: 0, error: { code: "TIMEOUT", beforeSend: true } });
      expect(result.error?.message).toContain("the call's deadline came");
    }
    expect(runs).toBe(0);
  });

  it("includes the wait for the policy", async () => {
    const { engine, clock } = setUp(() => "done", { policy: { ...ALLOW, decide: () => new Promise(() => {}) } });
    const running = engine.execute({ toolName: "t", deadline: 10_200 });
    await clock.advance(200);
    expect((await running).error?.message).toBe(
      "default.t was not started: the call's deadline came while it waited for the policy's decision. Try again with a later deadline.",
    );
  });

  it("includes the wait for its turn", async () => {
    const { engine, clock } = setUp(hanging, { settings: { maxConcurrent: 1 } });
    const first = engine.execute({ toolName: "t" });
    const second = engine.execute({ toolName: "t", deadline: 10_300 });
    await clock.advance(300);
    expect(await second).toMatchObject({ status: "timeout", attempts: 0, completedAt: 10_300 });
    await clock.advance(30_000);
    await first;
  });

  it("includes the wait for another call with its idempotency key", async () => {
    const { engine, clock } = setUp(hanging);
    const first = engine.execute({ toolName: "t", idempotencyKey: "k" });
    await clock.advance(0);
    const second = engine.execute({ toolName: "t", idempotencyKey: "k", deadline: 10_300 });
    await clock.advance(300);
    expect(await second).toMatchObject({ attempts: 0, completedAt: 10_300, error: { code: "TIMEOUT" } });
    await clock.advance(30_000);
    await first;
  });

  it("gives each attempt what is left, and tells the handler", async () => {
    const deadlines: unknown[] = [];
    const handler: Handler = (_args, { deadline }) => {
      deadlines.push(deadline);
      return new Promise(() => {});
    };
    const { engine, clock } = setUp(handler, { draft: readOnly });
    const running = engine.execute({ toolName: "t", deadline: 10_900, timeoutMs: 500 });
    await clock.advance(2_000);
    // 500 ms, a pause of 200 ms, and what remains of the 900.
    expect(await running).toMatchObject({ status: "timeout", attempts: 2, completedAt: 10_900 });
    expect(deadlines).toEqual([10_500, 10_900]);
  });

  it("is not retried where the pause would outlast it", async () => {
    const { engine } = setUp(
      () => {
        throw new ArsenalError("EXECUTION_FAILED", "busy");
      },
      { draft: readOnly },
    );
    const result = await engine.execute({ toolName: "t", deadline: 10_200 });
    expect(result).toMatchObject({ attempts: 1, completedAt: 10_000, error: { message: "busy" } });
  });

  it("leaves its approval good where it came while the call waited for its turn", async () => {
    const confirm: Policy = { ...ALLOW, decide: () => ({ effect: "confirm", rule: "ask", reason: "Ask." }) };
    let release = (): void => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    const { engine, aegis, clock } = setUp(({ wait }) => (wait === true ? held : "done"), {
      policy: {
        ...confirm,
        decide: (request) => (request.arguments["wait"] === true ? { effect: "allow" } : confirm.decide(request)),
      },
      settings: { maxConcurrent: 1 },
    });
    const { confirmationId = "" } = await engine.execute({ toolName: "t" });
    await aegis.approvals.approve(confirmationId, localOperator({ id: "boss" }));
    const first = engine.execute({ toolName: "t", arguments: { wait: true } });
    const late = engine.execute({ toolName: "t", confirmationId, deadline: 10_100 });
    await clock.advance(100);
    expect((await late).status).toBe("timeout");
    release();
    await first;
    expect((await engine.execute({ toolName: "t", confirmationId })).status).toBe("success");
  });

  it("passes what is left on to the calls its handler makes", async () => {
    const inner: number[] = [];
    const { engine, clock } = setUp(async (args, { deadline }) => {
      if (args["outer"] !== true) return inner.push(deadline ?? 0);
      return (await engine.execute({ toolName: "inner", ...(deadline !== undefined && { deadline }) })).status;
    });
    await engine.execute({ toolName: "t", arguments: { outer: true }, deadline: 12_000 });
    await engine.execute({ toolName: "t", arguments: { outer: true }, timeoutMs: 700 });
    expect(inner).toEqual([12_000, 10_700]);
    expect(clock.pending).toBe(0);
  });

  it.each([["soon"], [Number.NaN], [Number.POSITIVE_INFINITY], [null]])("refuses %s as one", async (deadline) => {
    const { engine } = setUp(() => "done");
    const result = await engine.execute({ toolName: "t", deadline: deadline as number });
    expect(result.error).toMatchObject({ code: "CALL_INVALID", field: "deadline" });
    await expect(engine.executeBatch({ calls: [], deadline: deadline as number })).rejects.toThrow("deadline");
  });
});

describe("a batch with a deadline", () => {
  it("gives it to every call that has no earlier one", async () => {
    const seen: unknown[] = [];
    const { engine } = setUp((_args, { deadline }) => seen.push(deadline));
    const calls = [{ toolName: "a" }, { toolName: "b", deadline: 11_000 }, { toolName: "c", deadline: 99_000 }];
    await engine.executeBatch({ calls, strategy: "sequential", deadline: 12_000 });
    await engine.executeBatch({ calls: calls.slice(1), strategy: "sequential" });
    expect(seen).toEqual([12_000, 11_000, 12_000, 11_000, 40_000]);
  });

  it("ends its calls when it comes, those that had no turn without a start", async () => {
    const { engine, clock } = setUp(hanging);
    const running = engine.executeBatch({
      calls: [{ toolName: "a" }, { toolName: "b" }],
      strategy: "sequential",
      deadline: 10_400,
    });
    await clock.advance(400);
    const { results } = await running;
    expect(results.map(({ attempts, completedAt }) => [attempts, completedAt])).toEqual([
      [1, 10_400],
      [0, 10_400],
    ]);
  });
});
