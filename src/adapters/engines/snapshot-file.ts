import { createHash, randomUUID } from "node:crypto";
import {
  constants,
  type FileHandle,
  copyFile,
  link,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
} from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import { ArsenalError } from "../../errors/arsenal-error.ts";

/**
 * Lines of text in one file that is whole at every moment: a new version is written beside it and takes its place in one step. The version
 * before is kept as `.bak`.
 */
export interface SnapshotFile {
  /** The lines of the last good version; none where there is no file. A damaged file is set aside as `.corrupt-1`, `-2` … */
  read(): Promise<readonly string[]>;
  /** Replaces all lines. */
  write(lines: readonly string[]): Promise<void>;
}

const MARK = "toolarsenal-snapshot 1";
const HEADER = new RegExp(`^${MARK} sha256:([0-9a-f]{64})\n`);
const HEADER_LENGTH = MARK.length + " sha256:".length + 64 + 1;
const LINES_A_WRITE = 1000;

export function snapshotFile(path: string): SnapshotFile {
  const file = resolve(path);
  const backup = `${file}.bak`;
  const folder = dirname(file);

  /** The lines of a file; undefined where it is damaged, "missing" where there is none. */
  async function readLines(from: string): Promise<readonly string[] | "missing" | "damaged"> {
    let bytes: Buffer;
    try {
      bytes = await readFile(from);
    } catch (cause) {
      if (codeOf(cause) === "ENOENT") return "missing";
      throw failure(`The snapshot ${from} cannot be read: ${messageOf(cause)}`, from, "Make the file readable.", cause);
    }
    const expected = HEADER.exec(bytes.subarray(0, HEADER_LENGTH).toString("latin1"))?.[1];
    const body = bytes.subarray(HEADER_LENGTH);
    if (expected === undefined || createHash("sha256").update(body).digest("hex") !== expected) return "damaged";
    return body.toString("utf8").split("\n").slice(0, -1);
  }

  /** Keeps the damaged file for whoever wants to look, and puts the backup in its place; the file is never absent in between. */
  async function restoreBackup(): Promise<void> {
    for (let number = 1; ; number++) {
      try {
        await copyFile(file, `${file}.corrupt-${number}`, constants.COPYFILE_EXCL);
        break;
      } catch (cause) {
        if (codeOf(cause) !== "EEXIST") throw cause;
      }
    }
    const temporary = temporaryName();
    await copyFile(backup, temporary);
    await syncFile(temporary);
    await rename(temporary, file);
    await syncFolder();
  }

  function temporaryName(): string {
    return `${file}.${process.pid}-${randomUUID().slice(0, 8)}.tmp`;
  }

  /** Removes what writers that were killed left behind. */
  async function removeLeftovers(): Promise<void> {
    const start = `${basename(file)}.`;
    for (const name of await readdir(folder)) {
      if (!name.startsWith(start)) continue;
      const writer = /^(\d+)-[0-9a-f]{8}\.tmp$/.exec(name.slice(start.length))?.[1];
      if (writer !== undefined && !isRunning(Number(writer))) await rm(resolve(folder, name), { force: true });
    }
  }

  async function syncFile(name: string): Promise<void> {
    const handle = await open(name, "r+");
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  }

  /** Makes a rename last. Not every system can; there the file is whole all the same, at worst the version before. */
  async function syncFolder(): Promise<void> {
    const handle = await open(folder, "r").catch(() => undefined);
    await handle?.sync().catch(() => {});
    await handle?.close().catch(() => {});
  }

  async function keepBackup(): Promise<void> {
    const temporary = temporaryName();
    try {
      // A second name for the same file costs nothing; some file systems have no such thing.
      await link(file, temporary).catch((cause: unknown) => {
        if (codeOf(cause) === "ENOENT") throw cause;
        return copyFile(file, temporary);
      });
      await rename(temporary, backup);
    } catch (cause) {
      if (codeOf(cause) !== "ENOENT") throw cause;
    }
    // Renaming onto another name of the same file leaves both.
    await rm(temporary, { force: true });
  }

  return {
    async read() {
      try {
        await mkdir(folder, { recursive: true });
        await removeLeftovers();
      } catch (cause) {
        throw failure(
          `The folder of the snapshot ${file} cannot be used: ${messageOf(cause)}`,
          file,
          "Choose a folder that can be written.",
          cause,
        );
      }
      const lines = await readLines(file);
      if (lines === "missing") return [];
      if (lines !== "damaged") return lines;
      const kept = await readLines(backup);
      if (kept === "missing" || kept === "damaged") {
        const fix = `Move ${file} away to start without it, or put a copy of it in its place.`;
        const also = kept === "damaged" ? `, and so is ${backup}` : ", and there is no backup";
        throw failure(`The snapshot ${file} is damaged or no snapshot${also}. ${fix}`, file, fix);
      }
      await restoreBackup();
      return kept;
    },

    async write(lines) {
      const temporary = temporaryName();
      try {
        await writeLines(temporary, lines);
        await keepBackup();
        await rename(temporary, file);
        await syncFolder();
      } catch (cause) {
        await rm(temporary, { force: true }).catch(() => {});
        throw failure(
          `The snapshot ${file} cannot be written: ${messageOf(cause)}`,
          file,
          "Check that the folder exists, can be written and has room.",
          cause,
        );
      }
    },
  };
}

async function writeLines(name: string, lines: readonly string[]): Promise<void> {
  const handle: FileHandle = await open(name, "wx");
  try {
    const hash = createHash("sha256");
    let position = HEADER_LENGTH;
    for (let start = 0; start < lines.length; start += LINES_A_WRITE) {
      const bytes = Buffer.from(
        lines
          .slice(start, start + LINES_A_WRITE)
          .map((line) => `${line}\n`)
          .join(""),
      );
      hash.update(bytes);
      await writeAll(handle, bytes, position);
      position += bytes.length;
    }
    await writeAll(handle, Buffer.from(`${MARK} sha256:${hash.digest("hex")}\n`), 0);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** One write may take only part of the bytes. */
async function writeAll(handle: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    done += (await handle.write(bytes, done, bytes.length - done, position + done)).bytesWritten;
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (cause) {
    return codeOf(cause) !== "ESRCH";
  }
}

function failure(message: string, file: string, fix: string, cause?: unknown): ArsenalError {
  return new ArsenalError("STORE_FAILED", message, { field: "snapshot", value: file, fix, cause });
}

function codeOf(cause: unknown): unknown {
  return cause instanceof Error && "code" in cause ? cause.code : undefined;
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
