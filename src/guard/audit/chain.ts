import { createHash, hash as hashOf } from "node:crypto";
import { canonicalJson } from "../../tool/canonical-json.ts";
import type { AuditHead } from "../audit.port.ts";

/** Where a log begins. */
export const EMPTY_LOG: AuditHead = { seq: 0, hash: "0".repeat(64) };

/** A record as it stands in a log. */
export interface ChainedRecord {
  readonly seq: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly kind: string;
  readonly [field: string]: unknown;
}

/** `{"hash":"…","prev":"…",`: hash and predecessor come first, at fixed places, so that everything after them is what the hash covers. */
const LINK = /^\{"hash":"([0-9a-f]{64})","prev":"([0-9a-f]{64})",$/;
const LINK_LENGTH = 149;
const BRACE = Buffer.from("{");

/** Binds a record to the end of a log. The hash is SHA-256 over the hash before and the record, with its place and time, as canonical JSON. */
export function chain(
  record: object,
  before: AuditHead,
  at: number,
): { readonly line: string; readonly head: AuditHead } {
  const seq = before.seq + 1;
  const entry = canonicalJson({ ...record, seq, at });
  const hash = hashOf("sha256", before.hash + entry, "hex");
  return { line: `{"hash":"${hash}","prev":"${before.hash}",${entry.slice(1)}\n`, head: { seq, hash } };
}

/** One line of a log, without its line break, taken apart. */
export interface ReadLine {
  readonly record: ChainedRecord;
  readonly prev: string;
  readonly hash: string;
  /** Whether the hash is that of the line's own bytes. */
  readonly intact: boolean;
}

/** Reads one line of a log; undefined where it is none. */
export function readLine(line: Uint8Array): ReadLine | undefined {
  const bytes = Buffer.from(line.buffer, line.byteOffset, line.byteLength);
  const link = LINK.exec(bytes.toString("latin1", 0, LINK_LENGTH));
  if (link === null) return undefined;
  const [, hash = "", prev = ""] = link;
  const rest = bytes.subarray(LINK_LENGTH);
  // Over bytes, not text: two damaged bytes can read as the same text.
  const intact = createHash("sha256").update(prev).update(BRACE).update(rest).digest("hex") === hash;
  try {
    const record = JSON.parse(`{${rest.toString("utf8")}`) as ChainedRecord;
    return typeof record.seq === "number" ? { record, prev, hash, intact } : undefined;
  } catch {
    return undefined;
  }
}
