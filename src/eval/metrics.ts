/** The figures of a ranking, with the names in reports and scripts. */
export const FIGURES = ["recall@1", "recall@5", "recall@10", "ndcg@10", "mrr"] as const;

/** The quality of one ranking or the mean of several, as fractions in [0, 1]. */
export type Figures = Readonly<Record<(typeof FIGURES)[number], number>>;

/** Computes the figures of one ranking: recall over all relevant tools, binary NDCG, and the reciprocal rank of the first relevant tool. */
export function figuresOf(ranking: readonly string[], relevant: ReadonlySet<string>): Figures {
  const recall = (depth: number): number =>
    ranking.slice(0, depth).filter((id) => relevant.has(id)).length / relevant.size;
  let gain = 0;
  let ideal = 0;
  for (let rank = 0; rank < 10; rank++) {
    const discount = 1 / Math.log2(rank + 2);
    const id = ranking[rank];
    if (id !== undefined && relevant.has(id)) gain += discount;
    if (rank < relevant.size) ideal += discount;
  }
  const first = ranking.findIndex((id) => relevant.has(id));
  return {
    "recall@1": recall(1),
    "recall@5": recall(5),
    "recall@10": recall(10),
    "ndcg@10": gain / ideal,
    mrr: first < 0 ? 0 : 1 / (first + 1),
  };
}

/** Returns the mean of many queries' figures, to four digits. */
export function meanFigures(figures: readonly Figures[]): Figures {
  const mean = (name: keyof Figures): number =>
    figures.length === 0 ? 0 : round(figures.reduce((sum, each) => sum + each[name], 0) / figures.length);
  return Object.fromEntries(FIGURES.map((name) => [name, mean(name)])) as Figures;
}

/** Returns the smallest value that at least `share` of the numbers do not exceed; 0 for an empty list. */
export function percentile(numbers: readonly number[], share: number): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
}

export function round(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}
