import { ArsenalError } from "../../errors/arsenal-error.ts";
import type {
  AppendOptions,
  AuditHead,
  AuditLog,
  AuditRecord,
  KeptRecord,
  PruneAuditOptions,
  PrunedAudit,
  ReadAuditOptions,
  Verification,
  VerifyAuditOptions,
} from "../../guard/audit.port.ts";
import type { ChainWriter } from "../../guard/audit/chain.ts";
import { requireIntact } from "../../guard/audit/prune.ts";
import type { Clock } from "../../observe/clock.ts";

/** The most records that may wait to be written, and their bytes. Further records are refused, so a hanging store does not fill the memory. */
const MAX_WAITING = { records: 100_000, bytes: 64 * 1024 * 1024 };

/** The most records of one write, and their bytes. Hashing them takes a few milliseconds. */
const MAX_BATCH = { records: 1_000, bytes: 4 * 1024 * 1024 };

/** The assumed size of a record without the values of its arguments. */
const SMALL_RECORD_BYTES = 1_024;

/** How long records without a waiting caller may stay in the operating system's memory, in milliseconds. */
const LAZY_SYNC_MS = 100;

interface QueuedRecord extends PromiseWithResolvers<void> {
  readonly record: AuditRecord;
  readonly survives: Required<AppendOptions>["survives"];
  readonly bytes: number;
  /** The time of the append call. */
  readonly at: number;
}

export interface AuditWriter {
  readonly name: string;
  /**
   * Appends lines at the actual end of the log, atomically and exclusively. Returns the new end. When it resolves, the lines survive a crash of this
   * process.
   */
  add(lines: (chain: ChainWriter) => string): Promise<AuditHead>;
  /** Makes all appended lines survive a power failure. Omitted if `add` already does, or if the log does not promise it. */
  sync?(): Promise<void>;
  release(): Promise<void>;
  failure(cause: unknown): ArsenalError;
  read(options: ReadAuditOptions): AsyncIterable<KeptRecord>;
  verify(options: VerifyAuditOptions): Promise<Verification>;
  /** Removes old records of a verified log, as in `AuditLog`. */
  prune(options: PruneAuditOptions): Promise<PrunedAudit>;
}

