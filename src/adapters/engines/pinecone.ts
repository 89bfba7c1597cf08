import { createHash } from "node:crypto";
import type { CatalogEngine } from "../../catalog/catalog-engine.port.ts";
import { type ArsenalError, fixable } from "../../errors/arsenal-error.ts";
import { type Clock, systemClock } from "../../observe/clock.ts";
import { pause } from "../../base/turns/until-aborted.ts";
import * as setting from "../../tool/shape/shape.ts";
import type { Surroundings } from "../surroundings.ts";
import { ABSENT, type Condition } from "./vector-database/conditions.ts";
import {
  type ServiceResponse,
  type NewRecord,
  type RecordPart,
  type Send,
  type Space,
  type DatabaseRecord,
  type Terms,
  toSparse,
  toStored,
  type VectorDatabase,
  type VectorStoreSettings,
} from "./vector-database/driver.ts";
import { checkOf, vectorDatabaseEngine } from "./vector-database/engine.ts";
import { inChunks } from "./vector-database/session.ts";

/** `url` is the host of an index with the metric `dotproduct`: `https://NAME-PROJECT.svc.REGION.pinecone.io`. The collection is a namespace in it. */
export type PineconeEngineOptions = VectorStoreSettings;

/** Keeps the catalog in a serverless index of Pinecone. */
export function pineconeEngine(
  options: PineconeEngineOptions,
  surroundings: Partial<Surroundings> = {},
): CatalogEngine {
  const { url } = options;
  if (url === undefined) throw withoutAddress();
  const index = { size: 0, clock: surroundings.clock ?? systemClock };
  const driver = {
    name: "pinecone",
    title: "Pinecone",
    url,
    filterLimits: { values: 10_000, comparisons: 10_000 },
    // Pinecone's limit for results with metadata.
    mostHits: 1_000,
    keyHeaders: (key: string) => ({ "api-key": key }),
    headers: { "x-pinecone-api-version": API_VERSION },
    on: (send: Send, signal: AbortSignal | undefined) => pineconeDatabase(send, signal, index),
  };
  return vectorDatabaseEngine(driver, options, surroundings);
}

interface Vector {
  readonly id: string;
  readonly values?: readonly number[];
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly score?: number;
}

const API_VERSION = "2026-04";
const MOST_IDS = 100;
const PAGE = 500;
/** In characters. A record holds at most 40 kB of metadata, so longer texts are split into pieces in separate records. */
const PIECE = 9_000;
const PIECES = new RegExp(`[^]{1,${PIECE}}`, "gu");
const MOST_TERMS = 1_000;
/** The interval and the timeout for checking that a write is visible. */
const FRESH_MS = 200;
const FRESH_ATTEMPTS = 300;
const WRITTEN = "x-pinecone-request-lsn";
const INDEXED = "x-pinecone-max-indexed-lsn";

