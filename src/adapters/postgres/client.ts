export interface PostgresRows {
  readonly rows: readonly object[];
}

export interface PostgresConnection {
  query(sql: string, values?: unknown[]): Promise<PostgresRows | readonly PostgresRows[]>;
  /** Returns the connection to the pool, or closes it if `destroy` is true. */
  release(destroy?: boolean): void;
  on(event: string, listener: (value: never) => void): unknown;
  removeListener(event: string, listener: (value: never) => void): unknown;
}

/** A connection pool: `new Pool(…)` of the package pg. */
export interface PostgresPool {
  connect(): Promise<PostgresConnection>;
}

export interface EmbeddedTransaction {
  query(sql: string, values?: unknown[]): Promise<PostgresRows>;
  exec(sql: string): Promise<readonly PostgresRows[]>;
}

/** A database inside this process, with one connection: an instance of PGlite. */
export interface EmbeddedPostgres extends EmbeddedTransaction {
  transaction<Value>(work: (transaction: EmbeddedTransaction) => Promise<Value>): Promise<Value>;
  listen(channel: string, listener: (payload: string) => void): Promise<() => Promise<void>>;
}

/** A client that the caller created and closes. */
export type PostgresClient = PostgresPool | EmbeddedPostgres;

export function isEmbedded(client: PostgresClient): client is EmbeddedPostgres {
  return "transaction" in client && "exec" in client;
}

/** The parts of the package pg that are used. */
export interface PgLibrary {
  readonly Pool: new (config: object) => PostgresPool & {
    end(): Promise<void>;
    on(event: "error", listener: (error: Error) => void): unknown;
  };
  readonly types: { getTypeParser(oid: number, format?: "text" | "binary"): (value: string) => unknown };
}
