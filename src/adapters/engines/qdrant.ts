import type { CatalogEngine } from "../../catalog/catalog-engine.port.ts";
import * as setting from "../../tool/shape/shape.ts";
import type { Surroundings } from "../surroundings.ts";
import type { Condition } from "./vector-database/conditions.ts";
import {
  FIELDS,
  foreignCollection,
  LISTS,
  otherDimension,
  type RecordPart,
  type Send,
  type Space,
  type DatabaseRecord,
  toSparse,
  toStored,
  type VectorDatabase,
  type VectorDriver,
  type VectorStoreSettings,
} from "./vector-database/driver.ts";
import { checkOf, vectorDatabaseEngine } from "./vector-database/engine.ts";

/** The URL of Qdrant's REST API defaults to `http://127.0.0.1:6333`. */
export type QdrantEngineOptions = VectorStoreSettings;

const QDRANT: VectorDriver = {
  name: "qdrant",
  title: "Qdrant",
  url: "http://127.0.0.1:6333",
  filterLimits: { values: 100_000, comparisons: 100_000 },
  mostHits: 10_000,
  keyHeaders: (key) => ({ "api-key": key }),
  on: qdrantDatabase,
};

/** Keeps the catalog in Qdrant 1.10 or later. */
export function qdrantEngine(
  options: QdrantEngineOptions = {},
  surroundings: Partial<Surroundings> = {},
): CatalogEngine {
  return vectorDatabaseEngine(QDRANT, options, surroundings);
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

function qdrantDatabase(send: Send): VectorDatabase {
  const { title } = QDRANT;

  async function ask<Result>(space: Space, path: string, body: object, empty: Result): Promise<Result> {
    // Another process may have just removed the vectors of a model.
    const expected = space.dimension === undefined ? [] : [404];
    const answer = await send("POST", `${pathOf(space)}/points${path}`, body, expected);
    return answer.status === 404 ? empty : resultOf<Result>(answer.body);
  }

  async function search(space: Space, searches: readonly object[]): Promise<readonly (readonly Point[])[]> {
    type BatchResults = readonly { readonly points: readonly Point[] }[];
    const answers = await ask<BatchResults>(space, "/query/batch", { searches }, []);
    return searches.map((_, at) => answers[at]?.points ?? []);
  }

  return {
    async ensure(space) {
      const path = pathOf(space);
      let found = await send("GET", path, undefined, [404]);
      if (found.status === 404) {
        const body =
          space.dimension === undefined
            ? { vectors: {}, sparse_vectors: { words: { modifier: "idf" } } }
            : { vectors: { size: space.dimension, distance: "Dot" } };
        // 409: another process created the collection first.
        await send("PUT", path, body, [409]);
        found = await send("GET", path);
      }
      const { config: kept, payload_schema: indexed } = resultOf<{
        readonly config: {
          readonly params: { readonly vectors?: { readonly size?: number }; readonly sparse_vectors?: object };
        };
        readonly payload_schema: Readonly<Record<string, unknown>>;
      }>(found.body);
      const { size } = kept.params.vectors ?? {};
      if (size !== space.dimension) throw otherDimension(title, space, size);
      if (space.dimension === undefined && !("words" in (kept.params.sparse_vectors ?? {})))
        throw foreignCollection(title, space);
      for (const [field_name, field_schema] of Object.entries(INDEXED)) {
        if (Object.hasOwn(indexed, field_name)) continue;
        await send("PUT", `${path}/index?wait=true`, { field_name, field_schema });
      }
    },

    async drop(space) {
      await send("DELETE", pathOf(space), undefined, [404]);
    },

    async upsert(space, records) {
      const points = records.map(({ id, revision, fields, lists, about, text, words, vector }) => ({
        id,
        payload: { ...fields, ...lists, revision, about, text },
        vector: vector ? [...vector] : words.size > 0 ? { words: toSparse(words) } : {},
      }));
      await send("PUT", `${pathOf(space)}/points?wait=true`, { points });
    },

    async delete(space, condition) {
      await ask(space, "/delete?wait=true", { filter: toFilter(condition) }, undefined);
    },

    async read(space, ids, parts) {
      return (await ask<readonly Point[]>(space, "", { ids, ...withParts(parts) }, [])).map(fromPoint);
    },

    async scroll(space, condition, { limit, parts, cursor: offset }) {
      type Page = { readonly points: readonly Point[]; readonly next_page_offset?: string | null };
      const body = { filter: toFilter(condition), limit, ...withParts(parts), offset };
      const { points, next_page_offset: next } = await ask<Page>(space, "/scroll", body, { points: [] });
      return { records: points.map(fromPoint), ...(next ? { next } : {}) };
    },

    async count(space, condition) {
      const body = { filter: toFilter(condition), exact: true };
      return (await ask<{ readonly count: number }>(space, "/count", body, { count: 0 })).count;
    },

    async nearest(space, vectors, { condition, limit }) {
      const shared = { filter: toFilter(condition), limit, with_payload: ["key", "hash", "nth"] };
      const searches = vectors.map((vector) => ({ query: [...vector], ...shared }));
      return (await search(space, searches)).map((points) =>
        points.map((point) => ({ fields: fromPoint(point).fields, score: point.score ?? 0 })),
      );
    },

    async words(space, texts, { condition, limit }) {
      const shared = { using: "words", filter: toFilter(condition), limit, with_payload: false };
      // Qdrant weighs the terms by its own document counts.
      const searches = texts.map((terms) => ({
        query: toSparse(Array.from(terms.keys(), (term) => [term, 1])),
        ...shared,
      }));
      return (await search(space, searches)).map((points) => points.map(({ id }) => id));
    },
  };
}

function pathOf({ name }: Space): string {
  return `/collections/${encodeURIComponent(name)}`;
}

function resultOf<Result>(body: unknown): Result {
  return (body as { readonly result: Result }).result;
}

function withParts(parts: readonly RecordPart[]): object {
  return {
    with_payload: ["revision", ...FIELDS, ...parts.filter((part) => part !== "vector")],
    with_vector: parts.includes("vector"),
  };
}

function fromPoint({ id, payload = {}, vector }: Point): DatabaseRecord {
  return toStored(id, payload, vector);
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

export { qdrantEngine as create };

export const check = checkOf(qdrantEngine, QDRANT.url);
