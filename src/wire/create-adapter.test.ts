import { describe, expect, it } from "vitest";
import { memoryAudit } from "../adapters/audit/memory.ts";
import type { AuditLog } from "../guard/audit.port.ts";
import { lazyPort } from "./create-adapter.ts";

describe("a port that is loaded late", () => {
  it("rejects what is asked while it cannot be loaded, and is loaded by the next call", async () => {
    let works = false;
    const log = lazyPort<AuditLog>("memory", async () => {
      if (!works) throw new Error("pg is not installed");
      return memoryAudit();
    });
    await expect(log.append({ kind: "gap", records: 1 })).rejects.toThrow("pg is not installed");
    await log.close();
    works = true;
    await log.append({ kind: "gap", records: 2 });
    expect((await log.head()).seq).toBe(1);
  });

  it("is not loaded by closing it", async () => {
    let loads = 0;
    await lazyPort<AuditLog>("memory", async () => (loads++, memoryAudit())).close();
    expect(loads).toBe(0);
  });

  it("is closed once it is loaded, if that is under way", async () => {
    const made = memoryAudit();
    const log = lazyPort<AuditLog>("memory", async () => made);
    const kept = log.append({ kind: "gap", records: 1 });
    await log.close();
    await kept;
    await expect(made.append({ kind: "gap", records: 2 })).rejects.toMatchObject({ code: "CLOSED" });
  });
});
