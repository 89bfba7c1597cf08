import type { EngineAnswer, EngineQuery } from "../../../catalog/catalog-engine.port.ts";
import {
  bestOf,
  createScores,
  measureFields,
  scoreDocuments,
  setScore,
  weighTerms,
} from "../../../catalog/lexical/bm25f.ts";
import { LEXICAL_FIELDS } from "../../../catalog/lexical/lexical-fields.ts";
import { MOST_NAMESPACES, MOST_OTHER_TOOLS, readMentions } from "../../../catalog/lexical/mentions.ts";
import { FIELD_SPAN } from "../../../catalog/lexical/posting.ts";
import { nameKey } from "../../../catalog/lexical/tokenize.ts";
import { EVERY_TOOL, type ToolFilter } from "../../../tool/tool-filter.ts";
import { type FoundTool, judge } from "../judge.ts";
import { decode, isEveryTool, narrowing } from "../stored-text.ts";
import { toWord } from "../tool-words.ts";
import type { Database } from "./database.ts";
import { toCondition } from "./filter-sql.ts";
import type { Mirror } from "./mirror.ts";

/** The occurrences of a term. Keys are `slot * FIELD_SPAN + field`, in ascending order. */
interface Occurrences {
  readonly keys: Uint32Array;
  readonly counts: Uint16Array;
  readonly length: number;
  readonly documents: number;
}

const NAMESPACE = LEXICAL_FIELDS.indexOf("namespace");
const FIELD_OF: ReadonlyMap<string, number> = new Map(LEXICAL_FIELDS.map((field, index) => [field, index]));

/** Limits the cached results of filters and occurrences of terms, which need six bytes each. A larger catalog may cache more. */
const KEPT_OCCURRENCES = 2_000_000;
const KEPT_PER_TOOL = 24;
const KEPT_SIEVES = 64;

/** Collects the evidence for one request. The mirror must be up to date. */
export function searchDatabase(
  database: Database,
  mirror: Mirror,
  query: EngineQuery,
  now: () => number,
): EngineAnswer {
  const { limit, texts, vectors = [], besides = [] } = query;
  const startedAt = now();
  const filters = JSON.stringify([query.visible, query.filter]);
  const { accepted, count, total } = mirror.once(`tools of ${filters}`, () => ({
    value: sieve(database, mirror, query),
    weight: Math.max(1, filters.length / 1_000) / KEPT_SIEVES,
  }));
  const siftedAt = now();
  const { size } = mirror;
  const share = 1 / Math.max(KEPT_OCCURRENCES, KEPT_PER_TOOL * size);
  const measures = measureFields(mirror);
  const occurrencesOf = (term: string): Occurrences | undefined =>
    mirror.once(`occurrences of ${term}`, () => readOccurrences(database, toWord(term), share));
  const documentsOf = (term: string): number =>
    mirror.once(`documents with ${term}`, () => countDocuments(database, "terms", term));
  const best = new Set<number>();

  const coverage = texts.map((text) => {
    const scores = createScores(mirror.ids.length);
    const terms = weighTerms(text, occurrencesOf, size);
    scoreDocuments(terms, { lengths: mirror.lengths, measures }, scores);
    for (const slot of slotsNamed(database, nameKey(text))) setScore(scores, slot, 1);
    for (const { row } of bestOf(scores, mirror.ids, limit, (slot) => accepted[slot] === 1)) best.add(row);
    return scores.values;
  });
  const wordedAt = now();
  const models = vectors.map(({ model, vector }) => {
    const kept = mirror.vectorsOf(model);
    kept?.nearest(vector, { limit, accepted, count }, best);
    return kept;
  });
  for (const slot of slotsWhere(database, { ids: besides })) if (accepted[slot] === 1) best.add(slot);

  const slots = [...best];
  const cosines = vectors.map(({ vector }, at) => models[at]?.cosines(vector, slots) ?? []);
  const denseAt = now();
  const tools = mirror.toolsAt(slots);
  const found = slots.flatMap((slot, at): FoundTool[] => {
    const tool = tools.get(slot);
    if (tool === undefined) return [];
    const judged = { coverage: coverage.map((of) => of[slot] ?? 0), cosines: cosines.map((of) => of[at]) };
    return [{ tool, ...judged, stays: true }];
  });
  const fits = vectors.map(({ vector }, at) => models[at]?.namespaceFits(vector));
  return judge(query, {
    found,
    timings: { filterMs: siftedAt - startedAt, lexicalMs: wordedAt - siftedAt, denseMs: denseAt - wordedAt },
    corpus: { size, totalLength: mirror.totalLength, documentsWith: mirror.documentsWith, documentsOf },
    accepted: count,
    total,
    embedded: models.map((model) => (model?.size === size ? count : (model?.countIn(accepted) ?? 0))),
    named: readNamed(texts[0] ?? "", { database, mirror, occurrencesOf }),
    namespaceFit: (namespace, at) => fits[at]?.get(namespace),
  });
}

