import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import type { Embedder } from "../../catalog/embedder.port.ts";
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

/** Returns the user's cache folder, by the conventions of the platform. `TOOLARSENAL_CACHE` overrides it. @internal */
export function cacheFolder(
  environment: Readonly<Record<string, string | undefined>> = process.env,
  platform: string = process.platform,
): string {
  const { TOOLARSENAL_CACHE, XDG_CACHE_HOME, LOCALAPPDATA } = environment;
  if (TOOLARSENAL_CACHE && TOOLARSENAL_CACHE !== OFF) return TOOLARSENAL_CACHE;
  // The XDG specification requires programs to ignore a relative path.
  if (XDG_CACHE_HOME && isAbsolute(XDG_CACHE_HOME)) return join(XDG_CACHE_HOME, "toolarsenal");
  if (platform === "win32") return join(LOCALAPPDATA || join(homedir(), "AppData", "Local"), "toolarsenal", "cache");
  if (platform === "darwin") return join(homedir(), "Library", "Caches", "toolarsenal");
  return join(homedir(), ".cache", "toolarsenal");
}

/** Returns the default cache of commands: the user's cache folder, or none with `TOOLARSENAL_CACHE=off`. @internal */
export function defaultCache(
  environment: Readonly<Record<string, string | undefined>>,
  platform?: string,
): string | false {
  if (environment["TOOLARSENAL_CACHE"] === OFF) return false;
  try {
    return cacheFolder(environment, platform);
  } catch {
    return false; // the user has no home folder
  }
}

const OFF = "off";
