/** Finds the tools whose vectors lie nearest to a query. */
export interface VectorIndex {
  /** Adds vectors of unit length, replacing those with the same id. */
  upsert(entries: readonly VectorEntry[], options?: { readonly signal?: AbortSignal }): Promise<void>;
  /** Removes vectors. Unknown ids are ignored. */
  delete(ids: readonly string[], options?: { readonly signal?: AbortSignal }): Promise<void>;
  /** Best first. Scores are cosine similarities in [-1, 1], whatever the backend's own scale. */
  nearest(vector: Float32Array, query: NearestQuery): Promise<readonly ScoredId[]>;
  /** The vectors of these ids, in order; undefined where unknown. */
  vectors(
    ids: readonly string[],
    options?: { readonly signal?: AbortSignal },
  ): Promise<readonly (Float32Array | undefined)[]>;
  /** Cosine of a vector with those of these ids, in order; undefined where unknown. Where absent, `vectors` is asked instead. */
  cosines?(
    vector: Float32Array,
    ids: readonly string[],
    options?: { readonly signal?: AbortSignal },
  ): Promise<readonly (number | undefined)[]>;
  count(): Promise<number>;
  close?(): Promise<void>;
}

export interface VectorEntry {
  readonly id: string;
  readonly vector: Float32Array;
}

export interface NearestQuery {
  readonly limit: number;
  /** Only these ids are considered; the cut to `limit` comes after. All where absent. */
  readonly among?: ReadonlySet<string>;
  readonly signal?: AbortSignal;
}

export interface ScoredId {
  readonly id: string;
  readonly score: number;
}
