import { choice, type Filled, object, path, text, whole } from "../../../tool/shape/shape.ts";
import { dirname, resolve } from "node:path";
import { type ArsenalError, fixable, isArsenalError } from "../../../errors/arsenal-error.ts";
import { messageOf } from "../../../errors/show-value.ts";
import { type ChainWriter, createChainWriter } from "../../../guard/audit/chain.ts";
import type { AuditKey } from "../../../guard/audit/key.ts";
import { oldRecords, pruneLines, toPruned } from "../../../guard/audit/prune.ts";
import {
  abortableLines,
  createVerifier,
  type FileVerification,
  linesOfFiles,
  verifyLines,
} from "../../../guard/audit/verifier.ts";
import type { AuditHead, AuditLog, Verification } from "../../../guard/audit.port.ts";
import { type Clock, systemClock } from "../../../observe/clock.ts";
import { type AuditWriter, queuedAudit } from "../queued.ts";
import { openKeyFile } from "./key-file.ts";
import { readBackward } from "./read-back.ts";
import { auditFiles, createSegmentWriter } from "./segment-writer.ts";
import { chmodSync, closeSync, openSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { loadSqlite, SQLITE_BUSY } from "../../sqlite/open-sqlite.ts";
import { createTurns } from "../../../base/turns/in-order.ts";
import { makeFolderSync } from "../../../system/make-folder.ts";

export interface FileAuditOptions {
  /** The file's folder is created. Only this user can read it. */
  readonly file: string;
  /** The key that signs checkpoints. A function is called when the log is opened. Defaults to the key in `keyFile`. */
  readonly key?: AuditKey | (() => Promise<AuditKey>);
  /** The file of an Ed25519 key, created on first use. Defaults to the log's name with `.key` appended. */
  readonly keyFile?: string;
  /** The number of records between two checkpoints. Defaults to 1,000. */
  readonly checkpointEvery?: number;
  /**
   * `batch`: a stored record survives a power failure. Records that need to survive only a crash of the process reach the disk within about 100 ms.
   * `close`: a stored record survives a crash of the process. Defaults to `batch`.
   */
  readonly fsync?: "batch" | "close";
  /** At this size, in bytes, the file is renamed and a new one is started. Defaults to 64 MiB. */
  readonly maxFileBytes?: number;
  readonly clock?: Clock;
}

const MAX_FILE_BYTES = 64 * 1024 * 1024;

/** Keeps the audit log in a file of JSON lines. Any number of processes on this machine may write it. */
export function fileAudit(options: FileAuditOptions): AuditLog {
  const { clock = systemClock, checkpointEvery, fsync = "batch", maxFileBytes = MAX_FILE_BYTES } = options;
  const file = resolve(options.file);
  const lock = createFileLock(`${file}.lock`, clock);
  let parts: ReturnType<typeof open> | undefined;

  async function open() {
    const given = typeof options.key === "function" ? await options.key() : options.key;
    const key = given ?? (await openKeyFile(options.keyFile ?? `${file}.key`));
    const chain = createChainWriter({ key, every: checkpointEvery });
    return { key, chain, segments: createSegmentWriter({ file, chain, maxFileBytes }) };
  }

  function opened(): ReturnType<typeof open> {
    parts ??= open();
    return parts.catch((error: unknown) => {
      parts = undefined;
      throw error;
    });
  }

  async function add(lines: (chain: ChainWriter) => string): Promise<AuditHead> {
    try {
      const { chain, segments } = await opened();
      return await lock.hold(async () => {
        await segments.catchUp(clock.now());
        await segments.add(() => lines(chain));
        return chain.head;
      });
    } catch (error) {
      throw isArsenalError(error) ? error : failure(file, error);
    }
  }

  async function sync(): Promise<void> {
    try {
      await (await parts)?.segments.sync();
    } catch (error) {
      throw failure(file, error);
    }
  }

  const writer: AuditWriter = {
    name: "file",
    add,
    ...(fsync === "batch" && { sync }),
    async release() {
      const last = await parts?.catch(() => undefined);
      await last?.segments.close();
      lock.close();
    },
    failure: (cause) => failure(file, cause),
    read: (given) => readBackward(file, given),
    async verify({ head, signal }) {
      const { key } = await opened();
      // Later records are not verified, because they may be incomplete. A log with a damaged end has no such point.
      const upTo = await add(() => "").then(
        ({ seq }) => seq,
        () => Number.POSITIVE_INFINITY,
      );
      if (upTo === 0) return createVerifier(head ? { head } : {}).end();
      for (;;) {
        const files = await auditFiles(file);
        const lines = abortableLines(linesOfFiles(files), signal);
        const found = await verifyLines(lines, { keys: [key], upTo, ...(head && { head }) });
        // A file that was renamed or pruned before it was opened looks like a missing file.
        if (found.ok || files.join("\n") === (await auditFiles(file)).join("\n")) return withoutPlace(found);
      }
    },
    async prune(given) {
      const old = await oldRecords(linesOfFiles(await auditFiles(file)), given.before);
      if (given.dryRun === true || old.records === 0) return toPruned(old);
      try {
        const { chain, segments } = await opened();
        await lock.hold(async () => {
          await segments.catchUp(clock.now());
          await segments.add(() => pruneLines(chain, old, given, clock.now()));
          await segments.sync();
          await segments.removeThrough(old.last.seq);
        });
        return toPruned(old);
      } catch (error) {
        throw isArsenalError(error) ? error : failure(file, error);
      }
    },
  };
  return queuedAudit(writer, clock);
}

/** Removes paths of this machine. The reader may be on another one, and must not learn them. */
function withoutPlace(found: FileVerification): Verification {
  if (found.ok) return found;
  const { ok, seq, reason } = found;
  return { ok, seq, reason };
}

function failure(file: string, cause: unknown): ArsenalError {
  const problem = `The audit log ${file} cannot be written: ${messageOf(cause)}.`;
  const fix = "Check that the folder is writable and has free space.";
  return fixable("AUDIT_FAILED", problem, fix, { field: "audit.file", value: file, cause });
}

export const config = object("A hash-chained log file.", {
  file: path("The file of the audit log. If omitted, nothing is recorded."),
  keyFile: path(
    "File with the Ed25519 key that signs the log. It is created on first use. Defaults to the path of the log with .key appended.",
  ),
  secret: text("Secret that signs the log instead of a key, at least 32 characters. Write it as env:NAME."),
  checkpointEvery: whole("Number of records between two signed checkpoints.", 1, 1_000_000, 1_000),
  fsync: choice(
    "When records are flushed to disk. batch: with each batch, so stored records survive a power failure; close: when the log is closed, so stored records survive a crash of the process only.",
    ["batch", "close"],
    "batch",
  ),
  maxFileBytes: whole(
    "Size of a file at which a new file is started, in bytes.",
    1_024,
    Number.MAX_SAFE_INTEGER,
    67_108_864,
  ),
});

export const needs = { file: "Set it to the path of the log file." };

export function create(
  { file = "", keyFile, checkpointEvery, fsync, maxFileBytes }: Filled<typeof config>,
  { clock, key }: Required<Pick<FileAuditOptions, "clock">> & Pick<FileAuditOptions, "key">,
): AuditLog {
  const given = { ...(keyFile !== undefined && { keyFile }), ...(key !== undefined && { key }) };
  return fileAudit({ file, checkpointEvery, fsync, maxFileBytes, clock, ...given });
}

const POLL_MS = 5;
const PATIENCE_MS = 10_000;

/** Creates a lock that the system releases if the process dies: SQLite's lock on an empty database. A plain lock file would outlive a crash. */
function createFileLock(file: string, clock: Clock) {
  let database: DatabaseSync | undefined;
  /** SQLite's lock separates processes, but not callers within a process. */
  const turns = createTurns();

  function open(): DatabaseSync {
    makeFolderSync(dirname(file), 0o700);
    closeSync(openSync(file, "a", 0o600));
    chmodSync(file, 0o600);
    const { DatabaseSync } = loadSqlite();
    const opened = new DatabaseSync(file, { timeout: 0 });
    try {
      // With a journal on disk, each lock creates and removes a file, which takes six times as long.
      opened.exec("PRAGMA journal_mode = MEMORY");
      return opened;
    } catch (error) {
      opened.close();
      throw error;
    }
  }

  function tryLock(): boolean {
    try {
      database ??= open();
      database.exec("BEGIN IMMEDIATE");
      return true;
    } catch (error) {
      if (error instanceof Error && "errcode" in error && Number(error.errcode) === SQLITE_BUSY) return false;
      throw error;
    }
  }

  async function acquire(): Promise<void> {
    for (let waited = 0; !tryLock(); waited += POLL_MS) {
      if (waited >= PATIENCE_MS)
        throw fixable("STORE_FAILED", `Another process has locked ${file} for too long.`, "End that process.");
      await new Promise<void>((done) => void clock.after(POLL_MS, done));
    }
  }

  return {
    /** Runs work while no other process holds the lock. */
    hold: <Value>(work: () => Promise<Value>) =>
      turns.take(async () => {
        await acquire();
        try {
          return await work();
        } finally {
          database?.exec("ROLLBACK");
        }
      }),
    close(): void {
      database?.close();
      database = undefined;
    },
  };
}
