import type { AuditHead, KeptRecord, Verification } from "../audit.port.ts";
import { checkpointProblem, EMPTY_LOG, readLine } from "./chain.ts";
import type { AuditKey } from "./key.ts";
import { createReadStream } from "node:fs";

export interface VerifyOptions {
  /** An end of the log that was stored elsewhere: the log must reach it, unchanged. */
  readonly head?: AuditHead;
  /** The start of the verification, if the part before it was verified and removed. Defaults to the start of the log. */
  readonly after?: AuditHead;
  /** The keys of valid checkpoints. Without any, signatures are not verified: anyone who could write the log could have forged it. */
  readonly keys?: readonly AuditKey[];
}

/** Verifies a log line by line, in order, without keeping the lines. */
export function createVerifier(options: VerifyOptions = {}) {
  const { head: known, after = EMPTY_LOG, keys = [] } = options;
  let head = after;
  let signedUpTo = 0;
  let missing = 0;
  /** The sequence number by which the next checkpoint is due. */
  let nextCheckpoint = after.seq === 0 ? 1 : Number.POSITIVE_INFINITY;
  let bad: Extract<Verification, { ok: false }> | undefined;

  function refuse(reason: string): false {
    bad ??= { ok: false, seq: head.seq + 1, reason };
    return false;
  }

  /** The problem of an intact record at its position. */
  function problemOf(record: KeptRecord): string | undefined {
    if (record.kind === "rewound")
      return `reports that records up to ${String(record["knownSeq"])} existed and were removed`;
    if (keys.length === 0) return undefined;
    if (record.kind !== "checkpoint") {
      return record.seq < nextCheckpoint ? undefined : "is in place of a promised signed checkpoint, which was removed";
    }
    const problem = checkpointProblem(record, head, keys);
    if (problem !== undefined) return problem;
    signedUpTo = record.seq;
    nextCheckpoint = record.seq + Number(record["every"]) + 1;
    return undefined;
  }

  return {
    /** Takes the next line, without its line break. Returns false if it is invalid: later lines are ignored. */
    take(line: Uint8Array): boolean {
      if (bad !== undefined) return false;
      const read = readLine(line);
      const expected = head.seq + 1;
      if (read === undefined) return refuse("is no audit record");
      const { record, prev, hash, intact } = read;
      if (!intact) return refuse("was changed: its hash is not that of its content");
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
        refuse(`is missing: the log ends before it, and reached ${known.seq} once`);
      return bad ?? { ok: true, records: head.seq - after.seq, head, signedUpTo, ...(missing > 0 && { missing }) };
    },
  };
}

/** A longer line is invalid. This bounds the memory of a verification. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;

/** One line of a log without its break, and its location. It is incomplete without a line break. */
export interface AuditLine {
  readonly bytes: Uint8Array;
  readonly whole: boolean;
  readonly file?: string;
  readonly line?: number;
}

/** The result for a log. If it is invalid and stored in files, the file and the line. */
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
  for await (const { bytes, whole, ...place } of lines) {
    if (!whole) verifier.refuse("is not a whole line: the write was cut off, or the file");
    if (!whole || !verifier.take(bytes)) return { ...verifier.end(), ...place } as FileVerification;
  }
  return verifier.end();
}

/** Lines until the signal fires, up to a maximum. */
export async function* boundedLines(
  lines: AsyncIterable<AuditLine>,
  { signal, count = Number.POSITIVE_INFINITY }: { readonly signal?: AbortSignal | undefined; readonly count?: number },
): AsyncGenerator<AuditLine> {
  let taken = 0;
  if (count === 0) return;
  for await (const line of lines) {
    signal?.throwIfAborted();
    yield line;
    if (++taken >= count) return;
  }
}

/** The lines of a log in files, oldest first. */
export async function* linesOfFiles(files: readonly string[]): AsyncGenerator<AuditLine> {
  for (const file of files) {
    let line = 0;
    for await (const { bytes, whole } of linesOf(file)) yield { bytes, whole, file, line: ++line };
  }
}

/** The lines of a file without their breaks; the last one is incomplete without a line break. */
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
