import { createHash } from "node:crypto";
import type { CatalogEngine } from "../../catalog/catalog-engine.port.ts";
import { ArsenalError } from "../../errors/arsenal-error.ts";
import { type Clock, systemClock } from "../../observe/clock.ts";
import * as setting from "../settings.ts";
import type { Surroundings } from "../surroundings.ts";
import { ABSENT, type Condition } from "./vector-database/conditions.ts";
import {
  type DriverOptions,
  FIELDS,
  type NewRecord,
  type Part,
  type Space,
  type Stored,
  type StoredPage,
  type Terms,
  type VectorDriver,
} from "./vector-database/driver.ts";
import { vectorDatabaseEngine } from "./vector-database/engine.ts";
import { inChunks } from "./vector-database/scroll.ts";
import { type Answer, createService, pause } from "./vector-database/service.ts";
import { checkEngine, type VectorStoreSettings } from "./vector-database/settings.ts";

export interface PineconeEngineOptions {
  /** The host of an index with the metric `dotproduct`: `https://NAME-PROJECT.svc.REGION.pinecone.io`. */
  readonly url?: string | undefined;
  /** A reference to the key: `env:PINECONE_API_KEY`. */
  readonly apiKey?: string | undefined;
  /** The namespace of the tools. Those of vectors begin with its name. Default `tool_arsenal`. */
  readonly collectionName?: string | undefined;
}

/** Keeps the catalog in a serverless index of Pinecone. */
export function pineconeEngine(
  options: PineconeEngineOptions,
  surroundings: Partial<Surroundings> = {},
): CatalogEngine {
  const { collectionName = "tool_arsenal" } = options;
  return vectorDatabaseEngine({
    name: "pinecone",
    driver: pineconeDriver(options, surroundings),
    collection: collectionName,
    clock: surroundings.clock,
  });
}

interface Vector {
  readonly id: string;
  readonly values?: readonly number[];
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly score?: number;
}

interface Sparse {
  readonly indices: readonly number[];
  readonly values: readonly number[];
}

const API_VERSION = "2026-04";
/** Ids in one address. */
const MOST_IDS = 100;
const PAGE = 500;
/** Records take 40 kB of metadata. Longer texts are kept in pieces of so many characters, in records of their own. */
const PIECE = 9_000;
const PIECES = new RegExp(`[^]{1,${PIECE}}`, "gu");
/** The most terms that a sparse vector takes. */
const MOST_TERMS = 1_000;
/** How often and how long it is asked whether a write can be read. */
const FRESH_MS = 200;
const FRESH_ATTEMPTS = 300;
const WRITTEN = "x-pinecone-request-lsn";
const INDEXED = "x-pinecone-max-indexed-lsn";

