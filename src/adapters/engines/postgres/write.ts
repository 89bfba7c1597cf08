import { createHash } from "node:crypto";
import type { PutTools } from "../../../catalog/catalog-engine.port.ts";
import { measureFields } from "../../../catalog/lexical/bm25f.ts";
import { toMentionable } from "../../../catalog/lexical/mentions.ts";
import { toolFields } from "../../../catalog/tool-text.ts";
import type { Tool } from "../../../tool/tool.ts";
import { impactOf } from "../judge.ts";
import { latestOf, prepareAll } from "../handle.ts";
import { encode, toColumns, toJson } from "../stored-text.ts";
import { readWords } from "../tool-words.ts";
import { lock, type Meta, type Query, type Store, versionsOf } from "./tables.ts";
import { modelsOf, removeVectors } from "./vectors.ts";

/** Tools per statement. */
const BATCH = 500;
/** The most deletions that `changes` can report. */
const REMEMBERED_DELETIONS = 10_000;
/** Index entries have a limited length, so longer terms are stored as a hash. */
const LONGEST_KEY = 100;

/** Returns the indexed form of a term or a name. */
export function toKey(term: string): string {
  if (term.length <= LONGEST_KEY) return term;
  return `${term.slice(0, 20)}#${createHash("sha256").update(term).digest("hex")}`;
}

export async function putTools(
  store: Store,
  tools: readonly Tool[],
  signal: AbortSignal | undefined,
): Promise<PutTools> {
  const latest = latestOf(tools);
  const known = await versionsOf(store, store.postgres.query, latest);
  const changed = latest.filter(({ id, contentHash }) => known.get(id)?.hash !== contentHash);
  const preparedOf = await prepareAll(changed, prepare);
  return store.postgres.transaction(
    async (query) => {
      const meta = await lock(store, query);
      // Another process may have changed some of these tools meanwhile.
      const now = await versionsOf(store, query, latest);
      const different = latest.filter(({ id, contentHash }) => now.get(id)?.hash !== contentHash);
      if (different.length === 0) return { changed: [], revision: meta.revision };
      const replaced = different.flatMap(({ id }) => now.get(id)?.slot ?? []);
      const counts = countsOf(meta);
      await forget(store, query, replaced, counts);
      const revision = meta.revision + 1;
      await write(store, query, different.map(preparedOf), { revision, counts });
      await query(
        `UPDATE ${store.table("meta")} SET revision = $1, tools = $2, total_length = $3::bigint[], documents_with = $4::bigint[]`,
        [revision, counts.tools, counts.totalLength, counts.documentsWith],
      );
      return { changed: different.map(({ id }) => id), revision };
    },
    { signal },
  );
}

/** Deletes tools with their words and vectors. Returns the number of deleted tools. */
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
      const slots = found.map(({ slot }) => slot);
      await forget(store, query, slots, counts);
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
    { signal },
  );
}

/** Statistics of the whole catalog during a change. */
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

/** Prepares the row of a tool, except fields that depend on other tools. */
function prepare(tool: Tool) {
  const texts = toolFields(tool);
  const words = readWords(texts);
  const { key, otherTerms, namespaceTerms } = toMentionable(texts);
  const [nameKey, qualifiedKey] = words.spellings;
  const row = {
    ...toColumns(tool),
    deprecated: tool.deprecated,
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
  return { words, row };
}

const COLUMNS =
  "id, hash, name, namespace, source, risk, deprecated, ensemble, category, tenant, tags, capabilities, name_key, qualified_key, mentionable, lengths, terms, impacts, others, spaces, body";
const TYPES = `id text, hash text, name text, namespace text, source text, risk text, deprecated boolean, ensemble text, category text, tenant text,
  tags text[], capabilities text[], name_key text, qualified_key text, mentionable boolean, lengths integer[], terms text[], impacts real[],
  others text[], spaces text[], body text`;

async function write(
  { table }: Store,
  query: Query,
  tools: readonly ReturnType<typeof prepare>[],
  { revision, counts }: { readonly revision: number; readonly counts: Counts },
): Promise<void> {
  for (const { words } of tools) count(counts, words.lengths, 1);
  const measures = measureFields(counts);
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

/** For each term, counts the tools with it, and the tools with it outside their namespace. */
const COUNTED_TERMS = (from: string): string => `
  SELECT term, sum(documents) AS documents, sum(others) AS others FROM (
    SELECT term, 1 AS documents, 0 AS others FROM ${from}, unnest(terms) AS term
    UNION ALL SELECT term, 0, 1 FROM ${from}, unnest(others) AS term) AS each GROUP BY term`;

/** Removes all data of these slots, including their share of the counts. */
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
