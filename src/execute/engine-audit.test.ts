import { hash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { approver, auditedEngine } from "../../test/execute/audited-engine.ts";
import { createCallAudit } from "../guard/audit/call-audit.ts";
import { createVerifier } from "../guard/audit/verifier.ts";
import type { AuditLog } from "../guard/audit.port.ts";

const sha256 = (text: string): string => hash("sha256", text, "hex");

describe("every call leaves one record", () => {
  it("with tool, caller, decision, status, times and the arguments' hash and shape [002-identity-audit]", async () => {
    const { engine, calls, clock } = auditedEngine({ handler: () => clock.advance(20) });
    const parentSpanId = "b".repeat(16);
    const args = { n: 1, name: "secret", list: ["a", 1, "b"], nested: { flag: true, none: null } };
    const { traceId, spanId } = await engine.execute({ toolName: "works", arguments: args, parentSpanId });
    expect(calls()).toEqual([
      {
        seq: 1,
        at: 1_020,
        prev: "0".repeat(64),
        hash: expect.stringMatching(/^[0-9a-f]{64}$/),
        kind: "call",
        toolId: "default.works",
        version: "1.0.0",
        contentHash: expect.stringMatching(/^[0-9a-f]{16}$/),
        principal: "caller",
        tenant: "acme",
        decision: { effect: "allowed" },
        status: "success",
        arguments: {
          sha256: sha256('{"list":["a",1,"b"],"n":1,"name":"secret","nested":{"flag":true,"none":null}}'),
          shape: { n: "number", name: "string", list: ["string", "number"], nested: { flag: "boolean", none: "null" } },
        },
        attempts: 1,
        queuedMs: 0,
        latencyMs: 20,
        traceId,
        spanId,
        parentSpanId,
      },
    ]);
  });

  it.each([
    [
      "hidden",
      { toolId: "default.hidden", decision: { effect: "denied", rule: "not-visible" }, code: "TOOL_NOT_FOUND" },
    ],
    [
      "denied",
      { decision: { effect: "denied", rule: "no-denied" }, status: "permission_denied", code: "PERMISSION_DENIED" },
    ],
    ["risky", { decision: { effect: "pending", rule: "ask-first" }, status: "pending_confirmation" }],
    [
      "no_such_tool",
      { toolId: "(unknown)", asked: "no_such_tool", decision: { effect: "none" }, code: "TOOL_NOT_FOUND" },
    ],
  ])("also a call of %s", async (toolName, expected) => {
    const { engine, calls, runs } = auditedEngine();
    await engine.execute({ toolName, arguments: { n: 1 } });
    expect(calls()).toMatchObject([{ ...expected, arguments: { sha256: sha256('{"n":1}') } }]);
    expect(runs()).toBe(0);
  });

  it("also one that fails, is limited, is wrong or cannot be read", async () => {
    const { engine, calls } = auditedEngine({
      handler: () => {
        throw new Error("broken");
      },
    });
    await engine.execute({ toolName: "works" });
    await engine.execute({ toolName: "works", arguments: { n: "one" } });
    await engine.execute({ toolName: "limited" });
    await engine.execute({ toolName: "limited" });
    await engine.execute(undefined as never);
    await engine.execute({ toolName: "works", arguments: { n: 1n } });
    expect(calls().map(({ code, decision }) => [code, decision])).toEqual([
      ["EXECUTION_FAILED", { effect: "allowed" }],
      ["ARGUMENTS_INVALID", { effect: "none" }],
      ["EXECUTION_FAILED", { effect: "allowed" }],
      ["RATE_LIMITED", { effect: "denied", rule: "rate-limit" }],
      ["CALL_INVALID", { effect: "none" }],
      ["CALL_INVALID", { effect: "none" }],
    ]);
  });

  it("10,000 calls at once, 10,000 records, and the log verifies", async () => {
    const { engine, log, calls } = auditedEngine();
    const results = await Promise.all(
      Array.from({ length: 10_000 }, (_, n) =>
        engine.execute({ toolName: n % 3 === 0 ? "denied" : "works", arguments: { n } }),
      ),
    );
    expect(new Set(calls().map(({ spanId }) => spanId))).toEqual(new Set(results.map(({ spanId }) => spanId)));
    expect(calls()).toHaveLength(10_000);
    const verifier = createVerifier();
    for (const line of log.lines) verifier.take(Buffer.from(line));
    expect(verifier.end()).toMatchObject({ ok: true, records: 10_000 });
  });

  it("with the arguments the caller gave, whatever the handler makes of them", async () => {
    const { engine, calls } = auditedEngine({
      arguments: "full",
      redact: (text) => text.replaceAll("s3cret", "[redacted]"),
      handler: (args) => void Object.assign(args as object, { n: 999 }),
    });
    await engine.execute({ toolName: "works", arguments: { n: 1, header: "Bearer s3cret" } });
    expect(calls()).toMatchObject([
      {
        arguments: {
          value: { n: 1, header: "Bearer [redacted]" },
          sha256: sha256('{"header":"Bearer s3cret","n":1}'),
        },
      },
    ]);
  });

  it("without secrets in what the caller chose", async () => {
    const { engine, calls } = auditedEngine({ redact: (text) => text.replaceAll("s3cret", "[redacted]") });
    await engine.execute({ toolName: "no-s3cret", traceId: "t-s3cret", parentSpanId: "p-s3cret" });
    expect(calls()).toMatchObject([{ asked: "no-[redacted]", traceId: "t-[redacted]", parentSpanId: "p-[redacted]" }]);
  });

  it("and approvals theirs, from the request to the use", async () => {
    const { engine, aegis, log } = auditedEngine();
    const { confirmationId = "" } = await engine.execute({ toolName: "risky" });
    await aegis.approvals.approve(confirmationId, approver);
    await engine.execute({ toolName: "risky", confirmationId });
    const approvals = log.lines.map((line) => JSON.parse(line)).filter(({ kind }) => kind === "approval");
    expect(approvals).toMatchObject([
      { id: confirmationId, toolId: "default.risky", outcome: "requested", by: "caller" },
      { id: confirmationId, outcome: "approved", by: "boss" },
      { id: confirmationId, outcome: "used", by: "caller" },
    ]);
  });
});

describe("where the audit is strict", () => {
  it("the result is given only once the record is kept", async () => {
    let keep = (): void => {};
    const kept = new Promise<void>((resolve) => (keep = resolve));
    const bench = auditedEngine();
    const log: AuditLog = { ...bench.log, append: () => kept, head: async () => ({ seq: 0, hash: "" }) };
    const audit = createCallAudit({ log, emit: () => {}, clock: bench.clock, strict: true });
    let given = false;
    const recording = audit.record({ kind: "gap", records: 1 })?.then(() => (given = true));
    await bench.clock.advance(0);
    expect(given).toBe(false);
    keep();
    await recording;
    expect(given).toBe(true);
  });

  it("a result whose record cannot be kept is withheld, and nothing runs until the log works again", async () => {
    let full = true;
    const { engine, runs, calls, events, log } = auditedEngine({ fails: () => full });
    const first = await engine.execute({ toolName: "works" });
    expect(first).toMatchObject({
      status: "failure",
      attempts: 1,
      error: {
        code: "AUDIT_FAILED",
        message: "default.works ran, but its result is withheld: its audit record could not be kept. No space left.",
      },
    });
    expect(first).not.toHaveProperty("result");
    expect(await engine.execute({ toolName: "works" })).toMatchObject({
      attempts: 0,
      error: {
        code: "AUDIT_FAILED",
        beforeSend: true,
        message: "default.works was not started: its audit record could not be kept. No space left.",
      },
    });
    expect(runs()).toBe(1);
    expect(events.filter(({ name }) => name === "audit-failed")).toHaveLength(1);
    expect(events.filter(({ name }) => name === "call-finished")).toMatchObject([
      { data: { status: "failure", code: "AUDIT_FAILED" } },
      { data: { status: "failure", code: "AUDIT_FAILED" } },
    ]);
    full = false;
    expect((await engine.execute({ toolName: "works" })).status).toBe("success");
    expect(JSON.parse(log.lines[0] ?? "")).toMatchObject({ kind: "gap", records: 2 });
    expect(calls()).toHaveLength(1);
  });

  it("nothing runs where the log cannot be opened in the first place", async () => {
    const bench = auditedEngine();
    const log: AuditLog = { ...bench.log, head: () => Promise.reject(new Error("No such folder.")) };
    const audit = createCallAudit({ log, emit: () => {}, clock: bench.clock, strict: true });
    expect(await audit.refusal()).toBe("No such folder.");
  });

  it("a refused call is told its refusal all the same", async () => {
    const { engine } = auditedEngine({ fails: () => true });
    expect((await engine.execute({ toolName: "denied" })).error?.code).toBe("PERMISSION_DENIED");
  });
});

describe("where the audit is not strict", () => {
  it("records that fail together are told of once", async () => {
    const { log, clock } = auditedEngine();
    const told: unknown[] = [];
    const audit = createCallAudit({
      log: { ...log, append: () => Promise.reject(new Error("No space left.")) },
      emit: (name, data) => void told.push([name, data]),
      clock,
      strict: false,
    });
    for (let records = 1; records <= 3; records++) audit.record({ kind: "gap", records });
    await clock.advance(0);
    expect(told).toEqual([["audit-failed", { records: 3, message: "No space left." }]]);
  });

  it("a call goes on without its record, and an event says how many are missing [002-identity-audit-away]", async () => {
    let full = true;
    const { engine, clock, events, log } = auditedEngine({ strict: false, fails: () => full });
    const results = await Promise.all([1, 2, 3].map(() => engine.execute({ toolName: "works" })));
    expect(results.map(({ status }) => status)).toEqual(["success", "success", "success"]);
    await clock.advance(0);
    const failures = events
      .filter(({ name }) => name === "audit-failed")
      .map(({ data }) => data as { records: number });
    expect(failures.reduce((sum, { records }) => sum + records, 0)).toBe(3);
    full = false;
    await engine.execute({ toolName: "works" });
    await clock.advance(0);
    expect(log.lines.map((line) => JSON.parse(line))).toMatchObject([{ kind: "gap", records: 3 }, { kind: "call" }]);
  });
});
