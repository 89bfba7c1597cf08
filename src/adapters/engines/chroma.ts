import type { CatalogEngine } from "../../catalog/catalog-engine.port.ts";
import * as setting from "../settings.ts";
import type { Surroundings } from "../surroundings.ts";
import { type Condition, isList } from "./vector-database/conditions.ts";
import {
  type DriverOptions,
  FIELDS,
  type Hit,
  type NewRecord,
  type Part,
  type Space,
  type Stored,
  type VectorDriver,
} from "./vector-database/driver.ts";
import { vectorDatabaseEngine } from "./vector-database/engine.ts";
import { createService } from "./vector-database/service.ts";
import {
  checkEngine,
  foreignCollection,
  otherDimension,
  type VectorStoreSettings,
} from "./vector-database/settings.ts";

export interface ChromaEngineOptions {
  /** Where Chroma's server is. Default `http://127.0.0.1:8000`. */
  readonly url?: string | undefined;
  /** A reference to the key (`env:CHROMA_API_KEY`), sent as `x-chroma-token`. Omitted if the server takes none. */
  readonly apiKey?: string | undefined;
  /** The collection of the tools. Those of vectors begin with its name. Default `tool_arsenal`. */
  readonly collectionName?: string | undefined;
  /** Default `default_tenant`. */
  readonly chromaTenant?: string | undefined;
  /** Default `default_database`. */
  readonly chromaDatabase?: string | undefined;
}

/** Keeps the catalog in Chroma 1.0 or later. */
export function chromaEngine(
  options: ChromaEngineOptions = {},
  surroundings: Partial<Surroundings> = {},
): CatalogEngine {
  const { collectionName = "tool_arsenal" } = options;
  return vectorDatabaseEngine({
    name: "chroma",
    driver: chromaDriver(options, surroundings),
    collection: collectionName,
    clock: surroundings.clock,
  });
}

type Metadata = Readonly<Record<string, string | number | boolean | null>>;

/** Records by column, as Chroma answers. */
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

/** Records read in one request. */
const PAGE = 5_000;
/** Tools looked up for each word. */
const MOST_PER_WORD = 2_000;

