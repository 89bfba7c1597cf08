import { type Filled, object, text } from "../../tool/shape/shape.ts";
import { ArsenalError, fixable, isArsenalError } from "../../errors/arsenal-error.ts";
import { messageOf } from "../../errors/show-value.ts";
import { type ChainWriter, createChainWriter, EMPTY_LOG, readLine, rewound } from "../../guard/audit/chain.ts";
import type { AuditKey } from "../../guard/audit/key.ts";
import { oldRecords, pruneLines, toPruned } from "../../guard/audit/prune.ts";
import { type AuditLine, abortableLines, verifyLines } from "../../guard/audit/verifier.ts";
import type { AuditHead, AuditLog, Verification } from "../../guard/audit.port.ts";
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
  /** `postgres://user:password@host:5432/database`, or a function that returns the URL for each connection. */
  readonly url: string | (() => Promise<string>);
  /** The schema of the table, which is created. Defaults to `toolarsenal`. */
  readonly schema?: string;
  /** A pool of the package pg, or PGlite, instead of connecting to `url`. The caller closes it. */
  readonly client?: PostgresClient;
  /** The key that signs checkpoints, the same in every process. A function is called on the first write. If omitted, there are no signatures. */
  readonly key?: AuditKey | (() => Promise<AuditKey>);
  /** The number of records between two checkpoints. Defaults to 1,000. */
  readonly checkpointEvery?: number;
  readonly clock?: Clock;
}

/** The time limit of a batch, in milliseconds, including the wait for other processes. */
const PATIENCE_MS = 15_000;

/** How long the server waits for a silent process that holds the lock on the log's end. */
const SILENCE = "5s";

const PAGE = 1_000;

/** Keeps the audit log in a PostgreSQL table that any number of processes may write. All records form one chain. */
export function postgresAudit(options: PostgresAuditOptions): AuditLog {
  const { key, checkpointEvery, schema = SCHEMA, clock = systemClock } = options;
  const opened = open(options);
  const { postgres, table, ready } = opened;
  let parts: ReturnType<typeof prepare> | undefined;
  /** The last end that this process has read or written. */
  let known: AuditHead | undefined;

  async function prepare() {
    const given = typeof key === "function" ? await key() : key;
    await ready();
    return createChainWriter({ key: given, every: checkpointEvery });
  }

  /** Appends lines at the end of the log, and runs `more` in the same transaction. */
  async function addWith(
    lines: (chain: ChainWriter) => string,
    more?: (query: Postgres["query"]) => Promise<unknown>,
  ): Promise<AuditHead> {
    try {
      parts ??= prepare();
      const chain = await parts.catch((error: unknown) => {
        parts = undefined;
        throw error;
      });
      known = await postgres.transaction(
        async (query) => {
          const found = await lockedEnd(query);
          chain.moveTo(found);
          const loss = rewound(found, known);
          const added = ((loss ? chain.write(loss, clock.now()) : "") + lines(chain)).split("\n").slice(0, -1);
          if (added.length > 0)
            await query(
              `INSERT INTO ${table} (seq, line) SELECT $1 + n, line FROM unnest($2::text[]) WITH ORDINALITY AS added (line, n)`,
              [found.seq, added],
            );
          await more?.(query);
          return chain.head;
        },
        { signal: AbortSignal.timeout(PATIENCE_MS) },
      );
      return known;
    } catch (error) {
      throw failure(error);
    }
  }

  /** Takes a lock that ends with the transaction, and reads the end of the log. The commit always waits for the server's disk. */
  async function lockedEnd(query: Postgres["query"]): Promise<AuditHead> {
    const [row] = await query<{ seq: number | string; line: string }>(`
      SET LOCAL synchronous_commit = on;
      SET LOCAL idle_in_transaction_session_timeout = '${SILENCE}';
      SELECT pg_advisory_xact_lock(hashtextextended('${schema.replaceAll("'", "''")}:audit', 0));
      SELECT seq, line FROM ${table} ORDER BY seq DESC LIMIT 1`);
    if (row === undefined) return EMPTY_LOG;
    const read = readLine(Buffer.from(row.line));
    if (read?.intact === true && read.record.seq === Number(row.seq)) return { seq: read.record.seq, hash: read.hash };
    const fix = `Run: toolarsenal audit verify. Then rename ${table} to start a new log.`;
    throw fixable("STORE_FAILED", `The audit log ${table} was changed or damaged at its end.`, fix);
  }

  const writer: AuditWriter = {
    name: "postgres",
    add: (lines) => addWith(lines),
    release: () => postgres.close(),
    failure,
    async *read({ before = Number.MAX_SAFE_INTEGER, signal }) {
      for await (const line of linesOf(opened, "< $1 ORDER BY seq DESC", before)) {
        signal?.throwIfAborted();
        const read = readLine(Buffer.from(line));
        if (read !== undefined) yield read.record;
      }
    },
    async verify({ head, signal }) {
      const given = typeof key === "function" ? await key() : key;
      const lines = abortableLines(auditLines(opened), signal);
      const { ok, ...found } = await verifyLines(lines, { ...(head && { head }), ...(given && { keys: [given] }) });
      return { ok, ...found } as Verification;
    },
    async prune(given) {
      const old = await oldRecords(auditLines(opened), given.before);
      if (given.dryRun !== true && old.records > 0)
        await addWith(
          (chain) => pruneLines(chain, old, given, clock.now()),
          (query) => query(`DELETE FROM ${table} WHERE seq <= $1`, [old.last.seq]),
        );
      return toPruned(old);
    },
  };
  return queuedAudit(writer, clock);
}

