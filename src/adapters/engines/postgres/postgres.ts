import type { CatalogEngine, EngineChanges } from "../../../catalog/catalog-engine.port.ts";
import { fixable } from "../../../errors/arsenal-error.ts";
import { EVERY_TOOL } from "../../../tool/tool-filter.ts";
import type { Tool } from "../../../tool/tool.ts";
import { type Clock, systemClock } from "../../../observe/clock.ts";
import type { PostgresClient } from "../../postgres/client.ts";
import { filledUrl } from "../../postgres/filled-url.ts";
import { SCHEMA } from "../../postgres/migrate.ts";
import { openPostgres, type Postgres } from "../../postgres/postgres.ts";
import * as setting from "../../../tool/shape/shape.ts";
import type { Surroundings } from "../../surroundings.ts";
import { createTurns } from "../../../base/turns/in-order.ts";
import { checkEngine, notOpen } from "../handle.ts";
import { decode, encode, isEveryTool } from "../stored-text.ts";
import { createBinder, toCondition } from "./filter-sql.ts";
import { createKept } from "./kept.ts";
import { search } from "./search.ts";
import { openTables, type Store, vectorTable } from "./tables.ts";
import { createIndexBuilder } from "./vector-index.ts";
import { deleteVectors, modelsOf, putVectors } from "./vectors.ts";
import { deleteTools, putTools } from "./write.ts";

export interface PostgresEngineOptions {
  /** `postgres://user:password@host:5432/database`. A function is called before connecting, so it can look up the password. */
  readonly url?: string | (() => Promise<string>) | undefined;
  /** A pool of the package pg, or PGlite, instead of a URL. Closing the engine leaves it open. */
  readonly client?: PostgresClient;
  /** The schema of the tables, which the engine creates. Defaults to `toolarsenal`. */
  readonly schema?: string;
  /** If false, the engine searches by words only and needs no pgvector. Defaults to true. */
  readonly vectors?: boolean;
  /** With at least this many tools with vectors, an HNSW index is built and used. Defaults to 20,000. */
  readonly exactBelow?: number;
  readonly clock?: Clock | undefined;
}

const PAGE = 1_000;
const EXACT_BELOW = 20_000;
const FIELD = "vector_store.url";

/** Keeps tools, words and vectors (with pgvector) in PostgreSQL. Any number of processes on any machine may share it. */
export function postgresEngine(options: PostgresEngineOptions): CatalogEngine {
  const { schema = SCHEMA, vectors = true, exactBelow = EXACT_BELOW } = options;
  const kept = createKept();
  let opening: Promise<Store> | undefined;
  let closed = false;
  /** Writers wait for each other in the database. Writers in one process wait here, so they use only one connection. */
  const turns = createTurns();
  const indexes = createIndexBuilder(options.clock ?? systemClock);

  async function using(signal: AbortSignal | undefined): Promise<Store> {
    signal?.throwIfAborted();
    if (closed || !opening) throw notOpen("PostgreSQL", closed);
    return opening;
  }

  async function connect(): Promise<Store> {
    const postgres = toPostgres(options, schema);
    try {
      return await openTables(postgres, { schema, vectors, exactBelow });
    } catch (error) {
      await postgres.close();
      throw error;
    }
  }

  return {
    name: "postgres",

    async open({ signal } = {}) {
      signal?.throwIfAborted();
      if (!opening) {
        const connecting = connect();
        connecting.catch(() => (opening = undefined));
        opening = connecting;
        closed = false;
      }
      // An earlier process may have ended before it built an index.
      indexes.later(await opening);
    },

    put: (tools, { signal } = {}) => turns.take(async () => putTools(await using(signal), tools, signal)),

    delete: (ids, { signal } = {}) => turns.take(async () => deleteTools(await using(signal), ids, signal)),

    async get(ids, { signal } = {}) {
      const { postgres, table } = await using(signal);
      const rows = await postgres.query<{ id: string; body: string }>(
        `SELECT id, body FROM ${table("tools")} WHERE id = ANY($1::text[])`,
        [ids.map(encode)],
        { signal },
      );
      const tools = new Map(rows.map(({ id, body }) => [decode(id), JSON.parse(body) as Tool]));
      return ids.flatMap((id) => tools.get(id) ?? []);
    },

    async list({ filter = EVERY_TOOL, cursor, limit = PAGE, signal } = {}) {
      const { postgres, table } = await using(signal);
      const binder = createBinder();
      const after = cursor === undefined ? "true" : `t.id > ${binder.bind(encode(cursor), "text")}`;
      const condition = toCondition(filter, binder);
      const rows = await postgres.query<{ body: string }>(
        `SELECT body FROM ${table("tools")} t WHERE ${after} AND ${condition} ORDER BY id LIMIT ${limit + 1}`,
        binder.values,
        { signal },
      );
      const tools = rows.slice(0, limit).map(({ body }) => JSON.parse(body) as Tool);
      const last = tools.at(-1);
      return { tools, ...(last && rows.length > limit ? { next: last.id } : {}) };
    },

    async count({ filter = EVERY_TOOL, signal } = {}) {
      const { postgres, table } = await using(signal);
      const binder = createBinder();
      const sql = isEveryTool(filter)
        ? `SELECT tools AS count FROM ${table("meta")}`
        : `SELECT count(*) AS count FROM ${table("tools")} t WHERE ${toCondition(filter, binder)}`;
      const [row] = await postgres.query<{ count: number }>(sql, binder.values, { signal });
      return Number(row?.count);
    },

    putVectors: (model, entries, { signal } = {}) =>
      turns.take(async () => {
        const store = await using(signal);
        await putVectors(store, model, entries, signal);
        indexes.later(store);
      }),

    async withoutVectors(model, { after = "", limit, signal }) {
      const store = await using(signal);
      const { postgres, table } = store;
      const [known] = store.vectors ? await modelsOf(store, postgres.query, [model]) : [];
      const [{ tools } = { tools: 0 }] = await postgres.query<{ tools: number }>(
        `SELECT tools FROM ${table("meta")}`,
        [],
      );
      if (known?.tools === Number(tools)) return [];
      const without = known
        ? `NOT EXISTS (SELECT 1 FROM ${vectorTable(store, known)} v WHERE v.slot = t.slot AND v.nth = 0)`
        : "true";
      const rows = await postgres.query<{ id: string }>(
        `SELECT id FROM ${table("tools")} t WHERE id > $1 AND ${without} ORDER BY id LIMIT $2::int`,
        [encode(after), limit],
        { signal },
      );
      return rows.map(({ id }) => decode(id));
    },

    async models({ signal } = {}) {
      const store = await using(signal);
      if (!store.vectors) return [];
      const models = await modelsOf(store, store.postgres.query);
      return models.flatMap(({ name, tools }) => (tools > 0 ? [name] : [])).sort();
    },

    deleteVectors: (model, { signal } = {}) =>
      turns.take(async () => deleteVectors(await using(signal), model, signal)),

    async search(query) {
      return search(await using(query.signal), kept, query);
    },

    async changes(since, { signal } = {}) {
      const { postgres, table } = await using(signal);
      return readChanges(postgres, table, since, signal);
    },

    async healthCheck({ signal } = {}) {
      try {
        const { postgres } = await using(signal);
        const sql = "SELECT pg_is_in_recovery() AS standby";
        const [row] = await postgres.query<{ standby: boolean }>(sql, [], { signal });
        return row?.standby === false;
      } catch {
        return false;
      }
    },

    async close() {
      await turns.idle();
      closed = true;
      await indexes.stop();
      const store = await opening?.catch(() => undefined);
      opening = undefined;
      await store?.postgres.close();
    },
  };
}

