import { fixable } from "../../errors/arsenal-error.ts";
import type { AuditHead, PruneAuditOptions, PrunedAudit, Verification } from "../audit.port.ts";
import { type ChainWriter, EMPTY_LOG, readLine } from "./chain.ts";
import type { AuditLine } from "./verifier.ts";

/** The part of a log that is older than a time. */
export interface OldRecords {
  readonly records: number;
  readonly last: AuditHead;
}

/** Finds the records before the first one that is not older than `before`, in lines with the oldest first. */
export async function oldRecords(lines: AsyncIterable<AuditLine>, before: number): Promise<OldRecords> {
  let found: OldRecords = { records: 0, last: EMPTY_LOG };
  for await (const { bytes, whole } of lines) {
    const read = whole ? readLine(bytes) : undefined;
    if (read === undefined || read.record.at >= before) break;
    found = { records: found.records + 1, last: { seq: read.record.seq, hash: read.hash } };
  }
  return found;
}

/** Returns the lines to store before old records are removed: a record of the removal, and a signature over it. */
export function pruneLines(
  chain: ChainWriter,
  { records, last }: OldRecords,
  { before, by }: PruneAuditOptions,
  now: number,
): string {
  const record = { kind: "pruned", records, throughSeq: last.seq, throughHash: last.hash, before, by };
  return chain.write(record, now) + chain.checkpoint(now);
}

export function toPruned({ records, last }: OldRecords): PrunedAudit {
  return { records, through: last };
}

/** Throws if the log was changed, because the records to remove would be the evidence. */
export function requireIntact(found: Verification): void {
  if (found.ok) return;
  const problem = `Nothing was pruned: record ${found.seq} of the audit log ${found.reason}.`;
  const fix = "Look at it with: toolarsenal audit verify. Keep a copy of the log before you change anything.";
  throw fixable("STORE_FAILED", problem, fix, { field: "audit" });
}
