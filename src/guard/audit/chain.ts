import { createHash, hash as hashOf } from "node:crypto";
import { canonicalJson } from "../../tool/json/canonical-json.ts";
import type { AuditHead, KeptRecord } from "../audit.port.ts";
import type { AuditKey } from "./key.ts";

export const EMPTY_LOG: AuditHead = { seq: 0, hash: "0".repeat(64) };

/** `{"hash":"…","prev":"…",`: both hashes have fixed positions at the start, so the hash covers everything after them. */
const LINK = /^\{"hash":"([0-9a-f]{64})","prev":"([0-9a-f]{64})",$/;
const LINK_LENGTH = 149;
const BRACE = Buffer.from("{");

/** Binds a record to the end of a log. The hash is SHA-256 over the previous hash and the record, with its sequence number and time, as canonical JSON. */
export function chain(record: object, before: AuditHead, at: number) {
  const seq = before.seq + 1;
  const entry = canonicalJson({ ...record, seq, at });
  const hash = hashOf("sha256", before.hash + entry, "hex");
  return { line: `{"hash":"${hash}","prev":"${before.hash}",${entry.slice(1)}\n`, head: { seq, hash } };
}

/** Reads one line of a log, without its line break; undefined if it is not a record. */
export function readLine(line: Uint8Array):
  | {
      readonly record: KeptRecord;
      readonly prev: string;
      readonly hash: string;
      /** Whether the hash matches the line's own bytes. */
      readonly intact: boolean;
    }
  | undefined {
  const bytes = Buffer.from(line.buffer, line.byteOffset, line.byteLength);
  const link = LINK.exec(bytes.toString("latin1", 0, LINK_LENGTH));
  if (link === null) return undefined;
  const [, hash = "", prev = ""] = link;
  const rest = bytes.subarray(LINK_LENGTH);
  // Compares bytes, not text: different damaged bytes can decode to the same text.
  const intact = createHash("sha256").update(prev).update(BRACE).update(rest).digest("hex") === hash;
  try {
    const record = JSON.parse(`{${rest.toString("utf8")}`) as KeptRecord;
    return typeof record.seq === "number" ? { record, prev, hash, intact } : undefined;
  } catch {
    return undefined;
  }
}

/** Turns records into the lines of a log, with checkpoints when they are due. */
export type ChainWriter = ReturnType<typeof createChainWriter>;

/** Returns a record that reports lost records if a log ends before its known end; otherwise undefined. */
export function rewound(found: AuditHead, known: AuditHead | undefined): object | undefined {
  const reaches =
    known === undefined || found.seq > known.seq || (found.seq === known.seq && found.hash === known.hash);
  return reaches ? undefined : { kind: "rewound", knownSeq: known.seq, knownHash: known.hash };
}

const CHECKPOINT_EVERY = 1_000;

/** Creates a writer at the start of an empty log. */
export function createChainWriter(
  options: { readonly key?: AuditKey | undefined; readonly every?: number | undefined } = {},
) {
  const { key, every = CHECKPOINT_EVERY } = options;
  let head = EMPTY_LOG;

  function add(record: object, at: number): string {
    // Whole milliseconds are precise enough for every reader.
    const next = chain(record, head, Math.round(at));
    head = next.head;
    return next.line;
  }

  /**
   * Returns a checkpoint line for the current end; empty without a signing key. The signature covers everything before it, so an attacker cannot
   * recompute the hashes. Each checkpoint announces the next one within `every` records, so none can be removed unnoticed.
   */
  function checkpoint(at: number): string {
    const signature = key?.sign?.(signedText(head, Math.round(at), every, key.id));
    return signature === undefined ? "" : add({ kind: "checkpoint", every, key: key?.id, signature }, at);
  }

  return {
    get head(): AuditHead {
      return head;
    },
    /** Continues from another end: from a file, or from before a failed write. */
    moveTo(to: AuditHead): void {
      head = to;
    },
    /** Returns the lines to append for a record. Checkpoints depend on the sequence number, so processes that share a log agree on them. */
    write: (record: object, at: number): string => (head.seq % every === 0 ? checkpoint(at) : "") + add(record, at),
    checkpoint,
  };
}

/** The problem of a checkpoint after `before`; undefined if it is valid. */
export function checkpointProblem(
  record: KeptRecord,
  before: AuditHead,
  keys: readonly AuditKey[],
): string | undefined {
  const { at, every, key: id, signature } = record;
  const key = keys.find((candidate) => candidate.id === id);
  if (key === undefined) return `is a checkpoint signed with ${String(id)}, which is not the key you gave`;
  const text = signedText(before, at, Number(every), key.id);
  return key.verify(text, String(signature)) ? undefined : "is a checkpoint whose signature is wrong";
}

function signedText({ seq, hash }: AuditHead, at: number, every: number, key: string): string {
  return `toolarsenal audit checkpoint\n${canonicalJson({ seq, hash, at, every, key })}`;
}