/** Uses one statement, so it reads one consistent state of the catalog. */
async function readChanges(
  postgres: Postgres,
  table: Store["table"],
  since: number,
  signal: AbortSignal | undefined,
): Promise<EngineChanges> {
  type Row = { revision: number; forgotten: number; changed: readonly string[]; deleted: readonly string[] };
  const [row] = await postgres.query<Row>(
    `SELECT revision, forgotten,
      ARRAY(SELECT id FROM ${table("tools")} WHERE revision > $1 ORDER BY id) AS changed,
      ARRAY(SELECT DISTINCT id FROM ${table("deletions")} d WHERE revision > $1 AND NOT EXISTS
        (SELECT 1 FROM ${table("tools")} t WHERE t.id = d.id) ORDER BY id) AS deleted
    FROM ${table("meta")}`,
    [since],
    { signal },
  );
  const { changed = [], deleted = [] } = row ?? {};
  const [revision, forgotten] = [Number(row?.revision), Number(row?.forgotten)];
  return {
    revision,
    changed: changed.map(decode),
    deleted: deleted.map(decode),
    ...(since < forgotten || since > revision ? { incomplete: true } : {}),
  };
}

function toPostgres({ url, client }: PostgresEngineOptions, schema: string): Postgres {
  if (!/^[a-z_][a-z0-9_]{0,40}$/.test(schema)) {
    const problem = `vector_store.schema is ${JSON.stringify(schema)}, which cannot name a schema.`;
    const fix = "Use lower-case letters, digits and _, at most 41 of them.";
    throw fixable("CONFIG_INVALID", problem, fix, { field: "vector_store.schema", value: schema });
  }
  if (url === undefined && client === undefined) {
    const fix = `Set ${FIELD}: postgres://USER@HOST:5432/DATABASE`;
    throw fixable("CONFIG_INVALID", "The PostgreSQL engine needs the URL of a database.", fix, { field: FIELD });
  }
  return openPostgres({ url: url ?? "", what: "The catalog", field: FIELD, client });
}

export const config = setting.object("A PostgreSQL database with pgvector, shared by any number of processes.", {
  schema: setting.text("For postgres: the schema that contains the tables. It is created if missing.", "toolarsenal"),
  vectors: setting.flag(
    "For postgres: whether vectors are stored with pgvector. If false, tools are searched by words only.",
    true,
  ),
});

export const needs = { url: "Write postgres://USER@HOST:5432/DATABASE." };

/** The common engine settings, with a URL. */
type Settings = setting.Filled<typeof config> & { readonly url?: string };

export function create(
  { url, schema, vectors }: Settings,
  { secrets, clock }: Partial<Pick<Surroundings, "secrets" | "clock">> = {},
): CatalogEngine {
  const filled =
    url === undefined || secrets === undefined
      ? url
      : (): Promise<string> => filledUrl(url, secrets, { scope: "vector_store", field: FIELD });
  return postgresEngine({ schema, vectors, url: filled, clock });
}

export async function check(
  settings: Settings,
  surroundings?: Partial<Pick<Surroundings, "secrets" | "clock">>,
): Promise<string> {
  return checkEngine(create(settings, surroundings), `schema ${settings.schema}`);
}
