import * as setting from "../../../tool/shape/shape.ts";
import { resolve } from "node:path";
import type { CatalogEngine, PutTools, ToolVectors } from "../../../catalog/catalog-engine.port.ts";
import { checkDimension } from "../../../catalog/dense/model-vectors.ts";
import { LEXICAL_FIELDS } from "../../../catalog/lexical/lexical-fields.ts";
import { toMentionable } from "../../../catalog/lexical/mentions.ts";
import { toolFields } from "../../../catalog/tool-text.ts";
import { isArsenalError } from "../../../errors/arsenal-error.ts";
import { EVERY_TOOL } from "../../../tool/tool-filter.ts";
import { type Clock, systemClock } from "../../../observe/clock.ts";
import type { Tool } from "../../../tool/tool.ts";
import type { Surroundings } from "../../surroundings.ts";
import { sqliteFailure } from "../../sqlite/open-sqlite.ts";
import { isDamage } from "../../sqlite/move-aside.ts";
import { createTurns } from "../../../base/turns/in-order.ts";
import { checkEngine, latestOf, notOpen, prepareAll } from "../handle.ts";
import { decode, encode, toColumns, toJson } from "../stored-text.ts";
import { readWords, toWord } from "../tool-words.ts";
import { CATALOG, type Database, openDatabase } from "./database.ts";
import { toCondition } from "./filter-sql.ts";
import { createMirror, type Mirror, toBytes } from "./mirror.ts";
import { countWhere, searchDatabase } from "./search.ts";

export interface SqliteEngineOptions {
  /** Created with its folder; only this user can read it. `:memory:` keeps everything in memory. Defaults to `./.toolarsenal/catalog.sqlite`. */
  readonly file?: string;
  /** Measures the time of each part of a search. */
  readonly clock?: Pick<Clock, "now">;
}

/** @internal The default file of the catalog. */
export const CATALOG_FILE = "./.toolarsenal/catalog.sqlite";

const PAGE = 1_000;
/** The most deletions that `changes` can report. */
const REMEMBERED_DELETIONS = 10_000;

/**
 * Keeps tools, words and vectors in one SQLite file. Any number of processes on this machine may share it. A restart neither indexes nor embeds
 * anything again. Words use an FTS5 index; vectors are compared exactly.
 */