function pineconeDriver({ url, apiKey }: PineconeEngineOptions, surroundings: Partial<Surroundings>): VectorDriver {
  const title = "Pinecone";
  if (url === undefined) throw withoutAddress();
  const clock: Clock = surroundings.clock ?? systemClock;
  const service = createService(
    {
      title,
      url,
      apiKey,
      keyHeaders: (key) => ({ "api-key": key }),
      headers: { "x-pinecone-api-version": API_VERSION },
      messageIn,
    },
    surroundings,
  );
  /** The dimension of the index. Shorter vectors are filled up with zeros, which changes no product. */
  let size = 0;

  const padded = (vector: Float32Array | readonly number[]): readonly number[] => [
    ...vector,
    ...Array<number>(Math.max(size - vector.length, 0)).fill(0),
  ];

  async function query(space: Space, body: object, { signal }: DriverOptions): Promise<readonly Vector[]> {
    const answer = await service.send("POST", "/query", { body: { namespace: space.name, ...body }, signal });
    return (answer.body as { readonly matches?: readonly Vector[] }).matches ?? [];
  }

  /** Pinecone answers a write before it can be read. Waits until it can. */
  async function untilFresh(space: Space, written: Answer, { signal }: DriverOptions): Promise<void> {
    const lsn = Number(written.headers[WRITTEN] ?? Number.NaN);
    if (Number.isNaN(lsn)) return;
    const body = { namespace: space.name, topK: 1, vector: padded([1]) };
    for (let attempt = 0; attempt < FRESH_ATTEMPTS; attempt++) {
      const { headers } = await service.send("POST", "/query", { body, signal });
      if (headers[INDEXED] === undefined || Number(headers[INDEXED]) >= lsn) return;
      await pause(FRESH_MS, clock, signal);
    }
    const seconds = (FRESH_ATTEMPTS * FRESH_MS) / 1000;
    throw new ArsenalError(
      "STORE_FAILED",
      `Pinecone took a change, but did not show it within ${seconds} s. Repeat it later.`,
      { field: "vector_store" },
    );
  }

  async function upsertAll(space: Space, vectors: readonly object[], options: DriverOptions): Promise<void> {
    const answers = await inChunks(vectors, MOST_IDS, async (chunk) => [
      await service.send("POST", "/vectors/upsert", {
        body: { namespace: space.name, vectors: chunk },
        signal: options.signal,
      }),
    ]);
    const last = answers.at(-1);
    if (last) await untilFresh(space, last, options);
  }

  async function fetchAll(space: Space, ids: readonly string[], { signal }: DriverOptions): Promise<readonly Vector[]> {
    return inChunks(ids, MOST_IDS, async (chunk) => {
      const asked = new URLSearchParams([["namespace", space.name], ...chunk.map((id) => ["ids", id])] as [
        string,
        string,
      ][]);
      const answer = await service.send("GET", `/vectors/fetch?${asked.toString()}`, { signal });
      return Object.values((answer.body as { readonly vectors?: Readonly<Record<string, Vector>> }).vectors ?? {});
    });
  }

  /** Reads the pieces of long texts. */
  async function whole(
    space: Space,
    vectors: readonly Vector[],
    parts: readonly Part[],
    options: DriverOptions,
  ): Promise<readonly Stored[]> {
    const needed = parts.includes("about") || parts.includes("text") ? vectors : [];
    const wanted = needed.flatMap(({ metadata = {} }) => piecesOf(metadata));
    const pieces = new Map(
      (await fetchAll(piecesIn(space), wanted, options)).map(({ id, metadata }) => [
        id,
        String(metadata?.["piece"] ?? ""),
      ]),
    );
    return vectors.map((vector) => toStored(vector, parts, pieces));
  }

  async function page(
    space: Space,
    condition: Condition,
    limit: number,
    cursor: string | undefined,
    { signal }: DriverOptions,
  ): Promise<{ readonly vectors: readonly Vector[]; readonly next?: string }> {
    const body = {
      namespace: space.name,
      filter: toFilter(condition),
      limit: Math.min(limit, PAGE),
      ...(cursor === undefined ? {} : { paginationToken: cursor }),
    };
    const answer = (await service.send("POST", "/vectors/fetch_by_metadata", { body, signal })).body as {
      readonly vectors?: Readonly<Record<string, Vector>>;
      readonly pagination?: { readonly next?: string };
    };
    const next = answer.pagination?.next;
    return { vectors: Object.values(answer.vectors ?? {}), ...(next ? { next } : {}) };
  }

  async function remove(space: Space, body: object, options: DriverOptions): Promise<void> {
    const request = { body: { namespace: space.name, ...body }, signal: options.signal, expected: [404] };
    const answer = await service.send("POST", "/vectors/delete", request);
    // 404: nothing was ever written to this namespace.
    if (answer.status !== 404) await untilFresh(space, answer, options);
  }

  return {
    title,
    filterLimits: { depth: 12, values: 10_000, comparisons: 10_000 },
    // With metadata, Pinecone returns no more.
    mostHits: 1_000,

    async ensure(space, { signal }) {
      const { dimension = 0, metric = "dotproduct" } = (
        await service.send("POST", "/describe_index_stats", { body: {}, signal })
      ).body as {
        readonly dimension?: number;
        readonly metric?: string;
      };
      size = dimension;
      if (metric !== "dotproduct") throw unfit(`has the metric ${metric}`, space.dimension ?? dimension);
      const needed = space.dimension ?? 1;
      if (dimension < needed) throw unfit(`has ${dimension} dimensions, but the model has ${needed}`, needed);
    },

    drop: (space, options) => remove(space, { deleteAll: true }, options),

    async upsert(space, records, options) {
      const made = records.map(toVector);
      await upsertAll(
        piecesIn(space),
        made.flatMap(({ pieces }) => pieces.map(({ id, piece }) => ({ id, values: padded([1]), metadata: { piece } }))),
        options,
      );
      await upsertAll(
        space,
        made.map(({ vector: { values, ...vector } }) => ({ ...vector, values: padded(values) })),
        options,
      );
    },

    delete: (space, condition, options) => remove(space, { filter: toFilter(condition) }, options),

    async read(space, ids, parts, options) {
      return whole(space, await fetchAll(space, ids, options), parts, options);
    },

    async scroll(space, condition, { limit, parts, cursor }, options): Promise<StoredPage> {
      const { vectors, ...rest } = await page(space, condition, limit, cursor, options);
      return { records: await whole(space, vectors, parts, options), ...rest };
    },

    async count(space, condition, options) {
      let count = 0;
      let cursor: string | undefined;
      do {
        const { vectors, next } = await page(space, condition, PAGE, cursor, options);
        count += vectors.length;
        cursor = next;
      } while (cursor !== undefined);
      return count;
    },

    async nearest(space, vectors, { condition, limit }, options) {
      return Promise.all(
        vectors.map(async (vector) => {
          const body = { vector: padded(vector), topK: limit, ...filterOf(condition), includeMetadata: true };
          const matches = await query(space, body, options);
          return matches.map((match) => ({ fields: fieldsOf(match), score: match.score ?? 0 }));
        }),
      );
    },

    async words(space, texts, { condition, limit }, options) {
      return Promise.all(
        texts.map(async (terms) => {
          // Every tool has the same dense vector, whose product with itself is 1. What is above comes from the words.
          const body = { vector: padded([1]), sparseVector: toSparse(terms), topK: limit, ...filterOf(condition) };
          const matches = await query(space, body, options);
          return matches.filter(({ score = 0 }) => score > 1).map(({ id }) => id);
        }),
      );
    },

    close: () => service.close(),
  };
}

