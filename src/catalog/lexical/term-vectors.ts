/** Enough for the candidates of one query, which are compared with each other repeatedly. */
const KEPT = 512;

/** Compares documents by their weighted terms, and caches the vectors of recently compared documents. `weigh` returns a document's distinct terms. */
export function createTermVectors<Term>(weigh: (slot: number) => readonly (readonly [Term, number])[]) {
  const kept = new Map<number, { readonly weights: ReadonlyMap<Term, number>; readonly norm: number }>();

  function vectorOf(slot: number) {
    const known = kept.get(slot);
    if (known) return known;
    const weights = new Map(weigh(slot));
    let squares = 0;
    for (const value of weights.values()) squares += value * value;
    const vector = { weights, norm: Math.sqrt(squares) };
    if (kept.size >= KEPT) kept.clear();
    kept.set(slot, vector);
    return vector;
  }

  return {
    /** In [0, 1]. */
    cosine(slotA: number, slotB: number): number {
      const a = vectorOf(slotA);
      const b = vectorOf(slotB);
      if (a.norm === 0 || b.norm === 0) return 0;
      let dot = 0;
      for (const [term, value] of a.weights) dot += value * (b.weights.get(term) ?? 0);
      return Math.min(dot / (a.norm * b.norm), 1);
    },
    /** Clears the cache. Weights change whenever a document is added or removed. */
    clear: () => kept.clear(),
  };
}