export function sqliteEngine({
  file: given = CATALOG_FILE,
  clock = systemClock,
}: SqliteEngineOptions = {}): CatalogEngine {
  const file = given === ":memory:" ? given : resolve(given);
  let opened: { readonly database: Database; readonly mirror: Mirror } | undefined;
  let closed = false;
  /** Yields to other work before a large put writes. */
  const turns = createTurns();

  function using<Value>(signal: AbortSignal | undefined, step: (database: Database, mirror: Mirror) => Value): Value {
    signal?.throwIfAborted();
    if (!opened) throw notOpen("SQLite", closed);
    const { database, mirror } = opened;
    return translating(file, () => step(database, mirror));
  }

  /** Runs a change after all previous changes. */
  function changing<Value>(signal: AbortSignal | undefined, step: (database: Database) => Value): Promise<Value> {
    return turns.take(async () => using(signal, (database) => database.change(() => step(database))));
  }

  return {
    name: "sqlite",

    async open({ signal } = {}) {
      signal?.throwIfAborted();
      if (opened) return;
      const database = translating(file, () => openDatabase(file));
      opened = { database, mirror: createMirror(database) };
      closed = false;
    },

    put: (tools, { signal } = {}) =>
      turns.take(async () => {
        const latest = latestOf(tools);
        const preparedOf = await prepareAll(
          using(signal, (database) => changedOf(database, latest)),
          prepare,
        );
        return using(signal, (database) =>
          // Another process may have changed some of these tools meanwhile.
          database.change(() => write(database, changedOf(database, latest).map(preparedOf))),
        );
      }),

    delete: (ids, { signal } = {}) => changing(signal, (database) => erase(database, ids)),

    async get(ids, { signal } = {}) {
      return using(signal, (database) => {
        const { sql, values } = toCondition({ ids });
        const rows = database.rows<readonly [string, string]>(`SELECT id, json FROM tools WHERE ${sql}`, ...values);
        const tools = new Map(rows.map(([id, json]) => [decode(id), JSON.parse(json) as Tool]));
        return ids.flatMap((id) => tools.get(id) ?? []);
      });
    },

    async list({ filter = EVERY_TOOL, cursor, limit = PAGE, signal } = {}) {
      return using(signal, (database) => {
        const { sql, values } = toCondition(filter);
        const after = cursor === undefined ? "" : encode(cursor);
        const query = `SELECT json FROM tools WHERE id > ? AND ${sql} ORDER BY id LIMIT ?`;
        const rows = database.rows<readonly [string]>(query, after, ...values, limit + 1);
        const tools = rows.slice(0, limit).map(([json]) => JSON.parse(json) as Tool);
        const last = tools.at(-1);
        return { tools, ...(last && rows.length > limit ? { next: last.id } : {}) };
      });
    },

    async count({ filter = EVERY_TOOL, signal } = {}) {
      return using(signal, (database) => countWhere(database, filter));
    },

    putVectors: (model, entries, { signal } = {}) =>
      changing(signal, (database) => writeVectors(database, model, entries)),

    async withoutVectors(model, { after = "", limit, signal }) {
      return using(signal, (database) => {
        const sql = `SELECT id FROM tools WHERE id > ? AND NOT EXISTS
          (SELECT 1 FROM vectors WHERE model = ? AND vectors.slot = tools.slot) ORDER BY id LIMIT ?`;
        return database.rows<readonly [string]>(sql, encode(after), encode(model), limit).map(([id]) => decode(id));
      });
    },

    async models({ signal } = {}) {
      return using(signal, (database) =>
        database
          .rows<readonly [string]>("SELECT DISTINCT model FROM vectors")
          .map(([model]) => decode(model))
          .sort(),
      );
    },

    deleteVectors: (model, { signal } = {}) =>
      changing(signal, (database) => {
        database.run("DELETE FROM vectors WHERE model = ?", encode(model));
        database.run("UPDATE meta SET vectors_revision = vectors_revision + 1");
      }),

    async search(query) {
      return using(query.signal, (database, mirror) =>
        database.read(() => {
          mirror.follow();
          return searchDatabase(database, mirror, query, clock.now);
        }),
      );
    },

    async changes(since, { signal } = {}) {
      return using(signal, (database) =>
        database.read(() => {
          const { revision, forgotten } = metaOf(database);
          const ids = (sql: string): readonly string[] =>
            database.rows<readonly [string]>(sql, since).map(([id]) => decode(id));
          return {
            revision,
            changed: ids("SELECT id FROM tools WHERE revision > ? ORDER BY id"),
            deleted: ids(
              "SELECT DISTINCT id FROM deletions WHERE revision > ? AND id NOT IN (SELECT id FROM tools) ORDER BY id",
            ),
            ...(since < forgotten || since > revision ? { incomplete: true } : {}),
          };
        }),
      );
    },

    async healthCheck() {
      try {
        return using(undefined, (database) => database.canBeWritten());
      } catch {
        return false;
      }
    },

    async close() {
      await turns.idle();
      closed = true;
      opened?.database.close();
      opened = undefined;
    },
  };
}

function metaOf(database: Database): { readonly revision: number; readonly forgotten: number } {
  const meta = database.get<{ revision: number; forgotten: number }>("SELECT revision, forgotten FROM meta");
  return meta ?? { revision: 0, forgotten: 0 };
}

function changedOf(database: Database, tools: readonly Tool[]): readonly Tool[] {
  const { sql, values } = toCondition({ ids: tools.map(({ id }) => id) });
  const rows = database.rows<readonly [string, string]>(`SELECT id, hash FROM tools WHERE ${sql}`, ...values);
  const hashes = new Map(rows.map(([id, hash]) => [decode(id), decode(hash)]));
  return tools.filter(({ id, contentHash }) => hashes.get(id) !== contentHash);
}

function prepare(tool: Tool) {
  const texts = toolFields(tool);
  const { key, otherTerms } = toMentionable(texts);
  return {
    tool,
    json: toJson(tool),
    words: readWords(texts),
    mentionable: key !== undefined,
    otherWords: otherTerms.map(toWord).join(" "),
  };
}

const INSERT_WORDS = `INSERT INTO words (rowid, ${LEXICAL_FIELDS.join()}) VALUES (?, ${LEXICAL_FIELDS.map(() => "?").join()})`;

