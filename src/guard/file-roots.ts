import { constants, type Stats } from "node:fs";
import { lstat, mkdir, open, realpath, rename, rm, stat, type FileHandle } from "node:fs/promises";
import { randomUUID } from "node:crypto";
import { basename, dirname, isAbsolute, join, resolve, sep } from "node:path";
import { type ArsenalError, fixable } from "../errors/arsenal-error.ts";
import { showValue } from "../errors/show-value.ts";
import { createOwnFiles, type IsOwnFile } from "./own-files.ts";

/** Access to files in a few folders only. However a path is written, the opened file is in one of the folders. */
export interface FileRoots {
  /**
   * Reads a file; `path` is its real path. Rejects with PERMISSION_DENIED outside the folders and for the gateway's own files, and with
   * EXECUTION_FAILED if the file is missing or too long.
   */
  read(path: string, options: { readonly maxBytes: number }): Promise<{ path: string; bytes: Uint8Array }>;
  /** Replaces the whole file, or leaves it unchanged. Creates missing folders. `created` is false if the file existed. */
  write(
    path: string,
    bytes: Uint8Array,
    options: { readonly maxBytes: number },
  ): Promise<{ path: string; created: boolean }>;
}

// The last part of a path is never followed as a link, and opening a pipe does not block. Windows has neither flag.
const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;

/** Confines file access to folders. A relative path starts in the first folder. Links within the folders are followed; links out of them are not. */
export function createFileRoots(
  folders: readonly string[],
  parts: {
    readonly open?: (path: string, flags: number, mode?: number) => Promise<object>;
    /** Returns true for files in the folders to refuse. Defaults to the files of every gateway: `arsenal.yaml`, `.env`, `.toolarsenal/`. */
    readonly isOwnFile?: IsOwnFile;
  } = {},
): FileRoots {
  const { isOwnFile = createOwnFiles([]) } = parts;
  const openFile = (parts.open ?? open) as typeof open;
  const given = folders.map((folder) => resolve(folder));
  let known: Promise<readonly string[]> | undefined;
  /** The folders may be links themselves, because the operator chose their targets. */
  const roots = (): Promise<readonly string[]> => (known ??= Promise.all(given.map((folder) => realpath(folder))));

  async function check(path: string): Promise<{ readonly target: string; readonly roots: readonly string[] }> {
    const [first] = given;
    if (typeof path !== "string" || path === "" || path.includes("\0")) {
      const fix = "Give a path below the allowed folders.";
      throw fixable("ARGUMENTS_INVALID", `${showValue(path)} is not a path.`, fix, { field: "path", value: path });
    }
    // Refused before it is resolved: a/../b has another meaning if a is a link.
    if (first === undefined || path.split(/[/\\]/).includes("..")) throw outside(path);
    const whole = isAbsolute(path) ? resolve(path) : join(first, path);
    const real = await roots().catch((cause: unknown) => {
      known = undefined;
      const problem = `One of the allowed folders cannot be used: ${given.join(", ")}.`;
      throw fixable("CONFIG_INVALID", problem, "Create it, or name another one.", { field: "roots", cause });
    });
    const target = await resolveLinks(whole);
    if (!isWithin(target, real)) throw outside(path);
    if (await isOwnFile(target)) throw ownFile(path);
    return { target, roots: real };
  }

  return {
    async read(path, { maxBytes }) {
      const { target } = await check(path);
      const file = await openFile(target, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(refuse(path));
      try {
        const found = await sameFile(file, target, path);
        if (!found.isFile()) throw notFile(path);
        return { path: target, bytes: await readAtMost(file, maxBytes, path) };
      } finally {
        await file.close();
      }
    },

    async write(path, bytes, { maxBytes }) {
      if (bytes.byteLength > maxBytes) throw tooLong(path, maxBytes);
      const { target, roots: real } = await check(path);
      const before = await lstat(target).catch(() => undefined);
      // Links were resolved above, so a remaining link has no target.
      if (before !== undefined && !before.isFile()) throw notFile(path);
      const folder = dirname(target);
      if (!isWithin(folder, real)) throw outside(path);
      await makeFolders(folder, real, path);
      const draft = join(folder, `.${basename(target).slice(0, 100)}.${randomUUID()}`);
      const mode = before === undefined ? 0o644 : before.mode & 0o777;
      const file = await openFile(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode).catch(refuse(path));
      try {
        try {
          await sameFile(file, draft, path);
          await file.writeFile(bytes);
          await file.sync();
        } finally {
          await file.close();
        }
        // If the folder was replaced meanwhile, it does not contain the draft, and the rename fails.
        await rename(draft, target);
      } catch (error) {
        await rm(draft, { force: true });
        throw toFailure(error, path);
      }
      return { path: target, created: before === undefined };
    },
  };
}

/** Returns the real path of the existing part, and appends the missing part unchanged. */
async function resolveLinks(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    const { code } = error as { readonly code?: string };
    const parent = dirname(path);
    if (code !== "ENOENT" || parent === path) throw toFailure(error, path);
    return join(await resolveLinks(parent), basename(path));
  }
}