function chromaDriver(options: ChromaEngineOptions, surroundings: Partial<Surroundings>): VectorDriver {
  const { url = "http://127.0.0.1:8000", apiKey } = options;
  const { chromaTenant = "default_tenant", chromaDatabase = "default_database" } = options;
  const title = "Chroma";
  const keyHeaders = (key: string): Record<string, string> => ({ "x-chroma-token": key });
  const service = createService({ title, url, apiKey, keyHeaders, messageIn }, surroundings);
  const root = `/api/v2/tenants/${encodeURIComponent(chromaTenant)}/databases/${encodeURIComponent(chromaDatabase)}/collections`;
  const ids = new Map<string, string>();

  async function find({ name }: Space, signal: AbortSignal | undefined): Promise<Collection | undefined> {
    const { status, body } = await service.send("GET", `${root}/${encodeURIComponent(name)}`, {
      signal,
      expected: [404],
    });
    if (status === 404) return undefined;
    const found = body as Collection;
    ids.set(name, found.id);
    return found;
  }

  /** Collections are addressed by id, and one that was removed and created again has another. Undefined if there is none. */
  async function ask(space: Space, operation: string, body: object, { signal }: DriverOptions): Promise<unknown> {
    for (let isKnown = ids.has(space.name); ; isKnown = false) {
      const id = ids.get(space.name) ?? (await find(space, signal))?.id;
      if (id === undefined && space.dimension !== undefined) return undefined;
      const request = { body, signal, expected: isKnown || space.dimension !== undefined ? [404] : [] };
      const answer = await service.send(
        "POST",
        `${root}/${id ?? encodeURIComponent(space.name)}/${operation}`,
        request,
      );
      if (answer.status !== 404) return answer.body;
      ids.delete(space.name);
      if (!isKnown) return undefined;
    }
  }

  async function get(space: Space, body: object, parts: readonly Part[], asked: DriverOptions): Promise<Columns> {
    const include = [
      "metadatas",
      ...parts.flatMap((part) => (part === "text" ? ["documents"] : part === "vector" ? ["embeddings"] : [])),
    ];
    return ((await ask(space, "get", { ...body, include }, asked)) ?? { ids: [] }) as Columns;
  }

  /** The ids that a condition accepts, at most so many. */
  async function idsOf(
    space: Space,
    condition: Condition,
    most: number,
    asked: DriverOptions,
  ): Promise<readonly string[]> {
    const found: string[] = [];
    for (;;) {
      const limit = Math.min(PAGE, most - found.length);
      const body = { ...whereOf(condition), limit, offset: found.length, include: [] };
      const page = ((await ask(space, "get", body, asked)) ?? { ids: [] }) as Columns;
      found.push(...page.ids);
      if (page.ids.length < limit || found.length >= most) return found;
    }
  }

  /** Compares every vector that a condition accepts. */
  async function compare(
    space: Space,
    vector: Float32Array,
    condition: Condition,
    asked: DriverOptions,
  ): Promise<readonly Hit[]> {
    const hits: Hit[] = [];
    for (let offset = 0; ; offset += PAGE) {
      const columns = await get(space, { ...whereOf(condition), limit: PAGE, offset }, ["vector"], asked);
      for (const { fields, vector: own } of toStored(columns, ["vector"]))
        hits.push({ fields, score: vector.reduce((sum, value, at) => sum + value * (own?.[at] ?? 0), 0) });
      if (columns.ids.length < PAGE) return hits.sort((a, b) => b.score - a.score);
    }
  }

  return {
    title,
    filterLimits: { depth: 12, values: 10_000, comparisons: 300 },
    mostHits: 10_000,

    async ensure(space, { signal }) {
      let found = await find(space, signal);
      if (!found) {
        const body = {
          name: space.name,
          metadata: { toolarsenal: 1 },
          configuration: { hnsw: { space: "ip" } },
          get_or_create: true,
        };
        found = (await service.send("POST", root, { body, signal })).body as Collection;
        ids.set(space.name, found.id);
      }
      if (found.metadata?.["toolarsenal"] !== 1) throw foreignCollection(title, space);
      const { dimension } = found;
      if (dimension !== null && dimension !== (space.dimension ?? 1)) throw otherDimension(title, space, dimension);
    },

    async drop(space, { signal }) {
      ids.delete(space.name);
      await service.send("DELETE", `${root}/${encodeURIComponent(space.name)}`, { signal, expected: [404] });
    },

    async upsert(space, records, asked) {
      // Chroma keeps what a new record does not mention, so the keys it no longer has are removed by name.
      const before = await get(space, { ids: records.map(({ id }) => id) }, [], asked);
      const old = new Map(before.ids.map((id, at) => [id, Object.keys(before.metadatas?.[at] ?? {})]));
      const body = {
        ids: records.map(({ id }) => id),
        embeddings: records.map(({ vector }) => (vector ? [...vector] : [0])),
        documents: records.map(({ text }) => text),
        metadatas: records.map((record) => ({
          ...Object.fromEntries((old.get(record.id) ?? []).map((key) => [key, null])),
          ...toMetadata(record),
        })),
      };
      await ask(space, "upsert", body, asked);
    },

    async delete(space, condition, asked) {
      await ask(space, "delete", whereOf(condition), asked);
    },

    async read(space, wanted, parts, asked) {
      return wanted.length === 0 ? [] : toStored(await get(space, { ids: wanted }, parts, asked), parts);
    },

    async scroll(space, condition, { limit, parts, cursor = "0" }, asked) {
      const offset = Number(cursor);
      const columns = await get(space, { ...whereOf(condition), limit, offset }, parts, asked);
      const { length } = columns.ids;
      return { records: toStored(columns, parts), ...(length < limit ? {} : { next: String(offset + length) }) };
    },

    async count(space, condition, asked) {
      return (await idsOf(space, condition, Number.POSITIVE_INFINITY, asked)).length;
    },

    async nearest(space, vectors, { condition, limit }, asked) {
      const exact = (): Promise<readonly (readonly Hit[])[]> =>
        Promise.all(vectors.map((vector) => compare(space, vector, condition, asked)));
      if ("field" in condition && condition.field === "key") return exact();
      const body = {
        query_embeddings: vectors.map((vector) => [...vector]),
        n_results: limit,
        ...whereOf(condition),
        include: ["metadatas", "distances"],
      };
      const answer = (await ask(space, "query", body, asked)) as
        | {
            readonly ids: readonly (readonly string[])[];
            readonly metadatas: readonly (readonly Metadata[])[];
            readonly distances: readonly (readonly number[])[];
          }
        | undefined;
      if (answer === undefined) return vectors.map(() => []);
      // Its index may lose some of the few that a narrow filter leaves.
      if (answer.ids.some(({ length }) => length < limit)) return exact();
      return answer.ids.map((_, nth) =>
        (answer.metadatas[nth] ?? []).map((metadata, at) => ({
          fields: fieldsOf(metadata),
          score: 1 - (answer.distances[nth]?.[at] ?? 1),
        })),
      );
    },

    /** Chroma cannot rank by words, so each word is looked up, and the tools are ordered by the weight of the words they have. */
    async words(space, texts, { condition, limit }, asked) {
      return Promise.all(
        texts.map(async (terms) => {
          const scores = new Map<string, number>();
          await Promise.all(
            Array.from(terms, async ([term, weight]) => {
              const having = { $and: [...conditionsOf(condition), { [`word:${term}`]: { $eq: true } }] };
              const body = { where: having, limit: MOST_PER_WORD, include: [] };
              const found = ((await ask(space, "get", body, asked)) ?? { ids: [] }) as Columns;
              for (const id of found.ids) scores.set(id, (scores.get(id) ?? 0) + weight);
            }),
          );
          const best = [...scores].sort(([, a], [, b]) => b - a);
          return best.slice(0, limit).map(([id]) => id);
        }),
      );
    },

    close: () => service.close(),
  };
}

