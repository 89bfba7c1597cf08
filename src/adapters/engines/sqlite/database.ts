import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import { LEXICAL_FIELDS } from "../../../catalog/lexical/lexical-fields.ts";
import {
  BUSY_TIMEOUT_MS,
  inTransaction,
  openSqlite,
  schemaOf,
  SQLITE_BUSY,
  type SqliteFile,
} from "../../sqlite/open-sqlite.ts";
import { setNewest } from "../../../base/remember.ts";

/** "TAEN": identifies our files. */
const APPLICATION_ID = 0x54_41_45_4e;

/**
 * `slot` is a small number that a tool keeps until it is deleted. The words are an inverted index without texts. They contain the tokens of each
 * field from the catalog's own tokenizer, which SQLite's `ascii` tokenizer splits at spaces.
 */
const FIRST_SCHEMA = `
  CREATE TABLE meta (revision INTEGER NOT NULL, vectors_revision INTEGER NOT NULL, forgotten INTEGER NOT NULL) STRICT;
  INSERT INTO meta VALUES (0, 0, 0);
  CREATE TABLE tools (
    slot INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, hash TEXT NOT NULL, revision INTEGER NOT NULL,
    name TEXT NOT NULL, namespace TEXT NOT NULL, source TEXT NOT NULL, risk TEXT NOT NULL, deprecated INTEGER NOT NULL,
    ensemble TEXT, category TEXT, tenant TEXT,
    name_key TEXT, qualified_key TEXT, mentionable INTEGER NOT NULL, lengths BLOB NOT NULL, json TEXT NOT NULL) STRICT;
  CREATE INDEX tools_by_revision ON tools (revision);
  CREATE INDEX tools_by_name ON tools (name);
  CREATE INDEX tools_by_name_key ON tools (name_key);
  CREATE INDEX tools_by_qualified_key ON tools (qualified_key);
  CREATE TABLE labels (kind TEXT NOT NULL, value TEXT NOT NULL, slot INTEGER NOT NULL, PRIMARY KEY (kind, value, slot)) STRICT, WITHOUT ROWID;
  CREATE INDEX labels_by_slot ON labels (slot);
  CREATE TABLE deletions (revision INTEGER NOT NULL, slot INTEGER NOT NULL, id TEXT NOT NULL) STRICT;
  CREATE INDEX deletions_by_revision ON deletions (revision);
  CREATE TABLE vectors (
    model TEXT NOT NULL, slot INTEGER NOT NULL, revision INTEGER NOT NULL, dimension INTEGER NOT NULL, data BLOB NOT NULL,
    PRIMARY KEY (model, slot)) STRICT;
  CREATE INDEX vectors_by_revision ON vectors (model, revision);
  CREATE INDEX vectors_by_slot ON vectors (slot);
  CREATE VIRTUAL TABLE words USING fts5(${LEXICAL_FIELDS.join()}, content='', contentless_delete=1, tokenize='ascii');
  CREATE VIRTUAL TABLE occurrences USING fts5vocab(words, instance);
  CREATE VIRTUAL TABLE terms USING fts5vocab(words, row);
  CREATE VIRTUAL TABLE other_words USING fts5(other, content='', contentless_delete=1, detail=none, tokenize='ascii');
  CREATE VIRTUAL TABLE other_terms USING fts5vocab(other_words, row);
  PRAGMA application_id = ${APPLICATION_ID};`;

/** The migrations between schema versions. Append only; never change a released migration. */
const MIGRATIONS: readonly string[] = [FIRST_SCHEMA];

export const CATALOG: SqliteFile = {
  what: "The catalog file",
  field: "vector_store.file",
  applicationId: APPLICATION_ID,
  schema: MIGRATIONS.length,
};

export type Database = ReturnType<typeof openDatabase>;

/** Opens the file and migrates it. Each statement is prepared once. */
export function openDatabase(file: string) {
  const connection = openSqlite(file, CATALOG);
  try {
    // A transaction of thousands of tools should fit into the cache, which is 2 MB by default.
    connection.exec("PRAGMA cache_size = -64000");
    // In WAL mode, a power failure loses at most the last changes. Tools are registered again at the next start.
    connection.exec("PRAGMA synchronous = NORMAL");
    inTransaction(connection, () => migrate(connection, file));
  } catch (error) {
    connection.close();
    throw error;
  }
  const statements = new Map<string, StatementSync>();
  const arrays = new Map<string, StatementSync>();
  function prepared(kept: Map<string, StatementSync>, sql: string): StatementSync {
    const known = kept.get(sql);
    if (known) return known;
    const statement = connection.prepare(sql);
    statement.setReturnArrays(kept === arrays);
    // Filters create many different statements. The used ones are soon cached again.
    return setNewest(kept, sql, statement, KEPT_STATEMENTS);
  }
  return {
    get: <Row>(sql: string, ...values: readonly SQLInputValue[]) =>
      prepared(statements, sql).get(...values) as Row | undefined,
    /** Returns rows as arrays, which are faster to create than objects. */
    rows: <Row extends readonly unknown[]>(sql: string, ...values: readonly SQLInputValue[]) =>
      prepared(arrays, sql).all(...values) as unknown as readonly Row[],
    /** Reads rows one at a time, for results that need too much memory. */
    each: <Row extends readonly unknown[]>(sql: string, ...values: readonly SQLInputValue[]) =>
      prepared(arrays, sql).iterate(...values) as unknown as Iterable<Row>,
    run: (sql: string, ...values: readonly SQLInputValue[]) => void prepared(statements, sql).run(...values),
    /** Runs a step in an exclusive write transaction. */
    change: <Value>(step: () => Value) => inTransaction(connection, step),
    /** Runs a step that reads one consistent state of the file. */
    read<Value>(step: () => Value) {
      connection.exec("BEGIN");
      try {
        return step();
      } finally {
        connection.exec("COMMIT");
      }
    },
    /** Returns true if the file is writable, even if another process is writing now. Does not wait. */
    canBeWritten() {
      connection.exec("PRAGMA busy_timeout = 0");
      try {
        return inTransaction(connection, () => true);
      } catch (error) {
        return (error as { readonly errcode?: number }).errcode === SQLITE_BUSY;
      } finally {
        connection.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
      }
    },
    close: () => connection.close(),
  };
}

const KEPT_STATEMENTS = 100;

function migrate(connection: DatabaseSync, file: string): void {
  const version = schemaOf(connection, file, CATALOG);
  if (version === MIGRATIONS.length) return;
  for (const step of MIGRATIONS.slice(version)) connection.exec(step);
  connection.exec(`PRAGMA user_version = ${MIGRATIONS.length}`);
}
