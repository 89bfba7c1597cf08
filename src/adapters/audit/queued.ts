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
import type { ChainWriter } from "../../guard/audit/chain.ts";
import type { Clock } from "../../observe/clock.ts";

/** Records that may wait to be written. More are refused, so that a store that hangs does not fill the memory. */
const MAX_WAITING = 100_000;

/** Records written at once. */
const MAX_BATCH = 5_000;

interface Waiting extends PromiseWithResolvers<void> {
  readonly record: AuditRecord;
  /** When it was given. */
  readonly at: number;
}

/** Where the lines of a log are kept. */
export interface AuditWriter {
  readonly name: string;
  /** Adds lines at the true end of the log, all of them or none, while no other process can. Returns the new end. */
  add(lines: (chain: ChainWriter) => string): Promise<AuditHead>;
  /** Releases files and connections. */
  release(): Promise<void>;
  failure(cause: unknown): ArsenalError;
  read(options: ReadAuditOptions): AsyncIterable<KeptRecord>;
  verify(options: VerifyAuditOptions): Promise<Verification>;
}

/** An audit log that writes records in the order they were given, together if they come together. */
export function queuedAudit(writer: AuditWriter, clock: Clock): AuditLog {
  let waiting: Waiting[] = [];
  let draining: Promise<void> | undefined;
  let closing: Promise<void> | undefined;
  let signed = false;

  async function drain(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, MAX_BATCH);
      waiting = waiting.slice(MAX_BATCH);
      try {
        await writer.add(
          (chain) =>
            // Signs first, so that it is known who signs from here on, and how often.
            (signed ? "" : chain.checkpoint(clock.now())) +
            batch.map(({ record, at }) => chain.write(record, at)).join(""),
        );
        signed = true;
        for (const { resolve } of batch) resolve();
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
    try {
      if (signed) await writer.add((chain) => chain.checkpoint(clock.now()));
    } finally {
      await writer.release();
    }
  }

  return {
    name: writer.name,

    append(record) {
      if (closing !== undefined) return Promise.reject(closed());
      if (waiting.length >= MAX_WAITING)
        return Promise.reject(writer.failure(new Error("too many records wait for it")));
      const kept = Promise.withResolvers<void>();
      waiting.push({ record, at: clock.now(), ...kept });
      void startDrain();
      return kept.promise;
    },

    async head() {
      if (closing !== undefined) throw closed();
      await draining;
      return writer.add(() => "");
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
