/** A tool in ranked order, with its similarity to each wish of the request, in order. */
export interface Rankable {
  readonly score: number;
  readonly wishes?: readonly number[];
}

/** A wish has no tool if its best similarity is below this share of the clearest wish's. */
const STRONG = 0.8;
/** The weight of the rank relative to the wish, when the best tool for a wish is chosen. */
const RANK_SHARE = 0.5;
/** The maximum number of ranks that go to wishes. The ranking keeps the others. */
const MOST_PLACES = 4;

/** Moves the best tool of each clear wish into the first `limit`, replacing the lowest unclaimed tools. The first tool and the order stay. */
export function coverClauses<Item extends Rankable>(ranked: readonly Item[], limit: number): readonly Item[] {
  if (ranked.length <= limit) return ranked;
  const claimed = claims(ranked).slice(0, Math.min(MOST_PLACES, limit - 1));
  const head = new Set(ranked.slice(0, limit));
  for (const item of claimed) {
    if (head.has(item)) continue;
    const loser = ranked.slice(0, limit).findLast((other) => head.has(other) && !claimed.includes(other));
    if (!loser) break;
    head.delete(loser);
    head.add(item);
  }
  return [...ranked.filter((item) => head.has(item)), ...ranked.filter((item) => !head.has(item))];
}

/** Returns the best tool of each clear wish, the clearest wish first. */
function claims<Item extends Rankable>(ranked: readonly Item[]): readonly Item[] {
  const topScore = Math.max(0, ...ranked.map(({ score }) => score));
  const count = Math.max(0, ...ranked.map(({ wishes }) => wishes?.length ?? 0));
  const tops = Array.from({ length: count }, (_, wish) =>
    Math.max(0, ...ranked.map(({ wishes }) => wishes?.[wish] ?? 0)),
  );
  const clearest = Math.max(0, ...tops);
  const strong = [...tops.keys()].filter((wish) => (tops[wish] ?? 0) > 0 && (tops[wish] ?? 0) >= STRONG * clearest);
  strong.sort((a, b) => (tops[b] ?? 0) - (tops[a] ?? 0) || a - b);
  const best = strong.flatMap((wish) => {
    const worth = ({ score, wishes }: Item): number =>
      (1 - RANK_SHARE) * ((wishes?.[wish] ?? 0) / (tops[wish] ?? 1)) +
      RANK_SHARE * (topScore > 0 ? score / topScore : 0);
    const first = ranked[0];
    return first ? [ranked.reduce((found, item) => (worth(item) > worth(found) ? item : found), first)] : [];
  });
  return [...new Set(best)];
}
