import { type ArsenalError, fixable, isArsenalError } from "../../../errors/arsenal-error.ts";
import { codeOf } from "../../postgres/failure.ts";
import { migrate } from "../../postgres/migrate.ts";
import { type Postgres, quoted } from "../../postgres/postgres.ts";
import { decode, encode } from "../stored-text.ts";

export type Query = Postgres["query"];

export interface Store {
  readonly postgres: Postgres;
  readonly schema: string;
  table(name: string): string;
  /** The features of the vector extension; undefined if vectors are turned off. */
  readonly vectors:
    | {
        /** The column type of vectors. `halfvec` needs half the space, and requires pgvector 0.7. */
        readonly type: "halfvec" | "vector";
        /** True if an index scan continues until a filter has accepted enough rows. Requires pgvector 0.8. */
        readonly iterative: boolean;
      }
    | undefined;
  /** A model with at least this many vectors is searched with an HNSW index. */
  readonly exactBelow: number;
}

export interface Meta {
  readonly revision: number;
  readonly forgotten: number;
  readonly tools: number;
  readonly total_length: readonly number[];
  readonly documents_with: readonly number[];
}

export interface Model {
  readonly id: number;
  readonly name: string;
  readonly dimension: number;
  readonly tools: number;
  /** The most vectors of any tool. */
  readonly most: number;
}

/**
 * `slot` identifies one version of a tool. A changed tool gets a new slot, so cached data of a slot stays valid. A tool keeps its terms, so their
 * counts can be subtracted later. Large columns are stored out of line, which speeds up scans.
 */
const catalogSteps = (schema: string): readonly string[] => [
  `
  CREATE TABLE ${schema}.meta (
    revision bigint NOT NULL, forgotten bigint NOT NULL, tools bigint NOT NULL, total_length bigint[] NOT NULL, documents_with bigint[] NOT NULL);
  INSERT INTO ${schema}.meta VALUES (0, 0, 0, '{0,0,0,0,0,0,0,0}', '{0,0,0,0,0,0,0,0}');
  CREATE TABLE ${schema}.tools (
    slot bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id text COLLATE "C" NOT NULL UNIQUE, hash text NOT NULL, revision bigint NOT NULL,
    name text NOT NULL, namespace text COLLATE "C" NOT NULL, source text NOT NULL, risk text NOT NULL, deprecated boolean NOT NULL,
    ensemble text, category text, tenant text, tags text[] NOT NULL, capabilities text[] NOT NULL,
    name_key text COLLATE "C", qualified_key text COLLATE "C", mentionable boolean NOT NULL,
    lengths integer[] NOT NULL, terms text[] NOT NULL, impacts real[] NOT NULL, others text[] NOT NULL, spaces text[] NOT NULL, body text NOT NULL)
    WITH (toast_tuple_target = 256);
  CREATE INDEX ON ${schema}.tools (revision);
  CREATE INDEX ON ${schema}.tools (name);
  CREATE INDEX ON ${schema}.tools (namespace);
  CREATE INDEX ON ${schema}.tools (name_key);
  CREATE INDEX ON ${schema}.tools (qualified_key);
  CREATE TABLE ${schema}.deletions (nth bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, revision bigint NOT NULL, id text COLLATE "C" NOT NULL);
  CREATE INDEX ON ${schema}.deletions (revision);
  CREATE TABLE ${schema}.terms (term text COLLATE "C" PRIMARY KEY, documents bigint NOT NULL, others bigint NOT NULL) WITH (fillfactor = 70);
  CREATE INDEX ON ${schema}.terms (term) WHERE documents <= 0;
  CREATE TABLE ${schema}.namespace_terms (
    term text COLLATE "C", namespace text COLLATE "C", tools bigint NOT NULL, PRIMARY KEY (term, namespace)) WITH (fillfactor = 70);
  CREATE INDEX ON ${schema}.namespace_terms (term) WHERE tools <= 0;
  CREATE TABLE ${schema}.postings (term text COLLATE "C" NOT NULL, impact real NOT NULL, slot bigint NOT NULL);
  CREATE INDEX ON ${schema}.postings (term, impact DESC, slot);`,
];

