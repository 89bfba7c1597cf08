import { untilAborted } from "../../base/turns/until-aborted.ts";
import { ArsenalError, fixable } from "../../errors/arsenal-error.ts";
import { succeeds } from "../../base/turns/succeeds.ts";
import { backoffMs } from "../../base/turns/backoff.ts";
import {
  isEmbedded,
  type EmbeddedPostgres,
  type PgLibrary,
  type PostgresClient,
  type PostgresConnection,
  type PostgresPool,
  type PostgresRows,
} from "./client.ts";
import { codeOf, isAway, isConflict, postgresFailure, type PostgresUse } from "./failure.ts";

/**
 * A connection pool. Values are bound, rows are objects, and bigint arrives as a number. Errors are ArsenalErrors with the fix. A query without
 * values may have several statements, and returns the rows of the last one.
 */
export interface Postgres {
  query<Row extends object>(sql: string, values?: readonly unknown[], options?: QueryOptions): Promise<readonly Row[]>;
  /** Runs one transaction on one connection. Rolls back if the work rejects. Retries serialization failures and deadlocks a few times. */
  transaction<Value>(work: (query: Postgres["query"]) => Promise<Value>, options?: QueryOptions): Promise<Value>;
  /**
   * Receives NOTIFY on a channel, on a connection of its own that reconnects automatically. Calls `again` after each (re)connect, because
   * notifications may have been missed. Returns a function that unsubscribes.
   */
  listen(channel: string, listener: (payload: string) => void, again?: () => void): () => void;
  /** Closes the connections, but not an injected client. Safe to call twice. */
  close(): Promise<void>;
}

export interface QueryOptions {
  /** Rejects at once when aborted, and closes the connection. */
  readonly signal?: AbortSignal | undefined;
}

export interface PostgresOptions extends PostgresUse {
  /** `postgres://user:password@host:5432/database`. A function is called for each new pool, so a changed password takes effect. */
  readonly url: string | (() => Promise<string>);
  /** A pool of the package pg, or PGlite, instead of a URL. */
  readonly client?: PostgresClient | undefined;
}

const CONNECTIONS = 10;
/** The timeout of a connection, in milliseconds. */
const CONNECT_MS = 10_000;
/** The most attempts at a conflicting transaction. */
const RUNS = 5;
const RECONNECT = { firstMs: 50, longestMs: 400 };

/** Connects on first use. */
export function openPostgres({ url, client: injected, what, field }: PostgresOptions): Postgres {
  let own: Promise<{ readonly pool: OwnPool; readonly place: string }> | undefined;
  let closed = false;
  const listeners = new Set<() => void>();
  let place = "the given client";
  const fail = (error: unknown): ArsenalError => postgresFailure(error, place, { what, field });

  async function client(): Promise<PostgresClient> {
    if (closed) throw new ArsenalError("CLOSED", `${what} closed its connection to PostgreSQL.`);
    if (injected) return injected;
    own ??= connect(url, { what, field });
    own.catch(() => (own = undefined));
    const opened = await own;
    place = opened.place;
    return opened.pool;
  }

  async function use<Value>(
    { signal }: QueryOptions,
    work: (query: RawQuery) => Promise<Value>,
    inTransaction: boolean,
  ): Promise<Value> {
    signal?.throwIfAborted();
    try {
      const opened = await client();
      return await (isEmbedded(opened)
        ? useEmbedded(opened, signal, work, inTransaction)
        : usePool(opened, signal, work, inTransaction));
    } catch (error) {
      signal?.throwIfAborted();
      // The password may have changed. The next use reads it again.
      if (codeOf(error) === "28P01") await dropPool();
      throw fail(error);
    }
  }

  async function dropPool(): Promise<void> {
    const dropped = own;
    own = undefined;
    await dropped?.then(({ pool }) => pool.end()).catch(() => {});
  }

  return {
    query: <Row extends object>(sql: string, values?: readonly unknown[], options: QueryOptions = {}) =>
      use(options, (query) => query(sql, values), false) as Promise<readonly Row[]>,

    async transaction(work, options = {}) {
      for (let run = 1; ; run++) {
        try {
          return await use(options, (query) => work(query as Postgres["query"]), true);
        } catch (error) {
          if (run === RUNS || !isConflict(error)) throw error;
        }
      }
    },

    listen(channel, listener, again) {
      const end = keepListening(client, channel, listener, again);
      const stop = (): void => {
        listeners.delete(stop);
        end();
      };
      listeners.add(stop);
      return stop;
    },

    async close() {
      closed = true;
      for (const stop of listeners) stop();
      await dropPool();
    },
  };
}

type RawQuery = (sql: string, values?: readonly unknown[]) => Promise<readonly object[]>;
type OwnPool = PostgresPool & { end(): Promise<void> };