/** `index.size` is the dimension of the index. Shorter vectors are padded with zeros, which does not change dot products. */
function pineconeDatabase(
  send: Send,
  signal: AbortSignal | undefined,
  index: { size: number; readonly clock: Clock },
): VectorDatabase {
  const padded = (vector: Float32Array | readonly number[]): readonly number[] => [
    ...vector,
    ...Array<number>(Math.max(index.size - vector.length, 0)).fill(0),
  ];

  async function query({ name: namespace }: Space, body: object): Promise<readonly Vector[]> {
    const answer = await send("POST", "/query", { namespace, ...body });
    return (answer.body as { readonly matches?: readonly Vector[] }).matches ?? [];
  }

  /** Waits until a write is visible. Pinecone confirms it earlier. */
  async function untilFresh({ name: namespace }: Space, written: ServiceResponse): Promise<void> {
    const lsn = Number(written.headers[WRITTEN] ?? Number.NaN);
    if (Number.isNaN(lsn)) return;
    for (let attempt = 0; attempt < FRESH_ATTEMPTS; attempt++) {
      const { headers } = await send("POST", "/query", { namespace, topK: 1, vector: padded([1]) });
      if (headers[INDEXED] === undefined || Number(headers[INDEXED]) >= lsn) return;
      await pause(FRESH_MS, index.clock, { signal });
    }
    const problem = `Pinecone accepted a change, but it was not visible within ${(FRESH_ATTEMPTS * FRESH_MS) / 1000} s.`;
    throw fixable("STORE_FAILED", problem, "Repeat it later.", { field: "vector_store" });
  }

  async function upsertAll(space: Space, vectors: readonly object[]): Promise<void> {
    const answers = await inChunks(vectors, MOST_IDS, async (chunk) => [
      await send("POST", "/vectors/upsert", { namespace: space.name, vectors: chunk }),
    ]);
    const last = answers.at(-1);
    if (last) await untilFresh(space, last);
  }

  async function fetchAll({ name }: Space, ids: readonly string[]): Promise<readonly Vector[]> {
    return inChunks(ids, MOST_IDS, async (chunk) => {
      const asked = new URLSearchParams({ namespace: name });
      for (const id of chunk) asked.append("ids", id);
      const answer = await send("GET", `/vectors/fetch?${asked.toString()}`);
      return Object.values((answer.body as { readonly vectors?: Readonly<Record<string, Vector>> }).vectors ?? {});
    });
  }

  async function whole(
    space: Space,
    vectors: readonly Vector[],
    parts: readonly RecordPart[],
  ): Promise<readonly DatabaseRecord[]> {
    const needed = parts.includes("about") || parts.includes("text") ? vectors : [];
    const wanted = needed.flatMap(({ metadata = {} }) => piecesOf(metadata));
    const found = await fetchAll(piecesIn(space), wanted);
    const pieces = new Map(found.map(({ id, metadata }) => [id, String(metadata?.["piece"] ?? "")]));
    return vectors.map((vector) => fromVector(vector, parts, pieces));
  }

  async function page(
    { name: namespace }: Space,
    condition: Condition,
    limit: number,
    cursor: string | undefined,
  ): Promise<{ readonly vectors: readonly Vector[]; readonly next?: string }> {
    const asked = { filter: toFilter(condition), limit: Math.min(limit, PAGE), paginationToken: cursor };
    const answer = (await send("POST", "/vectors/fetch_by_metadata", { namespace, ...asked })).body as {
      readonly vectors?: Readonly<Record<string, Vector>>;
      readonly pagination?: { readonly next?: string };
    };
    const next = answer.pagination?.next;
    return { vectors: Object.values(answer.vectors ?? {}), ...(next ? { next } : {}) };
  }

  async function remove(space: Space, body: object): Promise<void> {
    const answer = await send("POST", "/vectors/delete", { namespace: space.name, ...body }, [404]);
    // 404: nothing was ever written to this namespace.
    if (answer.status !== 404) await untilFresh(space, answer);
  }

  return {
    async ensure(space) {
      const { dimension = 0, metric = "dotproduct" } = (await send("POST", "/describe_index_stats", {})).body as {
        readonly dimension?: number;
        readonly metric?: string;
      };
      index.size = dimension;
      if (metric !== "dotproduct") throw unfit(`has the metric ${metric}`, space.dimension ?? dimension);
      const needed = space.dimension ?? 1;
      if (dimension < needed) throw unfit(`has ${dimension} dimensions, but the model has ${needed}`, needed);
    },

    drop: (space) => remove(space, { deleteAll: true }),

    async upsert(space, records) {
      const made = records.map(toVector);
      const pieces = made.flatMap((each) => each.pieces);
      await upsertAll(
        piecesIn(space),
        pieces.map(({ id, piece }) => ({ id, values: padded([1]), metadata: { piece } })),
      );
      await upsertAll(
        space,
        made.map(({ vector: { values, ...vector } }) => ({ ...vector, values: padded(values) })),
      );
    },

    delete: (space, condition) => remove(space, { filter: toFilter(condition) }),

    read: async (space, ids, parts) => whole(space, await fetchAll(space, ids), parts),

    async scroll(space, condition, { limit, parts, cursor }) {
      const { vectors, ...rest } = await page(space, condition, limit, cursor);
      return { records: await whole(space, vectors, parts), ...rest };
    },

    async count(space, condition) {
      let count = 0;
      let cursor: string | undefined;
      do {
        const { vectors, next } = await page(space, condition, PAGE, cursor);
        count += vectors.length;
        cursor = next;
      } while (cursor !== undefined);
      return count;
    },

    nearest: (space, vectors, { condition, limit }) =>
      Promise.all(
        vectors.map(async (vector) => {
          const body = { vector: padded(vector), topK: limit, ...filterOf(condition), includeMetadata: true };
          const matches = await query(space, body);
          return matches.map(({ id, metadata = {}, score = 0 }) => ({ fields: toStored(id, metadata).fields, score }));
        }),
      ),

    words: (space, texts, { condition, limit }) =>
      Promise.all(
        texts.map(async (terms) => {
          // All tools have the same dense vector, whose dot product with itself is 1. The rest of the score comes from the words.
          const body = { vector: padded([1]), sparseVector: heaviest(terms), topK: limit, ...filterOf(condition) };
          const matches = await query(space, body);
          return matches.filter(({ score = 0 }) => score > 1).map(({ id }) => id);
        }),
      ),
  };
}

