import type { EngineAnswer, EngineQuery, NamespaceFit } from "../../../catalog/catalog-engine.port.ts";
import { checkDimension, EXAMPLE_SHARE } from "../../../catalog/dense/model-vectors.ts";
import { LEAST_NAMESPACES, toNamespaceFit } from "../../../catalog/dense/namespace-vectors.ts";
import { MOST_NAMESPACES, MOST_OTHER_TOOLS, readMentions } from "../../../catalog/lexical/mentions.ts";
import { tokenize } from "../../../catalog/lexical/tokenize.ts";
import type { ToolFilter } from "../../../tool/tool-filter.ts";
import { type Corpus, type FoundTool, judge } from "../judge.ts";
import { decode, encode, isEveryTool } from "../stored-text.ts";
import { toWord } from "../tool-words.ts";
import { createBinder, toCondition } from "./filter-sql.ts";
import { type QueryVector, conditionOf, findSlots, type Slots } from "./find-slots.ts";
import type { SearchCache, KeptTool } from "./kept.ts";
import { type Meta, type Model, type Store, toSql, vectorsAreOff, vectorTable } from "./tables.ts";
import { toKey } from "./write.ts";

const MOST_NAMED = 1_000;

/** Facts from the database about a request, read before the search. */
interface RequestFacts extends Meta {
  readonly terms: readonly (readonly [term: string, documents: number, others: number])[] | null;
  readonly named: readonly string[] | null;
  readonly spaces: readonly (readonly [term: string, namespaces: readonly string[]])[] | null;
  readonly models: readonly (Model & { readonly indexed: boolean | null })[] | null;
}

/** Collects the evidence for one request. The database finds, filters and limits; the words of the candidates are scored here. */
export async function search(store: Store, kept: SearchCache, query: EngineQuery): Promise<EngineAnswer> {
  const { texts, vectors = [] } = query;
  if (vectors.length > 0 && !store.vectors) throw vectorsAreOff();
  const facts = await readFacts(store, query);
  kept.follow(facts.revision);
  for (const [key, documents] of facts.terms ?? []) kept.documents.set(key, documents);
  const corpus: Corpus = {
    size: Number(facts.tools),
    totalLength: facts.total_length.map(Number),
    documentsWith: facts.documents_with.map(Number),
    documentsOf: (term) => kept.documents.get(toKey(term)) ?? 0,
  };
  const asked = vectors.map(({ model: name, vector }): QueryVector | undefined => {
    const model = facts.models?.find((each) => each.name === encode(name));
    if (model === undefined || model.tools === 0) return undefined;
    checkDimension(vector, model.dimension, "The query's vector");
    return { model, indexed: model.indexed === true, text: toSql(vector) };
  });
  const numbers = await countTools(store, kept, query, { size: corpus.size, asked });
  const slots = await findSlots(store, query, { corpus, asked, ...numbers });
  const [found, fits] = await Promise.all([
    readFound(store, kept, slots, { asked, query }),
    readFits(store, slots, { asked, query }),
  ]);
  await readDocuments(store, kept, found, query);
  return judge(query, {
    ...numbers,
    corpus,
    found,
    named: {
      tools: new Set((facts.named ?? []).map(decode)),
      namespaces: new Set(namedNamespaces(texts[0] ?? "", facts)),
    },
    namespaceFit: (namespace, at) => fits[at]?.get(namespace),
  });
}

