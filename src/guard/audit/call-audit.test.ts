import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { Emit } from "../../observe/events.ts";
import { createManualClock, type ManualClock } from "../../testing/manual-clock.ts";
import type { AppendOptions, AuditLog, AuditRecord } from "../audit.port.ts";
import { createCallAudit, withAudit, type CallAuditOptions } from "./call-audit.ts";

const SCAN: AuditRecord = { kind: "scan-failed", toolId: "mail.send", where: "result", outcome: "refused" };

interface Bench {
  readonly clock: ManualClock;
  readonly kept: AuditRecord[];
  readonly told: unknown[];
  readonly audit: ReturnType<typeof createCallAudit>;
  /** Why the log keeps nothing now; undefined if it does. */
  broken: unknown;
  /** Resolves when the log stops hanging; undefined if it does not hang. */
  hanging: Promise<void> | undefined;
  /** What each record had to survive. */
  readonly survives: (string | undefined)[];
}

function setUp(options: Partial<CallAuditOptions> = {}): Bench {
  const kept: AuditRecord[] = [];
  const told: unknown[] = [];
  const clock = createManualClock();
  const work = async (record?: AuditRecord, { survives }: AppendOptions = {}): Promise<void> => {
    if (bench.hanging !== undefined) await bench.hanging;
    if (bench.broken !== undefined) throw bench.broken;
    if (record !== undefined) bench.survives.push(survives);
    if (record !== undefined) kept.push(record);
  };
  const log: AuditLog = {
    name: "memory",
    append: work,
    head: () => work().then(() => ({ seq: kept.length, hash: "" })),
    close: () => Promise.resolve(),
  };
  const emit: Emit = (...event) => void told.push(event);
  const audit = createCallAudit({ log, emit, clock, strict: true, ...options });
  const bench: Bench = { clock, kept, told, audit, broken: undefined, hanging: undefined, survives: [] };
  return bench;
}

describe("the audit of calls", () => {
  it("keeps a record, without the secrets in its own texts", async () => {
    const { audit, kept } = setUp({ redact: (text) => text.replaceAll("s3cr3t", "[redacted]") });
    const record = { kind: "pin-accepted", toolId: "mail.send", contentHash: "11", by: "ann-s3cr3t" } as const;
    expect(await audit.record(record)).toBeUndefined();
    expect(await audit.record({ kind: "gap", records: 2 })).toBeUndefined();
    expect(kept).toEqual([
      { ...record, by: "ann-[redacted]" },
      { kind: "gap", records: 2 },
    ]);
    const act = { kind: "operator-action", id: "1", action: "deleteTool", by: "ann", outcome: "done" } as const;
    await audit.record({ ...act, targets: ["mail.s3cr3t", "mail.send"] });
    expect(kept.at(-1)).toEqual({ ...act, targets: ["mail.[redacted]", "mail.send"] });
    expect(record.by).toBe("ann-s3cr3t");
  });

  it("keeps records as they are where nothing redacts", async () => {
    const { audit, kept } = setUp();
    await audit.record(SCAN);
    expect(kept).toEqual([SCAN]);
  });

  it("describes arguments by their types, or as they are without secrets", () => {
    const redact = (text: string): string => text.replaceAll("s3cr3t", "[redacted]");
    const described = [setUp({ redact }), setUp({ redact, arguments: "full" }), setUp({ arguments: "full" })].map(
      ({ audit }) => audit.describe({ text: "s3cr3t" }),
    );
    expect(described).toMatchObject([
      { shape: { text: "string" } },
      { value: { text: "[redacted]" } },
      { value: { text: "s3cr3t" } },
    ]);
    expect(setUp({ arguments: "full" }).audit.describe({ text: "s3cr3t" }, "shape")).toEqual({
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      shape: { text: "string" },
    });
  });

  it("says why a record is not kept", async () => {
    const bench = setUp();
    bench.broken = "no such disk";
    expect(await Promise.all([bench.audit.record(SCAN), bench.audit.record(SCAN)])).toEqual([
      "no such disk",
      "no such disk",
    ]);
  });

  it("says in the log how many records are missing, once it works again", async () => {
    const bench = setUp();
    bench.broken = new Error("disk full");
    for (let lost = 0; lost < 3; lost++) await bench.audit.record(SCAN);
    bench.broken = undefined;
    for (let more = 0; more < 2; more++) expect(await bench.audit.record(SCAN)).toBeUndefined();
    expect(bench.kept).toEqual([{ kind: "gap", records: 3 }, SCAN, SCAN]);
  });
});

