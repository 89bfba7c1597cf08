import { describe, expect, it } from "vitest";
import { createChainWriter } from "../../guard/audit/chain.ts";
import type { AuditLog, AuditRecord } from "../../guard/audit.port.ts";
import { ArsenalError } from "../../errors/arsenal-error.ts";
import { createManualClock } from "../../testing/manual-clock.ts";
import { type AuditWriter, queuedAudit } from "./queued.ts";

const GAP: AuditRecord = { kind: "gap", records: 1 };

/** A log over a writer whose steps end when the test says so. */
function setUp() {
  const clock = createManualClock();
  const chain = createChainWriter();
  const steps: string[] = [];
  const ends: { readonly add: PromiseWithResolvers<void>[]; readonly sync: PromiseWithResolvers<void>[] } = {
    add: [],
    sync: [],
  };
  const step = (name: "add" | "sync"): Promise<void> => {
    steps.push(name);
    const end = Promise.withResolvers<void>();
    ends[name].push(end);
    return end.promise;
  };
  const writer: AuditWriter = {
    name: "test",
    async add(lines) {
      const added = lines(chain);
      if (added !== "") await step("add");
      return chain.head;
    },
    sync: () => step("sync"),
    release: async () => {},
    failure: (cause) => new ArsenalError("AUDIT_FAILED", String(cause)),
    async *read() {},
    verify: () => Promise.reject(new Error("not used")),
    prune: () => Promise.reject(new Error("not used")),
  };
  const log = queuedAudit(writer, clock);
  const kept: string[] = [];
  return {
    steps,
    kept,
    log,
    clock,
    append(name: string, survives: "crash" | "everything"): void {
      log.append(GAP, { survives }).then(
        () => kept.push(name),
        (error: unknown) => kept.push(`${name}: ${(error as Error).message}`),
      );
    },
    async end(name: "add" | "sync", error?: Error): Promise<void> {
      await clock.advance(0);
      const { resolve, reject } = ends[name].shift() ?? Promise.withResolvers<void>();
      if (error === undefined) resolve();
      else reject(error);
      await clock.advance(0);
    },
  };
}

describe("a queued audit log", () => {
  it("keeps a record that must survive a crash once it is added, and any other once it is synced", async () => {
    const { append, end, kept } = setUp();
    append("a", "crash");
    append("b", "everything");
    await end("add");
    expect(kept).toEqual(["a"]);
    await end("sync");
    expect(kept).toEqual(["a", "b"]);
  });

  it("adds records while others are synced, and syncs once for all that were added meanwhile", async () => {
    const { append, end, kept, steps } = setUp();
    for (const name of ["a", "b", "c"]) {
      append(name, "everything");
      await end("add");
    }
    append("d", "crash");
    await end("add");
    expect([steps, kept]).toEqual([["add", "sync", "add", "add", "add"], ["d"]]);
    await end("sync");
    expect(kept).toEqual(["d", "a"]);
    await end("sync");
    expect([kept, steps.at(-1)]).toEqual([["d", "a", "b", "c"], "sync"]);
  });

  it("syncs records for which nobody waits a tenth of a second later, once for all", async () => {
    const { append, end, kept, steps, clock } = setUp();
    for (const name of ["a", "b"]) {
      append(name, "crash");
      await end("add");
    }
    expect([steps, kept]).toEqual([
      ["add", "add"],
      ["a", "b"],
    ]);
    await clock.advance(100);
    expect(steps).toEqual(["add", "add", "sync"]);
  });

  it("reports a sync that failed to those who wait for it, or with the next record", async () => {
    const { append, end, kept, clock } = setUp();
    append("a", "everything");
    await end("add");
    await end("sync", new Error("disk gone"));
    append("b", "crash");
    await end("add");
    await clock.advance(100);
    await end("sync", new Error("disk gone again"));
    append("c", "crash");
    await clock.advance(0);
    append("d", "crash");
    await end("add");
    expect(kept).toEqual(["a: disk gone", "b", "c: disk gone again", "d"]);
  });

  it("lets no more wait than fits into 64 MiB while its store hangs", async () => {
    const { log, clock } = setUp();
    const record = {
      kind: "call",
      toolId: "t",
      arguments: { sha256: "", value: "x".repeat(4_000_000) },
    } as unknown as AuditRecord;
    const refused: unknown[] = [];
    const append = (each: AuditRecord): void =>
      void (log as AuditLog).append(each).catch(({ message }: Error) => refused.push(message));
    append(GAP);
    await clock.advance(0);
    for (let count = 0; count < 20; count++) append(record);
    await clock.advance(0);
    expect(refused).toEqual(Array.from({ length: 4 }, () => "Error: too many records are waiting to be written"));
  });
});
