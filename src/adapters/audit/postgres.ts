import { type Filled, object, text } from "../settings.ts";
import { ArsenalError, isArsenalError } from "../../errors/arsenal-error.ts";
import { createChainWriter, EMPTY_LOG, readLine } from "../../guard/audit/chain.ts";
import type { AuditKey } from "../../guard/audit/key.ts";
import { type AuditLine, boundedLines, verifyLines } from "../../guard/audit/verifier.ts";
import type { AuditHead, AuditLog, KeptRecord, ReadAuditOptions, Verification } from "../../guard/audit.port.ts";
import { type Clock, systemClock } from "../../observe/clock.ts";
import type { PostgresClient } from "../postgres/client.ts";
import { filledUrl } from "../postgres/filled-url.ts";
import { migrate, SCHEMA } from "../postgres/migrate.ts";
import { openPostgres, type Postgres, quoted } from "../postgres/postgres.ts";
import type { Surroundings } from "../surroundings.ts";
import { readKeyFile } from "./file/key-file.ts";
import type { config as fileConfig } from "./file/file.ts";
import { type AuditWriter, queuedAudit } from "./queued.ts";

export interface PostgresAuditOptions {
  /** `postgres://user:password@host:5432/database`, or what looks it up whenever it is needed. */
  readonly url: string | (() => Promise<string>);
  /** The schema the table is in. It is created. Defaults to `toolarsenal`. */
  readonly schema?: string;
  /** A pool of the package pg, or PGlite, to use instead of connecting to `url`. It is yours to close. */
  readonly client?: PostgresClient;
  /** Signs checkpoints; a function is called when the log is first written. The same in every process. Nothing is signed if omitted. */
  readonly key?: AuditKey | (() => Promise<AuditKey>);
  /** Records from one checkpoint to the next. Defaults to 1,000. */
  readonly checkpointEvery?: number;
  readonly clock?: Clock;
}

/** How long a batch may take, in milliseconds, waiting for other processes included. */
const PATIENCE_MS = 15_000;

/** How long the server waits for a process that holds the end of the log and says nothing. */
const SILENCE = "5s";

/** Lines read at once. */
const PAGE = 1_000;

/** A log in a table. @internal */
export interface AuditTable {
  /** Every line, oldest first. */
  lines(): AsyncGenerator<AuditLine>;
  /** The last lines, oldest first. */
  last(count: number): Promise<readonly string[]>;
  close(): Promise<void>;
}