describe("a log that fails", () => {
  it("is reported when it begins, then every 30 seconds with what was lost since, and when it works again", async () => {
    const bench = setUp({ strict: false });
    bench.broken = new Error("disk full");
    for (let lost = 0; lost < 3; lost++) void bench.audit.record(SCAN);
    await bench.clock.advance(0);
    for (let lost = 0; lost < 3_000; lost++) await bench.audit.record(SCAN);
    expect(bench.told).toEqual([["audit-failed", { records: 3, message: "disk full" }]]);
    await bench.clock.advance(30_000);
    expect(bench.told.slice(1)).toEqual([["audit-failed", { records: 3_000, message: "disk full" }]]);
    await bench.clock.advance(60_000);
    expect(bench.told).toHaveLength(2);
    void bench.audit.record(SCAN);
    await bench.clock.advance(0);
    bench.broken = undefined;
    void bench.audit.record(SCAN);
    await bench.clock.advance(60_000);
    expect(bench.told.slice(2)).toEqual([
      ["audit-failed", { records: 1, message: "disk full" }],
      ["audit-restored", { records: 3_004 }],
    ]);
    expect(bench.kept).toEqual([{ kind: "gap", records: 3_004 }, SCAN]);
    expect(bench.clock.pending).toBe(0);
  });

  it("is not reported each time if it works every other time", async () => {
    const bench = setUp({ strict: false });
    for (let record = 0; record < 100; record++) {
      bench.broken = record % 2 === 0 ? new Error("busy") : undefined;
      void bench.audit.record(SCAN);
      await setImmediate();
    }
    await bench.clock.advance(30_000);
    expect(bench.told).toEqual([
      ["audit-failed", { records: 1, message: "busy" }],
      ["audit-restored", { records: 1 }],
      ["audit-failed", { records: 49, message: "busy" }],
    ]);
  });

  it("says what is missing as soon as it works, without a further call, and when it is closed", async () => {
    for (const wait of [(bench: Bench) => bench.clock.advance(30_000), (bench: Bench) => bench.audit.close()]) {
      const bench = setUp({ strict: false });
      bench.broken = new Error("disk full");
      await bench.audit.record(SCAN);
      bench.broken = undefined;
      await wait(bench);
      expect(bench.kept).toEqual([{ kind: "gap", records: 1 }]);
      expect(bench.told.at(-1)).toEqual(["audit-restored", { records: 1 }]);
      await bench.audit.close();
      await bench.clock.advance(1_000);
      expect(bench.clock.pending).toBe(0);
    }
  });
});

describe("an audit that is not strict", () => {
  /** Whether a record is still waited for. */
  async function isWaited(bench: Bench, waited: Promise<unknown> | undefined): Promise<boolean> {
    let waits = waited !== undefined;
    void waited?.then(() => (waits = false));
    await bench.clock.advance(0);
    return waits;
  }

  it("lets a call wait until its record survives a crash, and for no more", async () => {
    const bench = setUp({ strict: false, mustRecord: (toolset) => toolset === "audited" });
    const { promise, resolve } = Promise.withResolvers<void>();
    bench.hanging = promise;
    const waited = bench.audit.record(SCAN);
    const settled = bench.audit.settled();
    expect(await isWaited(bench, Promise.race([waited, settled]))).toBe(true);
    resolve();
    expect([await waited, await settled, bench.kept]).toEqual([undefined, undefined, [SCAN]]);
    await bench.audit.record({ kind: "call", toolset: "audited" } as AuditRecord);
    expect(bench.survives).toEqual(["crash", undefined]);
    await bench.clock.advance(5_000);
    expect(bench.clock.pending).toBe(0);
  });

  it("lets calls go on when the log fails, and never rejects", async () => {
    const bench = setUp({ strict: false });
    bench.broken = new Error("disk full");
    expect(bench.audit.refusal()).toBeUndefined();
    expect(await bench.audit.record(SCAN)).toBeUndefined();
    expect([bench.audit.record(SCAN), bench.audit.settled()]).toEqual([undefined, undefined]);
    await bench.clock.advance(0);
    bench.broken = undefined;
    void bench.audit.record(SCAN);
    await bench.clock.advance(0);
    expect(bench.audit.record(SCAN)).toBeInstanceOf(Promise);
  });

  it("refuses calls that may change something while the log fails, if it is told to, and nothing else", async () => {
    const bench = setUp({ strict: false, refusesChanges: true });
    bench.broken = new Error("disk full");
    expect(bench.audit.refusal(undefined, false)).toBeUndefined();
    expect(await bench.audit.refusal(undefined, true)).toBe("disk full");
    // The result of a call that ran is not withheld.
    expect(await bench.audit.record(SCAN)).toBeUndefined();
    bench.broken = undefined;
    expect(await bench.audit.refusal(undefined, true)).toBeUndefined();
    // The log is known to work: no call waits for it.
    expect(bench.audit.refusal(undefined, true)).toBeUndefined();
    await bench.audit.close();
  });

  it("lets calls go on when the log hangs for two seconds, and waits again once it works", async () => {
    const bench = setUp({ strict: false });
    await bench.audit.record(SCAN);
    const { promise, resolve } = Promise.withResolvers<void>();
    bench.hanging = promise;
    const waited = bench.audit.record(SCAN);
    await bench.clock.advance(1_900);
    expect(await isWaited(bench, waited)).toBe(true);
    await bench.clock.advance(600);
    expect(await isWaited(bench, waited)).toBe(false);
    expect([bench.audit.record(SCAN), bench.told]).toEqual([undefined, []]);
    resolve();
    await bench.clock.advance(0);
    expect(bench.kept).toEqual([SCAN, SCAN, SCAN]);
    expect(bench.audit.record(SCAN)).toBeInstanceOf(Promise);
  });

  it("waits for a slow log for as long as it makes progress", async () => {
    const bench = setUp({ strict: false });
    const { promise: never } = Promise.withResolvers<void>();
    bench.hanging = never;
    const waited = bench.audit.record(SCAN);
    for (let round = 0; round < 10; round++) {
      bench.hanging = undefined;
      void bench.audit.record(SCAN);
      await bench.clock.advance(1_000);
    }
    expect(await isWaited(bench, waited)).toBe(true);
  });
});