async function readFacts({ postgres, schema, table, vectors }: Store, query: EngineQuery): Promise<RequestFacts> {
  const { names, terms: mentioned } = readMentions(query.texts[0] ?? "");
  const terms = new Set(query.texts.flatMap((text) => tokenize(text).map(({ term }) => toKey(toWord(term)))));
  for (const term of mentioned) terms.add(toKey(term));
  const models = `(SELECT json_agg(m) FROM (SELECT id, name, dimension, tools, most,
      (SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('${schema}.vectors_' || id || '_hnsw')) AS indexed
      FROM ${table("models")} WHERE name = ANY($4::text[])) AS m)`;
  const [facts] = await postgres.query<RequestFacts>(
    `SELECT meta.*,
      (SELECT json_agg(json_build_array(term, documents, others)) FROM ${table("terms")} WHERE term = ANY($1::text[])) AS terms,
      (SELECT json_agg(id) FROM (
        SELECT id FROM (SELECT id FROM ${table("tools")} WHERE name_key = ANY($2::text[]) AND mentionable OFFSET 0) AS every
        ORDER BY id LIMIT ${MOST_NAMED}) AS n) AS named,
      (SELECT json_agg(json_build_array(term, namespaces)) FROM (
        SELECT term, json_agg(namespace) AS namespaces FROM ${table("namespace_terms")} WHERE term = ANY($3::text[])
        GROUP BY term HAVING count(*) <= ${MOST_NAMESPACES}) AS s) AS spaces,
      ${vectors ? models : "NULL"} AS models FROM ${table("meta")} AS meta`,
    [
      [...terms],
      [...new Set(Array.from(names, toKey))],
      mentioned.map(toKey),
      ...(vectors ? [[...new Set((query.vectors ?? []).map(({ model }) => encode(model)))]] : []),
    ],
    { signal: query.signal },
  );
  return facts as RequestFacts;
}

/** Returns the namespaces that a text names, by the same rules as in memory. */
function namedNamespaces(text: string, { terms, spaces }: RequestFacts): readonly string[] {
  const others = new Map((terms ?? []).map(([key, , tools]) => [key, tools]));
  const having = new Map(spaces ?? []);
  return readMentions(text).terms.flatMap((term) => {
    const key = toKey(term);
    return (others.get(key) ?? 0) > MOST_OTHER_TOOLS ? [] : (having.get(key) ?? []).map(decode);
  });
}

/** Counts the tools that the filters accept. Counting reads every tool, so counts are cached until a tool changes. */
async function countTools(
  store: Store,
  kept: SearchCache,
  query: EngineQuery,
  { size, asked }: { readonly size: number; readonly asked: readonly (QueryVector | undefined)[] },
) {
  const tools = store.table("tools");
  async function once(key: string, count: () => Promise<number>): Promise<number> {
    const known = kept.counts.get(key) ?? (await count());
    kept.counts.set(key, known);
    return known;
  }
  async function countRows(condition: (binder: ReturnType<typeof createBinder>) => string): Promise<number> {
    const binder = createBinder();
    const sql = `SELECT count(*) AS count FROM ${tools} t WHERE ${condition(binder)}`;
    const [row] = await store.postgres.query<{ count: number }>(sql, binder.values, { signal: query.signal });
    return Number(row?.count);
  }
  const visible: ToolFilter = query.visible ?? { all: [] };
  const both = JSON.stringify([query.visible, query.filter]);
  const total = isEveryTool(visible)
    ? size
    : await once(JSON.stringify(query.visible), () => countRows((binder) => toCondition(visible, binder)));
  const isEvery = isEveryTool(query.filter);
  const accepted = isEvery
    ? total
    : await once(both, () => countRows((binder) => conditionOf(query, binder) ?? "true"));
  const embedded: number[] = [];
  for (const each of asked) {
    if (each === undefined) embedded.push(0);
    else if (each.model.tools === size) embedded.push(accepted);
    else if (isEvery && isEveryTool(visible)) embedded.push(each.model.tools);
    else {
      const { id, tools: having } = each.model;
      const sql = `EXISTS (SELECT 1 FROM ${vectorTable(store, each.model)} v WHERE v.slot = t.slot AND v.nth = 0)`;
      const count = (): Promise<number> => countRows((binder) => `${conditionOf(query, binder) ?? "true"} AND ${sql}`);
      embedded.push(await once(JSON.stringify([id, having, both]), count));
    }
  }
  return { accepted, total, embedded };
}

