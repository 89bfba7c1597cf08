import { type FileHandle, open } from "node:fs/promises";
import { readLine } from "../../../guard/audit/chain.ts";
import type { KeptRecord, ReadAuditOptions } from "../../../guard/audit.port.ts";
import { auditFiles, lastSeqOf } from "./segment-writer.ts";

const CHUNK = 64 * 1024;
const LINE_BREAK = 10;

/** A line longer than this is not one of ours. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;

/** Reads the records of a log newest first, over all of its files. A file that is full is renamed meanwhile: which ones there are is looked up for each. */
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
    try {
      for await (const line of linesBackward(handle, await endBefore(handle, next))) {
        signal?.throwIfAborted();
        const record = readLine(line)?.record;
        if (record === undefined || record.seq >= next) continue;
        found = true;
        next = record.seq;
        yield record;
      }
    } finally {
      await handle.close();
    }
    if (found) continue;
    // Nothing that is wanted is in it: what is older is in the file before.
    const older = files[place - 1];
    if (older === undefined) return;
    next = Math.min(next, lastSeqOf(file, older) + 1);
  }
}

/** Where the line of the first record begins that is not wanted, or the end of the file: by halves, as records are in order. */
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

/** The whole lines up to a place, last first. */
async function* linesBackward(handle: FileHandle, end: number): AsyncGenerator<Buffer> {
  let rest = Buffer.alloc(0);
  // What follows the last line break is not a whole line.
  let isWhole = false;
  for (let position = end; position > 0 && rest.length <= MAX_LINE_BYTES;) {
    const length = Math.min(CHUNK, position);
    position -= length;
    const data = Buffer.concat([await readAt(handle, position, length), rest]);
    let stop = data.length;
    for (let at = data.lastIndexOf(LINE_BREAK); at >= 0; at = at === 0 ? -1 : data.lastIndexOf(LINE_BREAK, at - 1)) {
      if (isWhole) yield data.subarray(at + 1, stop);
      isWhole = true;
      stop = at;
    }
    rest = data.subarray(0, stop);
    if (position === 0 && isWhole) yield rest;
  }
}

async function readAt(handle: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, position);
  return buffer.subarray(0, bytesRead);
}