/** Returns the tools that a query may find, by slot. */
function sieve(database: Database, mirror: Mirror, query: EngineQuery) {
  const accepted = new Uint8Array(mirror.ids.length);
  const both = narrowing(query);
  if (both === undefined) {
    for (let slot = 0; slot < mirror.ids.length; slot++) if (mirror.ids[slot] !== undefined) accepted[slot] = 1;
    return { accepted, count: mirror.size, total: mirror.size };
  }
  const slots = slotsWhere(database, both);
  for (const slot of slots) accepted[slot] = 1;
  const { visible = EVERY_TOOL } = query;
  const total = isEveryTool(visible) ? mirror.size : countWhere(database, visible);
  return { accepted, count: slots.length, total };
}

function slotsWhere(database: Database, filter: ToolFilter): readonly number[] {
  const { sql, values } = toCondition(filter);
  return database.rows<readonly [number]>(`SELECT slot FROM tools WHERE ${sql}`, ...values).map(([slot]) => slot);
}

export function countWhere(database: Database, filter: ToolFilter): number {
  const { sql, values } = toCondition(filter);
  return database.get<{ count: number }>(`SELECT count(*) AS count FROM tools WHERE ${sql}`, ...values)?.count ?? 0;
}

/** SQLite returns the occurrences of a term by slot, then by field. */
function readOccurrences(
  database: Database,
  term: string,
  share: number,
): { readonly value: Occurrences | undefined; readonly weight: number } {
  const rows = database.rows<readonly [number, string]>("SELECT doc, col FROM occurrences WHERE term = ?", term);
  const weight = (1 + rows.length) * share;
  if (rows.length === 0) return { value: undefined, weight };
  const keys = new Uint32Array(rows.length);
  const counts = new Uint16Array(rows.length);
  let length = 0;
  let documents = 0;
  let lastSlot = -1;
  for (const [slot, field] of rows) {
    const key = slot * FIELD_SPAN + (FIELD_OF.get(field) ?? 0);
    if (length > 0 && keys[length - 1] === key) counts[length - 1] = Math.min((counts[length - 1] ?? 0) + 1, 0xffff);
    else {
      keys[length] = key;
      counts[length++] = 1;
    }
    if (slot !== lastSlot) documents++;
    lastSlot = slot;
  }
  return { value: { keys, counts, length, documents }, weight };
}

function countDocuments(
  database: Database,
  table: "terms" | "other_terms",
  term: string,
): { readonly value: number; readonly weight: number } {
  const value = database.get<{ doc: number }>(`SELECT doc FROM ${table} WHERE term = ?`, toWord(term))?.doc ?? 0;
  return { value, weight: 1 / KEPT_OCCURRENCES };
}

function slotsNamed(database: Database, key: string): readonly number[] {
  if (key === "") return [];
  // Node 22 cannot bind one value to a numbered parameter that is used twice.
  const sql = "SELECT slot FROM tools WHERE name_key = ? UNION SELECT slot FROM tools WHERE qualified_key = ?";
  return database.rows<readonly [number]>(sql, key, key).map(([slot]) => slot);
}

/** Returns the tools and namespaces that a request names, by the same rules as in memory. */
function readNamed(
  text: string,
  from: {
    readonly database: Database;
    readonly mirror: Mirror;
    readonly occurrencesOf: (term: string) => Occurrences | undefined;
  },
): EngineAnswer["named"] {
  const { database, mirror, occurrencesOf } = from;
  const { names, terms } = readMentions(text);
  const keys = JSON.stringify([...names]);
  const sql = "SELECT id FROM tools WHERE name_key IN (SELECT value FROM json_each(?)) AND mentionable";
  const tools = new Set(database.rows<readonly [string]>(sql, keys).map(([id]) => decode(id)));
  const namespaces = new Set<string>();
  for (const term of terms) {
    const having = new Set<string>();
    const { keys: places = [], length = 0 } = occurrencesOf(term) ?? {};
    for (let at = 0; at < length && having.size <= MOST_NAMESPACES; at++) {
      const place = places[at] ?? 0;
      if (place % FIELD_SPAN === NAMESPACE) having.add(mirror.namespaces[Math.floor(place / FIELD_SPAN)] ?? "");
    }
    if (having.size === 0 || having.size > MOST_NAMESPACES) continue;
    const { value: others } = countDocuments(database, "other_terms", term);
    if (others <= MOST_OTHER_TOOLS) for (const namespace of having) namespaces.add(namespace);
  }
  return { tools, namespaces };
}
