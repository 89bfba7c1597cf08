/** Predicts scores that the better ranker does not have yet, with a line fitted to the tools that both rankers know. Both lists have the same order. */
export function predictScores(better: Scores, lesser: Scores): (number | undefined)[] {
  const line = fitLine(better, lesser);
  return better.map((score, index) => {
    const other = lesser[index];
    return score ?? (other === undefined ? undefined : line(other));
  });
}

type Scores = readonly (number | undefined)[];

/** Fits a line by least squares. The line never falls: a higher score of the lesser ranker never predicts a lower score. */
function fitLine(better: Scores, lesser: Scores): (score: number) => number {
  let count = 0;
  let sumX = 0;
  let sumY = 0;
  let sumXX = 0;
  let sumXY = 0;
  better.forEach((y, index) => {
    const x = lesser[index];
    if (x === undefined || y === undefined) return;
    count++;
    sumX += x;
    sumY += y;
    sumXX += x * x;
    sumXY += x * y;
  });
  if (count === 0) return (score) => score;
  const spread = sumXX - (sumX * sumX) / count;
  const slope = spread > 1e-9 ? Math.max(0, (sumXY - (sumX * sumY) / count) / spread) : 1;
  const middle = { x: sumX / count, y: sumY / count };
  return (score) => Math.min(1, Math.max(-1, middle.y + slope * (score - middle.x)));
}
