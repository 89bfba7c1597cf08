import type { CatalogEngine } from "../../catalog/catalog-engine.port.ts";
import * as setting from "../../tool/shape/shape.ts";
import type { Surroundings } from "../surroundings.ts";
import { type Condition, isList } from "./vector-database/conditions.ts";
import {
  foreignCollection,
  type VectorHit,
  type NewRecord,
  otherDimension,
  type RecordPart,
  type Send,
  type Space,
  type DatabaseRecord,
  toStored,
  type VectorDatabase,
  type VectorStoreSettings,
} from "./vector-database/driver.ts";
import { checkOf, vectorDatabaseEngine } from "./vector-database/engine.ts";

/** The URL defaults to `http://127.0.0.1:8000`. */
export interface ChromaEngineOptions extends VectorStoreSettings {
  /** Defaults to `default_tenant`. */
  readonly chromaTenant?: string | undefined;
  /** Defaults to `default_database`. */
  readonly chromaDatabase?: string | undefined;
}

const ADDRESS = "http://127.0.0.1:8000";
const title = "Chroma";

/** Keeps the catalog in Chroma 1.0 or later. */
export function chromaEngine(
  options: ChromaEngineOptions = {},
  surroundings: Partial<Surroundings> = {},
): CatalogEngine {
  const [tenant, database] = [options.chromaTenant ?? "default_tenant", options.chromaDatabase ?? "default_database"];
  const root = `/api/v2/tenants/${encodeURIComponent(tenant)}/databases/${encodeURIComponent(database)}/collections`;
  const ids = new Map<string, string>();
  const driver = {
    name: "chroma",
    title,
    url: ADDRESS,
    filterLimits: { values: 10_000, comparisons: 300 },
    mostHits: 10_000,
    keyHeaders: (key: string) => ({ "x-chroma-token": key }),
    on: (send: Send) => chromaDatabase(send, root, ids),
  };
  return vectorDatabaseEngine(driver, options, surroundings);
}

type Metadata = Readonly<Record<string, string | number | boolean | null>>;

interface Columns {
  readonly ids: readonly string[];
  readonly metadatas?: readonly (Metadata | null)[] | null;
  readonly documents?: readonly (string | null)[] | null;
  readonly embeddings?: readonly (readonly number[])[] | null;
}

interface Collection {
  readonly id: string;
  readonly dimension: number | null;
  readonly metadata: Metadata | null;
}

const PAGE = 5_000;
const MOST_PER_WORD = 2_000;

/** `ids` caches the ids of collections by name. */
function chromaDatabase(send: Send, root: string, ids: Map<string, string>): VectorDatabase {
  async function find({ name }: Space): Promise<Collection | undefined> {
    const { status, body } = await send("GET", `${root}/${encodeURIComponent(name)}`, undefined, [404]);
    if (status === 404) return undefined;
    const found = body as Collection;
    ids.set(name, found.id);
    return found;
  }

  /**
   * Sends a request about a collection. Collections are addressed by id, which changes if one is recreated. Returns undefined if the collection does
   * not exist.
   */
  async function ask(space: Space, operation: string, body: object): Promise<unknown> {
    for (let isKnown = ids.has(space.name); ; isKnown = false) {
      const id = ids.get(space.name) ?? (await find(space))?.id;
      if (id === undefined && space.dimension !== undefined) return undefined;
      const path = `${root}/${id ?? encodeURIComponent(space.name)}/${operation}`;
      const answer = await send("POST", path, body, isKnown || space.dimension !== undefined ? [404] : []);
      if (answer.status !== 404) return answer.body;
      ids.delete(space.name);
      if (!isKnown) return undefined;
    }
  }

  async function get(space: Space, body: object, include: readonly string[]): Promise<Columns> {
    return ((await ask(space, "get", { ...body, include })) ?? { ids: [] }) as Columns;
  }

  /** Compares every vector that a condition accepts. */
  async function compare(space: Space, vector: Float32Array, condition: Condition): Promise<readonly VectorHit[]> {
    const hits: VectorHit[] = [];
    for (let offset = 0; ; offset += PAGE) {
      const columns = await get(space, { ...whereOf(condition), limit: PAGE, offset }, included(["vector"]));
      for (const { fields, vector: own } of fromColumns(columns))
        hits.push({ fields, score: vector.reduce((sum, value, at) => sum + value * (own?.[at] ?? 0), 0) });
      if (columns.ids.length < PAGE) return hits.sort((a, b) => b.score - a.score);
    }
  }

  return {
    async ensure(space) {
      let found = await find(space);
      if (!found) {
        const configuration = { hnsw: { space: "ip" } };
        const body = { name: space.name, metadata: { toolarsenal: 1 }, configuration, get_or_create: true };
        found = (await send("POST", root, body)).body as Collection;
        ids.set(space.name, found.id);
      }
      if (found.metadata?.["toolarsenal"] !== 1) throw foreignCollection(title, space);
      const { dimension } = found;
      if (dimension !== null && dimension !== (space.dimension ?? 1)) throw otherDimension(title, space, dimension);
    },

    async drop({ name }) {
      ids.delete(name);
      await send("DELETE", `${root}/${encodeURIComponent(name)}`, undefined, [404]);
    },

    async upsert(space, records) {
      const wanted = records.map(({ id }) => id);
      // Chroma keeps keys that a new record omits, so obsolete keys are removed by name.
      const before = await get(space, { ids: wanted }, ["metadatas"]);
      const old = new Map(before.ids.map((id, at) => [id, Object.keys(before.metadatas?.[at] ?? {})]));
      await ask(space, "upsert", {
        ids: wanted,
        embeddings: records.map(({ vector }) => (vector ? [...vector] : [0])),
        documents: records.map(({ text }) => text),
        metadatas: records.map((record) => ({
          ...Object.fromEntries((old.get(record.id) ?? []).map((key) => [key, null])),
          ...toMetadata(record),
        })),
      });
    },

    async delete(space, condition) {
      await ask(space, "delete", whereOf(condition));
    },

    async read(space, wanted, parts) {
      return wanted.length === 0 ? [] : fromColumns(await get(space, { ids: wanted }, included(parts)));
    },

    async scroll(space, condition, { limit, parts, cursor = "0" }) {
      const offset = Number(cursor);
      const columns = await get(space, { ...whereOf(condition), limit, offset }, included(parts));
      const { length } = columns.ids;
      return { records: fromColumns(columns), ...(length < limit ? {} : { next: String(offset + length) }) };
    },

    async count(space, condition) {
      for (let count = 0; ;) {
        const page = await get(space, { ...whereOf(condition), limit: PAGE, offset: count }, []);
        count += page.ids.length;
        if (page.ids.length < PAGE) return count;
      }
    },

    async nearest(space, vectors, { condition, limit }) {
      const exact = (): Promise<readonly (readonly VectorHit[])[]> =>
        Promise.all(vectors.map((vector) => compare(space, vector, condition)));
      if ("field" in condition && condition.field === "key") return exact();
      const answer = (await ask(space, "query", {
        query_embeddings: vectors.map((vector) => [...vector]),
        n_results: limit,
        ...whereOf(condition),
        include: ["metadatas", "distances"],
      })) as
        | {
            readonly ids: readonly (readonly string[])[];
            readonly metadatas: readonly (readonly Metadata[])[];
            readonly distances: readonly (readonly number[])[];
          }
        | undefined;
      if (answer === undefined) return vectors.map(() => []);
      // With a narrow filter, the index may miss some matches.
      if (answer.ids.some(({ length }) => length < limit)) return exact();
      return answer.metadatas.map((metadatas, nth) =>
        fromColumns({ ids: answer.ids[nth] ?? [], metadatas }).map(({ fields }, at) => ({
          fields,
          score: 1 - (answer.distances[nth]?.[at] ?? 1),
        })),
      );
    },

    /** Chroma cannot rank by words. Each word is looked up, and tools are ordered by the weights of their words. */
    words: (space, texts, { condition, limit }) =>
      Promise.all(
        texts.map(async (terms) => {
          const scores = new Map<string, number>();
          await Promise.all(
            Array.from(terms, async ([term, weight]) => {
              const having = { $and: [...conditionsOf(condition), { [`word:${term}`]: { $eq: true } }] };
              const found = await get(space, { where: having, limit: MOST_PER_WORD }, []);
              for (const id of found.ids) scores.set(id, (scores.get(id) ?? 0) + weight);
            }),
          );
          const best = [...scores].sort(([, a], [, b]) => b - a);
          return best.slice(0, limit).map(([id]) => id);
        }),
      ),
  };
}

