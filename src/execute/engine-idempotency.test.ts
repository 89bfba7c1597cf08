import { describe, expect, it } from "vitest";
import { approver, auditedEngine } from "../../test/execute/audited-engine.ts";

describe("a call with an idempotency key", () => {
  it("runs once, however often it is made at once, and every answer is the same", async () => {
    const { engine, runs, calls } = auditedEngine({ handler: () => ({ receipt: 7 }) });
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
    const { engine, runs } = auditedEngine();
    await engine.execute({ toolName: "works", arguments: { n: 1 }, idempotencyKey: "k" });
    expect(await engine.execute({ toolName: "works", arguments: { n: 2 }, idempotencyKey: "k" })).toMatchObject({
      status: "failure",
      error: {
        code: "IDEMPOTENCY_CONFLICT",
        message:
          'The idempotency key "k" was used for default.works with other arguments. Give each call its own key; repeat a key only with exactly the same arguments.',
      },
    });
    expect(runs()).toBe(1);
  });

  it("gets its result again though its approval is used up, and only then", async () => {
    const { engine, aegis, runs } = auditedEngine();
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
    const { engine, runs } = auditedEngine({
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
    const { engine } = auditedEngine();
    expect((await engine.execute({ toolName: "works", idempotencyKey })).error).toMatchObject({
      code: "CALL_INVALID",
      field: "idempotencyKey",
    });
  });

  it("is not given an earlier result once the policy refuses it", async () => {
    const { engine, runs, refuse } = auditedEngine();
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
    const { engine, runs } = auditedEngine({ fails: () => full });
    await engine.execute({ toolName: "works" });
    const call = { toolName: "works", idempotencyKey: "k" };
    expect(await engine.execute(call)).toMatchObject({ attempts: 0, error: { code: "AUDIT_FAILED" } });
    full = false;
    const done = await engine.execute(call);
    expect([done.status, done.replayed, runs()]).toEqual(["success", undefined, 2]);
  });

  it("keeps its key free where it failed and the tool is safe to repeat", async () => {
    let fails = true;
    const { engine, runs } = auditedEngine({
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
    const { engine } = auditedEngine({ keepsKeys: false });
    expect((await engine.execute({ toolName: "works", idempotencyKey: "k" })).error).toMatchObject({
      code: "CALL_INVALID",
      message: "This engine does not support idempotency keys. Make the call without idempotencyKey.",
    });
  });
});