function messageIn(body: unknown): string | undefined {
  return (body as { readonly message?: string } | undefined)?.message;
}

/** Chroma's metadata has no lists: each value of a list is a key of its own. */
function toMetadata({ fields, lists, revision, about, words }: NewRecord): Metadata {
  const metadata: Record<string, string | number | boolean> = { ...fields, revision, about };
  for (const [list, values] of Object.entries(lists)) for (const value of values) metadata[`${list}:${value}`] = true;
  for (const term of words.keys()) metadata[`word:${term}`] = true;
  return metadata;
}

function fieldsOf(metadata: Metadata | null | undefined): Readonly<Record<string, string>> {
  return Object.fromEntries(FIELDS.map((field) => [field, String(metadata?.[field] ?? "")]));
}

function toStored({ ids, metadatas, documents, embeddings }: Columns, parts: readonly Part[]): readonly Stored[] {
  return ids.map((id, at) => {
    const metadata = metadatas?.[at];
    const embedding = embeddings?.[at];
    return {
      id,
      revision: Number(metadata?.["revision"] ?? 0),
      fields: fieldsOf(metadata),
      ...(parts.includes("about") ? { about: String(metadata?.["about"] ?? "") } : {}),
      ...(parts.includes("text") ? { text: documents?.[at] ?? "" } : {}),
      ...(embedding ? { vector: Float32Array.from(embedding) } : {}),
    };
  });
}

function whereOf(condition: Condition): { readonly where?: object } {
  const [first, ...others] = conditionsOf(condition);
  if (first === undefined) return {};
  return { where: others.length === 0 ? first : { $and: [first, ...others] } };
}

/** Conditions that must all hold. */
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

type Settings = VectorStoreSettings & setting.Filled<typeof config>;

export function create(settings: Settings, surroundings: Surroundings): CatalogEngine {
  return chromaEngine(settings, surroundings);
}

/** Opens the collection as the arsenal will, which also creates it. */
export async function check(settings: Settings, surroundings?: Surroundings): Promise<string> {
  return checkEngine(chromaEngine(settings, surroundings), settings.url ?? "http://127.0.0.1:8000");
}