/** Returns the columns that hold these parts of records. */
function included(parts: readonly RecordPart[]): readonly string[] {
  const columns = { about: [], text: ["documents"], vector: ["embeddings"] };
  return ["metadatas", ...parts.flatMap((part) => columns[part])];
}

/** Chroma's metadata has no lists, so each value of a list becomes a key. */
function toMetadata({ fields, lists, revision, about, words }: NewRecord): Metadata {
  const metadata: Record<string, string | number | boolean> = { ...fields, revision, about };
  for (const [list, values] of Object.entries(lists)) for (const value of values) metadata[`${list}:${value}`] = true;
  for (const term of words.keys()) metadata[`word:${term}`] = true;
  return metadata;
}

function fromColumns({ ids, metadatas, documents, embeddings }: Columns): readonly DatabaseRecord[] {
  return ids.map((id, at) => toStored(id, { ...metadatas?.[at], text: documents?.[at] }, embeddings?.[at]));
}

function whereOf(condition: Condition): { readonly where?: object } {
  const [first, ...others] = conditionsOf(condition);
  if (first === undefined) return {};
  return { where: others.length === 0 ? first : { $and: [first, ...others] } };
}

/** Returns conditions that must all hold. */
function conditionsOf(condition: Condition): readonly object[] {
  return "all" in condition ? condition.all.map(toWhere) : [toWhere(condition)];
}

function toWhere(condition: Condition): object {
  if ("all" in condition) return { $and: condition.all.map(toWhere) };
  if ("any" in condition) return { $or: condition.any.map(toWhere) };
  if ("revisionAbove" in condition) return { revision: { $gt: condition.revisionAbove } };
  if ("revisionBelow" in condition) return { revision: { $lt: condition.revisionBelow } };
  const { field } = condition;
  if (!isList(field)) return { [field]: "in" in condition ? { $in: condition.in } : { $nin: condition.notIn } };
  const each =
    "in" in condition
      ? condition.in.map((value) => ({ [`${field}:${value}`]: { $eq: true } }))
      : condition.notIn.map((value) => ({ [`${field}:${value}`]: { $ne: true } }));
  const [first] = each;
  return each.length === 1 && first ? first : "in" in condition ? { $or: each } : { $and: each };
}

export const config = setting.object("Chroma.", {
  chromaTenant: setting.text("For chroma: the tenant. Defaults to default_tenant."),
  chromaDatabase: setting.text("For chroma: the database. Defaults to default_database."),
});

export { chromaEngine as create };

export const check = checkOf<ChromaEngineOptions>(chromaEngine, ADDRESS);
