import type { Embedder } from "../catalog/embedder.port.ts";

/** Options of a hashing embedder. */
export interface HashingEmbedderOptions {
  /** Defaults to 256. */
  readonly dimension?: number;
  /** Called with the texts of every request, so that a test can count them. */
  readonly onEmbed?: (texts: readonly string[]) => void;
}

/** An embedder for tests. Hashes words into a vector, deterministically, so that texts with common words are similar. */
export function createHashingEmbedder({ dimension = 256, onEmbed }: HashingEmbedderOptions = {}): Embedder {
  return {
    model: `hashing-${dimension}`,
    dimension,
    async embed(texts, { signal }) {
      signal?.throwIfAborted();
      onEmbed?.(texts);
      return texts.map((text) => toVector(text, dimension));
    },
    healthCheck: async () => true,
  };
}

function toVector(text: string, dimension: number): Float32Array {
  const vector = new Float32Array(dimension);
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [""];
  for (const word of words) {
    const slot = hash(word) % dimension;
    vector[slot] = (vector[slot] ?? 0) + 1;
  }
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}

/** FNV-1a, 32 bits. */
function hash(word: string): number {
  let value = 0x811c9dc5;
  for (const character of word) value = Math.imul(value ^ (character.codePointAt(0) ?? 0), 0x01000193);
  return value >>> 0;
}