/** Each model has its own table, so each can have an index with its own dimension. */
const vectorSteps = (schema: string): readonly string[] => [
  `
  CREATE EXTENSION IF NOT EXISTS vector;
  CREATE TABLE ${schema}.models (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text COLLATE "C" NOT NULL UNIQUE, dimension integer NOT NULL,
    tools bigint NOT NULL, most integer NOT NULL);
  CREATE TABLE ${schema}.namespace_sums (
    model integer NOT NULL, namespace text COLLATE "C" NOT NULL, tools bigint NOT NULL, total vector NOT NULL, PRIMARY KEY (model, namespace));`,
];

/** Migrates the tables, and detects the features of the vector extension. */
export async function openTables(
  postgres: Postgres,
  { schema, vectors, exactBelow }: { readonly schema: string; readonly vectors: boolean; readonly exactBelow: number },
): Promise<Store> {
  const table = (name: string): string => `${quoted(schema)}.${quoted(name)}`;
  await migrate(postgres, { name: "catalog", schema, steps: catalogSteps(quoted(schema)) });
  if (!vectors) return { postgres, schema, table, vectors: undefined, exactBelow };
  try {
    await migrate(postgres, { name: "catalog-vectors", schema, steps: vectorSteps(quoted(schema)) });
  } catch (error) {
    throw isExtensionFailure(error) ? withoutExtension(error) : error;
  }
  const [found] = await postgres.query<{ half: boolean; version: string }>(
    "SELECT to_regtype('halfvec') IS NOT NULL AS half, extversion AS version FROM pg_extension WHERE extname = 'vector'",
    [],
  );
  const [major = 0, minor = 0] = (found?.version ?? "").split(".").map(Number);
  const features = { type: found?.half === true ? "halfvec" : "vector", iterative: major > 0 || minor >= 8 } as const;
  return { postgres, schema, table, vectors: features, exactBelow };
}

function isExtensionFailure(error: unknown): boolean {
  const cause = isArsenalError(error) ? error.cause : undefined;
  return ["0A000", "58P01", "42501"].includes(codeOf(cause)) && String(cause).includes('extension "vector"');
}

function withoutExtension(cause: unknown): ArsenalError {
  const isRight = codeOf(isArsenalError(cause) ? cause.cause : undefined) === "42501";
  const why = isRight ? "this user may not create it" : "the server does not have it";
  const fix = isRight
    ? "Let an administrator run CREATE EXTENSION vector; in this database."
    : "Install it on the server (Debian and Ubuntu: apt install postgresql-17-pgvector, with your version), then run CREATE EXTENSION vector; in this database. Or set vector_store.vectors: false to search by words only.";
  const problem = `The catalog needs the PostgreSQL extension vector (pgvector), and ${why}.`;
  return fixable("STORE_FAILED", problem, fix, { field: "vector_store.url", cause });
}

/** Waits until no other process writes. Revisions are assigned under this lock, so they become visible in order. */
export async function lock(store: Store, query: Query): Promise<Meta> {
  const [meta] = await query<Meta>(`SELECT * FROM ${store.table("meta")} FOR UPDATE`, []);
  return meta as Meta;
}

export interface Version {
  readonly slot: number;
  readonly hash: string;
}

export async function versionsOf(
  store: Store,
  query: Query,
  tools: readonly { readonly id: string }[],
): Promise<ReadonlyMap<string, Version>> {
  const rows = await query<Version & { id: string }>(
    `SELECT id, slot, hash FROM ${store.table("tools")} WHERE id = ANY($1::text[])`,
    [tools.map(({ id }) => encode(id))],
  );
  return new Map(rows.map(({ id, slot, hash }) => [decode(id), { slot, hash: decode(hash) }]));
}

export function vectorTable({ table }: Store, { id }: Pick<Model, "id">): string {
  return table(`vectors_${id}`);
}

/** The error of a request for vectors while they are turned off. */
export function vectorsAreOff(): ArsenalError {
  const fix = "Set vector_store.vectors: true, or embedder.tier: lexical.";
  return fixable("STORE_FAILED", "This PostgreSQL catalog keeps no vectors.", fix, { field: "vector_store.vectors" });
}

export function toSql(vector: Float32Array): string {
  return `[${Array.from(vector, (value) => value.toPrecision(8)).join()}]`;
}
