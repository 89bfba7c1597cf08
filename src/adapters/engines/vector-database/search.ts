import type { EngineAnswer, EngineQuery, ModelVector, NamespaceFit } from "../../../catalog/catalog-engine.port.ts";
import { checkDimension, EXAMPLE_SHARE } from "../../../catalog/dense/model-vectors.ts";
import { LEAST_NAMESPACES, toNamespaceFit } from "../../../catalog/dense/namespace-vectors.ts";
import { MOST_NAMESPACES, MOST_OTHER_TOOLS, readMentions } from "../../../catalog/lexical/mentions.ts";
import { nameKey } from "../../../catalog/lexical/tokenize.ts";
import { EVERY_TOOL, type ToolFilter, toPredicate } from "../../../tool/tool-filter.ts";
import type { Tool } from "../../../tool/tool.ts";
import { type Corpus, type FoundTool, judge, sharesOf } from "../judge.ts";
import { type Condition, joined, toCondition, toValue } from "./conditions.ts";
import type { Control, Model } from "./control.ts";
import type { VectorHit } from "./driver.ts";
import type { DatabaseCache } from "./kept.ts";
import { toolRecordId } from "./records.ts";
import { everyRecord, inChunks, MAIN, type Session, TOOLS } from "./session.ts";
import type { Statistics } from "./statistics.ts";

export interface SearchParts {
  readonly session: Session;
  readonly control: Control;
  readonly statistics: Statistics;
  readonly kept: DatabaseCache;
}

export interface NamespaceSum {
  readonly vector: Float64Array;
  readonly count: number;
}

/** The most vectors of a tool: one for its text, and ten for examples. */
const MOST_VECTORS = 11;
export const FETCH = 500;
const ROUNDING = 1e-6;

/** Collects the evidence for one request. The database filters, ranks and limits; its candidates are scored here. */
export async function searchDatabase(parts: SearchParts, query: EngineQuery): Promise<EngineAnswer> {
  const { session, statistics, control } = parts;
  const { texts, vectors = [], besides = [], limit, filter = EVERY_TOOL, visible = EVERY_TOOL } = query;
  const accepted = await accept(parts, visible, filter);
  const models = vectors.map(({ model, vector }) => {
    const known = control.models.get(model);
    if (known) checkDimension(vector, known.dimension, "The query's vector");
    return known;
  });
  const [worded, named, embedded, near] = await Promise.all([
    findByWords(parts, texts, { accepted, limit }),
    findNamed(parts, texts[0] ?? ""),
    Promise.all(models.map((model) => countEmbedded(parts, model, accepted))),
    findNearest(parts, vectors, { accepted, limit }),
  ]);

  const keys = new Set([...near.stay, ...besides.map(toValue)]);
  const ids = new Set([
    ...worded,
    ...Array.from(near.stay, (key) => toolRecordId(fromKey(key))),
    ...besides.map(toolRecordId),
  ]);
  const accepts = toPredicate({ all: [visible, filter] });
  const found = (await readTools(session, [...ids])).filter(accepts);
  const cosines = await cosinesOf(parts, vectors, { found, near });
  const namespaces = [...new Set(found.map(({ namespace }) => namespace))];
  const fits = await Promise.all(vectors.map(({ vector }, at) => fitsOf(parts, models[at], vector, namespaces)));
  const { population: size, documents, ...lengths } = statistics;
  const corpus: Corpus = { ...lengths, size, documentsOf: (term) => documents.get(term) ?? 0 };
  return judge(query, {
    corpus,
    found: found.map((tool): FoundTool => ({
      tool,
      cosines: cosines.map((of) => of.get(tool.id)),
      stays: keys.has(toValue(tool.id)),
    })),
    accepted: accepted.count,
    total: accepted.total,
    embedded,
    named,
    namespaceFit: (namespace, at) => fits[at]?.get(namespace),
  });
}

export async function readTools(session: Session, ids: readonly string[]): Promise<readonly Tool[]> {
  const records = await inChunks(ids, FETCH, (chunk) => session.read(session.tools, chunk, ["text"]));
  return records.flatMap(({ fields, text = "" }) => (fields["kind"] === "tool" ? [JSON.parse(text) as Tool] : []));
}

type AcceptedTools = Awaited<ReturnType<typeof accept>>;

/** Returns the tools that both filters accept. `keys` has their keys if the database cannot filter exactly. */
async function accept(parts: SearchParts, visible: ToolFilter, filter: ToolFilter) {
  const { session, kept } = parts;
  const { condition, exact } = toCondition({ all: [visible, filter] }, session.filterLimits);
  const seen = toCondition(visible, session.filterLimits);
  const [keys, total] = await Promise.all([
    exact ? undefined : keysOf(session, condition, { all: [visible, filter] }),
    seen.exact
      ? kept.count(parts, session.tools, joined([TOOLS, seen.condition], "all"))
      : keysOf(session, seen.condition, visible).then(({ size }) => size),
  ]);
  const count = keys?.size ?? (await kept.count(parts, session.tools, joined([TOOLS, condition], "all")));
  return { condition, keys, total, count };
}