/** Reads the found tools that are not cached, and the cosines of all found tools. */
async function readFound(
  store: Store,
  kept: SearchCache,
  slots: Slots,
  { asked, query }: { readonly asked: readonly (QueryVector | undefined)[]; readonly query: EngineQuery },
): Promise<readonly (FoundTool & KeptTool)[]> {
  if (slots.size === 0) return [];
  const binder = createBinder();
  const own = new Map([...slots.keys()].map((slot) => [slot, kept.tool(slot)]));
  const missing = [...own].flatMap(([slot, tool]) => (tool ? [] : [slot]));
  const bodies = `CASE WHEN t.slot = ANY(${binder.bind(missing, "bigint[]")}) THEN t.body END AS body`;
  const cosines = asked.map((each) => {
    if (each === undefined) return "NULL";
    const distance = `v.vector <#> ${binder.bind(each.text, store.vectors?.type ?? "vector")}`;
    const closeness = `CASE WHEN nth = 0 THEN 1::float8 ELSE ${EXAMPLE_SHARE}::float8 END * LEAST(1, GREATEST(-1, -(${distance})))`;
    return `(SELECT max(${closeness}) FROM ${vectorTable(store, each.model)} v WHERE v.slot = t.slot)`;
  });
  const rows = await store.postgres.query<{ slot: number; body: string | null; cosines: readonly (number | null)[] }>(
    `SELECT t.slot, ${bodies}, ARRAY[${cosines.join()}]::float8[] AS cosines FROM ${store.table("tools")} t
    WHERE t.slot = ANY(${binder.bind([...own.keys()], "bigint[]")})`,
    binder.values,
    { signal: query.signal },
  );
  return rows.flatMap((row) => {
    const slot = Number(row.slot);
    const tool = own.get(slot) ?? (row.body === null ? undefined : kept.add(slot, row.body));
    if (tool === undefined) return [];
    const judged = row.cosines.map((cosine) => cosine ?? undefined);
    return [{ ...tool, cosines: judged, stays: slots.get(slot)?.stays === true }];
  });
}

async function readFits(
  store: Store,
  slots: Slots,
  { asked, query }: { readonly asked: readonly (QueryVector | undefined)[]; readonly query: EngineQuery },
): Promise<readonly (ReadonlyMap<string, NamespaceFit> | undefined)[]> {
  const binder = createBinder();
  const found = binder.bind([...slots.keys()], "bigint[]");
  const parts = asked.flatMap((each, at) => {
    if (each === undefined) return [];
    const sums = `${store.table("namespace_sums")} WHERE model = ${each.model.id}`;
    const product = `-(total <#> ${binder.bind(each.text, "vector")})`;
    return [
      `(SELECT ${at} AS nth, namespace, tools, ${product} AS product, vector_norm(total) AS length FROM ${sums}
      AND namespace IN (SELECT namespace FROM ${store.table("tools")} WHERE slot = ANY(${found}))
      AND (SELECT count(*) FROM (SELECT 1 FROM ${sums} LIMIT ${LEAST_NAMESPACES}) AS n) = ${LEAST_NAMESPACES})`,
    ];
  });
  if (parts.length === 0 || slots.size === 0) return [];
  type Row = { nth: number; namespace: string; tools: number; product: number; length: number };
  const rows = await store.postgres.query<Row>(parts.join(" UNION ALL "), binder.values, { signal: query.signal });
  return asked.map((_, at) => {
    const own = rows.filter(({ nth }) => nth === at);
    return new Map(
      own.map(({ namespace: name, product, length, tools }) => {
        const namespace = decode(name);
        return [namespace, toNamespaceFit(namespace, { product, length, count: Number(tools) })];
      }),
    );
  });
}

/** Reads the document counts of the found tools' terms, for comparing these tools. */
async function readDocuments(
  { postgres, table }: Store,
  { documents }: SearchCache,
  found: readonly KeptTool[],
  query: EngineQuery,
): Promise<void> {
  const missing = new Set<string>();
  for (const { words } of found) {
    for (const term of words.counts.keys()) {
      const key = toKey(term);
      if (!documents.has(key)) missing.add(key);
    }
  }
  if (missing.size === 0) return;
  const rows = await postgres.query<{ term: string; documents: number }>(
    `SELECT term, documents FROM ${table("terms")} WHERE term = ANY($1::text[])`,
    [[...missing]],
    { signal: query.signal },
  );
  for (const { term, documents: count } of rows) documents.set(term, Number(count));
}