function write(database: Database, tools: readonly ReturnType<typeof prepare>[]): PutTools {
  if (tools.length === 0) return { changed: [], revision: metaOf(database).revision };
  const revision = nextRevision(database);
  for (const { tool, json, words, mentionable, otherWords } of tools) {
    const id = encode(tool.id);
    const known = database.get<{ slot: number }>("SELECT slot FROM tools WHERE id = ?", id);
    if (known) forget(database, known.slot);
    const columns = {
      ...toColumns(tool),
      slot: known?.slot ?? null,
      revision,
      deprecated: Number(tool.deprecated),
      name_key: words.spellings[0] ?? null,
      qualified_key: words.spellings[1] ?? null,
      mentionable: Number(mentionable),
      lengths: new Uint8Array(words.lengths.buffer),
      json,
    };
    const names = Object.keys(columns);
    const sql = `INSERT INTO tools (${names.join()}) VALUES (${names.map(() => "?").join()}) RETURNING slot`;
    const row = database.get<{ slot: number }>(sql, ...Object.values(columns));
    const slot = row?.slot ?? 0;
    const label = "INSERT OR IGNORE INTO labels VALUES (?, ?, ?)";
    for (const tag of tool.tags) database.run(label, "tag", encode(tag), slot);
    for (const capability of tool.capabilities) database.run(label, "capability", encode(capability), slot);
    database.run(INSERT_WORDS, slot, ...words.fields);
    database.run("INSERT INTO other_words (rowid, other) VALUES (?, ?)", slot, otherWords);
  }
  return { changed: tools.map(({ tool }) => tool.id), revision };
}

function erase(database: Database, ids: readonly string[]): number {
  const { sql, values } = toCondition({ ids });
  const rows = database.rows<readonly [number, string]>(`SELECT slot, id FROM tools WHERE ${sql}`, ...values);
  if (rows.length === 0) return 0;
  const revision = nextRevision(database);
  for (const [slot, id] of rows) {
    forget(database, slot);
    database.run("INSERT INTO deletions VALUES (?, ?, ?)", revision, slot, id);
  }
  const oldest = `SELECT max(revision) AS revision FROM (SELECT revision FROM deletions ORDER BY rowid DESC LIMIT -1 OFFSET ${REMEMBERED_DELETIONS})`;
  const forgotten = database.get<{ revision: number | null }>(oldest)?.revision ?? 0;
  if (forgotten > 0) {
    database.run("DELETE FROM deletions WHERE revision <= ?", forgotten);
    database.run("UPDATE meta SET forgotten = ?", forgotten);
  }
  return rows.length;
}

function forget(database: Database, slot: number): void {
  database.run("DELETE FROM tools WHERE slot = ?", slot);
  database.run("DELETE FROM labels WHERE slot = ?", slot);
  database.run("DELETE FROM vectors WHERE slot = ?", slot);
  database.run("DELETE FROM words WHERE rowid = ?", slot);
  database.run("DELETE FROM other_words WHERE rowid = ?", slot);
}

function writeVectors(database: Database, model: string, entries: readonly ToolVectors[]): void {
  const name = encode(model);
  const kept = database.get<{ dimension: number }>("SELECT dimension FROM vectors WHERE model = ? LIMIT 1", name);
  let dimension = kept?.dimension;
  const { revision } = database.get<{ revision: number }>(
    "UPDATE meta SET vectors_revision = vectors_revision + 1 RETURNING vectors_revision AS revision",
  ) ?? { revision: 0 };
  for (const { id, contentHash, vectors } of entries) {
    const known = database.get<{ slot: number }>(
      "SELECT slot FROM tools WHERE id = ? AND hash = ?",
      encode(id),
      encode(contentHash),
    );
    if (!known || vectors.length === 0) continue;
    for (const vector of vectors) checkDimension(vector, (dimension ??= vector.length), `A vector of ${id}`);
    database.run(
      "INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?, ?)",
      name,
      known.slot,
      revision,
      dimension ?? 0,
      toBytes(vectors),
    );
  }
}

function nextRevision(database: Database): number {
  return (
    database.get<{ revision: number }>("UPDATE meta SET revision = revision + 1 RETURNING revision")?.revision ?? 0
  );
}

function translating<Value>(file: string, step: () => Value): Value {
  try {
    return step();
  } catch (cause) {
    if (isArsenalError(cause)) throw cause;
    const repair = "Move the file away: a new one is created, and tools are registered and embedded again.";
    throw sqliteFailure(file, CATALOG, cause, isDamage(cause) ? repair : undefined);
  }
}

export const config = setting.object("One SQLite file that keeps tools, words and vectors between runs.", {
  file: setting.path(
    "For sqlite: the database file. The file and its folder are created if missing.",
    "./.toolarsenal/catalog.sqlite",
  ),
});

export function create(
  { file }: setting.Filled<typeof config>,
  { clock }: Partial<Pick<Surroundings, "clock">> = {},
): CatalogEngine {
  return sqliteEngine({ file, ...(clock && { clock }) });
}

export async function check(settings: setting.Filled<typeof config>): Promise<string> {
  return checkEngine(sqliteEngine(settings), settings.file);
}