describe("a strict audit", () => {
  it("asks the log before the first call, and no longer once a record was kept", async () => {
    const bench = setUp();
    expect(await bench.audit.refusal()).toBeUndefined();
    expect(bench.audit.refusal()).toBeUndefined();
    const other = setUp();
    await other.audit.record(SCAN);
    expect(other.audit.refusal()).toBeUndefined();
  });

  it("refuses calls while the log fails, and tells why", async () => {
    const bench = setUp();
    bench.broken = new Error("disk full");
    expect([await bench.audit.refusal(), await bench.audit.refusal()]).toEqual(["disk full", "disk full"]);
    bench.broken = undefined;
    expect([await bench.audit.refusal(), bench.kept]).toEqual([undefined, []]);
  });

  it("refuses calls after a record was lost, until the log says so itself", async () => {
    const bench = setUp();
    await bench.audit.record(SCAN);
    bench.broken = new Error("disk full");
    await bench.audit.record(SCAN);
    expect(await bench.audit.refusal()).toBe("disk full");
    bench.broken = undefined;
    expect(await bench.audit.refusal()).toBeUndefined();
    expect(bench.kept).toEqual([SCAN, { kind: "gap", records: 1 }]);
    expect(bench.audit.refusal()).toBeUndefined();
  });
});

describe("an audit that only some toolsets need", () => {
  it("refuses their calls while the log fails, waits for their records, and leaves others alone", async () => {
    const bench = setUp({ strict: false, mustRecord: (toolset) => toolset === "audited" });
    const call = (toolset?: string): AuditRecord =>
      ({ kind: "call", toolId: "mail.send", ...(toolset !== undefined && { toolset }) }) as AuditRecord;
    expect(await bench.audit.refusal("audited")).toBeUndefined();
    expect(await bench.audit.record(call("audited"))).toBeUndefined();
    bench.broken = new Error("disk full");
    const others = [bench.audit.record(call()), bench.audit.record(call("other")), bench.audit.record(SCAN)];
    expect(await Promise.all(others)).toEqual([undefined, undefined, undefined]);
    expect(await bench.audit.record(call("audited"))).toBe("disk full");
    expect(await bench.audit.refusal("audited")).toBe("disk full");
    expect([bench.audit.refusal("other"), bench.audit.refusal()]).toEqual([undefined, undefined]);
  });
});

describe("events", () => {
  it("leave a record of what happens to approvals and pins, and of what could not be scanned", () => {
    const { audit, kept } = setUp();
    const emit = withAudit(() => {}, audit);
    const id = { id: "c1", toolId: "mail.send" };
    emit("confirmation-requested", { ...id, principal: "ann" } as Parameters<typeof emit<"confirmation-requested">>[1]);
    emit("confirmation-resolved", { ...id, outcome: "approved", by: "bob" });
    emit("confirmation-resolved", { ...id, outcome: "expired" });
    emit("scan-failed", { toolId: "mail.send", where: "result", action: "refused" } as Parameters<
      typeof emit<"scan-failed">
    >[1]);
    emit("pin-accepted", { id: "mail.send", hash: "22", previousHash: "11", by: "ann" });
    emit("pin-accepted", { id: "mail.send", hash: "11", by: "ann" });
    expect(kept).toStrictEqual([
      { kind: "approval", ...id, outcome: "requested", by: "ann" },
      { kind: "approval", ...id, outcome: "approved", by: "bob" },
      { kind: "approval", ...id, outcome: "expired" },
      SCAN,
      { kind: "pin-accepted", toolId: "mail.send", contentHash: "22", previousContentHash: "11", by: "ann" },
      { kind: "pin-accepted", toolId: "mail.send", contentHash: "11", by: "ann" },
    ]);
  });

  it("are told all the same, those that leave no record too", () => {
    const told: unknown[] = [];
    const { audit, kept } = setUp();
    const emit = withAudit((...event) => void told.push(event), audit);
    const skipped = { scope: "mail", field: "env.KEY", message: "too short" };
    const accepted = { id: "mail.send", hash: "11", by: "ann" };
    emit("secret-skipped", skipped);
    emit("pin-accepted", accepted);
    expect(told).toEqual([
      ["secret-skipped", skipped],
      ["pin-accepted", accepted],
    ]);
    expect(kept).toHaveLength(1);
  });
});
