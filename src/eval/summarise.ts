import type { AnsweredQuery } from "./answer.ts";
import type { SizedQuery } from "./draw-sizes.ts";
import { type Figures, meanFigures, percentile, round } from "./metrics.ts";

/** The figures of a group of queries, with their names in the JSON report. */
export interface Summary extends Figures {
  /** The number of queries, including those without a relevant tool, which count in no ranking figure. */
  readonly queries: number;
  /** The share of queries without a relevant tool that correctly got no tools. */
  readonly refused?: number;
  /** The share of all other queries that wrongly got no tools. */
  readonly false_refused: number;
  readonly p50_ms: number;
  readonly p95_ms: number;
}

/** The figures of all queries, and of each style if queries have styles. */
export interface SetReport extends Summary {
  readonly index_ms: number;
  readonly tier: string;
  readonly by_style?: ByStyle;
  /** The same queries over small catalogs drawn from the tools, by maximum number of tools. */
  readonly by_size?: Readonly<Record<string, Summary & { readonly by_style?: ByStyle }>>;
}

type ByStyle = Readonly<Record<string, Summary>>;

export function summarise(answers: readonly AnsweredQuery[]): Summary {
  const possible = answers.filter(({ figures }) => figures !== undefined);
  const impossible = answers.filter(({ figures }) => figures === undefined);
  const share = (group: readonly AnsweredQuery[]): number =>
    group.length === 0 ? 0 : round(group.filter(({ refused }) => refused).length / group.length);
  const times = answers.map(({ durationMs }) => durationMs);
  return {
    queries: answers.length,
    ...meanFigures(possible.flatMap(({ figures }) => figures ?? [])),
    ...(impossible.length > 0 ? { refused: share(impossible) } : {}),
    false_refused: share(possible),
    p50_ms: round(percentile(times, 0.5)),
    p95_ms: round(percentile(times, 0.95)),
  };
}

/** Reports the figures of a run: of all answers, by style in order of first appearance, and by catalog size. */
export function reportOn(
  answers: readonly AnsweredQuery[],
  run: { readonly indexMs: number; readonly tier: string; readonly sized: readonly (AnsweredQuery & SizedQuery)[] },
): SetReport {
  const sizes = [...Map.groupBy(run.sized, ({ size }) => size)].map(
    ([size, group]) => [`up_to_${size}`, { ...summarise(group), ...byStyle(group) }] as const,
  );
  return {
    ...summarise(answers),
    index_ms: Math.round(run.indexMs),
    tier: run.tier,
    ...byStyle(answers),
    ...(sizes.length > 0 && { by_size: Object.fromEntries(sizes) }),
  };
}

function byStyle(answers: readonly AnsweredQuery[]): { readonly by_style?: ByStyle } {
  const styled = Map.groupBy(
    answers.filter(({ style }) => style !== undefined),
    ({ style }) => style ?? "",
  );
  if (styled.size === 0) return {};
  return { by_style: Object.fromEntries([...styled].map(([style, group]) => [style, summarise(group)])) };
}
