import { describe, expect, it } from "vitest";
import { memoryAudit } from "../adapters/audit/memory.ts";
import { direct } from "../adapters/executors/direct.ts";
import { memoryState } from "../adapters/state/memory.ts";
import { ajv } from "../adapters/validators/ajv.ts";
import { type Aegis, createAegis } from "../guard/aegis.ts";
import { createCallAudit } from "../guard/audit/call-audit.ts";
import type { AuditLog, AuditRecord } from "../guard/audit.port.ts";
import { createIdempotency } from "../guard/idempotency.ts";
import type { Policy } from "../guard/policy.port.ts";
import { localOperator } from "../guard/principal.ts";
import type { Emit } from "../observe/events.ts";
import { createHealth } from "../observe/health.ts";
import { createManualClock } from "../testing/manual-clock.ts";
import { defineTool } from "../tool/define-tool.ts";
import type { Handler } from "../tool/handler.ts";
import { createEngine, type Engine } from "./engine.ts";
import { DEFAULT_ENGINE_SETTINGS } from "./settings.ts";

const caller = localOperator({ id: "caller", tenant: "acme", local: false });
const approver = localOperator({ id: "boss", local: false });

/** Hides what is called hidden, refuses what is called denied, has what is called risky approved. */
const policy: Policy = {
  sees: ({ name }) => name !== "hidden",
  decide({ tool }) {
    if (tool.name === "denied") return { effect: "deny", rule: "no-denied", reason: "No." };
    if (tool.name === "risky") return { effect: "confirm", rule: "ask-first", reason: "Ask." };
    return { effect: "allow" };
  },
};

interface Bench {
  readonly engine: Engine;
  readonly aegis: Aegis;
  runs(): number;
  /** From now on the policy refuses the tool. */
  refuse(tool: string): void;
  calls(): readonly Record<string, unknown>[];
}

interface Options {
  readonly handler?: Handler;
  readonly keepsKeys?: boolean;
  readonly fails?: (record: AuditRecord) => boolean;
}

function setUp(options: Options = {}): Bench {
  const { keepsKeys = true, handler = () => "done", fails = () => false } = options;
  const clock = createManualClock(1_000);
  const emit: Emit = () => {};
  const log = memoryAudit({ clock });
  const failing: AuditLog = {
    ...log,
    append: (record) => (fails(record) ? Promise.reject(new Error("No space left.")) : log.append(record)),
  };
  const audit = createCallAudit({ log: failing, emit, strict: true });
  const refused = new Set<string>();
  const changing: Policy = {
    ...policy,
    decide: (request) =>
      refused.has(request.tool.name) ? { effect: "deny", rule: "revoked", reason: "No more." } : policy.decide(request),
  };
  const state = memoryState({ clock });
  const aegis = createAegis({
    policy: changing,
    state,
    clock,
    emit,
    settings: { maxRequestsPerMinute: 100_000, confirmationTimeoutS: 600, selfApproval: "never" },
  });
  let runs = 0;
  const tools = ["works", "hidden", "denied", "risky", "limited", "reads"].map((name) =>
    defineTool({
      name,
      description: "Does something for somebody.",
      parameters: { type: "object", properties: { n: { type: "number" } } },
      createdAt: 0,
      ...(name === "reads" && { annotations: { readOnly: true, confirmed: true } }),
      ...(name === "limited" && { cost: { rateLimit: 1 } }),
    }),
  );
  const engine = createEngine({
    find: (name, { sees = () => true } = {}) => {
      const tool = tools.find((candidate) => candidate.name === name && sees(candidate));
      if (tool === undefined) return { found: false, reason: "unknown" } as never;
      return { found: true, tool, handler: (args, context) => (runs++, handler(args, context)) };
    },
    aegis,
    validator: ajv(),
    executors: [direct()],
    audit,
    ...(keepsKeys && { idempotency: createIdempotency(state, clock) }),
    health: createHealth({ clock, emit }),
    ensembleSettings: () => ({}),
    emit,
    clock,
    localPrincipal: caller,
    settings: { ...DEFAULT_ENGINE_SETTINGS, maxRetries: 1 },
  });
  return {
    engine,
    aegis,
    refuse: (tool) => void refused.add(tool),
    runs: () => runs,
    calls: () => log.lines.map((line) => JSON.parse(line)).filter(({ kind }) => kind === "call"),
  };
}