async function connect(
  given: PostgresOptions["url"],
  use: PostgresUse,
): Promise<{ readonly pool: OwnPool; readonly place: string }> {
  const url = typeof given === "string" ? given : await given();
  const place = placeOf(url, use);
  const { Pool, types } = await loadPg(use);
  const pool = new Pool({
    connectionString: url,
    max: CONNECTIONS,
    connectionTimeoutMillis: CONNECT_MS,
    idleTimeoutMillis: 30_000,
    allowExitOnIdle: true,
    keepAlive: true,
    fallback_application_name: "toolarsenal",
    types: {
      getTypeParser: (oid: number, format?: "text" | "binary") =>
        oid === BIGINT && format !== "binary" ? Number : types.getTypeParser(oid, format),
    },
  });
  // A connection that is lost while idle is replaced when one is needed.
  pool.on("error", () => {});
  return { pool, place };
}

const BIGINT = 20;

async function loadPg({ what }: PostgresUse): Promise<PgLibrary> {
  try {
    return ((await import("pg")) as unknown as { readonly default: PgLibrary }).default;
  } catch (cause) {
    throw fixable("LIBRARY_MISSING", `${what} needs the PostgreSQL client:`, "npm install pg", { cause });
  }
}

/** Returns the URL without password and options. */
function placeOf(url: string, { what, field }: PostgresUse): string {
  // The URL parser requires a host, which the URL of a socket does not have.
  const parsed = /^postgres(?:ql)?:/.test(url) ? URL.parse(url.replace("@/", "@localhost/")) : null;
  if (parsed === null) {
    const fix = `Write ${field}: postgres://USER@HOST:5432/DATABASE`;
    throw fixable("CONFIG_INVALID", `${what} needs the URL of a PostgreSQL database in ${field}.`, fix, { field });
  }
  const user = parsed.username === "" ? "" : `${decodeURIComponent(parsed.username)}@`;
  return `${user}${parsed.searchParams.get("host") ?? parsed.host}${parsed.pathname}`;
}

async function usePool<Value>(
  pool: PostgresPool,
  signal: AbortSignal | undefined,
  work: (query: RawQuery) => Promise<Value>,
  inTransaction: boolean,
): Promise<Value> {
  const connection = await pool.connect();
  let released = false;
  const release = (destroy: boolean): void => {
    if (released) return;
    released = true;
    signal?.removeEventListener("abort", abort);
    connection.release(destroy);
  };
  const abort = (): void => release(true);
  signal?.addEventListener("abort", abort);
  const query: RawQuery = (sql, values) => {
    signal?.throwIfAborted();
    return untilAborted(connection.query(sql, values && [...values]).then(rowsOf), signal);
  };
  const ignore = (): void => {};
  // A connection that is lost during a query reports it twice: to the query, and by this event.
  connection.on("error", ignore);
  try {
    if (inTransaction) await query("BEGIN");
    const value = await work(query);
    if (inTransaction) await query("COMMIT");
    connection.removeListener("error", ignore);
    release(false);
    return value;
  } catch (error) {
    const usable =
      !released && !isAway(error) && (!inTransaction || (await succeeds(() => connection.query("ROLLBACK"))));
    connection.removeListener("error", ignore);
    release(!usable);
    throw error;
  }
}

async function useEmbedded<Value>(
  database: EmbeddedPostgres,
  signal: AbortSignal | undefined,
  work: (query: RawQuery) => Promise<Value>,
  inTransaction: boolean,
): Promise<Value> {
  const bound =
    (on: Pick<EmbeddedPostgres, "query" | "exec">): RawQuery =>
    async (sql, values) => {
      signal?.throwIfAborted();
      return rowsOf(await (values === undefined ? on.exec(sql) : on.query(sql, [...values])));
    };
  return inTransaction ? database.transaction((transaction) => work(bound(transaction))) : work(bound(database));
}

function rowsOf(result: PostgresRows | readonly PostgresRows[]): readonly object[] {
  return "rows" in result ? result.rows : (result.at(-1)?.rows ?? []);
}

function keepListening(
  client: () => Promise<PostgresClient>,
  channel: string,
  listener: (payload: string) => void,
  again: (() => void) | undefined,
): () => void {
  let ended = false;
  let lost = 0;
  let release: (() => void) | undefined;

  function retry(): void {
    release = undefined;
    if (ended) return;
    const timer = setTimeout(() => void start().catch(retry), backoffMs(lost++, RECONNECT));
    timer.unref();
    release = () => clearTimeout(timer);
  }

  async function start(): Promise<void> {
    const opened = await client();
    if (ended) return;
    if (isEmbedded(opened)) {
      const end = await opened.listen(quoted(channel), listener);
      release = () => void end().catch(() => {});
    } else {
      await startOn(await opened.connect());
    }
    if (ended) return release?.();
    lost = 0;
    again?.();
  }

  async function startOn(connection: PostgresConnection): Promise<void> {
    let over = false;
    const hear = ({ channel: from, payload = "" }: { channel: string; payload?: string }): void => {
      if (from === channel && !ended) listener(payload);
    };
    const drop = (): void => {
      if (over) return;
      over = true;
      connection.release(true);
    };
    const fail = (): void => {
      if (over) return;
      drop();
      retry();
    };
    connection.on("notification", hear);
    connection.on("error", fail);
    connection.on("end", fail);
    release = drop;
    try {
      await connection.query(`LISTEN ${quoted(channel)}`);
    } catch (error) {
      drop();
      throw error;
    }
  }

  void start().catch(retry);
  return () => {
    ended = true;
    release?.();
    release = undefined;
  };
}

/** Quotes a name for SQL. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