function piecesIn({ name }: Space): Space {
  return { name: `${name}_texts` };
}

/** A record, and the pieces of its texts if these are long. Pieces are named after what is in them, so that no reader mixes two versions. */
function toVector({ id, revision, fields, lists, about, text, words, vector }: NewRecord): {
  readonly vector: {
    readonly id: string;
    readonly values: readonly number[];
    readonly sparseValues?: Sparse;
    readonly metadata: object;
  };
  readonly pieces: readonly { readonly id: string; readonly piece: string }[];
} {
  const body = JSON.stringify([about, text]);
  const isLong = body.length > PIECE;
  const version = createHash("sha256").update(body).digest("hex").slice(0, 16);
  const pieces = isLong ? (body.match(PIECES) ?? []) : [];
  // An empty list may not be kept.
  const filled = Object.fromEntries(
    Object.entries(lists).map(([list, values]) => [list, values.length === 0 ? [ABSENT] : values]),
  );
  return {
    vector: {
      id,
      values: vector ? [...vector] : [1],
      ...(words.size > 0 ? { sparseValues: toSparse(words) } : {}),
      metadata: { ...fields, ...filled, revision, ...(isLong ? { version, pieces: pieces.length } : { body }) },
    },
    pieces: pieces.map((piece, at) => ({ id: `${version}#${at}`, piece })),
  };
}

function piecesOf({ version, pieces }: Readonly<Record<string, unknown>>): readonly string[] {
  if (typeof version !== "string") return [];
  return Array.from({ length: Number(pieces ?? 0) }, (_, at) => `${version}#${at}`);
}

function fieldsOf({ metadata = {} }: Vector): Readonly<Record<string, string>> {
  return Object.fromEntries(FIELDS.map((field) => [field, String(metadata[field] ?? "")]));
}

function toStored(vector: Vector, parts: readonly Part[], pieces: ReadonlyMap<string, string>): Stored {
  const { id, values, metadata = {} } = vector;
  const body =
    typeof metadata["body"] === "string"
      ? metadata["body"]
      : piecesOf(metadata)
          .map((each) => pieces.get(each) ?? "")
          .join("");
  const wantsBody = parts.includes("about") || parts.includes("text");
  const [about = "", text = ""] = wantsBody ? (JSON.parse(body) as string[]) : [];
  return {
    id,
    revision: Number(metadata["revision"] ?? 0),
    fields: fieldsOf(vector),
    ...(wantsBody ? { about, text } : {}),
    ...(parts.includes("vector") && values ? { vector: Float32Array.from(values) } : {}),
  };
}

/** The heaviest terms as a sparse vector. Pinecone numbers dimensions with 32 bits; terms that share one are added up. */
function toSparse(terms: Terms): Sparse {
  const heaviest = [...terms].sort(([, a], [, b]) => b - a).slice(0, MOST_TERMS);
  const weights = new Map<number, number>();
  for (const [term, weight] of heaviest) {
    const index = createHash("sha256").update(term).digest().readUInt32LE();
    weights.set(index, (weights.get(index) ?? 0) + weight);
  }
  return { indices: [...weights.keys()], values: [...weights.values()] };
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

function messageIn(body: unknown): string | undefined {
  if (typeof body === "string") return body;
  const { message, error } = (body ?? {}) as {
    readonly message?: string;
    readonly error?: { readonly message?: string };
  };
  return message ?? error?.message;
}

function unfit(what: string, dimension: number): ArsenalError {
  const fix = `Create an index with the metric dotproduct and at least ${dimension} dimensions, and set vector_store.url to its host.`;
  return new ArsenalError("STORE_FAILED", `The Pinecone index ${what}. ${fix}`, { field: "vector_store.url", fix });
}

function withoutAddress(): ArsenalError {
  const field = "vector_store.url";
  const fix = `Set ${field} to the host of your index, as Pinecone's console shows it: https://NAME-PROJECT.svc.REGION.pinecone.io.`;
  return new ArsenalError("CONFIG_INVALID", `${field} is missing. ${fix}`, { field, fix });
}

export const config = setting.object("Pinecone.", {});
export const needs = { url: "Write the host of your index: https://NAME-PROJECT.svc.REGION.pinecone.io." };

export function create(settings: VectorStoreSettings, surroundings: Surroundings): CatalogEngine {
  return pineconeEngine(settings, surroundings);
}

/** Opens the index as the arsenal will. */
export async function check(settings: VectorStoreSettings, surroundings?: Surroundings): Promise<string> {
  return checkEngine(pineconeEngine(settings, surroundings), settings.url ?? "");
}
