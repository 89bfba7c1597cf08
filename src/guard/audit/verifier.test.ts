import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { memoryAudit } from "../../adapters/audit/memory.ts";
import { createManualClock } from "../../testing/manual-clock.ts";
import type { AuditHead, Verification } from "../audit.port.ts";
import { chain, createChainWriter, EMPTY_LOG } from "./chain.ts";
import { hmacKey } from "./key.ts";
import { createVerifier, type VerifyOptions } from "./verifier.ts";

const key = hmacKey("a secret of thirty-two characters");
const otherKey = hmacKey("another secret of that many letters");

/** A log of ten records: checkpoints at 1, 5 and 9. */
async function sample(): Promise<{ readonly lines: readonly string[]; readonly head: AuditHead }> {
  const log = memoryAudit({ clock: createManualClock(1_000), key, checkpointEvery: 4 });
  for (let index = 1; index <= 7; index++)
    await log.append({ kind: "approval", id: `${index} ä\uFFFD`, toolId: "pay", outcome: "requested", by: "dana" });
  return { lines: log.lines, head: await log.head() };
}

function verifyLines(lines: readonly (string | Buffer)[], options: VerifyOptions = {}): Verification {
  const verifier = createVerifier(options);
  for (const line of lines) if (!verifier.take(Buffer.from(line))) break;
  return verifier.end();
}

/** Writes a log anew from a record on, with right hashes and, as whoever does so has no key, the old signatures. */
function rewrite(
  lines: readonly string[],
  change: (record: Record<string, unknown>, seq: number) => object | undefined,
): string[] {
  let head = EMPTY_LOG;
  return lines.flatMap((line, index) => {
    const { hash: _hash, prev: _prev, seq: _seq, at, ...record } = JSON.parse(line) as Record<string, unknown>;
    const changed = change(record, index + 1);
    if (changed === undefined) return [];
    const next = chain(changed, head, Number(at));
    head = next.head;
    return [next.line.slice(0, -1)];
  });
}

describe("a log", () => {
  it("verifies as it was written, with or without its key and head", async () => {
    const { lines, head } = await sample();
    expect(lines).toHaveLength(10);
    expect(verifyLines(lines)).toEqual({ ok: true, records: 10, head, signedUpTo: 0 });
    expect(verifyLines(lines, { head, keys: [otherKey, key] })).toEqual({ ok: true, records: 10, head, signedUpTo: 9 });
    expect(verifyLines([])).toEqual({ ok: true, records: 0, head: EMPTY_LOG, signedUpTo: 0 });
  });

  it("is bound as its documentation says", () => {
    const { line } = chain({ kind: "gap", records: 2 }, EMPTY_LOG, 5);
    expect(line).toBe(
      `{"hash":"8049b232e2a8bd07af29d5e3297ecaf5fdd9b69d1c8f37c5d57bda258c0625f8","prev":"${"0".repeat(64)}","at":5,"kind":"gap","records":2,"seq":1}\n`,
    );
  });

  it("verifies in part after the part before it", async () => {
    const { lines, head } = await sample();
    const first = verifyLines(lines.slice(0, 6));
    if (!first.ok) throw new Error(first.reason);
    expect(verifyLines(lines.slice(6), { after: first.head, keys: [key], head })).toEqual({
      ok: true,
      records: 4,
      head,
      signedUpTo: 9,
    });
    expect(verifyLines(lines.slice(6))).toMatchObject({ ok: false, seq: 1 });
  });
});