function piecesIn({ name }: Space): Space {
  return { name: `${name}_texts` };
}

/** Returns a record and the pieces of its long texts. The ids of pieces contain a hash of their content, so readers never mix two versions. */
function toVector({ id, revision, fields, lists, about, text, words, vector }: NewRecord) {
  const body = JSON.stringify([about, text]);
  const isLong = body.length > PIECE;
  const version = createHash("sha256").update(body).digest("hex").slice(0, 16);
  const pieces = isLong ? (body.match(PIECES) ?? []) : [];
  // Pinecone does not store empty lists.
  const filled = Object.fromEntries(
    Object.entries(lists).map(([list, values]) => [list, values.length === 0 ? [ABSENT] : values]),
  );
  return {
    vector: {
      id,
      values: vector ? [...vector] : [1],
      ...(words.size > 0 ? { sparseValues: heaviest(words) } : {}),
      metadata: { ...fields, ...filled, revision, ...(isLong ? { version, pieces: pieces.length } : { body }) },
    },
    pieces: pieces.map((piece, at) => ({ id: `${version}#${at}`, piece })),
  };
}

function piecesOf({ version, pieces }: Readonly<Record<string, unknown>>): readonly string[] {
  if (typeof version !== "string") return [];
  return Array.from({ length: Number(pieces ?? 0) }, (_, at) => `${version}#${at}`);
}

function fromVector(vector: Vector, parts: readonly RecordPart[], pieces: ReadonlyMap<string, string>): DatabaseRecord {
  const { id, values, metadata = {} } = vector;
  const joined = piecesOf(metadata).map((each) => pieces.get(each) ?? "");
  const body = typeof metadata["body"] === "string" ? metadata["body"] : joined.join("");
  const wantsBody = parts.includes("about") || parts.includes("text");
  const [about, text] = wantsBody ? (JSON.parse(body) as string[]) : [];
  return toStored(id, { ...metadata, about, text }, parts.includes("vector") ? values : undefined);
}

/** Returns the heaviest terms, up to Pinecone's limit. */
function heaviest(terms: Terms): ReturnType<typeof toSparse> {
  return toSparse([...terms].sort(([, a], [, b]) => b - a).slice(0, MOST_TERMS));
}

function filterOf(condition: Condition): { readonly filter?: object } {
  return "all" in condition && condition.all.length === 0 ? {} : { filter: toFilter(condition) };
}

function toFilter(condition: Condition): object {
  if ("all" in condition) return { $and: condition.all.map(toFilter) };
  if ("any" in condition) return { $or: condition.any.map(toFilter) };
  if ("revisionAbove" in condition) return { revision: { $gt: condition.revisionAbove } };
  if ("revisionBelow" in condition) return { revision: { $lt: condition.revisionBelow } };
  return { [condition.field]: "in" in condition ? { $in: condition.in } : { $nin: condition.notIn } };
}

function unfit(what: string, dimension: number): ArsenalError {
  const fix = `Create an index with the metric dotproduct and at least ${dimension} dimensions, and set vector_store.url to its host.`;
  return fixable("STORE_FAILED", `The Pinecone index ${what}.`, fix, { field: "vector_store.url" });
}

function withoutAddress(): ArsenalError {
  const field = "vector_store.url";
  const fix = `Set ${field} to the host of your index, as Pinecone's console shows it: https://NAME-PROJECT.svc.REGION.pinecone.io.`;
  return fixable("CONFIG_INVALID", `${field} is missing.`, fix, { field });
}

export const config = setting.object("Pinecone.", {});
export const needs = { url: "Write the host of your index: https://NAME-PROJECT.svc.REGION.pinecone.io." };

export { pineconeEngine as create };

export const check = checkOf(pineconeEngine, "");