/** Keeps the audit log in a PostgreSQL table, which any number of processes write together: one chain, one record after the other. */
export function postgresAudit(options: PostgresAuditOptions): AuditLog {
  const { key, checkpointEvery, schema = SCHEMA, clock = systemClock } = options;
  const { postgres, table, ready } = open(options);
  const rows = rowsOf({ postgres, table, ready });
  let parts: ReturnType<typeof prepare> | undefined;
  /** The last end this process knows of. */
  let known: AuditHead | undefined;
  let signed = false;

  async function prepare(): Promise<ReturnType<typeof createChainWriter>> {
    const given = typeof key === "function" ? await key() : key;
    await ready();
    return createChainWriter({ key: given, every: checkpointEvery });
  }

  /** Adds lines at the log's true end, while no other process can. */
  async function add(lines: (chain: ReturnType<typeof createChainWriter>) => string): Promise<AuditHead> {
    try {
      parts ??= prepare();
      const chain = await parts.catch((error: unknown) => {
        parts = undefined;
        throw error;
      });
      const head = await postgres.transaction(
        async (query) => {
          const found = await lockedEnd(query);
          chain.moveTo(found);
          const lost = known !== undefined && !reaches(found, known) ? chain.write(rewound(known), clock.now()) : "";
          const added = (lost + lines(chain)).split("\n").slice(0, -1);
          if (added.length > 0)
            await query(
              `INSERT INTO ${table} (seq, line) SELECT $1 + n, line FROM unnest($2::text[]) WITH ORDINALITY AS added (line, n)`,
              [found.seq, added],
            );
          return chain.head;
        },
        { signal: AbortSignal.timeout(PATIENCE_MS) },
      );
      known = head;
      return head;
    } catch (error) {
      throw failure(error);
    }
  }

  /** Takes the lock, which ends with the transaction, and reads where the log ends. Whatever the server's default, a commit waits for its disk. */
  async function lockedEnd(query: Postgres["query"]): Promise<AuditHead> {
    const [row] = await query<{ seq: number | string; line: string }>(`
      SET LOCAL synchronous_commit = on;
      SET LOCAL idle_in_transaction_session_timeout = '${SILENCE}';
      SELECT pg_advisory_xact_lock(hashtextextended('${schema.replaceAll("'", "''")}:audit', 0));
      SELECT seq, line FROM ${table} ORDER BY seq DESC LIMIT 1`);
    if (row === undefined) return EMPTY_LOG;
    const read = readLine(Buffer.from(row.line));
    if (read?.intact === true && read.record.seq === Number(row.seq)) return { seq: read.record.seq, hash: read.hash };
    const fix = `Look at it with: toolarsenal audit verify. Then rename ${table} to begin a new log.`;
    throw new ArsenalError("STORE_FAILED", `The audit log ${table} was changed or damaged at its end. ${fix}`, { fix });
  }

  const writer: AuditWriter = {
    name: "postgres",
    async write(records) {
      await add(
        (chain) =>
          // The first time, so that it is known who signs from here on, and how often.
          (signed ? "" : chain.checkpoint(clock.now())) +
          records.map(({ record, at }) => chain.write(record, at)).join(""),
      );
      signed = true;
    },
    head: () => add(() => ""),
    async close() {
      try {
        if (signed) await add((chain) => chain.checkpoint(clock.now()));
      } finally {
        await postgres.close();
      }
    },
    failure,
    read: (given) => recordsOf(rows, given),
    async verify({ head, signal }) {
      const given = typeof key === "function" ? await key() : key;
      const lines = boundedLines(rows.lines(), { signal });
      const { ok, ...found } = await verifyLines(lines, { ...(head && { head }), ...(given && { keys: [given] }) });
      return { ok, ...found } as Verification;
    },
  };
  return queuedAudit(writer, clock);
}

/** Reads a log that others may be writing. @internal */
export function postgresAuditTable(options: Pick<PostgresAuditOptions, "url" | "schema" | "client">): AuditTable {
  const { postgres, table, ready } = open(options);
  return {
    lines: rowsOf({ postgres, table, ready }).lines,
    async last(count) {
      await ready();
      const sql = `SELECT line FROM (SELECT seq, line FROM ${table} ORDER BY seq DESC LIMIT $1) AS last ORDER BY seq`;
      return (await postgres.query<{ line: string }>(sql, [count])).map(({ line }) => line);
    },
    close: () => postgres.close(),
  };
}

/** The lines of a table, a page at a time. */
interface Rows {
  /** Oldest first. */
  lines(): AsyncGenerator<AuditLine>;
  /** Newest first. */
  linesBefore(seq: number): AsyncGenerator<string>;
}

function rowsOf({ postgres, table, ready }: ReturnType<typeof open>): Rows {
  const page = (order: string, seq: number): Promise<readonly { seq: number | string; line: string }[]> =>
    postgres.query(`SELECT seq, line FROM ${table} WHERE seq ${order} LIMIT ${PAGE}`, [seq]);
  return {
    async *lines() {
      await ready();
      for (let seq = 0; ;) {
        const rows = await page("> $1 ORDER BY seq", seq);
        for (const { line } of rows) yield { bytes: Buffer.from(line), whole: true };
        if (rows.length < PAGE) return;
        seq = Number(rows.at(-1)?.seq);
      }
    },
    async *linesBefore(before) {
      await ready();
      for (let seq = before; ;) {
        const rows = await page("< $1 ORDER BY seq DESC", seq);
        for (const { line } of rows) yield line;
        if (rows.length < PAGE) return;
        seq = Number(rows.at(-1)?.seq);
      }
    },
  };
}