/** Creates an audit log that writes records in order, and batches records that arrive together. */
export function queuedAudit(writer: AuditWriter, clock: Clock): AuditLog {
  let waiting: QueuedRecord[] = [];
  let waitingBytes = 0;
  let draining: Promise<void> | undefined;
  let closing: Promise<void> | undefined;
  let signed = false;
  const syncs = createSyncs(writer, clock);
  /** Reads in progress. Closing waits for them, because they would open the files again. */
  const reading = new Set<Promise<unknown>>();

  async function read<Value>(one: () => Promise<Value>): Promise<Value> {
    const found = Promise.resolve(draining).then(one);
    reading.add(found);
    try {
      return await found;
    } finally {
      reading.delete(found);
    }
  }

  function nextBatch(): readonly QueuedRecord[] {
    let bytes = 0;
    let count = 0;
    while (count < Math.min(waiting.length, MAX_BATCH.records) && bytes < MAX_BATCH.bytes)
      bytes += waiting[count++]?.bytes ?? 0;
    const batch = waiting.slice(0, count);
    waiting = waiting.slice(count);
    waitingBytes -= bytes;
    return batch;
  }

  async function drain(): Promise<void> {
    while (waiting.length > 0) {
      const batch = nextBatch();
      try {
        syncs.throwIfFailed();
        await writer.add(
          (chain) =>
            // Signs first. The signature records the signing key and the checkpoint interval from here on.
            (signed ? "" : chain.checkpoint(clock.now())) +
            batch.map(({ record, at }) => chain.write(record, at)).join(""),
        );
        signed = true;
        settle(batch);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    // Reset in the same turn as the check of the queue, so later records start a new batch.
    draining = undefined;
  }

  /** Resolves the records of an appended batch, each as soon as it is durable enough. Does not delay the next batch. */
  function settle(batch: readonly QueuedRecord[]): void {
    const isSafe = ({ survives }: QueuedRecord): boolean => writer.sync === undefined || survives === "crash";
    for (const each of batch) if (isSafe(each)) each.resolve();
    const unsafe = batch.filter((each) => !isSafe(each));
    if (unsafe.length === 0) return syncs.later();
    syncs.now().then(
      () => unsafe.forEach(({ resolve }) => resolve()),
      (error: unknown) => unsafe.forEach(({ reject }) => reject(error)),
    );
  }

  function startDrain(): Promise<void> {
    // Runs after this turn of the event loop, so concurrent records are written together.
    draining ??= Promise.resolve().then(drain);
    return draining;
  }

  async function close(): Promise<void> {
    while (waiting.length > 0 || draining !== undefined) await startDrain();
    await Promise.allSettled(reading);
    await syncs.close();
    try {
      if (signed) await writer.add((chain) => chain.checkpoint(clock.now()));
    } finally {
      await writer.release();
    }
  }

  return {
    name: writer.name,

    append(record, { survives = "everything" } = {}) {
      if (closing !== undefined) return Promise.reject(closed());
      const bytes = bytesOf(record);
      if (waiting.length >= MAX_WAITING.records || waitingBytes + bytes > MAX_WAITING.bytes)
        return Promise.reject(writer.failure(new Error("too many records are waiting to be written")));
      const kept = Promise.withResolvers<void>();
      waiting.push({ record, survives, bytes, at: clock.now(), ...kept });
      waitingBytes += bytes;
      void startDrain();
      return kept.promise;
    },

    async head() {
      if (closing !== undefined) throw closed();
      return read(() => writer.add(() => ""));
    },

    async read(options = {}) {
      await draining;
      return writer.read(options);
    },

    verify: (options = {}) => read(() => writer.verify(options)),

    async prune(options) {
      if (closing !== undefined) throw closed();
      await draining;
      requireIntact(await writer.verify({}));
      return writer.prune(options);
    },

    close() {
      closing ??= close();
      return closing;
    },
  };
}

/** Calls a writer's `sync`, one call at a time. Each call covers everything that was appended before it began. */
function createSyncs(writer: AuditWriter, clock: Clock) {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  let cancelLater: (() => void) | undefined;
  let failure: { readonly error: unknown } | undefined;

  async function start(): Promise<void> {
    await running?.catch(() => {});
    running = next;
    next = undefined;
    cancelLater?.();
    cancelLater = undefined;
    await writer.sync?.();
  }

  /** Resolves when everything appended so far is durable. */
  function now(): Promise<void> {
    next ??= start();
    return next;
  }

  return {
    now,
    /** Schedules a sync for records without a waiting caller. */
    later(): void {
      if (writer.sync === undefined || next !== undefined) return;
      cancelLater ??= clock.after(LAZY_SYNC_MS, () => void now().catch((error: unknown) => (failure = { error })), {
        background: true,
      });
    },
    /** Throws once if a sync without a waiting caller failed. */
    throwIfFailed(): void {
      const failed = failure;
      failure = undefined;
      if (failed !== undefined) throw failed.error;
    },
    /** Waits for the sync in progress. Releasing the writer syncs the rest. */
    async close(): Promise<void> {
      cancelLater?.();
      await Promise.allSettled([running, next]);
    },
  };
}

/** Returns the approximate size of a record. Only the values of arguments are large, because shapes are limited. */
function bytesOf(record: AuditRecord): number {
  if (record.kind !== "call" || record.arguments === undefined || !("value" in record.arguments))
    return SMALL_RECORD_BYTES;
  return SMALL_RECORD_BYTES + JSON.stringify(record.arguments.value).length;
}

function closed(): ArsenalError {
  return new ArsenalError("CLOSED", "This audit log was closed and accepts no more records.");
}
