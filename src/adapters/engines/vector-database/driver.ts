import type { Condition } from "./conditions.ts";

/**
 * What the vector-database engine needs of a database. Records live in spaces: one for the tools, and one per model for vectors. Writes are
 * visible to every reader once they resolve. Every request may be repeated without harm.
 */
export interface VectorDriver {
  /** What people call the database, for messages. */
  readonly title: string;
  /** What its filters can say. What goes beyond is applied in the process. */
  readonly filterLimits: FilterLimits;
  /** A search returns no more than this. */
  readonly mostHits: number;
  /** Creates a space, or rejects if it exists with another dimension. */
  ensure(space: Space, options: DriverOptions): Promise<void>;
  /** Removes a space with everything in it. */
  drop(space: Space, options: DriverOptions): Promise<void>;
  /** Writes whole records, replacing those with the same ids. */
  upsert(space: Space, records: readonly NewRecord[], options: DriverOptions): Promise<void>;
  delete(space: Space, condition: Condition, options: DriverOptions): Promise<void>;
  /** The records with these ids that exist, in any order. */
  read(
    space: Space,
    ids: readonly string[],
    parts: readonly Part[],
    options: DriverOptions,
  ): Promise<readonly Stored[]>;
  /** A page of records, in an order of the database's own. */
  scroll(space: Space, condition: Condition, page: PageQuery, options: DriverOptions): Promise<StoredPage>;
  count(space: Space, condition: Condition, options: DriverOptions): Promise<number>;
  /** For each vector: the nearest records, best first. */
  nearest(
    space: Space,
    vectors: readonly Float32Array[],
    query: HitQuery,
    options: DriverOptions,
  ): Promise<readonly (readonly Hit[])[]>;
  /** For each list of weighted terms: ids of the records that say most of them, best first as far as the database can tell. */
  words(
    space: Space,
    texts: readonly Terms[],
    query: HitQuery,
    options: DriverOptions,
  ): Promise<readonly (readonly string[])[]>;
  close(): void;
}

export interface DriverOptions {
  readonly signal: AbortSignal | undefined;
}

/** A set of records: the tools if it has no dimension, else the vectors of one model. */
export interface Space {
  readonly name: string;
  readonly dimension?: number;
}

/** A record as it is written. Every record of a space has the same fields and lists. */
export interface NewRecord extends Required<Omit<Stored, "vector">> {
  readonly lists: Readonly<Record<string, readonly string[]>>;
  /** Terms with their weights, for search by words. */
  readonly words: Terms;
  readonly vector?: Float32Array;
}

/** A record as it is read, with the parts asked for. */
export interface Stored {
  /** A UUID. */
  readonly id: string;
  readonly revision: number;
  readonly fields: Readonly<Record<string, string>>;
  /** A small text that statistics are made of. */
  readonly about?: string;
  /** A text of any length. */
  readonly text?: string;
  readonly vector?: Float32Array;
}

/** Parts of a record that are only read if asked for. */
export type Part = "about" | "text" | "vector";

export type Terms = ReadonlyMap<string, number>;

export interface PageQuery {
  readonly limit: number;
  readonly parts: readonly Part[];
  /** The `next` of the page before. */
  readonly cursor?: string | undefined;
}

export interface StoredPage {
  readonly records: readonly Stored[];
  readonly next?: string;
}

export interface HitQuery {
  readonly condition: Condition;
  readonly limit: number;
}

/** A record found by its vector. */
export interface Hit {
  readonly fields: Readonly<Record<string, string>>;
  /** The cosine of two vectors of unit length. */
  readonly score: number;
}

/** How much a filter of a database may hold. */
export interface FilterLimits {
  readonly depth: number;
  /** Values in all lists of a condition together. */
  readonly values: number;
  /** Comparisons in all: one for each field, and one for each value that a list field is compared with. */
  readonly comparisons: number;
}

/** Fields of records: each has one value in every record. */
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

/** Fields with any number of values. */
export const LISTS = ["tags", "capabilities"] as const;
export type List = (typeof LISTS)[number];
