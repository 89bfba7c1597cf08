import { hash } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, mkdir, open, readdir, rename, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { type ChainWriter, EMPTY_LOG, readLine } from "../../../guard/audit/chain.ts";
import type { AuditHead } from "../../../guard/audit.port.ts";
import { ArsenalError } from "../../../errors/arsenal-error.ts";

/** The files of a log, for one process at a time that holds its lock. */
export interface SegmentWriter {
  /** Brings the writer to the log's true end: another process may have added to it, and a crash may have left a torn line. */
  catchUp(at: number): Promise<void>;
  /** Adds what `lines` makes, all of it or nothing. */
  add(lines: () => string): Promise<void>;
  close(): Promise<void>;
}

interface Opened {
  readonly handle: FileHandle;
  readonly inode: number;
  size: number;
}

/** Creates what writes a log's files; nothing is opened yet. */
export function createSegmentWriter(options: {
  readonly file: string;
  readonly writer: ChainWriter;
  readonly fsync: "batch" | "close";
  readonly maxFileBytes: number;
}): SegmentWriter {
  const { file, writer, fsync, maxFileBytes } = options;
  let opened: Opened | undefined;
  /** The last end this process knows of. */
  let known: AuditHead | undefined;

  async function isCurrent({ inode, size }: Opened): Promise<boolean> {
    const now = await stat(file).catch(() => undefined);
    return now?.ino === inode && now.size === size;
  }

  async function openFile(at: number): Promise<Opened> {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    const handle = await open(file, constants.O_RDWR | constants.O_CREAT, 0o600);
    try {
      const { head = await lastFullHead(), wholeBytes, torn } = await readTail(handle, file);
      if (torn.length > 0) await handle.truncate(wholeBytes);
      const found: Opened = { handle, inode: (await handle.stat()).ino, size: wholeBytes };
      if (wholeBytes === 0) await syncFolder(file);
      writer.moveTo(head);
      const before = known;
      await addTo(
        found,
        () =>
          (torn.length > 0 ? writer.write(recovered(torn), at) : "") +
          (before !== undefined && !reaches(head, before) ? writer.write(rewound(before), at) : ""),
      );
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

  async function addTo(target: Opened, lines: () => string): Promise<void> {
    const before = writer.head;
    try {
      const bytes = Buffer.from(lines());
      for (let done = 0; done < bytes.length;) {
        const { bytesWritten } = await target.handle.write(bytes, done, bytes.length - done, target.size + done);
        done += bytesWritten;
      }
      if (fsync === "batch" && bytes.length > 0) await target.handle.datasync();
      target.size += bytes.length;
      known = writer.head;
    } catch (error) {
      writer.moveTo(before);
      // What could be written in part must not stay: its records were not kept. Where even this fails, the next opening cuts it off.
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
    await rename(file, segmentName(file, writer.head.seq));
    await syncFolder(file);
  }

  return {
    async catchUp(at) {
      if (opened !== undefined && !(await isCurrent(opened))) await release();
      opened ??= await openFile(at);
      if (opened.size < maxFileBytes) return;
      await rotate();
      opened = await openFile(at);
    },
    async add(lines) {
      if (opened === undefined) throw new Error("The log is not open.");
      await addTo(opened, lines);
    },
    async close() {
      await opened?.handle.sync();
      await release();
    },
  };
}

function recovered(torn: Buffer): object {
  return { kind: "recovered", cutBytes: torn.length, cutSha256: hash("sha256", torn, "hex") };
}

/** Whether the end that was found can follow the one that was known. */
function reaches(found: AuditHead, before: AuditHead): boolean {
  return found.seq > before.seq || (found.seq === before.seq && found.hash === before.hash);
}

function rewound({ seq, hash: knownHash }: AuditHead): object {
  return { kind: "rewound", knownSeq: seq, knownHash };
}

/** Makes a new or renamed file last. Not every system can. */
async function syncFolder(file: string): Promise<void> {
  const handle = await open(dirname(file), "r").catch(() => undefined);
  await handle?.sync().catch(() => {});
  await handle?.close().catch(() => {});
}

const CHUNK = 64 * 1024;
const LINE_BREAK = 10;

/** How a file of a log ends. */
interface Tail {
  /** The last whole record; undefined if the file has none. */
  readonly head: AuditHead | undefined;
  /** Bytes up to and with the last line break. */
  readonly wholeBytes: number;
  /** What a write that was cut off left after it. */
  readonly torn: Buffer;
}

/** Reads the end of a file. Throws if its last whole line is not an intact record, because nothing may be appended after a damaged one. */
async function readTail(handle: FileHandle, file: string): Promise<Tail> {
  const { size } = await handle.stat();
  const torn = await readBack(handle, size);
  const wholeBytes = size - torn.length;
  if (wholeBytes === 0) return { head: undefined, wholeBytes, torn };
  const line = await readBack(handle, wholeBytes - 1);
  const read = readLine(line);
  if (read?.intact === true) return { head: { seq: read.record.seq, hash: read.hash }, wholeBytes, torn };
  const fix = "Look at it with: toolarsenal audit verify. Then move it away to begin a new log.";
  throw new ArsenalError("STORE_FAILED", `The audit log ${file} was changed or damaged at its end. ${fix}`, {
    field: "audit.file",
    value: file,
    fix,
  });
}

/** What stands between the last line break before `end` and `end`. */
async function readBack(handle: FileHandle, end: number): Promise<Buffer> {
  let found = Buffer.alloc(0);
  for (let position = end; position > 0;) {
    const length = Math.min(CHUNK, position);
    position -= length;
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, position);
    const chunk = buffer.subarray(0, bytesRead);
    const at = chunk.lastIndexOf(LINE_BREAK);
    found = Buffer.concat([chunk.subarray(at + 1), found]);
    if (at >= 0) break;
  }
  return found;
}

const DIGITS = 15;

/** The name a full file gets: `audit.jsonl` becomes `audit.jsonl.000000000012345`, by the last record in it. */
function segmentName(file: string, lastSeq: number): string {
  return `${file}.${String(lastSeq).padStart(DIGITS, "0")}`;
}

/** The last record of one of a log's files; infinite for the one that is written to. */
export function lastSeqOf(file: string, segment: string): number {
  return segment === file ? Number.POSITIVE_INFINITY : Number(segment.slice(-DIGITS));
}

/** The full files of a log, oldest first. */
async function fullSegments(file: string): Promise<readonly string[]> {
  const start = `${basename(file)}.`;
  const names = await readdir(dirname(file)).catch((): string[] => []);
  return names
    .filter((name) => name.startsWith(start) && new RegExp(`^\\d{${DIGITS}}$`).test(name.slice(start.length)))
    .sort()
    .map((name) => join(dirname(file), name));
}

/** Every file of a log, oldest first: the full ones, and the one that is written to where it is there. */
export async function auditFiles(file: string): Promise<readonly string[]> {
  const active = await stat(file).then(
    () => [file],
    () => [],
  );
  return [...(await fullSegments(file)), ...active];
}
