/** How well one query was answered. */
export interface QueryFigures {
  readonly recall1: number;
  readonly recall5: number;
  readonly recall10: number;
  readonly ndcg10: number;
  readonly reciprocalRank: number;
}

/** Figures of a set of queries, as fractions in [0, 1]. */
export interface SetFigures {
  readonly "recall@1": number;
  readonly "recall@5": number;
  readonly "recall@10": number;
  readonly "ndcg@10": number;
  readonly mrr: number;
}

/** Figures of one ranking: recall over all that is relevant, binary NDCG, reciprocal rank of the first relevant one. */
export function figuresOf(ranking: readonly string[], relevant: ReadonlySet<string>): QueryFigures {
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
    recall1: recall(1),
    recall5: recall(5),
    recall10: recall(10),
    ndcg10: gain / ideal,
    reciprocalRank: first < 0 ? 0 : 1 / (first + 1),
  };
}

/** The mean of many queries' figures, to four digits. */
export function meanFigures(figures: readonly QueryFigures[]): SetFigures {
  const mean = (pick: (figure: QueryFigures) => number): number =>
    figures.length === 0 ? 0 : round(figures.reduce((sum, figure) => sum + pick(figure), 0) / figures.length);
  return {
    "recall@1": mean(({ recall1 }) => recall1),
    "recall@5": mean(({ recall5 }) => recall5),
    "recall@10": mean(({ recall10 }) => recall10),
    "ndcg@10": mean(({ ndcg10 }) => ndcg10),
    mrr: mean(({ reciprocalRank }) => reciprocalRank),
  };
}

/** The smallest of the numbers that at least a share of them does not exceed; 0 where there are none. */
export function percentile(numbers: readonly number[], share: number): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
}

/** A fraction to four digits. */
export function round(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}
