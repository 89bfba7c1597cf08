import { createHash } from "node:crypto";
import { type ArsenalError, fixable } from "../../../errors/arsenal-error.ts";
import type { Condition } from "./conditions.ts";

/**
 * The database methods of the vector-database engine, for one operation: its signal ends every request. Records are in spaces: one for the tools, and
 * one per model for vectors. A write that has resolved is visible to every reader. Every request is safe to retry.
 */
export interface VectorDatabase {
  /** Creates a space. Rejects if it exists with another dimension. */
  ensure(space: Space): Promise<void>;
  drop(space: Space): Promise<void>;
  /** Writes complete records. Replaces records with the same ids. */
  upsert(space: Space, records: readonly NewRecord[]): Promise<void>;
  delete(space: Space, condition: Condition): Promise<void>;
  /** Returns the existing records with these ids, in any order. */
  read(space: Space, ids: readonly string[], parts: readonly RecordPart[]): Promise<readonly DatabaseRecord[]>;
  /** Returns a page of records, in the database's own order. */
  scroll(
    space: Space,
    condition: Condition,
    /** `cursor` is the `next` of the previous page. */
    page: { readonly limit: number; readonly parts: readonly RecordPart[]; readonly cursor?: string | undefined },
  ): Promise<{ readonly records: readonly DatabaseRecord[]; readonly next?: string }>;
  count(space: Space, condition: Condition): Promise<number>;
  /** Returns the nearest records for each vector, best first. */
  nearest(space: Space, vectors: readonly Float32Array[], query: HitQuery): Promise<readonly (readonly VectorHit[])[]>;
  /** Returns, for each list of weighted terms, the ids of the records with the heaviest matches. Best first, as far as the database can rank. */
  words(space: Space, texts: readonly Terms[], query: HitQuery): Promise<readonly (readonly string[])[]>;
}

export interface VectorDriver {
  readonly name: string;
  /** The name in messages. */
  readonly title: string;
  readonly url: string;
  /** The limits of its filters. The engine applies the rest of a filter itself. */
  readonly filterLimits: FilterLimits;
  readonly mostHits: number;
  readonly keyHeaders: (key: string) => Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  on(send: Send, signal: AbortSignal | undefined): VectorDatabase;
}

/**
 * Sends JSON. Resolves with a 2xx status or one in `expected`; throws an ArsenalError for any other. Retries 429 and 503, never sooner than the
 * server requests.
 */
export type Send = (
  method: "GET" | "POST" | "PUT" | "DELETE",
  path: string,
  body?: object,
  expected?: readonly number[],
) => Promise<ServiceResponse>;

export interface ServiceResponse {
  readonly status: number;
  readonly body: unknown;
  /** Names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

/** The address of a vector database, and the name of the tools' collection. */
export interface VectorStoreSettings {
  readonly url?: string | undefined;
  /** A reference to the key (`env:NAME`). Omitted if the server needs no key. */
  readonly apiKey?: string | undefined;
  /** The collection of the tools. The names of vector collections start with it. Defaults to `tool_arsenal`. */
  readonly collectionName?: string | undefined;
}

/** A set of records: the vectors of one model if it has a dimension, otherwise the tools. */
export interface Space {
  readonly name: string;
  readonly dimension?: number;
}

/** A record to write. Every record of a space has the same fields and lists. */
export interface NewRecord extends Required<Omit<DatabaseRecord, "vector">> {
  readonly lists: Readonly<Record<string, readonly string[]>>;
  readonly words: Terms;
  readonly vector?: Float32Array;
}

/** A stored record, with the requested parts. */
export interface DatabaseRecord {
  /** A UUID. */
  readonly id: string;
  readonly revision: number;
  readonly fields: Readonly<Record<string, string>>;
  /** A short text for statistics. */
  readonly about?: string;
  readonly text?: string;
  readonly vector?: Float32Array;
}

export function toStored(
  id: string,
  { revision, about, text, ...fields }: Readonly<Record<string, unknown>>,
  vector?: unknown,
): DatabaseRecord {
  return {
    id,
    revision: Number(revision ?? 0),
    fields: fields as Readonly<Record<string, string>>,
    ...(typeof about === "string" ? { about } : {}),
    ...(typeof text === "string" ? { text } : {}),
    ...(Array.isArray(vector) ? { vector: Float32Array.from(vector as readonly number[]) } : {}),
  };
}

/** Parts of a record that are read only on request. */
export type RecordPart = "about" | "text" | "vector";

export type Terms = ReadonlyMap<string, number>;

interface HitQuery {
  readonly condition: Condition;
  readonly limit: number;
}

export interface VectorHit {
  readonly fields: Readonly<Record<string, string>>;
  /** The cosine of two vectors of unit length. */
  readonly score: number;
}

export interface FilterLimits {
  /** The most values in all lists of a condition together. */
  readonly values: number;
  /** The most comparisons in total: one for each field, and one for each value of a list field. */
  readonly comparisons: number;
}

/** Fields of records. Every record has one value for each. */
export const FIELDS = [
  "kind",
  "key",
  "hash",
  "name",
  "namespace",
  "source",
  "ensemble",
  "category",
  "risk",
  "deprecated",
  "tenant",
  "nameKey",
  "qualifiedKey",
  "mention",
  "nth",
] as const;
export type Field = (typeof FIELDS)[number];

export const LISTS = ["tags", "capabilities"] as const;
export type List = (typeof LISTS)[number];

/** The error of a collection whose dimension differs from the model's. */
export function otherDimension(title: string, { name, dimension }: Space, found: number | undefined): ArsenalError {
  const fix = "Choose another vector_store.collection_name, or delete the collection.";
  const [has, needs] = [found, dimension].map((size) =>
    size === undefined ? "no vectors" : `vectors of ${size} dimensions`,
  );
  const details = { field: "vector_store.collection_name", value: name };
  return fixable("STORE_FAILED", `The ${title} collection ${name} has ${has}, but needs ${needs}.`, fix, details);
}

/** The error of an existing collection that the engine did not create. */
export function foreignCollection(title: string, { name }: Space): ArsenalError {
  const details = { field: "vector_store.collection_name", value: name };
  const fix = "Choose another vector_store.collection_name.";
  return fixable("STORE_FAILED", `The ${title} collection ${name} was not created by ToolArsenal.`, fix, details);
}

/** Converts terms to a sparse vector with 32-bit dimensions. Adds the weights of colliding terms. */
export function toSparse(terms: Iterable<readonly [term: string, weight: number]>): {
  readonly indices: readonly number[];
  readonly values: readonly number[];
} {
  const weights = new Map<number, number>();
  for (const [term, weight] of terms) {
    const index = createHash("sha256").update(term).digest().readUInt32LE();
    weights.set(index, (weights.get(index) ?? 0) + weight);
  }
  return { indices: [...weights.keys()], values: [...weights.values()] };
}