async function* recordsOf(
  rows: Rows,
  { before = Number.MAX_SAFE_INTEGER, signal }: ReadAuditOptions,
): AsyncGenerator<KeptRecord> {
  for await (const line of rows.linesBefore(before)) {
    signal?.throwIfAborted();
    const read = readLine(Buffer.from(line));
    if (read !== undefined) yield read.record;
  }
}

function open({ url, schema = SCHEMA, client }: Pick<PostgresAuditOptions, "url" | "schema" | "client">): {
  readonly postgres: Postgres;
  /** The table as SQL writes it. */
  readonly table: string;
  ready(): Promise<void>;
} {
  const postgres = openPostgres({ url, ...(client && { client }), what: "The audit log", field: "audit.url" });
  const table = `${quoted(schema)}.audit_record`;
  const steps = [`CREATE TABLE ${table} (seq bigint PRIMARY KEY, line text NOT NULL)`];
  return { postgres, table, ready: () => migrate(postgres, { name: "audit", schema, steps }) };
}

/** Whether the end that was found can follow the one that was known. */
function reaches(found: AuditHead, before: AuditHead): boolean {
  return found.seq > before.seq || (found.seq === before.seq && found.hash === before.hash);
}

function rewound({ seq, hash }: AuditHead): object {
  return { kind: "rewound", knownSeq: seq, knownHash: hash };
}

function failure(cause: unknown): ArsenalError {
  if (isArsenalError(cause) && cause.code !== "STORE_FAILED") return cause;
  const details = isArsenalError(cause) ? cause.details : {};
  const message = cause instanceof Error ? cause.message : String(cause);
  return new ArsenalError("AUDIT_FAILED", `The record was not kept: ${message}`, { ...details, cause });
}

export const config = object("A PostgreSQL table.", {
  url: text("For postgres: the address of the database. A password inside it is best a reference."),
  schema: text("For postgres: the schema the table is in. It is created. Defaults to toolarsenal."),
});

export const needs = { url: "Write postgres://USER@HOST:5432/DATABASE." };

type Settings = Filled<typeof config> & Pick<Filled<typeof fileConfig>, "keyFile" | "checkpointEvery">;

export function create(
  settings: Settings,
  surroundings: Surroundings & { readonly key?: PostgresAuditOptions["key"] },
): AuditLog {
  const { keyFile = "", checkpointEvery } = settings;
  const { clock, key = () => existingKey(keyFile) } = surroundings;
  return postgresAudit({ ...placeOf(settings, surroundings), key, checkpointEvery, clock });
}

/** Opens the configured log to read it. @internal */
export function openTable(settings: Settings, surroundings: Pick<Surroundings, "secrets">): AuditTable {
  return postgresAuditTable(placeOf(settings, surroundings));
}

/** Connects as the arsenal will, and reads the end of the log. */
export async function check(settings: Settings, surroundings: Surroundings): Promise<string> {
  const log = create(settings, surroundings);
  try {
    const { seq } = await log.head();
    return `keeps ${seq} records in PostgreSQL, schema ${settings.schema ?? SCHEMA}`;
  } finally {
    await log.close();
  }
}

function placeOf(
  { url = "", schema }: Settings,
  { secrets }: Pick<Surroundings, "secrets">,
): Pick<PostgresAuditOptions, "url" | "schema"> {
  const use = { scope: "audit", field: "audit.url" };
  return { url: () => filledUrl(url, secrets, use), ...(schema !== undefined && { schema }) };
}

/** Is never made here: every process must sign with the same key. */
async function existingKey(file: string): Promise<AuditKey> {
  const key = await readKeyFile(file);
  if (key?.sign !== undefined) return key;
  const fix = `Make one for all processes: openssl genpkey -algorithm ed25519 -out ${file} && chmod 600 ${file}`;
  throw new ArsenalError("CONFIG_INVALID", `There is no private key that signs the audit log at ${file}. ${fix}`, {
    field: "audit.key_file",
    value: file,
    fix,
  });
}
