/**
 * Completes the scores of a good ranker, which does not know all tools yet, by those of a lesser one, which does: a straight line between
 * the two is fitted on the tools that have both, and says what the better one would give the others.
 */
export function predictScores(
  better: ReadonlyMap<string, number>,
  lesser: ReadonlyMap<string, number>,
): Map<string, number> {
  const line = fitLine(better, lesser);
  const scores = new Map(better);
  for (const [id, score] of lesser) if (!scores.has(id)) scores.set(id, line(score));
  return scores;
}

/** Least squares. Never falling: a tool that the lesser ranker likes more is not liked less for it. */
function fitLine(better: ReadonlyMap<string, number>, lesser: ReadonlyMap<string, number>): (score: number) => number {
  let count = 0;
  let sumX = 0;
  let sumY = 0;
  let sumXX = 0;
  let sumXY = 0;
  for (const [id, y] of better) {
    const x = lesser.get(id);
    if (x === undefined) continue;
    count++;
    sumX += x;
    sumY += y;
    sumXX += x * x;
    sumXY += x * y;
  }
  if (count === 0) return (score) => score;
  const spread = sumXX - (sumX * sumX) / count;
  const slope = spread > 1e-9 ? Math.max(0, (sumXY - (sumX * sumY) / count) / spread) : 1;
  const middle = { x: sumX / count, y: sumY / count };
  return (score) => Math.min(1, Math.max(-1, middle.y + slope * (score - middle.x)));
}