/** Returns the keys of the tools that a filter accepts, among those that a condition accepts. */
export async function keysOf(session: Session, condition: Condition, filter: ToolFilter): Promise<ReadonlySet<string>> {
  const accepts = toPredicate(filter);
  const keys = new Set<string>();
  const all = joined([TOOLS, condition], "all");
  if (isNothing(all)) return keys;
  for await (const { fields, text = "" } of everyRecord(session, session.tools, all, ["text"]))
    if (accepts(JSON.parse(text) as Tool)) keys.add(fields["key"] ?? "");
  return keys;
}

interface CandidateLimits {
  readonly accepted: AcceptedTools;
  readonly limit: number;
}

/** Finds records of tools that match the texts' words, or whose name is the text. Returns more than needed, in approximate order. */
async function findByWords(
  { session, statistics }: SearchParts,
  texts: readonly string[],
  { accepted, limit }: CandidateLimits,
): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  const condition = joined([TOOLS, accepted.condition], "all");
  if (isNothing(condition)) return found;
  const { population: size, documents } = statistics;
  const corpus = { size, documentsOf: (term: string): number => documents.get(term) ?? 0 };
  const terms = texts.flatMap((text) => {
    const known = sharesOf(text, corpus).filter((term) => term.documents > 0);
    return known.length === 0 ? [] : [new Map(known.map(({ term, share }) => [term, share]))];
  });
  const names = [...new Set(texts.map(nameKey).filter((key) => key !== ""))].map(toValue);
  const spellings = (["nameKey", "qualifiedKey"] as const).map((field) => ({ field, in: names }));
  const spelled = joined([condition, joined(spellings, "any")], "all");
  const isAccepted = accepted.keys && new Set(Array.from(accepted.keys, (key) => toolRecordId(fromKey(key))));
  const byWords = async (): Promise<void> => {
    for (let asked = 3 * limit + 64; terms.length > 0; asked *= 4) {
      const most = Math.min(asked, session.mostHits);
      const lists = await session.words(session.tools, terms, { condition, limit: most });
      const kept = lists.map((ids) => ids.filter((id) => isAccepted?.has(id) ?? true));
      for (const ids of kept) for (const id of ids) found.add(id);
      const filled = lists.every((ids, at) => ids.length < asked || (kept[at]?.length ?? 0) >= 2 * limit);
      if (filled || asked >= session.mostHits) return;
    }
  };
  const byName = async (): Promise<void> => {
    if (names.length === 0) return;
    const page = { limit: Math.min(limit + 64, 1_000), parts: [] };
    const { records } = await session.scroll(session.tools, spelled, page);
    for (const { id } of records) if (isAccepted?.has(id) ?? true) found.add(id);
  };
  await Promise.all([byWords(), byName()]);
  return found;
}

/** Returns the tools and namespaces that a request names, regardless of filters. */
async function findNamed({ session, statistics }: SearchParts, text: string): Promise<EngineAnswer["named"]> {
  const { names, terms } = readMentions(text);
  const mentions = [...new Set(names)].map(toValue);
  const found = await inChunks(mentions, session.filterLimits.values, async (chunk) => {
    const condition = joined([TOOLS, { field: "mention", in: chunk }], "all");
    return (await session.scroll(session.tools, condition, { limit: 1_000, parts: [] })).records;
  });
  const namespaces = new Set<string>();
  for (const term of terms) {
    const having = statistics.namespacesOf.get(term);
    if (!having || having.size > MOST_NAMESPACES || (statistics.others.get(term) ?? 0) > MOST_OTHER_TOOLS) continue;
    for (const namespace of having) namespaces.add(namespace);
  }
  return { tools: new Set(found.map(({ fields }) => fromKey(fields["key"] ?? ""))), namespaces };
}

async function countEmbedded(parts: SearchParts, model: Model | undefined, accepted: AcceptedTools): Promise<number> {
  if (model === undefined) return 0;
  const condition = joined([MAIN, accepted.condition], "all");
  if (accepted.keys === undefined) return parts.kept.count(parts, model.space, condition);
  let count = 0;
  for await (const { fields } of everyRecord(parts.session, model.space, condition))
    if (accepted.keys.has(fields["key"] ?? "")) count++;
  return count;
}

type NearestTools = Awaited<ReturnType<typeof findNearest>>;

