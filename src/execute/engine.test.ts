import { describe, expect, it } from "vitest";
import { directExecutor } from "../adapters/executors/direct.ts";
import { memoryState } from "../adapters/state/memory.ts";
import { jsonSchemaValidator } from "../adapters/validators/json-schema/json-schema.ts";
import { ArsenalError } from "../errors/arsenal-error.ts";
import { createAegis, type Aegis } from "../guard/aegis.ts";
import type { Policy } from "../guard/policy.port.ts";
import { localOperator, type Principal } from "../guard/principal.ts";
import type { Emit } from "../observe/events.ts";
import { createHealth, type HealthBook } from "../observe/health.ts";
import { createLocalLimits } from "../state/local-limits.ts";
import { createManualClock, type ManualClock } from "../testing/manual-clock.ts";
import type { Handler, Progress } from "../tool/handler.ts";
import type { Tool } from "../tool/tool.ts";
import type { ToolCall } from "./call.ts";
import { createEngine, type Engine } from "./engine.ts";
import type { EngineParts } from "./engine.ts";
import { DEFAULT_ENGINE_SETTINGS } from "../../test/execute/engine-settings.ts";
import type { EngineSettings } from "./settings.ts";
import type { Validator } from "./validator.port.ts";

const caller: Principal = { ...localOperator(), id: "caller", local: false };
const approver: Principal = { ...localOperator(), id: "boss", local: false };

function tool(name: string, overrides: Partial<Tool> = {}): Tool {
  return {
    id: `test.${name}`,
    name,
    namespace: "test",
    version: "1.0.0",
    description: name,
    examples: [],
    tags: [],
    parameters: { type: "object", properties: { n: { type: "number" } }, additionalProperties: false },
    source: "function",
    sourceName: name,
    sourceMeta: {},
    capabilities: [],
    riskLevel: "low",
    requiredScopes: [],
    requiresConfirmation: false,
    annotations: { confirmed: false },
    dependencies: [],
    cost: {},
    metadata: {},
    createdAt: 0,
    deprecated: false,
    contentHash: name,
    ...overrides,
  };
}

const safe = { annotations: { confirmed: true, readOnly: true } };
const allowAll: Policy = { sees: () => true, decide: () => ({ effect: "allow" }) };

interface Bench {
  readonly engine: Engine;
  readonly clock: ManualClock;
  readonly aegis: Aegis;
  readonly health: HealthBook;
  readonly events: { readonly name: string; readonly data: Record<string, unknown> }[];
  named(name: string): Record<string, unknown>[];
}

function setUp(
  tools: readonly (readonly [Tool, Handler?])[],
  options: {
    readonly settings?: Partial<EngineSettings>;
    readonly policy?: Partial<Policy>;
    readonly rateLimit?: number;
  } & Partial<Omit<EngineParts, "settings">> = {},
): Bench {
  const { settings, policy, rateLimit = 1_000_000, ...parts } = options;
  const clock = createManualClock(1_000_000);
  const events: Bench["events"] = [];
  const emit: Emit = (name, data) => void events.push({ name, data: data as Record<string, unknown> });
  const aegis = createAegis({
    state: memoryState({ clock }).documents,
    policy: { ...allowAll, ...policy },
    clock,
    emit,
    settings: { maxRequestsPerMinute: rateLimit, confirmationTimeoutS: 600, selfApproval: "never" },
  });
  const health = createHealth({ clock, emit });
  const engine = createEngine({
    find(name) {
      const [found, handler] = tools.find(([{ id, name: bare }]) => id === name || bare === name) ?? [];
      return found && { tool: found, ...(handler && { handler }) };
    },
    aegis,
    validator: jsonSchemaValidator(),
    executors: [directExecutor()],
    limits: createLocalLimits({ clock }),
    health,
    ensembleSettings: () => ({}),
    emit,
    clock,
    random: () => 1,
    localPrincipal: caller,
    settings: { ...DEFAULT_ENGINE_SETTINGS, ...settings },
    ...parts,
  });
  const named = (name: string): Record<string, unknown>[] =>
    events.filter((event) => event.name === name).map(({ data }) => data);
  return { engine, clock, aegis, health, events, named };
}

function throwing(...errors: readonly unknown[]): { handler: Handler; attempts: () => number } {
  let count = 0;
  return {
    attempts: () => count,
    handler: () => {
      const error = errors[Math.min(count++, errors.length - 1)];
      if (error !== undefined) throw error;
      return "done";
    },
  };
}