describe("a call with an idempotency key", () => {
  it("runs once, however often it is made at once, and every answer is the same", async () => {
    const { engine, runs, calls } = setUp({ handler: () => ({ receipt: 7 }) });
    const call = { toolName: "works", arguments: { n: 1 }, idempotencyKey: "order-1" };
    const results = await Promise.all(Array.from({ length: 50 }, () => engine.execute(call)));
    expect(runs()).toBe(1);
    expect(results.map(({ status, result }) => [status, result])).toEqual(
      Array.from({ length: 50 }, () => ["success", { receipt: 7 }]),
    );
    expect(results.filter(({ replayed }) => replayed === true)).toHaveLength(49);
    expect(calls().filter(({ replayed }) => replayed === true)).toHaveLength(49);
    expect(calls()).toMatchObject(
      Array.from({ length: 50 }, () => ({ decision: { effect: "allowed" }, idempotencyKey: "order-1" })),
    );
  });

  it("is refused with other arguments", async () => {
    const { engine, runs } = setUp();
    await engine.execute({ toolName: "works", arguments: { n: 1 }, idempotencyKey: "k" });
    expect(await engine.execute({ toolName: "works", arguments: { n: 2 }, idempotencyKey: "k" })).toMatchObject({
      status: "failure",
      error: {
        code: "IDEMPOTENCY_CONFLICT",
        message:
          'The idempotency key "k" was used for default.works with other arguments. Give each call a key of its own; repeat a key only with exactly the same arguments.',
      },
    });
    expect(runs()).toBe(1);
  });

  it("gets its result again though its approval is used up, and only then", async () => {
    const { engine, aegis, runs } = setUp();
    const call = { toolName: "risky", arguments: { n: 1 }, idempotencyKey: "pay-1" };
    const { confirmationId = "" } = await engine.execute(call);
    await aegis.approvals.approve(confirmationId, approver);
    const approved = { ...call, confirmationId };
    expect(await engine.execute(approved)).toMatchObject({ status: "success", result: "done" });
    expect(await engine.execute(approved)).toMatchObject({ status: "success", result: "done", replayed: true });
    expect((await engine.execute({ ...approved, idempotencyKey: "pay-2" })).error?.code).toBe("APPROVAL_INVALID");
    expect((await engine.execute({ ...approved, arguments: { n: 2 } })).error?.code).toBe("APPROVAL_INVALID");
    expect(runs()).toBe(1);
  });

  it("keeps its key free while it is refused, and keeps a failure that may have taken effect", async () => {
    let fails = true;
    const { engine, runs } = setUp({
      handler: () => {
        if (fails) throw new Error("broken");
        return "done";
      },
    });
    const call = { toolName: "limited", idempotencyKey: "k" };
    await engine.execute({ toolName: "limited" });
    expect((await engine.execute(call)).error?.code).toBe("RATE_LIMITED");
    const first = await engine.execute({ toolName: "works", idempotencyKey: "k" });
    fails = false;
    const second = await engine.execute({ toolName: "works", idempotencyKey: "k" });
    expect([first.error?.message, second.error?.message, second.replayed]).toEqual(["broken", "broken", true]);
    expect(runs()).toBe(2);
  });

  it.each(["", "x".repeat(256)])("must have a key of 1 to 255 characters", async (idempotencyKey) => {
    const { engine } = setUp();
    expect((await engine.execute({ toolName: "works", idempotencyKey })).error).toMatchObject({
      code: "CALL_INVALID",
      field: "idempotencyKey",
    });
  });

  it("is not given an earlier result once the policy refuses it", async () => {
    const { engine, runs, refuse } = setUp();
    const call = { toolName: "works", idempotencyKey: "k" };
    expect((await engine.execute(call)).status).toBe("success");
    refuse("works");
    const refused = await engine.execute(call);
    expect(refused).toMatchObject({ status: "permission_denied", error: { code: "PERMISSION_DENIED" } });
    expect(refused).not.toHaveProperty("result");
    expect(runs()).toBe(1);
  });

  it("keeps its key free where it was let pass and did not start", async () => {
    let full = true;
    const { engine, runs } = setUp({ fails: () => full });
    await engine.execute({ toolName: "works" });
    const call = { toolName: "works", idempotencyKey: "k" };
    expect(await engine.execute(call)).toMatchObject({ attempts: 0, error: { code: "AUDIT_FAILED" } });
    full = false;
    const done = await engine.execute(call);
    expect([done.status, done.replayed, runs()]).toEqual(["success", undefined, 2]);
  });

  it("keeps its key free where it failed and the tool is safe to repeat", async () => {
    let fails = true;
    const { engine, runs } = setUp({
      handler: () => {
        if (fails) throw new Error("broken");
        return "done";
      },
    });
    const call = { toolName: "reads", idempotencyKey: "k" };
    expect((await engine.execute(call)).error?.message).toBe("broken");
    fails = false;
    const done = await engine.execute(call);
    expect([done.status, done.replayed, runs()]).toEqual(["success", undefined, 2]);
  });

  it("is refused by an engine that keeps no keys", async () => {
    const { engine } = setUp({ keepsKeys: false });
    expect((await engine.execute({ toolName: "works", idempotencyKey: "k" })).error).toMatchObject({
      code: "CALL_INVALID",
      message: "This engine keeps no idempotency keys. Make the call without idempotencyKey.",
    });
  });
});
