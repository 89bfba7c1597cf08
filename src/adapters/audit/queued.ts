import { ArsenalError } from "../../errors/arsenal-error.ts";
import type {
  AuditHead,
  AuditLog,
  AuditRecord,
  KeptRecord,
  ReadAuditOptions,
  Verification,
  VerifyAuditOptions,
} from "../../guard/audit.port.ts";
import type { Clock } from "../../observe/clock.ts";

/** Records that may wait to be written. More are refused, so that a store that hangs does not fill the memory. */
const MAX_WAITING = 100_000;

/** Records written at once. */
const MAX_BATCH = 5_000;

/** A record, and when it was given. */
export interface TimedRecord {
  readonly record: AuditRecord;
  readonly at: number;
}

interface Waiting extends TimedRecord {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Where the records of a log are written. `write` and `close` are called when the one before has ended. */
export interface AuditWriter {
  readonly name: string;
  /** Keeps records, all of them or none. */
  write(records: readonly TimedRecord[]): Promise<void>;
  head(): Promise<AuditHead>;
  /** Signs the end and releases what is held. */
  close(): Promise<void>;
  failure(cause: unknown): ArsenalError;
  read(options: ReadAuditOptions): AsyncIterable<KeptRecord>;
  verify(options: VerifyAuditOptions): Promise<Verification>;
}

/** An audit log that writes records in the order they were given, together if they come together. */
export function queuedAudit(writer: AuditWriter, clock: Clock): AuditLog {
  let waiting: Waiting[] = [];
  let draining: Promise<void> | undefined;
  let closing: Promise<void> | undefined;

  async function drain(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, MAX_BATCH);
      waiting = waiting.slice(MAX_BATCH);
      try {
        await writer.write(batch);
        for (const { resolve: kept } of batch) kept();
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    // In the same turn as the look at what waits: what comes from now on begins anew.
    draining = undefined;
  }

  function startDrain(): Promise<void> {
    // After this turn, so that what is recorded together is written together.
    draining ??= Promise.resolve().then(drain);
    return draining;
  }

  async function close(): Promise<void> {
    while (waiting.length > 0 || draining !== undefined) await startDrain();
    await writer.close();
  }

  return {
    name: writer.name,

    append(record) {
      if (closing !== undefined) return Promise.reject(closed());
      if (waiting.length >= MAX_WAITING)
        return Promise.reject(writer.failure(new Error("too many records wait for it")));
      return new Promise((resolve, reject) => {
        waiting.push({ record, at: clock.now(), resolve, reject });
        void startDrain();
      });
    },

    async head() {
      if (closing !== undefined) throw closed();
      await draining;
      return writer.head();
    },

    async read(options = {}) {
      await draining;
      return writer.read(options);
    },

    async verify(options = {}) {
      await draining;
      return writer.verify(options);
    },

    close() {
      closing ??= close();
      return closing;
    },
  };
}

function closed(): ArsenalError {
  return new ArsenalError("CLOSED", "This audit log was closed and takes no more records.");
}