describe("a call", () => {
  it("succeeds with what the handler returns, its times, and ids of 32 and 16 digits [000-6.3-success] [000-6.3-ids] [000-4.3-times]", async () => {
    const { engine, clock, health } = setUp([
      [tool("wait"), () => new Promise((resolve) => void clock.after(40, () => resolve({ ok: 1 })))],
    ]);
    const running = engine.execute({ toolName: "test.wait", arguments: { n: 1 } });
    await clock.advance(40);
    const { traceId, spanId, ...result } = await running;
    expect(result).toEqual({
      toolName: "test.wait",
      toolId: "test.wait",
      status: "success",
      result: { ok: 1 },
      queuedAt: 1_000_000,
      startedAt: 1_000_000,
      completedAt: 1_000_040,
      latencyMs: 40,
      attempts: 1,
    });
    expect(traceId).toMatch(/^[0-9a-f]{32}$/);
    expect(spanId).toMatch(/^[0-9a-f]{16}$/);
    expect(health.of("test.wait")).toMatchObject({ totalCalls: 1, successRate: 1, averageLatencyMs: 40 });
    expect(clock.pending).toBe(0);
  });

  it("tells that it started and how it ended, once each [000-6.3-events] [000-5.5-execution] [000-4.3-trace]", async () => {
    const { engine, events } = setUp([[tool("t"), () => 1]]);
    await engine.execute({ toolName: "t", traceId: "mine", parentSpanId: "above" });
    expect(events.map(({ name }) => name)).toEqual(["call-started", "call-finished"]);
    expect(events[1]?.data).toMatchObject({
      toolId: "test.t",
      traceId: "mine",
      parentSpanId: "above",
      status: "success",
      attempts: 1,
      principal: "caller",
    });
  });

  it("is refused as a result where it is malformed [000-4.3-call-invalid] [000-4.3-timeout-range] [000-4.3-retry-range]", async () => {
    const { engine } = setUp([[tool("t"), () => 1]]);
    const good = { toolName: "t" };
    const bad: readonly (readonly [unknown, string])[] = [
      [null, "call"],
      ["t", "call"],
      [{}, "toolName"],
      [{ toolName: " " }, "toolName"],
      [{ ...good, arguments: [] }, "arguments"],
      [{ ...good, arguments: JSON.parse('{"a":{"__proto__":{}}}') }, "arguments.a.__proto__"],
      [{ ...good, arguments: { f: () => 1 } }, "arguments.f"],
      [{ ...good, arguments: { list: [1, new Date(0)] } }, "arguments.list.1"],
      [{ ...good, arguments: { n: Number.NaN } }, "arguments.n"],
      [{ ...good, arguments: Object.create({ n: 1 }) }, "arguments"],
      [{ ...good, timeoutMs: 99 }, "timeoutMs"],
      [{ ...good, timeoutMs: 300_001 }, "timeoutMs"],
      [{ ...good, retryCount: 6 }, "retryCount"],
      [{ ...good, retryCount: 1.5 }, "retryCount"],
      [{ ...good, signal: {} }, "signal"],
      [{ ...good, principal: { id: "x" } }, "principal"],
      [{ ...good, onProgress: "x" }, "onProgress"],
      [{ ...good, requireConfirmation: "no" }, "requireConfirmation"],
    ];
    for (const [call, field] of bad) {
      expect(await engine.execute(call as ToolCall)).toMatchObject({
        status: "failure",
        attempts: 0,
        error: { code: "CALL_INVALID", field },
      });
    }
    expect((await engine.execute({ tool: "x" } as never)).error?.message).toBe(
      "toolName is missing. Give the tool's id or name, such as billing.refund_user.",
    );
    const cyclic: Record<string, unknown> = {};
    cyclic["self"] = [cyclic];
    expect((await engine.execute({ ...good, arguments: cyclic })).error?.message).toContain("contains itself");
  });

  it("gives an unknown and a hidden tool the same answer [000-6.2-unseen] [004-errors-not-found]", async () => {
    const { engine, named } = setUp([[tool("hidden"), () => 1]], { policy: { sees: () => false } });
    const withoutTimes = async (toolName: string): Promise<string> => {
      const { traceId: _trace, spanId: _span, ...result } = await engine.execute({ toolName, arguments: { n: 1 } });
      return JSON.stringify(result).replaceAll(toolName, "NAME");
    };
    const answer = await withoutTimes("test.hidden");
    expect(answer).toBe(await withoutTimes("test.nobody"));
    expect(JSON.parse(answer)).toMatchObject({ status: "failure", error: { code: "TOOL_NOT_FOUND" } });
    expect(answer).not.toContain("secret");
    expect(named("call-finished").map(({ toolId }) => toolId)).toEqual(["test.hidden", "(unknown)"]);
  });

  it("says what its arguments lack, and compiles a tool's schema once [000-6.3-arguments] [000-5.4-validate] [001-errors-validation]", async () => {
    let compiled = 0;
    const inner = jsonSchemaValidator();
    const validator: Validator = { compile: (schema) => (compiled++, inner.compile(schema)) };
    const { engine, health } = setUp([[tool("t"), () => 1]], { validator });
    const { error } = await engine.execute({ toolName: "t", arguments: { n: "1", m: 2 } });
    expect(error?.code).toBe("ARGUMENTS_INVALID");
    expect(error?.message).toBe(
      'The arguments do not match the parameters of test.t: n: expected number, received string "1"; m: expected nothing (known here: n), received number 2.',
    );
    expect(error?.issues?.map(({ field }) => field)).toEqual(["n", "m"]);
    for (let count = 0; count < 10; count++) await engine.execute({ toolName: "t" });
    expect(compiled).toBe(1);
    expect(health.of("test.t").totalCalls).toBe(10);
  });

  it("fails with TOOL_INVALID where the tool's schema is broken, found out once", async () => {
    let compiled = 0;
    const inner = jsonSchemaValidator();
    const validator: Validator = { compile: (schema) => (compiled++, inner.compile(schema)) };
    const { engine } = setUp([[tool("t", { parameters: { type: "nothing" } }), () => 1]], { validator });
    await engine.execute({ toolName: "t" });
    expect((await engine.execute({ toolName: "t" })).error?.code).toBe("TOOL_INVALID");
    expect(compiled).toBe(1);
  });

  it("hands over defaults without touching the caller's object, and the arguments as they were checked [001-invoker-arguments]", async () => {
    const parameters = { type: "object", properties: { list: { type: "array" }, size: { default: 5 } } };
    const seen: unknown[] = [];
    const handler: Handler = (args) => void seen.push(args);
    const { engine } = setUp([[tool("t", { parameters }), handler]], {
      policy: { decide: async () => ({ effect: "allow" }) },
    });
    const given = { list: [1] };
    const running = engine.execute({ toolName: "t", arguments: given });
    given.list.push(2);
    await running;
    expect(seen).toEqual([{ list: [1], size: 5 }]);
    expect(given).toEqual({ list: [1, 2] });
  });

  it("works with two tools whose schemas have the same $id", async () => {
    const schema = (type: string): Tool["parameters"] => ({
      $id: "https://example.com/s",
      properties: { n: { type } },
    });
    const { engine } = setUp([
      [tool("a", { parameters: schema("string") }), () => "a"],
      [tool("b", { parameters: schema("number") }), () => "b"],
    ]);
    expect((await engine.execute({ toolName: "a", arguments: { n: "x" } })).status).toBe("success");
    expect((await engine.execute({ toolName: "b", arguments: { n: 1 } })).status).toBe("success");
    expect((await engine.execute({ toolName: "b", arguments: { n: "x" } })).status).toBe("failure");
  });

  it("is denied with what is missing [001-errors-permission] [000-6.2-capabilities]", async () => {
    const { engine, health } = setUp([[tool("t", { capabilities: ["financial"] }), () => 1]]);
    const result = await engine.execute({ toolName: "t", principal: { ...caller, capabilities: [] } });
    expect(result).toMatchObject({ status: "permission_denied", attempts: 0, error: { code: "PERMISSION_DENIED" } });
    expect(result.error?.message).toContain("financial");
    expect(health.of("test.t").totalCalls).toBe(0);
  });

  it("is denied where the guard itself fails", async () => {
    const { aegis } = setUp([]);
    const broken: Aegis = { ...aegis, decide: () => Promise.reject(new Error("no database")) };
    const { engine } = setUp([[tool("t"), () => 1]], { aegis: broken });
    expect(await engine.execute({ toolName: "t" })).toMatchObject({
      status: "permission_denied",
      error: { code: "PERMISSION_DENIED", message: "test.t is refused because the guard failed: no database" },
    });
  });

  it("waits for a person, then runs once with the approval [000-6.2-pending] [000-6.2-approve-once]", async () => {
    const { handler, attempts } = throwing(undefined);
    const { engine, aegis } = setUp([[tool("t"), handler]]);
    const call = { toolName: "t", arguments: { n: 1 }, requireConfirmation: true };
    const pending = await engine.execute(call);
    expect(pending).toMatchObject({
      status: "pending_confirmation",
      attempts: 0,
      error: { code: "CONFIRMATION_REQUIRED" },
    });
    const confirmationId = pending.confirmationId ?? "";
    await aegis.approvals.approve(confirmationId, approver);
    // Wrong arguments do not use the approval up.
    expect((await engine.execute({ ...call, confirmationId, arguments: { n: "1" } })).error?.code).toBe(
      "ARGUMENTS_INVALID",
    );
    expect((await engine.execute({ ...call, confirmationId })).status).toBe("success");
    expect((await engine.execute({ ...call, confirmationId })).error?.code).toBe("APPROVAL_INVALID");
    expect(attempts()).toBe(1);
  });

  it("fails with the time to wait where the rate limit is reached [000-6.2-rate-retry-after] [000-15.1-denial]", async () => {
    const { engine, health } = setUp([[tool("t"), () => 1]], { rateLimit: 2 });
    await engine.execute({ toolName: "t" });
    await engine.execute({ toolName: "t" });
    expect(await engine.execute({ toolName: "t" })).toMatchObject({
      status: "failure",
      attempts: 0,
      error: { code: "RATE_LIMITED", retryAfterMs: 60_000 },
    });
    expect(health.of("test.t").totalCalls).toBe(2);
  });

  it("fails with HANDLER_MISSING, never started, where nothing runs the tool [000-6.3-handler-missing] [000-4.3-latency-zero]", async () => {
    const { engine, health } = setUp([[tool("t", safe)]]);
    const result = await engine.execute({ toolName: "t" });
    expect(result).toMatchObject({ status: "failure", attempts: 0, latencyMs: 0, error: { code: "HANDLER_MISSING" } });
    expect(result.startedAt).toBeUndefined();
    expect(health.of("test.t").totalCalls).toBe(0);
    const none = setUp([[tool("t"), () => 1]], { executors: [] });
    expect((await none.engine.execute({ toolName: "t" })).error?.code).toBe("HANDLER_MISSING");
  });

  it("is still one result where a part of the arsenal throws", async () => {
    const { engine } = setUp([[tool("t", { ensemble: "e" }), () => 1]], {
      ensembleSettings: () => {
        throw new Error("gone");
      },
    });
    expect(await engine.execute({ toolName: "t" })).toMatchObject({ status: "failure", error: { message: "gone" } });
  });

  it("is thrown with its code where failures are to be thrown, but not while a person is waited for [001-errors-fail-fast]", async () => {
    const { engine } = setUp([[tool("t"), throwing(new Error("broken")).handler]], {
      settings: { onFailure: "throw" },
    });
    await expect(engine.execute({ toolName: "t" })).rejects.toMatchObject({
      name: "ArsenalError",
      code: "EXECUTION_FAILED",
      message: "broken",
    });
    expect((await engine.execute({ toolName: "t", requireConfirmation: true })).status).toBe("pending_confirmation");
  });
});