type LogTable = Pick<PostgresAuditOptions, "url" | "schema" | "client">;

/** Opens a log for reading, while other processes may write it. @internal */
export function postgresAuditTable(place: LogTable) {
  const opened = open(place);
  const { postgres, table, ready } = opened;
  return {
    lines: () => auditLines(opened),
    async last(count: number): Promise<readonly string[]> {
      await ready();
      const sql = `SELECT line FROM (SELECT seq, line FROM ${table} ORDER BY seq DESC LIMIT $1) AS last ORDER BY seq`;
      return (await postgres.query<{ line: string }>(sql, [count])).map(({ line }) => line);
    },
    close: () => postgres.close(),
  };
}

type OpenLogTable = ReturnType<typeof open>;

/** Yields lines from a sequence number on, in the given order, page by page. */
async function* linesOf({ postgres, table, ready }: OpenLogTable, order: string, from: number): AsyncGenerator<string> {
  await ready();
  const sql = `SELECT seq, line FROM ${table} WHERE seq ${order} LIMIT ${PAGE}`;
  for (let seq = from; ;) {
    const rows = await postgres.query<{ seq: number | string; line: string }>(sql, [seq]);
    for (const { line } of rows) yield line;
    if (rows.length < PAGE) return;
    seq = Number(rows.at(-1)?.seq);
  }
}

async function* auditLines(opened: OpenLogTable): AsyncGenerator<AuditLine> {
  for await (const line of linesOf(opened, "> $1 ORDER BY seq", 0)) yield { bytes: Buffer.from(line), whole: true };
}

function open({ url, schema = SCHEMA, client }: LogTable) {
  const postgres = openPostgres({ url, client, what: "The audit log", field: "audit.url" });
  const table = `${quoted(schema)}.audit_record`;
  const steps = [`CREATE TABLE ${table} (seq bigint PRIMARY KEY, line text NOT NULL)`];
  return { postgres, table, ready: () => migrate(postgres, { name: "audit", schema, steps }) };
}

function failure(cause: unknown): ArsenalError {
  if (isArsenalError(cause) && cause.code !== "STORE_FAILED") return cause;
  const details = isArsenalError(cause) ? cause.details : {};
  return new ArsenalError("AUDIT_FAILED", `The record was not stored: ${messageOf(cause)}`, { ...details, cause });
}

export const config = object("A PostgreSQL table.", {
  url: text("For postgres: URL of the database. Write its password as a secret reference."),
  schema: text("For postgres: the schema that contains the table. It is created if missing. Defaults to toolarsenal."),
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

/** Opens the configured log for reading. @internal */
export function openTable(settings: Settings, surroundings: Pick<Surroundings, "secrets">) {
  return postgresAuditTable(placeOf(settings, surroundings));
}

/** Connects like the arsenal does, and reads the end of the log. A key derived from `audit.secret` is checked when the log is opened. */
export async function check(settings: Settings, surroundings: Surroundings): Promise<string> {
  if (settings.keyFile !== undefined) await existingKey(settings.keyFile);
  const table = openTable(settings, surroundings);
  try {
    const [last = '{"seq":0}'] = await table.last(1);
    const { seq } = JSON.parse(last) as { readonly seq: number };
    return `keeps ${seq} records in PostgreSQL, schema ${settings.schema ?? SCHEMA}`;
  } finally {
    await table.close();
  }
}

function placeOf({ url = "", schema }: Settings, { secrets }: Pick<Surroundings, "secrets">): LogTable {
  const use = { scope: "audit", field: "audit.url" };
  return { url: () => filledUrl(url, secrets, use), ...(schema !== undefined && { schema }) };
}

/** Reads the key, but never creates it, because every process must sign with the same key. */
async function existingKey(file: string): Promise<AuditKey> {
  const key = await readKeyFile(file);
  if (key?.sign !== undefined) return key;
  const fix = `Create one key for all processes: openssl genpkey -algorithm ed25519 -out ${file} && chmod 600 ${file}`;
  const problem = `The audit log's private signing key is missing: ${file}.`;
  throw fixable("CONFIG_INVALID", problem, fix, { field: "audit.key_file", value: file });
}
