/** Turns text into vectors. */
export interface Embedder {
  /** The model and its version. Vectors of different models are never compared. */
  readonly model: string;
  readonly dimension: number;
  /** Returns one vector of unit length per text, in order. Some models embed requests and tools differently. */
  embed(texts: readonly string[], options: EmbedOptions): Promise<readonly Float32Array[]>;
  /** False while the model is loading and a request would have to wait. Retrieval then falls back to the next tier. Defaults to true. */
  readonly ready?: boolean;
  /** Returns the cached vectors of tools' texts, in order; undefined for a text that is not cached. Never rejects. */
  recall?(texts: readonly string[]): Promise<readonly (Float32Array | undefined)[]>;
  /** Maps a cosine similarity of this model to [0, 1], with 0.5 as the threshold of a relevant match. Defaults to the cosine itself. */
  calibrate?(cosine: number): number;
  /** The weight of this model's meaning relative to words in the ranking, in [0, 1]. Defaults to 0.8. */
  readonly share?: number;
  /** Returns true if the model can answer now. Loads the model first if needed. Never rejects. */
  healthCheck(options?: Pick<EmbedOptions, "signal" | "background">): Promise<boolean>;
  close?(): Promise<void>;
}

/** The kind of the texts, and the limits of the wait. */
export interface EmbedOptions {
  readonly kind: "query" | "tool";
  /** The texts from this index on are passages of the first text. An embedder may embed them in one pass with it, not separately. */
  readonly passagesFrom?: number;
  /** True if no caller waits for the vectors. The work then does not keep the process alive. */
  readonly background?: boolean;
  readonly signal?: AbortSignal;
}
