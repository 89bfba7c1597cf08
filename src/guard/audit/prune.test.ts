import { describe, expect, it } from "vitest";
import { memoryAudit, type MemoryAudit } from "../../adapters/audit/memory.ts";
import { createManualClock } from "../../testing/manual-clock.ts";
import type { Verification } from "../audit.port.ts";
import { chain, EMPTY_LOG, readLine } from "./chain.ts";
import { hmacKey } from "./key.ts";
import { createVerifier, type VerifyOptions } from "./verifier.ts";

const key = hmacKey("a secret of thirty-two characters");

/** A log with a record in each of ten seconds, of which the first five were pruned. */
async function pruned(options: { readonly key?: typeof key } = { key }): Promise<MemoryAudit> {
  const clock = createManualClock(0);
  const log = memoryAudit({ clock, ...options, checkpointEvery: 100 });
  for (let records = 1; records <= 10; records++) {
    await clock.advance(1_000);
    await log.append({ kind: "gap", records });
  }
  await log.prune?.({ before: 5_500, by: "dana" });
  return log;
}

function verify(lines: readonly string[], options: VerifyOptions = { keys: [key] }): Verification {
  const verifier = createVerifier(options);
  for (const line of lines) if (!verifier.take(Buffer.from(line))) break;
  return verifier.end();
}

const seqOf = (line: string | undefined): number => readLine(Buffer.from(line ?? ""))?.record.seq ?? 0;

describe("a pruned log", () => {
  it("keeps what is not older, and says who removed the rest", async () => {
    const { lines } = await pruned();
    expect(lines.map((line) => readLine(Buffer.from(line))?.record.kind)).toEqual([
      ...Array.from({ length: 5 }, () => "gap"),
      "pruned",
      "checkpoint",
    ]);
    expect(verify(lines)).toMatchObject({ ok: true, prunedThrough: 6, records: 7, signedUpTo: 13 });
  });

  it("verifies against a head from before the pruning, if its record is still there or was the last one removed", async () => {
    const { lines } = await pruned();
    const first = readLine(Buffer.from(lines[0] ?? ""));
    expect(verify(lines, { keys: [key], head: { seq: 6, hash: first?.prev ?? "" } })).toMatchObject({ ok: true });
    expect(verify(lines, { keys: [key], head: { seq: 6, hash: "f".repeat(64) } })).toMatchObject({ ok: false });
    expect(verify(lines, { keys: [key], head: { seq: 7, hash: first?.hash ?? "" } })).toMatchObject({ ok: true });
  });

  it("does not verify if more was removed than its record declares", async () => {
    const { lines } = await pruned();
    expect(verify(lines.slice(1))).toEqual({
      ok: false,
      seq: 7,
      reason: "is missing: the log begins with record 8, and no signed record declares that the older ones were pruned",
    });
    expect(verify(lines.slice(1), {})).toMatchObject({ ok: false });
  });

  it("does not verify without its record, or without the signature over it", async () => {
    const { lines } = await pruned();
    expect(seqOf(lines[0])).toBe(7);
    expect(verify(lines.slice(0, 5))).toMatchObject({ ok: false, seq: 1 });
    expect(verify(lines.slice(0, 6))).toMatchObject({ ok: false, seq: 1 });
    expect(verify(lines.slice(0, 6), {})).toMatchObject({ ok: true, prunedThrough: 6 });
  });

  it("is refused if somebody without the key made the record", async () => {
    const log = await pruned({});
    expect(verify(log.lines, {})).toMatchObject({ ok: true });
    expect(verify(log.lines)).toMatchObject({ ok: false });
  });

  it("can be pruned again, and still verifies if the second pruning was interrupted", async () => {
    const log = await pruned();
    const before = [...log.lines];
    await log.prune?.({ before: 8_500, by: "dana" });
    expect(verify(log.lines)).toMatchObject({ ok: true, prunedThrough: 9 });
    const declared = log.lines.slice(log.lines.length - 2);
    for (const removed of [0, 1, 2, 3])
      expect(verify([...before, ...declared].slice(removed))).toMatchObject({ ok: true, prunedThrough: 6 + removed });
    expect(verify([...before, ...declared].slice(4))).toMatchObject({ ok: false });
  });

  it("is not pruned if it was changed", async () => {
    const log = await pruned();
    const lines = log.lines as string[];
    lines[0] = `${chain({ kind: "gap", records: 99 }, EMPTY_LOG, 1).line.trim()}`;
    await expect(log.prune?.({ before: 9_999, by: "eve" })).rejects.toThrow(
      /^Nothing was pruned: record \d+ of the audit log/,
    );
    expect(lines).toHaveLength(7);
  });
});
