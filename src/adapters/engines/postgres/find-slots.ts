import type { EngineQuery } from "../../../catalog/catalog-engine.port.ts";
import { EXAMPLE_SHARE } from "../../../catalog/dense/model-vectors.ts";
import { nameKey } from "../../../catalog/lexical/tokenize.ts";
import { type Corpus, sharesOf } from "../judge.ts";
import { isEveryTool, narrowing } from "../stored-text.ts";
import { type Binder, createBinder, toCondition } from "./filter-sql.ts";
import { type Model, type Store, vectorTable } from "./tables.ts";
import { toKey } from "./write.ts";

/**
 * For each text, the inverted index is read in full up to this many entries, rarest terms first. For the other terms, only the heaviest entries are
 * read.
 */
const READ_IN_FULL = 50_000;
const READ_OF_COMMON = 10_000;
/** If the filters accept at most this many tools, common terms are looked up in each of them. */
const FEW_TOOLS = 2_000;
/** If the filters accept at most this many tools, each of their vectors is compared. An index would check too many rejected ones. */
const FEW_VECTORS = 20_000;
/** The index ranks by the field lengths at the time of writing, so more entries are read than needed. */
const MORE = 2;
const AT_LEAST_MORE = 50;
/** An index returns single vectors, and a tool may have several. */
const MOST_ROWS_EACH = 4;
/** The number of vectors that an index search considers: at least, at most, and in total before it stops. */
const LEAST_LOOK = 100;
const MOST_LOOK = 1_000;
const MOST_SCANNED = 40_000;

export interface QueryVector {
  readonly model: Model;
  readonly indexed: boolean;
  readonly text: string;
}

/** Facts that determine the search strategy. */
export interface SearchFacts {
  readonly corpus: Corpus;
  readonly asked: readonly (QueryVector | undefined)[];
  readonly accepted: number;
  readonly embedded: readonly number[];
}

/** The found slots. `stays` is true if a vector found the slot or the query names it. */
export type Slots = ReadonlyMap<number, { stays: boolean }>;

/** Returns the filters of a query as one condition on `t`; undefined if they accept every tool. */
export function conditionOf(query: EngineQuery, binder: Binder): string | undefined {
  const both = narrowing(query);
  return both && toCondition(both, binder);
}

/** Finds the candidates of each text and each vector, in one statement. */
export async function findSlots(store: Store, query: EngineQuery, known: SearchFacts): Promise<Slots> {
  const found = new Map<number, { stays: boolean }>();
  if (known.accepted === 0) return found;
  const add = (slot: number, stays: boolean): void => {
    const before = found.get(slot);
    if (before) before.stays ||= stays;
    else found.set(slot, { stays });
  };
  const useIndex = known.asked.map((asked) => asked !== undefined && isIndexUseful(store, query, asked, known));
  const rows = await run(store, query, known, useIndex);
  const counts = known.asked.map(() => 0);
  for (const { nth, slot } of rows) {
    if (nth >= 0) counts[nth] = (counts[nth] ?? 0) + 1;
    add(slot, nth !== BY_WORDS);
  }
  // An index search that stopped too early is repeated by comparing all vectors.
  const unfilled = useIndex.map(
    (used, at) => used && (counts[at] ?? 0) < Math.min(query.limit, known.embedded[at] ?? 0),
  );
  if (unfilled.includes(true)) {
    const asked = known.asked.map((each, at) => (unfilled[at] === true ? each : undefined));
    const again = await run(store, { ...query, texts: [], besides: [] }, { ...known, asked }, []);
    for (const { slot } of again) add(slot, true);
  }
  return found;
}

/** Marks slots that words found, not vectors. */
const BY_WORDS = -1;
const ASKED_FOR = -2;

interface SlotRow {
  readonly nth: number;
  readonly slot: number;
}

async function run(
  store: Store,
  query: EngineQuery,
  known: SearchFacts,
  useIndex: readonly boolean[],
): Promise<readonly SlotRow[]> {
  const binder = createBinder();
  const condition = conditionOf(query, binder);
  const parts: string[] = [];
  for (const text of query.texts) parts.push(...byWords(store, text, { ...known, query, binder, condition }));
  known.asked.forEach((asked, at) => {
    if (asked === undefined) return;
    const near = useIndex[at] === true ? nearByIndex : nearest;
    parts.push(
      `SELECT ${at} AS nth, slot FROM (${near(store, asked, { limit: query.limit, binder, condition })}) AS v${at}`,
    );
  });
  if (query.besides && query.besides.length > 0) {
    const wanted = toCondition({ ids: query.besides }, binder);
    parts.push(
      `SELECT ${ASKED_FOR} AS nth, slot FROM ${store.table("tools")} t WHERE ${wanted} AND ${condition ?? "true"}`,
    );
  }
  if (parts.length === 0) return [];
  const sql = parts.map((part) => `(${part})`).join(" UNION ALL ");
  const options = { signal: query.signal };
  if (!useIndex.includes(true)) return store.postgres.query<SlotRow>(sql, binder.values, options);
  const look = Math.min(Math.max(2 * query.limit, LEAST_LOOK), MOST_LOOK);
  return store.postgres.transaction(async (on) => {
    await on(
      `SELECT set_config('hnsw.ef_search', '${look}', true), set_config('hnsw.iterative_scan', 'relaxed_order', true),
      set_config('hnsw.max_scan_tuples', '${MOST_SCANNED}', true)`,
      [],
    );
    return on<SlotRow>(sql, binder.values);
  }, options);
}

interface Shape {
  readonly binder: Binder;
  readonly condition: string | undefined;
}

