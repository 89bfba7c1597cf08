import { ArsenalError } from "../../errors/arsenal-error.ts";
import { createChainWriter, readLine } from "../../guard/audit/chain.ts";
import type { AuditKey } from "../../guard/audit/key.ts";
import { oldRecords, pruneLines, requireIntact, toPruned } from "../../guard/audit/prune.ts";
import { type AuditLine, createVerifier } from "../../guard/audit/verifier.ts";
import type { AuditHead, AuditLog, KeptRecord, ReadAuditOptions, Verification } from "../../guard/audit.port.ts";
import { type Clock, systemClock } from "../../observe/clock.ts";

export interface MemoryAuditOptions {
  readonly clock?: Clock;
  /** The key that signs checkpoints. If omitted, there are no signatures. */
  readonly key?: AuditKey;
  readonly checkpointEvery?: number;
}

/** An audit log whose lines are in memory. */
export interface MemoryAudit extends AuditLog {
  /** The lines as in a file, without line breaks. */
  readonly lines: readonly string[];
}

/** Keeps an audit log in this process, for tests and for programs that store the log themselves. It grows without limit. */
export function memoryAudit({ clock = systemClock, key, checkpointEvery }: MemoryAuditOptions = {}): MemoryAudit {
  const writer = createChainWriter({ key, every: checkpointEvery });
  const lines: string[] = [];
  let closed = false;
  const add = (text: string): void => void lines.push(...text.split("\n").slice(0, -1));
  function verified(head?: AuditHead): Verification {
    const verifier = createVerifier({ ...(head && { head }), ...(key && { keys: [key] }) });
    for (const line of lines) if (!verifier.take(Buffer.from(line))) break;
    return verifier.end();
  }
  return {
    name: "memory",
    lines,
    async append(record) {
      if (closed) throw new ArsenalError("CLOSED", "This audit log was closed and accepts no more records.");
      add(writer.write(record, clock.now()));
    },
    async head() {
      return writer.head;
    },
    read: async (options = {}) => readBackward(lines, options),
    verify: async ({ head } = {}) => verified(head),
    async prune(options) {
      requireIntact(verified());
      const old = await oldRecords(linesOf(lines), options.before);
      if (options.dryRun !== true && old.records > 0) {
        add(pruneLines(writer, old, options, clock.now()));
        lines.splice(0, old.records);
      }
      return toPruned(old);
    },
    async close() {
      if (closed) return;
      closed = true;
      if (lines.length > 0) add(writer.checkpoint(clock.now()));
    },
  };
}

async function* linesOf(lines: readonly string[]): AsyncGenerator<AuditLine> {
  for (const line of lines) yield { bytes: Buffer.from(line), whole: true };
}

async function* readBackward(
  lines: readonly string[],
  { before = Number.POSITIVE_INFINITY, signal }: ReadAuditOptions,
): AsyncGenerator<KeptRecord> {
  for (const line of lines.toReversed()) {
    signal?.throwIfAborted();
    const record = readLine(Buffer.from(line))?.record;
    if (record !== undefined && record.seq < before) yield record;
  }
}
