import { homedir } from "node:os";
import { join } from "node:path";
import type { Embedder } from "../../catalog/embedder.port.ts";
import { createVectorCache } from "./vector-cache.ts";

/** Where vectors are kept. */
export interface CachedEmbedderOptions {
  /** A folder; the user's cache folder where absent. */
  readonly folder?: string;
  /** A file that would grow beyond it is begun anew. 256 MiB where absent. */
  readonly maxBytes?: number;
}

/**
 * An embedder that keeps the vectors of tools' texts in a file, by their content, so that the next process need not compute them again.
 * They are rounded to eight bits there. A file that cannot be read or written costs time, and nothing else.
 */
export function cachedEmbedder(embedder: Embedder, options: CachedEmbedderOptions = {}): Embedder {
  const { model, dimension } = embedder;
  const { folder = cacheFolder(), maxBytes } = options;
  const cache = createVectorCache({ folder, model, dimension, ...(maxBytes === undefined ? {} : { maxBytes }) });

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

/** The folder in which this user's programs keep what they can make again. */
export function cacheFolder(environment: Readonly<Record<string, string | undefined>> = process.env): string {
  const { XDG_CACHE_HOME, LOCALAPPDATA } = environment;
  if (XDG_CACHE_HOME) return join(XDG_CACHE_HOME, "toolarsenal");
  if (process.platform === "win32" && LOCALAPPDATA) return join(LOCALAPPDATA, "toolarsenal", "cache");
  return join(homedir(), ".cache", "toolarsenal");
}
