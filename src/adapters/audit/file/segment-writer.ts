import { hash } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, mkdir, open, rename, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { EMPTY_LOG } from "../../../guard/audit/chain.ts";
import type { ChainWriter } from "../../../guard/audit/chain-writer.ts";
import type { AuditHead } from "../../../guard/audit.port.ts";
import { readTail } from "./read-tail.ts";
import { fullSegments, segmentName } from "./segments.ts";

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