describe("verify names the first bad sequence", () => {
  it("of a changed byte anywhere", async () => {
    const { lines } = await sample();
    fc.assert(
      fc.property(fc.nat(lines.length - 1), fc.nat(), fc.integer({ min: 1, max: 255 }), (line, place, by) => {
        const bytes = Buffer.from(lines[line] ?? "");
        const at = place % bytes.length;
        bytes[at] = ((bytes[at] ?? 0) + by) % 256;
        const found = verifyLines(lines.map((text, index) => (index === line ? bytes : text)));
        expect(found).toMatchObject({ ok: false, seq: line + 1 });
      }),
    );
  });

  it("of removed or added bytes anywhere", async () => {
    const { lines } = await sample();
    fc.assert(
      fc.property(fc.nat(lines.length - 1), fc.nat(), fc.string({ maxLength: 3 }), (line, place, added) => {
        const text = lines[line] ?? "";
        const at = place % text.length;
        const edited = text.slice(0, at) + added + text.slice(added === "" ? at + 1 : at);
        const found = verifyLines(lines.map((before, index) => (index === line ? edited : before)));
        expect(found).toMatchObject({ ok: false, seq: line + 1 });
      }),
    );
  });

  it("of any removal, exchange, repetition or insertion of lines", async () => {
    const { lines, head } = await sample();
    const arrangements = fc.array(fc.nat(lines.length - 1), { maxLength: lines.length + 2 });
    fc.assert(
      fc.property(arrangements, (order) => {
        const arranged = order.map((index) => lines[index] ?? "");
        const wrong = order.findIndex((index, place) => index !== place);
        const found = verifyLines(arranged, { head, keys: [key] });
        if (wrong >= 0) expect(found).toMatchObject({ ok: false, seq: wrong + 1 });
        else if (order.length < lines.length) expect(found).toMatchObject({ ok: false, seq: order.length + 1 });
        else expect(found.ok).toBe(true);
      }),
    );
    for (let line = 0; line < lines.length - 1; line++) {
      const without = lines.filter((_, index) => index !== line);
      expect(verifyLines(without)).toMatchObject({ ok: false, seq: line + 1 });
      const swapped = lines.with(line, lines[line + 1] ?? "").with(line + 1, lines[line] ?? "");
      expect(verifyLines(swapped)).toMatchObject({ ok: false, seq: line + 1 });
      expect(verifyLines(lines.toSpliced(line, 0, lines[line] ?? ""))).toMatchObject({ ok: false, seq: line + 2 });
    }
  });

  it("that is missing from a log cut off before an exported head", async () => {
    const { lines, head } = await sample();
    expect(verifyLines(lines.slice(0, 7))).toMatchObject({ ok: true });
    expect(verifyLines(lines.slice(0, 7), { head })).toEqual({
      ok: false,
      seq: 8,
      reason: "is missing: the log ends before it, but once reached record 10",
    });
    const middle = verifyLines(lines.slice(0, 7));
    expect(verifyLines(lines, { head: middle.ok ? middle.head : EMPTY_LOG })).toMatchObject({ ok: true });
  });

  it("of a record whose own hash was made right again", async () => {
    const { lines } = await sample();
    const {
      hash: _hash,
      prev: before,
      at,
      seq: _seq,
      ...record
    } = JSON.parse(lines[2] ?? "") as Record<string, unknown>;
    const forged = chain({ ...record, by: "nobody" }, { seq: 2, hash: String(before) }, Number(at)).line.slice(0, -1);
    expect(verifyLines(lines.with(2, forged))).toMatchObject({ ok: false, seq: 4 });
  });

  it("of a record that follows rightly and claims another place", () => {
    const first = chain({ kind: "gap", records: 1 }, EMPTY_LOG, 1);
    const second = chain({ kind: "gap", records: 1 }, { ...first.head, seq: 7 }, 2);
    expect(verifyLines([first.line, second.line].map((line) => line.slice(0, -1)))).toEqual({
      ok: false,
      seq: 2,
      reason: "is out of order: found record 8",
    });
  });

  it("whose signature is wrong where all was written anew", async () => {
    const { lines, head } = await sample();
    const anew = rewrite(lines, (record, seq) => (seq === 3 ? { ...record, by: "nobody" } : record));
    expect(verifyLines(anew)).toMatchObject({ ok: true });
    expect(verifyLines(anew, { keys: [key] })).toMatchObject({
      ok: false,
      seq: 5,
      reason: "is a checkpoint whose signature is wrong",
    });
    expect(verifyLines(anew, { head })).toMatchObject({
      ok: false,
      seq: 10,
      reason: expect.stringContaining("rewritten"),
    });
  });

  it("where a checkpoint was left out, at the start or later", async () => {
    const { lines } = await sample();
    const from = (first: number): string[] =>
      rewrite(lines, (record, seq) => (record["kind"] === "checkpoint" && seq >= first ? undefined : record));
    expect(verifyLines(from(1), { keys: [key] })).toMatchObject({ ok: false, seq: 1 });
    expect(verifyLines(from(2), { keys: [key] })).toMatchObject({
      ok: false,
      seq: 6,
      reason: "is in place of a promised signed checkpoint, which was removed",
    });
  });

  it("that was signed with another key", async () => {
    const { lines } = await sample();
    expect(verifyLines(lines, { keys: [otherKey] })).toMatchObject({
      ok: false,
      seq: 1,
      reason: expect.stringContaining("which is not the key you gave"),
    });
  });

  it("at which the writer itself noticed that records were gone", () => {
    const writer = createChainWriter();
    const text = writer.write({ kind: "gap", records: 1 }, 1) + writer.write({ kind: "rewound", knownSeq: 9 }, 2);
    expect(verifyLines(text.split("\n").slice(0, -1))).toEqual({
      ok: false,
      seq: 2,
      reason: "reports that records up to 9 existed and were removed",
    });
  });
});
