import { type AnsweredQuery, firstRank, RANKED, rankOf } from "../answer.ts";
import { percentile } from "../metrics.ts";

/** Returns the mean recall at 1, 2, … `depth`, over the queries with a relevant tool. */
export function recallCurve(answers: readonly AnsweredQuery[], depth: number): readonly number[] {
  const possible = answers.filter(({ relevant }) => relevant.length > 0);
  const found = Array.from({ length: depth }, () => 0);
  for (const answer of possible) {
    const relevant = new Set(answer.relevant);
    for (const id of relevant) {
      const rank = rankOf(answer, id) ?? Infinity;
      for (let cut = rank; cut <= depth; cut++) found[cut - 1] = (found[cut - 1] ?? 0) + 1 / relevant.size;
    }
  }
  return found.map((sum) => (possible.length === 0 ? 0 : sum / possible.length));
}

export interface Bar {
  readonly label: string;
  readonly count: number;
}

/** Counts the values up to each edge and above the previous edge. */
function histogram(
  values: readonly number[],
  edges: readonly number[],
  label: (edge: number, before: number) => string,
) {
  return edges.map((edge, index): Bar => {
    const before = edges[index - 1] ?? -Infinity;
    return { label: label(edge, before), count: values.filter((value) => value > before && value <= edge).length };
  });
}

export function rankHistogram(answers: readonly AnsweredQuery[]): readonly Bar[] {
  const ranks = answers.filter(({ relevant }) => relevant.length > 0).map((answer) => firstRank(answer) ?? Infinity);
  return histogram(ranks, [1, 2, 3, 4, 5, 10, 20, RANKED, Infinity], (edge, before) => {
    if (edge === Infinity) return "none";
    return edge <= 5 ? String(edge) : `${before + 1}–${edge}`;
  });
}

/** Returns the upper edges for histograms of several lists of times: twelve equal steps up to the slowest 95th percentile, and one for slower times. */
export function timeEdges(lists: readonly (readonly number[])[]): readonly number[] {
  const most = Math.max(...lists.map((times) => percentile(times, 0.95)), 0.001);
  const magnitude = 10 ** Math.floor(Math.log10(most / 12));
  const step = ([1, 2, 2.5, 5, 10].find((factor) => factor * magnitude * 12 >= most) ?? 10) * magnitude;
  const edges = Array.from({ length: 12 }, (_, index) => Number(((index + 1) * step).toPrecision(6)));
  return [...edges, Infinity];
}

/** Counts the times up to each edge and above the previous edge. */
export function timeHistogram(times: readonly number[], edges: readonly number[]): readonly Bar[] {
  return histogram(times, edges, (edge, before) => (edge === Infinity ? `> ${before}` : String(edge)));
}
