import { createHash, randomUUID } from "node:crypto";
import { constants, type FileHandle, copyFile, link, open, readdir, readFile, rename, rm } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import { type ArsenalError, fixable } from "../../errors/arsenal-error.ts";
import { messageOf } from "../../errors/show-value.ts";
import { makeFolder } from "../../system/make-folder.ts";
import { isRunning } from "../../system/process-table.ts";
import { syncFolder } from "../../system/replace-file.ts";

export type SnapshotFile = ReturnType<typeof snapshotFile>;

export interface SnapshotLines {
  readonly bytes: Buffer;
  readonly checksum: string;
  /** Describes the recovery if the file was damaged. */
  readonly restored?: string;
}

/** Writes a new version of a file next to it, then renames it. On failure, the old version stays unchanged. */
export type ReplaceFile = (
  file: string,
  write: (append: (bytes: Uint8Array) => Promise<void>, handle: FileHandle) => Promise<void>,
) => Promise<void>;

const FORMAT = 1;
const MARK = `toolarsenal-snapshot ${FORMAT}`;
const HEADER = new RegExp(`^${MARK} sha256:([0-9a-f]{64})\n`);
const HEADER_LENGTH = MARK.length + " sha256:".length + 64 + 1;
const NEWER = /^toolarsenal-snapshot (\d+) sha256:/;
const LINES_A_WRITE = 1000;

/** Keeps lines of text in one file that is always complete. The previous version is kept as `.bak`. */
export function snapshotFile(path: string) {
  const file = resolve(path);
  const backup = `${file}.bak`;
  const folder = dirname(file);

  async function readLines(from: string): Promise<SnapshotLines | "missing" | "damaged"> {
    let bytes: Buffer;
    try {
      bytes = await readFile(from);
    } catch (cause) {
      if (codeOf(cause) === "ENOENT") return "missing";
      throw failure(`Cannot read the snapshot ${from}: ${messageOf(cause)}.`, from, "Make the file readable.", cause);
    }
    const header = bytes.subarray(0, HEADER_LENGTH).toString("latin1");
    const format = Number(NEWER.exec(header)?.[1] ?? FORMAT);
    // The digit of the format may be damaged. In that case there is a backup in a supported format.
    if (format > FORMAT && (from === backup || typeof (await readLines(backup)) === "string")) {
      const problem = `The snapshot ${from} has format ${format}, and this version of toolarsenal reads format ${FORMAT}. Nothing was changed.`;
      throw failure(problem, from, "Upgrade toolarsenal, or set another file.");
    }
    const checksum = HEADER.exec(header)?.[1];
    const lines = bytes.subarray(HEADER_LENGTH);
    if (checksum === undefined || createHash("sha256").update(lines).digest("hex") !== checksum) return "damaged";
    return { bytes: lines, checksum };
  }

  /** Copies the damaged file, then replaces it by the backup. The file always exists. Returns the name of the copy. */
  async function restoreBackup(): Promise<string> {
    let aside = "";
    for (let number = 1; ; number++) {
      try {
        aside = `${file}.corrupt-${number}`;
        await copyFile(file, aside, constants.COPYFILE_EXCL);
        break;
      } catch (cause) {
        if (codeOf(cause) !== "EEXIST") throw cause;
      }
    }
    await replace(file, async (append) => append(await readFile(backup)));
    return aside;
  }

  function temporaryName(): string {
    return `${file}.${process.pid}-${randomUUID().slice(0, 8)}.tmp`;
  }

  async function removeLeftovers(): Promise<void> {
    const start = `${basename(file)}.`;
    for (const name of await readdir(folder)) {
      if (!name.startsWith(start)) continue;
      const writer = /^(\d+)-[0-9a-f]{8}\.tmp$/.exec(name.slice(start.length))?.[1];
      if (writer !== undefined && !isRunning(Number(writer))) await rm(resolve(folder, name), { force: true });
    }
  }

  async function keepBackup(): Promise<void> {
    const temporary = temporaryName();
    try {
      // A hard link is fast, but some file systems do not support it.
      await link(file, temporary).catch((cause: unknown) => {
        if (codeOf(cause) === "ENOENT") throw cause;
        return copyFile(file, temporary);
      });
      await rename(temporary, backup);
    } catch (cause) {
      if (codeOf(cause) !== "ENOENT") throw cause;
    }
    // Renaming a file to another hard link of itself leaves both names.
    await rm(temporary, { force: true });
  }

  async function replace(
    target: string,
    write: Parameters<ReplaceFile>[1],
    before: () => Promise<void> = async () => {},
  ): Promise<void> {
    const temporary = temporaryName();
    try {
      const handle = await open(temporary, "wx");
      try {
        await write((bytes) => handle.appendFile(bytes), handle);
        await handle.sync();
      } finally {
        await handle.close();
      }
      await before();
      await rename(temporary, target);
      await syncFolder(folder);
    } catch (cause) {
      await rm(temporary, { force: true }).catch(() => {});
      const fix = "Check that its folder exists, is writable and has free space.";
      const problem = `Cannot write the snapshot ${target}: ${messageOf(cause)}. The previous version is intact.`;
      throw failure(problem, target, fix, cause);
    }
  }

  return {
    path: file,
    replace: ((target, write) => replace(target, write)) satisfies ReplaceFile,

    /** Returns the last valid lines; undefined for a new snapshot. A damaged file is kept as `.corrupt-1`, `-2` …, and replaced by the backup. */
    async read(): Promise<SnapshotLines | undefined> {
      try {
        await makeFolder(folder);
        await removeLeftovers();
      } catch (cause) {
        const problem = `Cannot use the folder of the snapshot ${file}: ${messageOf(cause)}.`;
        throw failure(problem, file, "Choose a writable folder.", cause);
      }
      const lines = await readLines(file);
      if (lines === "missing") return undefined;
      if (lines !== "damaged") return lines;
      const kept = await readLines(backup);
      if (kept === "missing" || kept === "damaged") {
        const fix = `Move ${file} away to start without it, or restore it from a copy.`;
        const also = kept === "damaged" ? `, and so is ${backup}` : ", and it has no backup";
        throw failure(`The snapshot ${file} is damaged or not a snapshot${also}.`, file, fix);
      }
      const aside = await restoreBackup();
      const restored = `The snapshot ${file} was damaged. The previous version was restored, and the damaged file was kept as ${aside}. Check the disk, then delete that file.`;
      return { ...kept, restored };
    },

    /** Replaces all lines, each including its newline. Returns their checksum. */
    async write(lines: readonly Uint8Array[]): Promise<string> {
      let checksum = "";
      await replace(
        file,
        async (append, handle) => {
          const hash = createHash("sha256");
          await append(Buffer.alloc(HEADER_LENGTH));
          for (let start = 0; start < lines.length; start += LINES_A_WRITE) {
            const bytes = Buffer.concat(lines.slice(start, start + LINES_A_WRITE));
            hash.update(bytes);
            await append(bytes);
          }
          checksum = hash.digest("hex");
          await handle.write(`${MARK} sha256:${checksum}\n`, 0);
        },
        keepBackup,
      );
      return checksum;
    },
  };
}

function failure(problem: string, file: string, fix: string, cause?: unknown): ArsenalError {
  return fixable("STORE_FAILED", problem, fix, { field: "snapshot", value: file, cause });
}

export function codeOf(cause: unknown): unknown {
  return cause instanceof Error && "code" in cause ? cause.code : undefined;
}
