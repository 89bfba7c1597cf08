import { canonicalJson } from "../../tool/canonical-json.ts";
import type { AuditHead } from "../audit.port.ts";
import type { ChainedRecord } from "./chain.ts";
import type { AuditKey } from "./key.ts";

/**
 * A signature over everything before it. Without one, whoever can write the log could write it anew from the start, hashes and all. It also
 * promises the next one within `every` records, so that leaving checkpoints out is noticed.
 */
export interface Checkpoint {
  readonly kind: "checkpoint";
  readonly every: number;
  readonly key: string;
  readonly signature: string;
}

/** The checkpoint that follows the end of a log. Undefined where the key cannot sign. */
export function createCheckpoint(before: AuditHead, at: number, every: number, key: AuditKey): Checkpoint | undefined {
  const signature = key.sign?.(signedText(before, at, every, key.id));
  return signature === undefined ? undefined : { kind: "checkpoint", every, key: key.id, signature };
}

/** What is wrong with a checkpoint that stands after `before`; undefined where nothing is. */
export function checkpointProblem(
  record: ChainedRecord,
  before: AuditHead,
  keys: readonly AuditKey[],
): string | undefined {
  const { every, key: id, signature } = record as Partial<Checkpoint> & ChainedRecord;
  const key = keys.find((candidate) => candidate.id === id);
  if (key === undefined) return `is a checkpoint signed with ${String(id)}, which is not the key you gave`;
  const text = signedText(before, record.at, Number(every), key.id);
  return key.verify(text, String(signature)) ? undefined : "is a checkpoint whose signature is wrong";
}

function signedText({ seq, hash }: AuditHead, at: number, every: number, key: string): string {
  return `toolarsenal audit checkpoint\n${canonicalJson({ seq, hash, at, every, key })}`;
}
