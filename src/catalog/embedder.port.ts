/** Turns text into vectors. */
export interface Embedder {
  /** Names the model and its version: vectors of different models are never compared. */
  readonly model: string;
  readonly dimension: number;
  /** One vector of unit length a text, in order. Some models treat a request and a tool's text differently. */
  embed(texts: readonly string[], options: EmbedOptions): Promise<readonly Float32Array[]>;
  /** False while the model is not loaded and a request would have to wait for it: what else can answer then does. Defaults to true. */
  readonly ready?: boolean;
  /** Vectors of tools' texts that are at hand without computing, in order; undefined if one is not. Never rejects. */
  recall?(texts: readonly string[]): Promise<readonly (Float32Array | undefined)[]>;
  /** Maps a cosine similarity of this model to [0, 1], where 0.5 is the point from which a match is worth showing. Defaults to the cosine itself. */
  calibrate?(cosine: number): number;
  /** How much this model's meaning counts against words in the ranking, in [0, 1]. Defaults to 0.8. */
  readonly share?: number;
  /** True if the model can answer now; one that loads first does so and says how that went. Never rejects. */
  healthCheck(options?: Pick<EmbedOptions, "signal" | "background">): Promise<boolean>;
  close?(): Promise<void>;
}

/** What the texts are, and what ends the wait. */
export interface EmbedOptions {
  readonly kind: "query" | "tool";
  /** True if nobody waits for the vectors: work under way does not keep the process alive. */
  readonly background?: boolean;
  readonly signal?: AbortSignal;
}
