import type { AuditHead } from "../audit.port.ts";
import { chain, EMPTY_LOG } from "./chain.ts";
import { createCheckpoint } from "./checkpoint.ts";
import type { AuditKey } from "./key.ts";

/** Turns records into the lines of a log, with checkpoints where they are due. */
export interface ChainWriter {
  readonly head: AuditHead;
  /** Continues from another end: one that was found in a file, or that before a write that failed. */
  moveTo(head: AuditHead): void;
  /** The lines to add for a record, each with its line break. */
  write(record: object, at: number): string;
  /** The line of a checkpoint, now; empty where there is no key that signs. */
  checkpoint(at: number): string;
}

/** Records from one checkpoint to the next. */
export const CHECKPOINT_EVERY = 1_000;

/** Creates a writer at the start of an empty log. */
export function createChainWriter(
  options: { readonly key?: AuditKey | undefined; readonly every?: number | undefined } = {},
): ChainWriter {
  const { key, every = CHECKPOINT_EVERY } = options;
  let head = EMPTY_LOG;

  function add(record: object, at: number): string {
    // Whole milliseconds: more would be told apart by no reader.
    const next = chain(record, head, Math.round(at));
    head = next.head;
    return next.line;
  }

  function checkpoint(at: number): string {
    const record = key && createCheckpoint(head, Math.round(at), every, key);
    return record === undefined ? "" : add(record, at);
  }

  return {
    get head() {
      return head;
    },
    moveTo(to) {
      head = to;
    },
    // By place, not by count, so that several processes that write one log keep to it together.
    write: (record, at) => (head.seq % every === 0 ? checkpoint(at) : "") + add(record, at),
    checkpoint,
  };
}