describe("a handler", () => {
  it("shares its state with its ensemble, or with its namespace where there is none [001-context-state]", async () => {
    const handler: Handler = (_args, { state }) => state.set("n", Number(state.get("n") ?? 0) + 1).get("n");
    const { engine } = setUp([
      [tool("a", { ensemble: "test" }), handler],
      [tool("b", { ensemble: "test" }), handler],
      [tool("c"), handler],
    ]);
    const counts: unknown[] = [];
    for (const toolName of ["a", "b", "c", "a", "c"]) counts.push((await engine.execute({ toolName })).result);
    expect(counts).toEqual([1, 2, 1, 3, 2]);
  });

  it("gets the caller's data, and tells progress until it has ended [001-context-auxdata]", async () => {
    const told: Progress[] = [];
    let late: (() => void) | undefined;
    const handler: Handler = (_args, { auxdata, progress }) => {
      progress({ progress: 1, total: 2, message: String(auxdata["who"]) });
      progress({ progress: Number.NaN });
      late = () => progress({ progress: 2 });
      return 1;
    };
    const { engine, named } = setUp([[tool("t"), handler]]);
    const fails = (update: Progress): never => {
      told.push(update);
      throw new Error("listener");
    };
    const call = { toolName: "t", auxdata: { who: "me" } };
    expect((await engine.execute({ ...call, onProgress: fails })).status).toBe("success");
    expect((await engine.execute({ ...call, onProgress: async (update) => fails(update) })).status).toBe("success");
    late?.();
    const update = { progress: 1, total: 2, message: "me" };
    expect(told).toEqual([update, update]);
    expect(named("call-progressed")).toMatchObject([update, update]);
  });

  it("that throws ends the call with its message, and its code where it has one [000-6.3-handler-throws] [000-4.3-error-code] [001-errors-execution] [002-sandbox-crash]", async () => {
    const denied = new ArsenalError("PERMISSION_DENIED", "no");
    for (const [thrown, status, code] of [
      [new Error("no"), "failure", "EXECUTION_FAILED"],
      [denied, "permission_denied", "PERMISSION_DENIED"],
    ] as const) {
      const { engine } = setUp([[tool("t"), throwing(thrown).handler]]);
      const result = await engine.execute({ toolName: "t" });
      expect(result).toMatchObject({ status, attempts: 1 });
      expect(result.error).toEqual({ code, message: "no" });
    }
  });
});
