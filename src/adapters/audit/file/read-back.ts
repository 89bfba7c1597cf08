import { type FileHandle, open } from "node:fs/promises";
import { readLine } from "../../../guard/audit/chain.ts";
import type { KeptRecord, ReadAuditOptions } from "../../../guard/audit.port.ts";
import { auditFiles, CHUNK, lastSeqOf, LINE_BREAK, piecesBackward, readAt } from "./segment-writer.ts";

/** A longer line is invalid. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;

/**
 * Reads the records of a log, newest first, over all of its files. The list of files is read again for each file, because a full file may be renamed
 * meanwhile.
 */
export async function* readBackward(
  file: string,
  { before = Number.POSITIVE_INFINITY, signal }: ReadAuditOptions,
): AsyncGenerator<KeptRecord> {
  let next = before;
  while (next > 1) {
    signal?.throwIfAborted();
    const files = await auditFiles(file);
    const holder = files.findIndex((each) => lastSeqOf(file, each) >= next - 1);
    const place = holder === -1 ? files.length - 1 : holder;
    const path = files[place];
    if (path === undefined) return;
    const handle = await open(path, "r").catch(() => undefined);
    if (handle === undefined) continue;
    let found = false;
    // The text after the last line break is incomplete.
    let isWhole = false;
    try {
      for await (const line of piecesBackward(handle, await endBefore(handle, next), MAX_LINE_BYTES)) {
        signal?.throwIfAborted();
        const record = isWhole ? readLine(line)?.record : undefined;
        isWhole = true;
        if (record === undefined || record.seq >= next) continue;
        found = true;
        next = record.seq;
        yield record;
      }
    } finally {
      await handle.close();
    }
    if (found) continue;
    // The file has no wanted record. Older records are in the previous file.
    const older = files[place - 1];
    if (older === undefined) return;
    next = Math.min(next, lastSeqOf(file, older) + 1);
  }
}

/** Finds the start of the first record at or after `before`, or the end of the file. A binary search, because records are in order. */
async function endBefore(handle: FileHandle, before: number): Promise<number> {
  let low = 0;
  let high = (await handle.stat()).size;
  if (before === Number.POSITIVE_INFINITY) return high;
  while (high - low > CHUNK) {
    const middle = Math.floor((low + high) / 2);
    const chunk = await readAt(handle, middle, CHUNK);
    const start = chunk.indexOf(LINE_BREAK) + 1;
    const stop = chunk.indexOf(LINE_BREAK, start);
    const record = start > 0 && stop > start ? readLine(chunk.subarray(start, stop))?.record : undefined;
    if (record === undefined || middle + start >= high) return high;
    if (record.seq < before) low = middle + start;
    else high = middle + start;
  }
  return high;
}
