import type { EngineAnswer, EngineQuery, ModelVector, NamespaceFit } from "../../../catalog/catalog-engine.port.ts";
import { checkDimension } from "../../../catalog/dense/model-vectors.ts";
import { LEAST_NAMESPACES, toNamespaceFit } from "../../../catalog/dense/namespace-vectors.ts";
import { MOST_NAMESPACES, MOST_OTHER_TOOLS, readMentions } from "../../../catalog/lexical/mentions.ts";
import { nameKey } from "../../../catalog/lexical/tokenize.ts";
import { EVERY_TOOL, type ToolFilter, toPredicate } from "../../../tool/tool-filter.ts";
import type { Tool } from "../../../tool/tool.ts";
import { type Corpus, type Found, judge, sharesOf } from "../judge.ts";
import { type Condition, joined, NOTHING, toCondition, toValue } from "./conditions.ts";
import type { Control, Model } from "./control.ts";
import type { DriverOptions, Hit, Space, VectorDriver } from "./driver.ts";
import { toolRecordId } from "./records.ts";
import { everyRecord, inChunks } from "./scroll.ts";
import { type Statistics, TOOLS } from "./statistics.ts";

/** What a search works on. */
export interface SearchParts {
  readonly driver: VectorDriver;
  readonly tools: Space;
  readonly control: Control;
  readonly statistics: Statistics;
  readonly namespaceSums: NamespaceSums;
  /** How many records of a space the condition accepts, kept while nothing changes. */
  readonly count: (space: Space, condition: Condition) => Promise<number>;
}

/** The sums of namespaces' vectors, by model and namespace. */
export type NamespaceSums = (model: Model, namespaces: readonly string[]) => Promise<ReadonlyMap<string, NamespaceSum>>;

export interface NamespaceSum {
  readonly vector: Float64Array;
  readonly count: number;
}

/** What both filters accept. */
interface Accepted {
  readonly condition: Condition;
  /** The keys of the tools, if the database cannot be asked for exactly these. */
  readonly keys: ReadonlySet<string> | undefined;
  readonly count: number;
  readonly total: number;
}

/** An example speaks for its tool a little less loudly than the tool's own text. */
const EXAMPLE_SHARE = 0.95;
/** The most vectors that a tool has: its text and ten examples. */
const MOST_VECTORS = 11;
export const FETCH = 500;
const ROUNDING = 1e-6;