/** Creates the missing folders one by one, so that each is checked before the next is created in it. */
async function makeFolders(folder: string, roots: readonly string[], path: string): Promise<void> {
  const there = await realpath(folder).catch(() => undefined);
  if (there === undefined) {
    await makeFolders(dirname(folder), roots, path);
    await mkdir(folder).catch(refuse(path));
  }
  if ((there ?? (await realpath(folder))) !== folder || !isWithin(folder, roots)) throw outside(path);
}

/** Checks that the opened file is the one at the checked path: a link may have replaced a folder in between. */
async function sameFile(file: FileHandle, target: string, path: string): Promise<Stats> {
  const [opened, there, real] = await Promise.all([
    file.stat(),
    stat(target).catch(() => undefined),
    realpath(target).catch(() => undefined),
  ]);
  if (real !== target || opened.ino !== there?.ino || opened.dev !== there.dev) throw outside(path);
  return opened;
}

/** Reads at most one byte more than allowed. The size that the file system reports may be 0 or change. */
async function readAtMost(file: FileHandle, maxBytes: number, path: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for (let total = 0; ;) {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(Math.min(64 * 1024, maxBytes + 1 - total)));
    if (bytesRead === 0) return Buffer.concat(chunks);
    total += bytesRead;
    if (total > maxBytes) throw tooLong(path, maxBytes);
    chunks.push(buffer.subarray(0, bytesRead));
  }
}

function isWithin(path: string, roots: readonly string[]): boolean {
  return roots.some((root) => path === root || path.startsWith(root.endsWith(sep) ? root : root + sep));
}

/** Existing and missing files cause the same error, so that a caller cannot discover files outside. */
function outside(path: string): ArsenalError {
  const fix = "Use a path below the allowed folders, without '..'.";
  const problem = `${showValue(path)} is refused: it is, or leads, outside the allowed folders.`;
  return fixable("PERMISSION_DENIED", problem, fix, { field: "path", value: path });
}

/** Existing and missing files cause the same error. */
function ownFile(path: string): ArsenalError {
  const problem = `${showValue(path)} is refused: it is one of the gateway's own files (configuration, environment, policy, keys, state, audit, code).`;
  return fixable("PERMISSION_DENIED", problem, "Use another file.", { field: "path", value: path });
}

function tooLong(path: string, maxBytes: number): ArsenalError {
  return failed(`${showValue(path)} is longer than ${maxBytes} bytes`, "Use a smaller file, or raise the limit.");
}

function notFile(path: string, cause?: unknown): ArsenalError {
  return failed(`${showValue(path)} is not a file`, "Name a file.", cause);
}

function failed(what: string, fix: string, cause?: unknown): ArsenalError {
  return fixable("EXECUTION_FAILED", `${what}.`, fix, { field: "path", answered: true, cause });
}

function refuse(path: string): (error: unknown) => never {
  return (error) => {
    throw toFailure(error, path);
  };
}

function toFailure(error: unknown, path: string): unknown {
  const { code } = error as { readonly code?: string };
  switch (code) {
    // A link replaced the file after the check.
    case "ELOOP":
      return outside(path);
    case "ENOENT":
      return failed(`${showValue(path)} does not exist`, "Check the path.", error);
    case "EISDIR":
    case "ENOTDIR":
    case "ENXIO":
      return notFile(path, error);
    case "EACCES":
    case "EPERM":
      return failed(`${showValue(path)} may not be opened`, "Change its permissions, or use another file.", error);
    default:
      return error;
  }
}
