import type { Embedder } from "../../catalog/embedder.port.ts";
import { cacheFolder } from "./cache-folder.ts";
import { createVectorCache } from "./vector-cache.ts";

/** The storage of vectors. */
export interface CachedEmbedderOptions {
  /** Defaults to the user's cache folder. */
  readonly folder?: string;
  /** If the file would grow larger than this, it is emptied. Defaults to 256 MiB. */
  readonly maxBytes?: number;
}

/** Caches the vectors of tool texts in a file, rounded to eight bits. Later processes do not compute them again. */
export function cachedEmbedder(embedder: Embedder, options: CachedEmbedderOptions = {}): Embedder {
  const { model, dimension } = embedder;
  const { folder = cacheFolder(), maxBytes } = options;
  const cache = createVectorCache({ folder, model, dimension, maxBytes });

  return {
    model,
    dimension,
    get ready() {
      return embedder.ready ?? true;
    },
    async embed(texts, given) {
      if (given.kind === "query" || texts.length === 0) return embedder.embed(texts, given);
      given.signal?.throwIfAborted();
      const found = await cache.get(texts);
      const unknown = [...new Set(texts.filter((_, index) => !found[index]))];
      if (unknown.length === 0) return found.flatMap((vector) => vector ?? []);
      const computed = await embedder.embed(unknown, given);
      const vectors = new Map(unknown.map((text, index) => [text, computed[index]]));
      await cache.put([...vectors].flatMap(([text, vector]) => (vector ? { text, vector } : [])));
      return texts.flatMap((text, index) => found[index] ?? vectors.get(text) ?? []);
    },
    recall: (texts) => cache.get(texts),
    ...(embedder.calibrate ? { calibrate: (cosine: number) => embedder.calibrate?.(cosine) ?? cosine } : {}),
    ...(embedder.share === undefined ? {} : { share: embedder.share }),
    healthCheck: (given) => embedder.healthCheck(given),
    async close() {
      await cache.close();
      await embedder.close?.();
    },
  };
}
