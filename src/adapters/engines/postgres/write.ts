import { createHash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { PutTools, ToolVectors } from "../../../catalog/catalog-engine.port.ts";
import { checkDimension } from "../../../catalog/dense/model-vectors.ts";
import { measureFields } from "../../../catalog/lexical/bm25f.ts";
import { DEFAULT_LEXICAL_SETTINGS } from "../../../catalog/lexical/lexical-fields.ts";
import { toMentionable } from "../../../catalog/lexical/mentions.ts";
import { toolFields } from "../../../catalog/tool-text.ts";
import type { Tool } from "../../../tool/tool.ts";
import type { Postgres } from "../../postgres/postgres.ts";
import { impactOf } from "../judge.ts";
import { decode, encode, toJson, toTenant } from "../stored-text.ts";
import { readWords, type ToolWords } from "../tool-words.ts";
import { type Model, type Store, toSql, vectorsAreOff, vectorTable } from "./tables.ts";

type Query = Postgres["query"];

/** Numbers of the whole catalog. */
export interface Meta {
  readonly revision: number;
  readonly forgotten: number;
  readonly tools: number;
  readonly total_length: readonly number[];
  readonly documents_with: readonly number[];
}

/** A tool as it is written, all but what depends on the other tools. */
interface Prepared {
  readonly tool: Tool;
  readonly words: ToolWords;
  readonly row: object;
}

/** Tools whose words are read before other work gets a turn. */
const TURN = 100;
/** Tools, or vectors, that one statement writes. */
const BATCH = 500;
/** Deletions that `changes` remembers. */
const REMEMBERED_DELETIONS = 10_000;
/** An index entry has a limited length, so longer terms are kept as a hash. */
const LONGEST_KEY = 100;

/** A term, or the key of a name, as it is indexed. */
export function toKey(term: string): string {
  if (term.length <= LONGEST_KEY) return term;
  return `${term.slice(0, 20)}#${createHash("sha256").update(term).digest("hex")}`;
}

/** Writes the tools that are new or changed, in one transaction. */
export async function putTools(
  store: Store,
  tools: readonly Tool[],
  signal: AbortSignal | undefined,
): Promise<PutTools> {
  const options = signal ? { signal } : {};
  const latest = [...new Map(tools.map((tool) => [tool.id, tool])).values()];
  const known = await versionsOf(store, store.postgres.query, latest);
  const prepared = new Map<Tool, Prepared>();
  let read = 0;
  for (const tool of latest) {
    if (known.get(tool.id)?.hash === tool.contentHash) continue;
    if (++read % TURN === 0) await nextTurn();
    prepared.set(tool, prepare(tool));
  }
  return store.postgres.transaction(async (query) => {
    const meta = await lock(store, query);
    // Another process may have changed some of them meanwhile.
    const now = await versionsOf(store, query, latest);
    const different = latest.filter(({ id, contentHash }) => now.get(id)?.hash !== contentHash);
    if (different.length === 0) return { changed: [], revision: meta.revision };
    const replaced = different.flatMap(({ id }) => now.get(id)?.slot ?? []);
    const counts = countsOf(meta);
    await forget(store, query, replaced, counts);
    const revision = meta.revision + 1;
    await write(
      store,
      query,
      different.map((tool) => prepared.get(tool) ?? prepare(tool)),
      { revision, counts },
    );
    await query(
      `UPDATE ${store.table("meta")} SET revision = $1, tools = $2, total_length = $3::bigint[], documents_with = $4::bigint[]`,
      [revision, counts.tools, counts.totalLength, counts.documentsWith],
    );
    return { changed: different.map(({ id }) => id), revision };
  }, options);
}

/** Deletes tools with their words and vectors. Returns how many there were. */
export async function deleteTools(
  store: Store,
  ids: readonly string[],
  signal: AbortSignal | undefined,
): Promise<number> {
  return store.postgres.transaction(
    async (query) => {
      const meta = await lock(store, query);
      const found = await query<{ slot: number; id: string }>(
        `SELECT slot, id FROM ${store.table("tools")} WHERE id = ANY($1::text[])`,
        [ids.map(encode)],
      );
      if (found.length === 0) return 0;
      const counts = countsOf(meta);
      await forget(
        store,
        query,
        found.map(({ slot }) => slot),
        counts,
      );
      const revision = meta.revision + 1;
      await query(
        `INSERT INTO ${store.table("deletions")} (revision, id) SELECT $1::bigint, * FROM unnest($2::text[])`,
        [revision, found.map(({ id }) => id)],
      );
      const [oldest] = await query<{ revision: number }>(
        `SELECT revision FROM ${store.table("deletions")} ORDER BY nth DESC OFFSET $1::int LIMIT 1`,
        [REMEMBERED_DELETIONS],
      );
      if (oldest) await query(`DELETE FROM ${store.table("deletions")} WHERE revision <= $1`, [oldest.revision]);
      await query(
        `UPDATE ${store.table("meta")} SET revision = $1, tools = $2, total_length = $3::bigint[], documents_with = $4::bigint[], forgotten = $5`,
        [revision, counts.tools, counts.totalLength, counts.documentsWith, oldest?.revision ?? meta.forgotten],
      );
      return found.length;
    },
    signal ? { signal } : {},
  );
}

/**
 * Waits until no other process writes. Revisions are given out behind this lock, so they become visible in their order, and whoever reads
 * "everything after revision 5" misses nothing.
 */
async function lock(store: Store, query: Query): Promise<Meta> {
  const [meta] = await query<Meta>(`SELECT * FROM ${store.table("meta")} FOR UPDATE`, []);
  return meta as Meta;
}

interface Version {
  readonly slot: number;
  readonly hash: string;
}

async function versionsOf(store: Store, query: Query, tools: readonly Tool[]): Promise<ReadonlyMap<string, Version>> {
  const rows = await query<Version & { id: string }>(
    `SELECT id, slot, hash FROM ${store.table("tools")} WHERE id = ANY($1::text[])`,
    [tools.map(({ id }) => encode(id))],
  );
  return new Map(rows.map(({ id, slot, hash }) => [decode(id), { slot, hash: decode(hash) }]));
}

/** Numbers of the whole catalog while it changes. */
interface Counts {
  tools: number;
  readonly totalLength: number[];
  readonly documentsWith: number[];
}

function countsOf(meta: Meta): Counts {
  return {
    tools: Number(meta.tools),
    totalLength: meta.total_length.map(Number),
    documentsWith: meta.documents_with.map(Number),
  };
}

function count(counts: Counts, lengths: ArrayLike<number>, by: 1 | -1): void {
  counts.tools += by;
  for (let field = 0; field < lengths.length; field++) {
    const length = lengths[field] ?? 0;
    counts.totalLength[field] = (counts.totalLength[field] ?? 0) + by * length;
    if (length > 0) counts.documentsWith[field] = (counts.documentsWith[field] ?? 0) + by;
  }
}

function prepare(tool: Tool): Prepared {
  const texts = toolFields(tool);
  const words = readWords(texts);
  const { key, otherTerms, namespaceTerms } = toMentionable(texts);
  const [nameKey, qualifiedKey] = words.spellings;
  const row = {
    id: encode(tool.id),
    hash: encode(tool.contentHash),
    name: encode(tool.name),
    namespace: encode(tool.namespace),
    source: encode(tool.source),
    risk: encode(tool.riskLevel),
    deprecated: tool.deprecated,
    ensemble: tool.ensemble === undefined ? null : encode(tool.ensemble),
    category: tool.category === undefined ? null : encode(tool.category),
    tenant: toTenant(tool.metadata["tenant"]),
    tags: tool.tags.map(encode),
    capabilities: tool.capabilities.map(encode),
    name_key: nameKey === undefined ? null : toKey(nameKey),
    qualified_key: qualifiedKey === undefined ? null : toKey(qualifiedKey),
    mentionable: key !== undefined,
    lengths: [...words.lengths],
    terms: Array.from(words.counts.keys(), toKey),
    others: otherTerms.map(toKey),
    spaces: namespaceTerms.map(toKey),
    body: toJson(tool),
  };
  return { tool, words, row };
}

const COLUMNS =
  "id, hash, name, namespace, source, risk, deprecated, ensemble, category, tenant, tags, capabilities, name_key, qualified_key, mentionable, lengths, terms, impacts, others, spaces, body";
const TYPES = `id text, hash text, name text, namespace text, source text, risk text, deprecated boolean, ensemble text, category text, tenant text,
  tags text[], capabilities text[], name_key text, qualified_key text, mentionable boolean, lengths integer[], terms text[], impacts real[],
  others text[], spaces text[], body text`;

async function write(
  { table }: Store,
  query: Query,
  tools: readonly Prepared[],
  { revision, counts }: { readonly revision: number; readonly counts: Counts },
): Promise<void> {
  for (const { words } of tools) count(counts, words.lengths, 1);
  const measures = measureFields(DEFAULT_LEXICAL_SETTINGS, counts);
  const sql = `
    WITH added AS (
      INSERT INTO ${table("tools")} (revision, ${COLUMNS}) SELECT $2::bigint, ${COLUMNS} FROM json_to_recordset($1::json) AS given(${TYPES})
      RETURNING slot, namespace, terms, impacts, others, spaces),
    posted AS (
      INSERT INTO ${table("postings")} SELECT term, impact, slot FROM added, unnest(terms, impacts) AS u(term, impact) ORDER BY term, impact),
    spaced AS (
      INSERT INTO ${table("namespace_terms")} AS kept SELECT term, namespace, count(*) FROM added, unnest(spaces) AS term GROUP BY term, namespace
      ON CONFLICT (term, namespace) DO UPDATE SET tools = kept.tools + excluded.tools)
    INSERT INTO ${table("terms")} AS kept ${COUNTED_TERMS("added")} ORDER BY term
    ON CONFLICT (term) DO UPDATE SET documents = kept.documents + excluded.documents, others = kept.others + excluded.others`;
  for (let start = 0; start < tools.length; start += BATCH) {
    const rows = tools.slice(start, start + BATCH).map(({ words, row }) => {
      const impacts = Array.from(words.counts.keys(), (term) => impactOf(measures, words, term));
      return { ...row, impacts };
    });
    await query(sql, [JSON.stringify(rows), revision]);
  }
}

/** By term: the tools that have it, and those that have it elsewhere than in their namespace. */
const COUNTED_TERMS = (from: string): string => `
  SELECT term, sum(documents) AS documents, sum(others) AS others FROM (
    SELECT term, 1 AS documents, 0 AS others FROM ${from}, unnest(terms) AS term
    UNION ALL SELECT term, 0, 1 FROM ${from}, unnest(others) AS term) AS each GROUP BY term`;

/** Removes everything about versions of tools, and what was counted for them. */
async function forget(store: Store, query: Query, slots: readonly number[], counts: Counts): Promise<void> {
  if (slots.length === 0) return;
  const { table } = store;
  if (store.vectors) {
    for (const model of await modelsOf(store, query)) await removeVectors(store, query, model, slots);
  }
  const gone = await query<{ lengths: readonly number[] }>(
    `WITH gone AS (
      DELETE FROM ${table("tools")} WHERE slot = ANY($1::bigint[]) RETURNING slot, namespace, terms, impacts, others, spaces, lengths),
    unposted AS (
      DELETE FROM ${table("postings")} p USING (SELECT slot, term, impact FROM gone, unnest(terms, impacts) AS u(term, impact)) AS g
      WHERE p.term = g.term AND p.impact = g.impact AND p.slot = g.slot),
    uncounted AS (
      UPDATE ${table("terms")} AS kept SET documents = kept.documents - c.documents, others = kept.others - c.others
      FROM (${COUNTED_TERMS("gone")}) AS c WHERE kept.term = c.term),
    unspaced AS (
      UPDATE ${table("namespace_terms")} AS kept SET tools = kept.tools - c.tools
      FROM (SELECT term, namespace, count(*) AS tools FROM gone, unnest(spaces) AS term GROUP BY term, namespace) AS c
      WHERE kept.term = c.term AND kept.namespace = c.namespace)
    SELECT lengths FROM gone`,
    [slots],
  );
  for (const { lengths } of gone) count(counts, lengths, -1);
  await query(`DELETE FROM ${table("terms")} WHERE documents <= 0`, []);
  await query(`DELETE FROM ${table("namespace_terms")} WHERE tools <= 0`, []);
}

/** The models that have vectors, or those of these names. */
export async function modelsOf(store: Store, query: Query, names?: readonly string[]): Promise<readonly Model[]> {
  const rows = await query<Model>(
    `SELECT id, name, dimension, tools, most FROM ${store.table("models")} ${names ? "WHERE name = ANY($1::text[])" : ""}`,
    names ? [names.map(encode)] : [],
  );
  return rows.map((model) => ({ ...model, name: decode(model.name), tools: Number(model.tools) }));
}

/** Takes vectors out of a model, and out of the sums of their namespaces. The tools must still be there. */
async function removeVectors(store: Store, query: Query, model: Model, slots: readonly number[]): Promise<void> {
  const { table } = store;
  const vectors = vectorTable(store, model);
  const mains = `SELECT t.namespace, sum(v.vector::vector) AS total, count(*) AS tools FROM ${vectors} v JOIN ${table("tools")} t USING (slot)
    WHERE v.slot = ANY($1::bigint[]) AND v.nth = 0 GROUP BY t.namespace`;
  await query(
    `UPDATE ${table("namespace_sums")} AS kept SET tools = kept.tools - gone.tools, total = kept.total - gone.total
    FROM (${mains}) AS gone WHERE kept.model = $2 AND kept.namespace = gone.namespace`,
    [slots, model.id],
  );
  await query(`DELETE FROM ${table("namespace_sums")} WHERE model = $1 AND tools <= 0`, [model.id]);
  await query(
    `WITH gone AS (DELETE FROM ${vectors} WHERE slot = ANY($1::bigint[]) RETURNING nth)
    UPDATE ${table("models")} SET tools = tools - (SELECT count(*) FROM gone WHERE nth = 0) WHERE id = $2`,
    [slots, model.id],
  );
}

/** Keeps the vectors of tools, in one transaction. Returns the model as it then is; undefined if nothing was kept. */
export async function putVectors(
  store: Store,
  name: string,
  entries: readonly ToolVectors[],
  signal: AbortSignal | undefined,
): Promise<Model | undefined> {
  if (!store.vectors) throw vectorsAreOff();
  const { table } = store;
  return store.postgres.transaction(
    async (query) => {
      await lock(store, query);
      const rows = await query<Version & { id: string }>(
        `SELECT id, slot, hash FROM ${table("tools")} WHERE id = ANY($1::text[])`,
        [entries.map(({ id }) => encode(id))],
      );
      const versions = new Map(rows.map(({ id, slot, hash }) => [decode(id), { slot, hash: decode(hash) }]));
      const kept = new Map<number, ToolVectors>();
      for (const entry of entries) {
        const version = versions.get(entry.id);
        if (version?.hash === entry.contentHash && entry.vectors.length > 0) kept.set(version.slot, entry);
      }
      const dimension = [...kept.values()][0]?.vectors[0]?.length;
      if (dimension === undefined) return undefined;
      const model = await modelFor(store, query, name, dimension);
      for (const { id, vectors } of kept.values())
        for (const vector of vectors) checkDimension(vector, model.dimension, `A vector of ${id}`);
      const slots = [...kept.keys()];
      await removeVectors(store, query, model, slots);
      await insertVectors(store, query, model, kept);
      const most = Math.max(model.most, ...Array.from(kept.values(), ({ vectors }) => vectors.length));
      await query(
        `INSERT INTO ${table("namespace_sums")} AS kept SELECT $2::int, t.namespace, count(*), sum(v.vector::vector)
        FROM ${vectorTable(store, model)} v JOIN ${table("tools")} t USING (slot) WHERE v.slot = ANY($1::bigint[]) AND v.nth = 0 GROUP BY t.namespace
        ON CONFLICT (model, namespace) DO UPDATE SET tools = kept.tools + excluded.tools, total = kept.total + excluded.total`,
        [slots, model.id],
      );
      const [after] = await query<{ tools: number }>(
        `UPDATE ${table("models")} SET tools = tools + $2, most = $3 WHERE id = $1 RETURNING tools`,
        [model.id, slots.length, most],
      );
      return { ...model, most, tools: Number(after?.tools) };
    },
    signal ? { signal } : {},
  );
}

async function insertVectors(
  store: Store,
  query: Query,
  model: Model,
  kept: ReadonlyMap<number, ToolVectors>,
): Promise<void> {
  const rows = [...kept].flatMap(([slot, { vectors }]) => vectors.map((vector, nth) => ({ slot, nth, vector })));
  for (let start = 0; start < rows.length; start += BATCH) {
    const batch = rows.slice(start, start + BATCH);
    await query(
      `INSERT INTO ${vectorTable(store, model)} SELECT slot, nth, vector::${store.vectors?.type ?? "vector"}
      FROM unnest($1::bigint[], $2::smallint[], $3::text[]) AS given(slot, nth, vector)`,
      [batch.map(({ slot }) => slot), batch.map(({ nth }) => nth), batch.map(({ vector }) => toSql(vector))],
    );
  }
}

/** The model and its table, which is made when its first vectors come. */
async function modelFor(store: Store, query: Query, name: string, dimension: number): Promise<Model> {
  const [known] = await modelsOf(store, query, [name]);
  if (known && (known.tools > 0 || known.dimension === dimension)) return known;
  // Without vectors, a model can have another dimension from now on.
  if (known) {
    await query(`DROP TABLE ${vectorTable(store, known)}`, []);
    await query(`DELETE FROM ${store.table("models")} WHERE id = $1`, [known.id]);
  }
  const [made] = await query<{ id: number }>(
    `INSERT INTO ${store.table("models")} (name, dimension, tools, most) VALUES ($1, $2, 0, 1) RETURNING id`,
    [encode(name), dimension],
  );
  const model = { id: made?.id ?? 0, name, dimension, tools: 0, most: 1 };
  const type = `${store.vectors?.type ?? "vector"}(${dimension})`;
  await query(
    `CREATE TABLE ${vectorTable(store, model)} (slot bigint NOT NULL, nth smallint NOT NULL, vector ${type} NOT NULL, PRIMARY KEY (slot, nth))`,
    [],
  );
  return model;
}
