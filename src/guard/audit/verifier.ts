import type { AuditHead, KeptRecord, Verification } from "../audit.port.ts";
import { checkpointProblem, EMPTY_LOG, readLine } from "./chain.ts";
import type { AuditKey } from "./key.ts";
import { createReadStream } from "node:fs";

export interface VerifyOptions {
  /** An end of the log that was stored elsewhere. Verification fails if the log does not contain it unchanged. */
  readonly head?: AuditHead;
  /** The end of the part that was verified and removed earlier. Defaults to the start of the log. */
  readonly after?: AuditHead;
  /** The keys that may sign checkpoints. Without keys, signatures are not verified, so anyone with write access could have forged the log. */
  readonly keys?: readonly AuditKey[];
  /** The sequence number of the last record to verify, because later lines may still be incomplete. Defaults to the end of the log. */
  readonly upTo?: number;
}

/** Verifies a log line by line, in order, without keeping the lines. */
export function createVerifier(options: VerifyOptions = {}) {
  const { head: known, keys = [] } = options;
  /** The record before the first line. Only a pruned log has one. */
  let start = options.after;
  let head = start ?? EMPTY_LOG;
  /** The last pruned record: `declared` by records with a verified signature, `unsigned` by any record when no keys are given. */
  let declared = EMPTY_LOG;
  let unsigned = EMPTY_LOG;
  let signedUpTo = 0;
  let missing = 0;
  /** The sequence number by which the next checkpoint is due. */
  let nextCheckpoint = head.seq === 0 ? 1 : Number.POSITIVE_INFINITY;
  let bad: Extract<Verification, { ok: false }> | undefined;

  function refuse(reason: string): false {
    bad ??= { ok: false, seq: head.seq + 1, reason };
    return false;
  }

  /** The problem of an intact record at its position. */
  function problemOf(record: KeptRecord): string | undefined {
    if (record.kind === "rewound")
      return `reports that records up to ${String(record["knownSeq"])} existed and were removed`;
    if (record.kind === "pruned") unsigned = { seq: Number(record["throughSeq"]), hash: String(record["throughHash"]) };
    if (keys.length === 0) {
      declared = unsigned;
      return undefined;
    }
    if (record.kind !== "checkpoint") {
      return record.seq < nextCheckpoint ? undefined : "is in place of a promised signed checkpoint, which was removed";
    }
    const problem = checkpointProblem(record, head, keys);
    if (problem !== undefined) return problem;
    signedUpTo = record.seq;
    declared = unsigned;
    nextCheckpoint = record.seq + Number(record["every"]) + 1;
    return undefined;
  }

  /** Starts after the records that the log no longer contains. The end of the log declares whether they were pruned. */
  function begin({ seq }: KeptRecord, prev: string): void {
    start = seq > 1 ? { seq: seq - 1, hash: prev } : EMPTY_LOG;
    head = start;
    if (seq > 1) nextCheckpoint = Number.POSITIVE_INFINITY;
    if (known?.seq === start.seq && known.hash !== start.hash)
      refuse("does not follow the given head: the log was rewritten");
  }

  /** The problem of a log that does not begin with its first record; undefined if the missing records were pruned. */
  function problemOfStart(): string | undefined {
    if (options.after !== undefined || start === undefined || start.seq === 0 || declared.seq > start.seq)
      return undefined;
    if (declared.seq === start.seq && declared.hash === start.hash) return undefined;
    const by = keys.length === 0 ? "record" : "signed record";
    return `is missing: the log begins with record ${start.seq + 1}, and no ${by} declares that the older ones were pruned`;
  }

  return {
    /** The last record that was taken. */
    get seq(): number {
      return head.seq;
    },

    /** Takes the next line, without its line break. Returns false if it is invalid: later lines are ignored. */
    take(line: Uint8Array): boolean {
      if (bad !== undefined) return false;
      const read = readLine(line);
      if (read === undefined) return refuse("is not an audit record");
      const { record, prev, hash, intact } = read;
      if (start === undefined && intact) begin(record, prev);
      const expected = head.seq + 1;
      if (!intact) return refuse("was changed: its hash does not match its content");
      if (record.seq !== expected) return refuse(`is out of order: found record ${record.seq}`);
      if (prev !== head.hash) return refuse(`does not follow record ${head.seq}, which was changed`);
      const problem = problemOf(record);
      if (problem !== undefined) return refuse(problem);
      if (expected === known?.seq && hash !== known.hash)
        return refuse("differs from the given head: the log was rewritten");
      if (record.kind === "gap") missing += Number(record["records"]);
      head = { seq: expected, hash };
      return true;
    },

    /** Refuses an incomplete line at the end of the log. */
    refuse: (reason: string): void => void refuse(reason),

    end(): Verification {
      if (bad === undefined && known !== undefined && head.seq < known.seq)
        refuse(`is missing: the log ends before it, but once reached record ${known.seq}`);
      const problem = problemOfStart();
      if (problem !== undefined) {
        const also = bad === undefined ? "" : `; record ${bad.seq} ${bad.reason}`;
        return { ok: false, seq: declared.seq + 1, reason: problem + also };
      }
      const { seq: pruned } = options.after ?? start ?? EMPTY_LOG;
      const prunedThrough = options.after === undefined && pruned > 0 ? { prunedThrough: pruned } : {};
      return (
        bad ?? {
          ok: true,
          records: head.seq - pruned,
          head,
          signedUpTo,
          ...prunedThrough,
          ...(missing > 0 && { missing }),
        }
      );
    },
  };
}

