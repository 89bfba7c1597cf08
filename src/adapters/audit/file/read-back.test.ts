import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { hmacKey } from "../../../guard/audit/key.ts";
import type { AuditLog } from "../../../guard/audit.port.ts";
import { fileAudit } from "./file.ts";
import { auditFiles } from "./segment-writer.ts";

const root = mkdtempSync(join(tmpdir(), "arsenal-audit-read-"));
afterAll(() => rmSync(root, { recursive: true }));
let folders = 0;
const newFile = (): string => join(root, String(++folders), "audit.jsonl");
const key = hmacKey("a secret of thirty-two characters");

async function numbersOf(log: AuditLog, before?: number): Promise<readonly unknown[]> {
  const read: unknown[] = [];
  for await (const { kind, records } of (await log.read?.({ before })) ?? []) if (kind === "gap") read.push(records);
  return read;
}

const down = (from: number, to: number): readonly number[] =>
  Array.from({ length: from - to + 1 }, (_, index) => from - index);

describe("reading an audit log of files", () => {
  it("goes back over many files, one record at a time", async () => {
    const file = newFile();
    const log = fileAudit({ file, key, maxFileBytes: 2_000, checkpointEvery: 7 });
    for (let records = 1; records <= 60; records++) await log.append({ kind: "gap", records });
    expect((await auditFiles(file)).length).toBeGreaterThan(5);
    expect(await numbersOf(log)).toEqual(down(60, 1));
    await log.close();
  });

  it("leaves nothing out if files are renamed and added to while it is read", async () => {
    const file = newFile();
    const log = fileAudit({ file, key, maxFileBytes: 2_000 });
    for (let records = 1; records <= 30; records++) await log.append({ kind: "gap", records });
    const read: unknown[] = [];
    for await (const { kind, records } of (await log.read?.()) ?? []) {
      if (kind !== "gap") continue;
      read.push(records);
      if (Number(records) % 5 === 0)
        for (let more = 0; more < 8; more++) await log.append({ kind: "gap", records: 1_000 + more });
    }
    expect(read).toEqual(down(30, 1));
    expect(await log.verify?.()).toMatchObject({ ok: true });
    await log.close();
  });

  it("finds any place of a large file without reading what follows it", async () => {
    const file = newFile();
    const log = fileAudit({ file, key });
    const toolId = "x".repeat(300);
    const many = Array.from({ length: 4_000 }, (_, index) =>
      log.append({ kind: "approval", id: String(index), toolId, outcome: "approved" }),
    );
    await Promise.all(many);
    for (const before of [2, 3, 1_500, 2_001, 3_999]) {
      const found: number[] = [];
      for await (const { seq } of (await log.read?.({ before })) ?? []) if (found.push(seq) === 2) break;
      expect(found).toEqual([before - 1, before - 2].filter((seq) => seq > 0));
    }
    await log.close();
  });

  it("leaves out what is not a record, and lets the check name it", async () => {
    const file = newFile();
    const log = fileAudit({ file, key });
    for (let records = 1; records <= 3; records++) await log.append({ kind: "gap", records });
    await log.close();
    writeFileSync(file, readFileSync(file, "utf8").replace('"records":2', '"records":2x'));
    const again = fileAudit({ file, key });
    expect(await numbersOf(again)).toEqual([3, 1]);
    expect(await again.verify?.()).toEqual({ ok: false, seq: 3, reason: "is not an audit record" });
    await again.close();
  });
});