/** Gathers the evidence for one request. The database filters, ranks and cuts; what it found is judged here. */
export async function searchDatabase(parts: SearchParts, query: EngineQuery): Promise<EngineAnswer> {
  const { driver, tools, statistics, control } = parts;
  const { texts, vectors = [], besides = [], limit, filter = EVERY_TOOL, visible = EVERY_TOOL } = query;
  const options: DriverOptions = { signal: query.signal };
  const accepted = await accept(parts, visible, filter, options);
  const models = vectors.map(({ model, vector }) => {
    const known = control.models.get(model);
    if (known) checkDimension(vector, known.dimension, "The query's vector");
    return known;
  });
  const [worded, named, embedded, near] = await Promise.all([
    findByWords(parts, texts, { accepted, limit }, options),
    findNamed(parts, texts[0] ?? "", options),
    Promise.all(models.map((model) => countEmbedded(parts, model, accepted, options))),
    findNearest(parts, vectors, { accepted, limit }, options),
  ]);

  const keys = new Set([...near.stay, ...besides.map(toValue)]);
  const ids = new Set([
    ...worded,
    ...Array.from(near.stay, (key) => toolRecordId(fromKey(key))),
    ...besides.map(toolRecordId),
  ]);
  const accepts = toPredicate({ all: [visible, filter] });
  const read = await readTools(driver, tools, [...ids], options);
  const found = read.filter(accepts);
  const cosines = await cosinesOf(parts, vectors, { found, near }, options);
  const namespaces = [...new Set(found.map(({ namespace }) => namespace))];
  const fits = await Promise.all(vectors.map(({ vector }, at) => fitsOf(parts, models[at], vector, namespaces)));
  const { population: size, documents, ...lengths } = statistics;
  const corpus: Corpus = { ...lengths, size, documentsOf: (term) => documents.get(term) ?? 0 };
  return judge(query, {
    corpus,
    found: found.map((tool): Found => ({
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

/** The tools with these records, as far as they exist. */
export async function readTools(
  driver: VectorDriver,
  tools: Space,
  ids: readonly string[],
  options: DriverOptions,
): Promise<readonly Tool[]> {
  const records = await inChunks(ids, FETCH, (chunk) => driver.read(tools, chunk, ["text"], options));
  return records.flatMap(({ fields, text = "" }) => (fields["kind"] === "tool" ? [JSON.parse(text) as Tool] : []));
}

async function accept(
  parts: SearchParts,
  visible: ToolFilter,
  filter: ToolFilter,
  options: DriverOptions,
): Promise<Accepted> {
  const { driver, count, tools } = parts;
  const both = toCondition({ all: [visible, filter] }, driver.filterLimits);
  const seen = toCondition(visible, driver.filterLimits);
  const [keys, total] = await Promise.all([
    both.exact ? undefined : keysOf(parts, both.condition, { all: [visible, filter] }, options),
    seen.exact
      ? count(tools, joined([TOOLS, seen.condition], "all"))
      : keysOf(parts, seen.condition, visible, options).then(({ size }) => size),
  ]);
  const { condition } = both;
  return { condition, keys, total, count: keys?.size ?? (await count(tools, joined([TOOLS, condition], "all"))) };
}

/** The keys of the tools that a filter accepts, of those that a condition does. */
export async function keysOf(
  { driver, tools }: Pick<SearchParts, "driver" | "tools">,
  condition: Condition,
  filter: ToolFilter,
  options: DriverOptions,
): Promise<ReadonlySet<string>> {
  const accepts = toPredicate(filter);
  const keys = new Set<string>();
  const all = joined([TOOLS, condition], "all");
  if (isNothing(all)) return keys;
  for await (const { fields, text = "" } of everyRecord(driver, tools, all, ["text"], options))
    if (accepts(JSON.parse(text) as Tool)) keys.add(fields["key"] ?? "");
  return keys;
}

interface Wanted {
  readonly accepted: Accepted;
  readonly limit: number;
}

/** Records of tools that the texts' words or their whole text as a name lead to: more than needed, in a rough order. */
async function findByWords(
  { driver, tools, statistics }: SearchParts,
  texts: readonly string[],
  { accepted, limit }: Wanted,
  options: DriverOptions,
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
  const spelled = joined(
    [
      condition,
      joined(
        [
          { field: "nameKey", in: names },
          { field: "qualifiedKey", in: names },
        ],
        "any",
      ),
    ],
    "all",
  );
  const isAccepted = accepted.keys && new Set(Array.from(accepted.keys, (key) => toolRecordId(fromKey(key))));
  const byWords = async (): Promise<void> => {
    for (let asked = 3 * limit + 64; terms.length > 0; asked *= 4) {
      const lists = await driver.words(tools, terms, { condition, limit: Math.min(asked, driver.mostHits) }, options);
      const kept = lists.map((ids) => ids.filter((id) => isAccepted?.has(id) ?? true));
      for (const ids of kept) for (const id of ids) found.add(id);
      const filled = lists.every((ids, at) => ids.length < asked || (kept[at]?.length ?? 0) >= 2 * limit);
      if (filled || asked >= driver.mostHits) return;
    }
  };
  const byName = async (): Promise<void> => {
    if (names.length === 0) return;
    const { records } = await driver.scroll(tools, spelled, { limit: Math.min(limit + 64, 1_000), parts: [] }, options);
    for (const { id } of records) if (isAccepted?.has(id) ?? true) found.add(id);
  };
  await Promise.all([byWords(), byName()]);
  return found;
}

/** What a request names outright, whatever the filters are. */
async function findNamed(
  { driver, tools, statistics }: SearchParts,
  text: string,
  options: DriverOptions,
): Promise<EngineAnswer["named"]> {
  const { names, terms } = readMentions(text);
  const mentions = [...new Set(names)].map(toValue);
  const found = await inChunks(mentions, driver.filterLimits.values, async (chunk) => {
    const condition = joined([TOOLS, { field: "mention", in: chunk }], "all");
    return (await driver.scroll(tools, condition, { limit: 1_000, parts: [] }, options)).records;
  });
  const namespaces = new Set<string>();
  for (const term of terms) {
    const having = statistics.namespacesOf.get(term);
    if (!having || having.size > MOST_NAMESPACES || (statistics.others.get(term) ?? 0) > MOST_OTHER_TOOLS) continue;
    for (const namespace of having) namespaces.add(namespace);
  }
  return { tools: new Set(found.map(({ fields }) => fromKey(fields["key"] ?? ""))), namespaces };
}

/** How many of the accepted tools have vectors of a model. */
async function countEmbedded(
  parts: SearchParts,
  model: Model | undefined,
  accepted: Accepted,
  options: DriverOptions,
): Promise<number> {
  if (model === undefined) return 0;
  const condition = joined([{ field: "nth", in: ["0"] }, accepted.condition], "all");
  if (accepted.keys === undefined) return parts.count(model.space, condition);
  let count = 0;
  for await (const { fields } of everyRecord(parts.driver, model.space, condition, [], options))
    if (accepted.keys.has(fields["key"] ?? "")) count++;
  return count;
}

interface Near {
  /** Keys of the tools that are nearest to any of the vectors. */
  readonly stay: ReadonlySet<string>;
  /** For each vector: the hits, if these are all that the filters accept. */
  readonly complete: readonly (readonly Hit[] | undefined)[];
}

async function findNearest(
  parts: SearchParts,
  vectors: readonly ModelVector[],
  wanted: Wanted,
  options: DriverOptions,
): Promise<Near> {
  const stay = new Set<string>();
  const complete: (readonly Hit[] | undefined)[] = [];
  const { accepted, limit } = wanted;
  const groups = Map.groupBy(vectors.keys(), (at) => vectors[at]?.model ?? "");
  await Promise.all(
    [...groups].map(async ([name, places]) => {
      const model = parts.control.models.get(name);
      if (model === undefined || isNothing(accepted.condition)) return;
      const asked = places.map((at) => vectors[at]?.vector ?? new Float32Array());
      for (let size = 2 * limit + 16; ; size *= 4) {
        const most = Math.min(size, parts.driver.mostHits);
        const lists = await parts.driver.nearest(
          model.space,
          asked,
          { condition: accepted.condition, limit: most },
          options,
        );
        const best = lists.map((hits) => nearestTools(hits, { accepted, limit, isFull: hits.length >= most }));
        if (size < parts.driver.mostHits && best.some(({ isSettled }) => !isSettled)) continue;
        for (const { keys } of best) for (const key of keys) stay.add(key);
        places.forEach((at, nth) => (complete[at] = (lists[nth]?.length ?? 0) < most ? lists[nth] : undefined));
        return;
      }
    }),
  );
  return { stay, complete };
}

/** The tools with the best vectors. Not settled if a vector beyond those seen could still be among the best. */
function nearestTools(
  hits: readonly Hit[],
  { accepted, limit, isFull }: { readonly accepted: Accepted; readonly limit: number; readonly isFull: boolean },
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

function counted(fields: Hit["fields"], score: number): number {
  const cosine = Math.min(Math.max(score, -1), 1);
  return fields["nth"] === "0" ? cosine : EXAMPLE_SHARE * cosine;
}

/** For each vector: the cosines of the tools found, by id. */
async function cosinesOf(
  { driver, control }: SearchParts,
  vectors: readonly ModelVector[],
  { found, near }: { readonly found: readonly Tool[]; readonly near: Near },
  options: DriverOptions,
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
          Math.min(FETCH, driver.filterLimits.values, Math.floor(driver.mostHits / MOST_VECTORS)),
          async (keys) => {
            const query = { condition: { field: "key", in: keys } as const, limit: keys.length * MOST_VECTORS };
            return (await driver.nearest(model.space, [vector], query, options))[0] ?? [];
          },
        ));
      for (const { fields, score } of hits) {
        const tool = byKey.get(fields["key"] ?? "");
        // Vectors of an earlier text may be there for a moment.
        if (tool === undefined || toValue(tool.contentHash) !== fields["hash"]) continue;
        cosines.set(tool.id, Math.max(cosines.get(tool.id) ?? -2, counted(fields, score)));
      }
      return cosines;
    }),
  );
}

/** How near the namespaces of the tools found are to a vector; nothing if there are too few namespaces to say. */
async function fitsOf(
  { statistics, namespaceSums }: SearchParts,
  model: Model | undefined,
  query: Float32Array,
  namespaces: readonly string[],
): Promise<ReadonlyMap<string, NamespaceFit>> {
  const fits = new Map<string, NamespaceFit>();
  if (model === undefined || statistics.namespaces < LEAST_NAMESPACES) return fits;
  for (const [namespace, { vector, count }] of await namespaceSums(model, namespaces)) {
    if (count === 0) continue;
    const product = vector.reduce((sum, value, index) => sum + value * (query[index] ?? 0), 0);
    fits.set(namespace, toNamespaceFit(namespace, { product, length: Math.hypot(...vector), count }));
  }
  return fits;
}

/** The id that a key was made of. Ids are short and plain, so that their keys are. */
export function fromKey(key: string): string {
  return JSON.parse(`"${key}"`) as string;
}

export function isNothing(condition: Condition): boolean {
  return condition === NOTHING || ("any" in condition && condition.any.length === 0);
}
