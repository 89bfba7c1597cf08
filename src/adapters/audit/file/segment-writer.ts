import { hash } from "node:crypto";
import { constants, statSync } from "node:fs";
import { type FileHandle, open, readdir, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fixable } from "../../../errors/arsenal-error.ts";
import { type ChainWriter, EMPTY_LOG, readLine, rewound } from "../../../guard/audit/chain.ts";
import { linesOf } from "../../../guard/audit/verifier.ts";
import type { AuditHead } from "../../../guard/audit.port.ts";
import { makeFolder } from "../../../system/make-folder.ts";
import { syncFolder } from "../../../system/replace-file.ts";

interface OpenSegment {
  readonly handle: FileHandle;
  readonly inode: number;
  size: number;
}

/** Creates the writer of a log's files, for the process that holds the lock. Opens no file yet. */
export function createSegmentWriter(options: {
  readonly file: string;
  readonly chain: ChainWriter;
  readonly maxFileBytes: number;
}) {
  const { file, chain, maxFileBytes } = options;
  let opened: OpenSegment | undefined;
  /** The last end that this process has read or written. */
  let known: AuditHead | undefined;

  /** Synchronous calls are ten times faster than the thread pool here, because the lock has just used the same folder. */
  function isCurrent({ inode, size }: OpenSegment): boolean {
    const now = statSync(file, { throwIfNoEntry: false });
    return now?.ino === inode && now.size === size;
  }

  async function openFile(at: number): Promise<OpenSegment> {
    await makeFolder(dirname(file), 0o700);
    const handle = await open(file, constants.O_RDWR | constants.O_CREAT, 0o600);
    try {
      const { head = await lastFullHead(), wholeBytes, torn } = await readTail(handle, file);
      if (torn.length > 0) await handle.truncate(wholeBytes);
      const found: OpenSegment = { handle, inode: (await handle.stat()).ino, size: wholeBytes };
      if (wholeBytes === 0) await syncFolder(dirname(file));
      chain.moveTo(head);
      const events = [torn.length > 0 ? recovered(torn) : undefined, rewound(head, known)];
      await addTo(found, () => events.map((record) => (record ? chain.write(record, at) : "")).join(""));
      return found;
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  async function lastFullHead(): Promise<AuditHead> {
    const last = (await fullSegments(file)).at(-1);
    if (last === undefined) return EMPTY_LOG;
    const handle = await open(last, "r");
    try {
      const { head } = await readTail(handle, last);
      return head ?? EMPTY_LOG;
    } finally {
      await handle.close();
    }
  }

  async function addTo(target: OpenSegment, lines: () => string): Promise<void> {
    const before = chain.head;
    try {
      const bytes = Buffer.from(lines());
      for (let done = 0; done < bytes.length;) {
        const { bytesWritten } = await target.handle.write(bytes, done, bytes.length - done, target.size + done);
        done += bytesWritten;
      }
      target.size += bytes.length;
      known = chain.head;
    } catch (error) {
      chain.moveTo(before);
      // A partial write must be removed, because its records were not stored. If this fails too, the next opening truncates it.
      await target.handle.truncate(target.size).catch(() => {});
      throw error;
    }
  }

  async function release(): Promise<void> {
    const before = opened;
    opened = undefined;
    await before?.handle.close();
  }

  async function rotate(): Promise<void> {
    await opened?.handle.sync();
    await release();
    await rename(file, segmentName(file, chain.head.seq));
    await syncFolder(dirname(file));
  }

  return {
    /** Moves the chain to the log's actual end. Another process may have appended to the log, and a crash may have left an incomplete line. */
    async catchUp(at: number): Promise<void> {
      if (opened !== undefined && !isCurrent(opened)) await release();
      opened ??= await openFile(at);
      if (opened.size < maxFileBytes) return;
      await rotate();
      opened = await openFile(at);
    },
    /** Appends the output of `lines` atomically. */
    async add(lines: () => string): Promise<void> {
      if (opened === undefined) throw new Error("The log is not open.");
      await addTo(opened, lines);
    },
    /** Makes appended records survive a power failure. Full files are synced before they are renamed, so only the current file is left. */
    async sync(): Promise<void> {
      if (opened !== undefined) return opened.handle.datasync();
      const handle = await open(file, constants.O_RDWR);
      await handle.datasync().finally(() => handle.close());
    },
    /**
     * Removes the records up to a sequence number. If interrupted, it leaves a log that starts with one of the removed records; the `pruned` record
     * allows this.
     */
    async removeThrough(seq: number): Promise<void> {
      await release();
      for (const path of await auditFiles(file)) {
        if (lastSeqOf(file, path) > seq) {
          await keepAfter(path, seq);
          break;
        }
        await rm(path);
      }
      await syncFolder(dirname(file));
    },
    async close(): Promise<void> {
      await opened?.handle.sync();
      await release();
    },
  };
}

/** Replaces a file by one with only the records after a sequence number. Processes that have the old file open notice the replacement. */
async function keepAfter(path: string, seq: number): Promise<void> {
  const temporary = `${path}.pruning`;
  const handle = await open(temporary, "w", 0o600);
  try {
    for await (const { bytes, whole } of linesOf(path)) {
      if ((readLine(bytes)?.record.seq ?? Number.POSITIVE_INFINITY) <= seq) continue;
      await handle.write(bytes);
      if (whole) await handle.write("\n");
    }
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(temporary, path);
}

function recovered(torn: Buffer): object {
  return { kind: "recovered", cutBytes: torn.length, cutSha256: hash("sha256", torn, "hex") };
}

/** Reads the end of a log file. Throws if its last complete line is not an intact record, because nothing may follow a damaged record. */
async function readTail(
  handle: FileHandle,
  file: string,
): Promise<{
  /** The last complete record; undefined if the file has none. */
  readonly head: AuditHead | undefined;
  /** The number of bytes up to and including the last line break. */
  readonly wholeBytes: number;
  /** The remainder of an interrupted write. */
  readonly torn: Buffer;
}> {
  const { size } = await handle.stat();
  const ends: Buffer[] = [];
  for await (const piece of piecesBackward(handle, size)) if (ends.push(piece) === 2) break;
  const [torn = Buffer.alloc(0), line] = ends;
  const wholeBytes = size - torn.length;
  if (line === undefined) return { head: undefined, wholeBytes, torn };
  const read = readLine(line);
  if (read?.intact === true) return { head: { seq: read.record.seq, hash: read.hash }, wholeBytes, torn };
  const fix = "Run: toolarsenal audit verify. Then move the log away to start a new one.";
  const problem = `The audit log ${file} was changed or damaged at its end.`;
  throw fixable("STORE_FAILED", problem, fix, { field: "audit.file", value: file });
}

export const CHUNK = 64 * 1024;
export const LINE_BREAK = 10;

/**
 * Yields the pieces between line breaks up to an offset, last first. The first piece follows the last line break: it is an incomplete line, often
 * empty.
 */
export async function* piecesBackward(
  handle: FileHandle,
  end: number,
  maxLineBytes: number = Number.POSITIVE_INFINITY,
): AsyncGenerator<Buffer> {
  let rest = Buffer.alloc(0);
  for (let position = end; position > 0 && rest.length <= maxLineBytes;) {
    const length = Math.min(CHUNK, position);
    position -= length;
    const data = Buffer.concat([await readAt(handle, position, length), rest]);
    let stop = data.length;
    for (let at = data.lastIndexOf(LINE_BREAK); at >= 0; at = at === 0 ? -1 : data.lastIndexOf(LINE_BREAK, at - 1)) {
      yield data.subarray(at + 1, stop);
      stop = at;
    }
    rest = data.subarray(0, stop);
    if (position === 0) yield rest;
  }
}

/** Reads a part of a file. Returns less at the end of the file. */
export async function readAt(handle: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, position);
  return buffer.subarray(0, bytesRead);
}

const DIGITS = 15;

/** Returns the name of a full file: `audit.jsonl` becomes `audit.jsonl.000000000012345`, after its last record. */
function segmentName(file: string, lastSeq: number): string {
  return `${file}.${String(lastSeq).padStart(DIGITS, "0")}`;
}

/** Returns the last record of a log's file; infinity for the current file. */
export function lastSeqOf(file: string, segment: string): number {
  return segment === file ? Number.POSITIVE_INFINITY : Number(segment.slice(-DIGITS));
}

/** Returns the full files of a log, oldest first. */
async function fullSegments(file: string): Promise<readonly string[]> {
  const start = `${basename(file)}.`;
  const names = await readdir(dirname(file)).catch((): string[] => []);
  return names
    .filter((name) => name.startsWith(start) && new RegExp(`^\\d{${DIGITS}}$`).test(name.slice(start.length)))
    .sort()
    .map((name) => join(dirname(file), name));
}

/** Returns every file of a log, oldest first: the full files, then the current one if it exists. */
export async function auditFiles(file: string): Promise<readonly string[]> {
  const active = await stat(file).then(
    () => [file],
    () => [],
  );
  return [...(await fullSegments(file)), ...active];
}
