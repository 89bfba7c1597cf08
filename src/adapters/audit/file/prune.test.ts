import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { hmacKey } from "../../../guard/audit/key.ts";
import { verify } from "../../../guard/audit/verifier.ts";
import { createManualClock } from "../../../testing/manual-clock.ts";
import { fileAudit } from "./file.ts";
import { auditFiles } from "./segment-writer.ts";

const root = mkdtempSync(join(tmpdir(), "arsenal-audit-prune-"));
afterAll(() => rmSync(root, { recursive: true }));
const key = hmacKey("a secret of thirty-two characters");
let file = "";
beforeEach(() => (file = join(mkdtempSync(join(root, "log-")), "audit.jsonl")));

/** Writes sixty records, one a second, into files of about eight records. */
async function written() {
  const clock = createManualClock(0);
  const log = fileAudit({ file, key, clock, maxFileBytes: 2_000 });
  for (let records = 1; records <= 60; records++) {
    await clock.advance(1_000);
    await log.append({ kind: "gap", records });
  }
  return { clock, log };
}

async function numbersIn(files: readonly string[]): Promise<readonly number[]> {
  const lines = files.flatMap((each) => readFileSync(each, "utf8").trim().split("\n"));
  return lines
    .map((line) => JSON.parse(line) as { kind: string; records: number })
    .flatMap(({ kind, records }) => (kind === "gap" ? [records] : []));
}

describe("pruning a log of files", () => {
  it("removes whole files, shortens the one at the limit, and leaves a log that verifies", async () => {
    const { log } = await written();
    const before = await auditFiles(file);
    const { records } = (await log.prune?.({ before: 30_000, by: "dana" })) ?? {};
    expect(records).toBeGreaterThanOrEqual(29);
    const after = await auditFiles(file);
    expect(after.length).toBeLessThan(before.length);
    expect(after.length).toBeGreaterThan(1);
    expect((await numbersIn(after))[0]).toBe(30);
    expect(await log.verify?.()).toMatchObject({ ok: true, prunedThrough: records });
    await log.close();
    expect(await verify(after, { keys: [key] })).toMatchObject({ ok: true });
    expect(readdirSync(join(file, "..")).filter((name) => name.includes("pruning"))).toEqual([]);
  });

  it("removes everything that was recorded until now, also from the current file", async () => {
    const { log, clock } = await written();
    await log.prune?.({ before: clock.now() + 1, by: "dana" });
    expect(await numbersIn(await auditFiles(file))).toEqual([]);
    await log.append({ kind: "gap", records: 61 });
    await log.close();
    expect(await verify(await auditFiles(file), { keys: [key] })).toMatchObject({ ok: true });
  });

  it("lets another process that has the log open go on with it", async () => {
    const { log: other, clock } = await written();
    const log = fileAudit({ file, key, clock, maxFileBytes: 2_000 });
    await log.prune?.({ before: clock.now(), by: "dana" });
    await log.close();
    await other.append({ kind: "gap", records: 61 });
    expect(await other.verify?.()).toMatchObject({ ok: true });
    await other.close();
    expect(await numbersIn(await auditFiles(file))).toEqual([60, 61]);
  });
});