/** A longer line is invalid. This bounds the memory of a verification. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;

/** One line of a log without its line break, and its location. `whole` is false if the line break is missing. */
export interface AuditLine {
  readonly bytes: Uint8Array;
  readonly whole: boolean;
  readonly file?: string;
  readonly line?: number;
}

/** The result of verifying a log. A failure names the file and the line if the log is stored in files. */
export type FileVerification =
  | Extract<Verification, { ok: true }>
  | (Extract<Verification, { ok: false }> & { readonly file?: string; readonly line?: number });

/** Verifies a log in one or more files, oldest first, as a stream. */
export function verify(files: readonly string[], options: VerifyOptions = {}): Promise<FileVerification> {
  return verifyLines(linesOfFiles(files), options);
}

/** Verifies the lines of a log from any store. */
export async function verifyLines(
  lines: AsyncIterable<AuditLine>,
  options: VerifyOptions = {},
): Promise<FileVerification> {
  const verifier = createVerifier(options);
  const { upTo = Number.POSITIVE_INFINITY } = options;
  for await (const { bytes, whole, ...place } of lines) {
    if (!whole) verifier.refuse("is incomplete: the write or the file was cut off");
    if (!whole || !verifier.take(bytes)) return { ...verifier.end(), ...place } as FileVerification;
    if (verifier.seq >= upTo) break;
  }
  return verifier.end();
}

/** Yields the lines until the signal aborts. */
export async function* abortableLines(
  lines: AsyncIterable<AuditLine>,
  signal: AbortSignal | undefined,
): AsyncGenerator<AuditLine> {
  for await (const line of lines) {
    signal?.throwIfAborted();
    yield line;
  }
}

/** Yields the lines of log files, oldest first. */
export async function* linesOfFiles(files: readonly string[]): AsyncGenerator<AuditLine> {
  for (const file of files) {
    let line = 0;
    for await (const { bytes, whole } of linesOf(file)) yield { bytes, whole, file, line: ++line };
  }
}

/** Yields the lines of a file without their line breaks. `whole` is false for a last line without one. */
export async function* linesOf(file: string): AsyncGenerator<{ readonly bytes: Uint8Array; readonly whole: boolean }> {
  let parts: Buffer[] = [];
  let length = 0;
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      const rest = chunk.subarray(start, end);
      yield { bytes: parts.length === 0 ? rest : Buffer.concat([...parts, rest]), whole: true };
      parts = [];
      length = 0;
      start = end + 1;
    }
    if (start < chunk.length) {
      parts.push(chunk.subarray(start));
      length += chunk.length - start;
      if (length > MAX_LINE_BYTES) break;
    }
  }
  if (parts.length > 0) yield { bytes: Buffer.concat(parts), whole: false };
}