/** Finds the keys of the tools that `stay` because they are nearest to a vector. For each vector, also returns its hits if they are complete. */
async function findNearest(
  { session, control }: SearchParts,
  vectors: readonly ModelVector[],
  { accepted, limit }: CandidateLimits,
) {
  const stay = new Set<string>();
  const complete: (readonly VectorHit[] | undefined)[] = [];
  const { condition } = accepted;
  const groups = Map.groupBy(vectors.keys(), (at) => vectors[at]?.model ?? "");
  await Promise.all(
    [...groups].map(async ([name, places]) => {
      const model = control.models.get(name);
      if (model === undefined || isNothing(condition)) return;
      const asked = places.map((at) => vectors[at]?.vector ?? new Float32Array());
      for (let size = 2 * limit + 16; ; size *= 4) {
        const most = Math.min(size, session.mostHits);
        const lists = await session.nearest(model.space, asked, { condition, limit: most });
        const best = lists.map((hits) => nearestTools(hits, { accepted, limit, isFull: hits.length >= most }));
        if (size < session.mostHits && best.some(({ isSettled }) => !isSettled)) continue;
        for (const { keys } of best) for (const key of keys) stay.add(key);
        places.forEach((at, nth) => (complete[at] = (lists[nth]?.length ?? 0) < most ? lists[nth] : undefined));
        return;
      }
    }),
  );
  return { stay, complete };
}

/** Returns the tools with the best vectors. Not settled if a further vector could still be among the best. */
function nearestTools(
  hits: readonly VectorHit[],
  { accepted, limit, isFull }: { readonly accepted: AcceptedTools; readonly limit: number; readonly isFull: boolean },
): { readonly keys: readonly string[]; readonly isSettled: boolean } {
  const best = new Map<string, number>();
  for (const { fields, score } of hits) {
    const { key = "" } = fields;
    if (accepted.keys && !accepted.keys.has(key)) continue;
    best.set(key, Math.max(best.get(key) ?? -2, counted(fields, score)));
  }
  const ordered = [...best].sort(([a, scoreA], [b, scoreB]) => scoreB - scoreA || (fromKey(a) < fromKey(b) ? -1 : 1));
  const cut = ordered[limit - 1]?.[1] ?? -2;
  const last = hits.at(-1)?.score ?? -2;
  return {
    keys: ordered.slice(0, limit).map(([key]) => key),
    isSettled: !isFull || cut > Math.max(last, EXAMPLE_SHARE * last) + ROUNDING,
  };
}

function counted(fields: VectorHit["fields"], score: number): number {
  const cosine = Math.min(Math.max(score, -1), 1);
  return fields["nth"] === "0" ? cosine : EXAMPLE_SHARE * cosine;
}

async function cosinesOf(
  { session, control }: SearchParts,
  vectors: readonly ModelVector[],
  { found, near }: { readonly found: readonly Tool[]; readonly near: NearestTools },
): Promise<readonly ReadonlyMap<string, number>[]> {
  const byKey = new Map(found.map((tool) => [toValue(tool.id), tool]));
  return Promise.all(
    vectors.map(async ({ model: name, vector }, at) => {
      const cosines = new Map<string, number>();
      const model = control.models.get(name);
      if (model === undefined) return cosines;
      const hits =
        near.complete[at] ??
        (await inChunks(
          [...byKey.keys()],
          Math.min(FETCH, session.filterLimits.values, Math.floor(session.mostHits / MOST_VECTORS)),
          async (keys) => {
            const query = { condition: { field: "key", in: keys } as const, limit: keys.length * MOST_VECTORS };
            return (await session.nearest(model.space, [vector], query))[0] ?? [];
          },
        ));
      for (const { fields, score } of hits) {
        const tool = byKey.get(fields["key"] ?? "");
        // Vectors of an earlier text may exist for a moment.
        if (tool === undefined || toValue(tool.contentHash) !== fields["hash"]) continue;
        cosines.set(tool.id, Math.max(cosines.get(tool.id) ?? -2, counted(fields, score)));
      }
      return cosines;
    }),
  );
}

/** Returns the fit of the found tools' namespaces to a vector. Empty if there are too few namespaces to compare. */
async function fitsOf(
  parts: SearchParts,
  model: Model | undefined,
  query: Float32Array,
  namespaces: readonly string[],
): Promise<ReadonlyMap<string, NamespaceFit>> {
  const fits = new Map<string, NamespaceFit>();
  if (model === undefined || parts.statistics.namespaces < LEAST_NAMESPACES) return fits;
  for (const [namespace, { vector, count }] of await parts.kept.namespaceSums(parts, model, namespaces)) {
    if (count === 0) continue;
    const product = vector.reduce((sum, value, index) => sum + value * (query[index] ?? 0), 0);
    fits.set(namespace, toNamespaceFit(namespace, { product, length: Math.hypot(...vector), count }));
  }
  return fits;
}

/** Returns the id of a key. Ids are short and plain, so they equal their keys. */
export function fromKey(key: string): string {
  return JSON.parse(`"${key}"`) as string;
}

export function isNothing(condition: Condition): boolean {
  return "any" in condition && condition.any.length === 0;
}
