export interface ScoredRow {
  readonly score: number;
  /** The caller's number for the row. */
  readonly row: number;
}

/** Collects the best `limit` of many scored rows in a heap. `precedes` orders rows with equal scores. */
export function createTopK(limit: number, precedes: (a: number, b: number) => boolean) {
  const scores: number[] = [];
  const rows: number[] = [];

  /** Returns whether the entry at `a` is worse than the one at `b`. The worst is at the root of the heap. */
  function worse(a: number, b: number): boolean {
    const scoreA = scores[a] ?? 0;
    const scoreB = scores[b] ?? 0;
    return scoreA === scoreB ? precedes(rows[b] ?? 0, rows[a] ?? 0) : scoreA < scoreB;
  }

  function swap(a: number, b: number): void {
    const score = scores[a] ?? 0;
    const row = rows[a] ?? 0;
    scores[a] = scores[b] ?? 0;
    rows[a] = rows[b] ?? 0;
    scores[b] = score;
    rows[b] = row;
  }

  function rise(from: number): void {
    for (let child = from; child > 0;) {
      const parent = (child - 1) >> 1;
      if (!worse(child, parent)) return;
      swap(child, parent);
      child = parent;
    }
  }

  function sink(): void {
    for (let parent = 0; ;) {
      const left = 2 * parent + 1;
      const right = left + 1;
      let worst = parent;
      if (left < rows.length && worse(left, worst)) worst = left;
      if (right < rows.length && worse(right, worst)) worst = right;
      if (worst === parent) return;
      swap(worst, parent);
      parent = worst;
    }
  }

  return {
    /** The lowest score in the heap, or -Infinity while there is room. Lower scores are ignored. */
    get lowest() {
      return rows.length < limit ? -Infinity : (scores[0] ?? Infinity);
    },
    offer(score: number, row: number): void {
      if (rows.length < limit) {
        scores.push(score);
        rows.push(row);
        rise(rows.length - 1);
        return;
      }
      if (limit === 0) return;
      const lowest = scores[0] ?? 0;
      if (score < lowest || (score === lowest && !precedes(row, rows[0] ?? 0))) return;
      scores[0] = score;
      rows[0] = row;
      sink();
    },
    /** Returns the collected rows, best first, and empties the heap. */
    take(): ScoredRow[] {
      const kept = rows.map((row, index) => ({ row, score: scores[index] ?? 0 }));
      scores.length = 0;
      rows.length = 0;
      return kept.sort((a, b) => b.score - a.score || (precedes(a.row, b.row) ? -1 : 1));
    },
  };
}
