import { createHash } from "node:crypto";
import type { CatalogEngine } from "../../catalog/catalog-engine.port.ts";
import * as setting from "../settings.ts";
import type { Surroundings } from "../surroundings.ts";
import type { Condition } from "./vector-database/conditions.ts";
import {
  type DriverOptions,
  FIELDS,
  LISTS,
  type Part,
  type Space,
  type Stored,
  type Terms,
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

export interface QdrantEngineOptions {
  /** Where Qdrant's REST API is. Default `http://127.0.0.1:6333`. */
  readonly url?: string | undefined;
  /** A reference to the key (`env:QDRANT_API_KEY`). Omitted if the server takes none. */
  readonly apiKey?: string | undefined;
  /** The collection of the tools. Those of vectors begin with its name. Default `tool_arsenal`. */
  readonly collectionName?: string | undefined;
}

/** Keeps the catalog in Qdrant 1.10 or later. */
export function qdrantEngine(
  options: QdrantEngineOptions = {},
  surroundings: Partial<Surroundings> = {},
): CatalogEngine {
  const { collectionName = "tool_arsenal" } = options;
  return vectorDatabaseEngine({
    name: "qdrant",
    driver: qdrantDriver(options, surroundings),
    collection: collectionName,
    clock: surroundings.clock,
  });
}

interface Point {
  readonly id: string;
  readonly payload?: Readonly<Record<string, unknown>>;
  readonly vector?: readonly number[];
  readonly score?: number;
}

const INDEXED: Readonly<Record<string, "keyword" | "integer">> = {
  ...Object.fromEntries([...FIELDS, ...LISTS].filter((field) => field !== "hash").map((field) => [field, "keyword"])),
  revision: "integer",
};

function qdrantDriver(
  { url = "http://127.0.0.1:6333", apiKey }: QdrantEngineOptions,
  surroundings: Partial<Surroundings>,
): VectorDriver {
  const title = "Qdrant";
  const service = createService(
    { title, url, apiKey, keyHeaders: (key) => ({ "api-key": key }), messageIn },
    surroundings,
  );

  async function ask<Result>(
    space: Space,
    path: string,
    body: object,
    { signal }: DriverOptions,
    empty: Result,
  ): Promise<Result> {
    // Another process may just have removed the vectors of a model.
    const expected = space.dimension === undefined ? [] : [404];
    const answer = await service.send("POST", `/collections/${encodeURIComponent(space.name)}/points${path}`, {
      body,
      signal,
      expected,
    });
    return answer.status === 404 ? empty : resultOf<Result>(answer.body);
  }

  /** Runs searches as one batch. */
  async function search(
    space: Space,
    searches: readonly object[],
    options: DriverOptions,
  ): Promise<readonly (readonly Point[])[]> {
    const answers = await ask<readonly { readonly points: readonly Point[] }[]>(
      space,
      "/query/batch",
      { searches },
      options,
      [],
    );
    return searches.map((_, at) => answers[at]?.points ?? []);
  }

  return {
    title,
    filterLimits: { depth: 12, values: 100_000, comparisons: 100_000 },
    mostHits: 10_000,

    async ensure(space, { signal }) {
      const path = `/collections/${encodeURIComponent(space.name)}`;
      let found = await service.send("GET", path, { signal, expected: [404] });
      if (found.status === 404) {
        const body =
          space.dimension === undefined
            ? { vectors: {}, sparse_vectors: { words: { modifier: "idf" } } }
            : { vectors: { size: space.dimension, distance: "Dot" } };
        // 409: another process was quicker.
        await service.send("PUT", path, { body, signal, expected: [409] });
        found = await service.send("GET", path, { signal });
      }
      const { config, payload_schema: indexed } = resultOf<{
        readonly config: {
          readonly params: { readonly vectors?: { readonly size?: number }; readonly sparse_vectors?: object };
        };
        readonly payload_schema: Readonly<Record<string, unknown>>;
      }>(found.body);
      const { size } = config.params.vectors ?? {};
      if (size !== space.dimension) throw otherDimension(title, space, size);
      if (space.dimension === undefined && !("words" in (config.params.sparse_vectors ?? {})))
        throw foreignCollection(title, space);
      for (const [field_name, field_schema] of Object.entries(INDEXED)) {
        if (Object.hasOwn(indexed, field_name)) continue;
        await service.send("PUT", `${path}/index?wait=true`, { body: { field_name, field_schema }, signal });
      }
    },

    async drop(space, { signal }) {
      await service.send("DELETE", `/collections/${encodeURIComponent(space.name)}`, { signal, expected: [404] });
    },

    async upsert(space, records, { signal }) {
      const points = records.map(({ id, revision, fields, lists, about, text, words, vector }) => ({
        id,
        payload: { ...fields, ...lists, revision, about, text },
        vector: vector ? [...vector] : words.size > 0 ? { words: toSparse(words) } : {},
      }));
      await service.send("PUT", `/collections/${encodeURIComponent(space.name)}/points?wait=true`, {
        body: { points },
        signal,
      });
    },

    async delete(space, condition, options) {
      await ask(space, "/delete?wait=true", { filter: toFilter(condition) }, options, undefined);
    },

    async read(space, ids, parts, options) {
      return (await ask<readonly Point[]>(space, "", { ids, ...withParts(parts) }, options, [])).map(toStored);
    },

    async scroll(space, condition, { limit, parts, cursor }, options) {
      const body = {
        filter: toFilter(condition),
        limit,
        ...withParts(parts),
        ...(cursor === undefined ? {} : { offset: cursor }),
      };
      const empty = { points: [], next_page_offset: null };
      const { points, next_page_offset: next } = await ask<{
        readonly points: readonly Point[];
        readonly next_page_offset?: string | null;
      }>(space, "/scroll", body, options, empty);
      return { records: points.map(toStored), ...(next ? { next } : {}) };
    },

    async count(space, condition, options) {
      const body = { filter: toFilter(condition), exact: true };
      return (await ask<{ readonly count: number }>(space, "/count", body, options, { count: 0 })).count;
    },

    async nearest(space, vectors, { condition, limit }, options) {
      const filter = toFilter(condition);
      const searches = vectors.map((vector) => ({
        query: [...vector],
        filter,
        limit,
        with_payload: ["key", "hash", "nth"],
      }));
      const lists = await search(space, searches, options);
      return lists.map((points) =>
        points.map((point) => ({ fields: toStored(point).fields, score: point.score ?? 0 })),
      );
    },

    async words(space, texts, { condition, limit }, options) {
      const filter = toFilter(condition);
      // Qdrant weighs the terms by its own count of the points that have them.
      const searches = texts.map((terms) => ({
        query: toSparse(new Map(Array.from(terms.keys(), (term) => [term, 1]))),
        using: "words",
        filter,
        limit,
        with_payload: false,
      }));
      return (await search(space, searches, options)).map((points) => points.map(({ id }) => id));
    },

    close: () => service.close(),
  };
}

function resultOf<Result>(body: unknown): Result {
  return (body as { readonly result: Result }).result;
}

function messageIn(body: unknown): string | undefined {
  if (typeof body === "string") return body;
  return (body as { readonly status?: { readonly error?: string } } | undefined)?.status?.error;
}

function withParts(parts: readonly Part[]): object {
  return {
    with_payload: ["revision", ...FIELDS, ...parts.filter((part) => part !== "vector")],
    with_vector: parts.includes("vector"),
  };
}

function toStored({ id, payload = {}, vector }: Point): Stored {
  const { revision, about, text, ...fields } = payload;
  return {
    id,
    revision: Number(revision ?? 0),
    fields: fields as Readonly<Record<string, string>>,
    ...(typeof about === "string" ? { about } : {}),
    ...(typeof text === "string" ? { text } : {}),
    ...(Array.isArray(vector) ? { vector: Float32Array.from(vector) } : {}),
  };
}

/** Terms as a sparse vector. Qdrant numbers dimensions with 32 bits; terms that share one are added up. */
function toSparse(terms: Terms): { readonly indices: readonly number[]; readonly values: readonly number[] } {
  const weights = new Map<number, number>();
  for (const [term, weight] of terms) {
    const index = createHash("sha256").update(term).digest().readUInt32LE();
    weights.set(index, (weights.get(index) ?? 0) + weight);
  }
  return { indices: [...weights.keys()], values: [...weights.values()] };
}

function toFilter(condition: Condition): object {
  if ("all" in condition) return { must: condition.all.map(toFilter) };
  if ("any" in condition) return { should: condition.any.map(toFilter) };
  return { ["notIn" in condition ? "must_not" : "must"]: [toMatch(condition)] };
}

function toMatch(condition: Exclude<Condition, { all: unknown } | { any: unknown }>): object {
  if ("revisionAbove" in condition) return { key: "revision", range: { gt: condition.revisionAbove } };
  if ("revisionBelow" in condition) return { key: "revision", range: { lt: condition.revisionBelow } };
  return { key: condition.field, match: { any: "in" in condition ? condition.in : condition.notIn } };
}

export const config = setting.object("Qdrant.", {});

export function create(
  { url, apiKey, collectionName }: VectorStoreSettings,
  surroundings: Surroundings,
): CatalogEngine {
  return qdrantEngine({ url, apiKey, collectionName }, surroundings);
}

/** Opens the collection as the arsenal will, which also creates it. */
export async function check(settings: VectorStoreSettings, surroundings?: Surroundings): Promise<string> {
  return checkEngine(qdrantEngine(settings, surroundings), settings.url ?? "http://127.0.0.1:6333");
}