/**
 * Selects the tools that cover a text best, approximately; their exact coverage is computed afterwards. Also selects the tools whose name is the
 * text.
 */
function byWords(
  { table }: Store,
  text: string,
  { query, corpus, accepted, binder, condition }: SearchFacts & Shape & { readonly query: EngineQuery },
): readonly string[] {
  const parts: string[] = [];
  const limit = MORE * query.limit + AT_LEAST_MORE;
  const accepts = condition ?? "true";
  const key = nameKey(text);
  if (key !== "") {
    const bound = binder.bind(toKey(key), "text");
    parts.push(
      `SELECT ${BY_WORDS} AS nth, slot FROM ${table("tools")} t WHERE (name_key = ${bound} OR qualified_key = ${bound}) AND ${accepts} LIMIT ${limit}`,
    );
  }
  const terms = sharesOf(text, corpus).filter(({ documents }) => documents > 0);
  if (terms.length === 0) return parts;
  const [whole, common]: [(typeof terms)[number][], (typeof terms)[number][]] = [[], []];
  let entries = 0;
  for (const term of terms.toSorted((a, b) => a.documents - b.documents)) {
    entries += term.documents;
    (entries <= READ_IN_FULL ? whole : common).push(term);
  }
  const given = (of: typeof terms): string => {
    const keys = binder.bind(
      of.map(({ term }) => toKey(term)),
      "text[]",
    );
    return `unnest(${keys}, ${binder.bind(
      of.map(({ share }) => share),
      "float8[]",
    )}) AS given(term, share)`;
  };
  const postings = table("postings");
  const read: string[] = [];
  if (common.length > 0 && accepted <= FEW_TOOLS) {
    read.push(`SELECT slot, share * impact AS part FROM (SELECT slot, u.term, u.impact FROM ${table("tools")} t, unnest(t.terms, t.impacts) AS u(term, impact)
      WHERE ${accepts}) AS own JOIN ${given(terms)} USING (term)`);
  } else {
    if (whole.length > 0)
      read.push(`SELECT slot, share * impact AS part FROM ${given(whole)} JOIN ${postings} USING (term)`);
    if (common.length > 0)
      read.push(`SELECT slot, share * impact AS part FROM ${given(common)},
        LATERAL (SELECT slot, impact FROM ${postings} p WHERE p.term = given.term ORDER BY impact DESC, slot LIMIT ${READ_OF_COMMON}) AS top`);
  }
  // Rows with equal scores are ordered by id, so all rows at the cut are read. Filters run tool by tool until enough tools are accepted.
  const scored = `SELECT slot, round(sum(part) * 1e6) AS score FROM (${read.join(" UNION ALL ")}) AS r GROUP BY slot ORDER BY score DESC`;
  parts.push(`SELECT ${BY_WORDS} AS nth, slot FROM (
    SELECT s.slot, s.score, a.id FROM (${scored}) AS s, LATERAL (SELECT t.id FROM ${table("tools")} t WHERE t.slot = s.slot AND ${accepts} OFFSET 0) AS a
    ORDER BY s.score DESC FETCH FIRST ${limit} ROWS WITH TIES) AS best ORDER BY score DESC, id LIMIT ${limit}`);
  return parts;
}

/** Returns the closeness of a vector to the query's vector. An example's vector counts slightly less. */
const closeness = (distance: string): string =>
  `CASE WHEN nth = 0 THEN 1::float8 ELSE ${EXAMPLE_SHARE}::float8 END * -(${distance})`;

function nearest(
  store: Store,
  { model, text }: QueryVector,
  { limit, binder, condition }: Shape & { readonly limit: number },
): string {
  const close = closeness(`v.vector <#> ${binder.bind(text, store.vectors?.type ?? "vector")}`);
  const from = `FROM ${vectorTable(store, model)} v ${accepting(store, condition)}`;
  const scored =
    model.most === 1
      ? `SELECT v.slot, ${close} AS cosine ${from}`
      : `SELECT v.slot, max(${close}) AS cosine ${from} GROUP BY v.slot`;
  return `SELECT slot FROM (${scored} ORDER BY cosine DESC FETCH FIRST ${limit} ROWS WITH TIES) AS near
    JOIN ${store.table("tools")} USING (slot) ORDER BY cosine DESC, id LIMIT ${limit}`;
}

function accepting(store: Store, condition: string | undefined): string {
  return condition === undefined ? "" : `JOIN ${store.table("tools")} t USING (slot) WHERE ${condition}`;
}

/** Searches the HNSW index, which continues until the filters have accepted enough vectors. */
function nearByIndex(
  store: Store,
  { model, text }: QueryVector,
  { limit, binder, condition }: Shape & { readonly limit: number },
): string {
  const distance = `v.vector <#> ${binder.bind(text, store.vectors?.type ?? "vector")}`;
  const rows = limit * Math.min(model.most, MOST_ROWS_EACH);
  return `SELECT slot FROM (
    SELECT v.slot, v.nth, ${distance} AS distance FROM ${vectorTable(store, model)} v ${accepting(store, condition)} ORDER BY ${distance} LIMIT ${rows}) AS near
    GROUP BY slot ORDER BY max(${closeness("distance")}) DESC LIMIT ${limit}`;
}

function isIndexUseful(
  store: Store,
  query: EngineQuery,
  { indexed }: QueryVector,
  { accepted, corpus }: SearchFacts,
): boolean {
  if (!indexed) return false;
  if (accepted === corpus.size && isEveryTool(query.filter) && isEveryTool(query.visible)) return true;
  return store.vectors?.iterative === true && accepted > Math.min(FEW_VECTORS, store.exactBelow);
}
