import type { Terminal } from "../command.ts";
import { clip, styles, table } from "./style.ts";
import { columnsOf, signed } from "../../eval/report/report-sections.ts";
import type { Comparison } from "../../eval/compare.ts";
import { labelOf } from "../../eval/known-tools.ts";
import type { Miss } from "../../eval/suggest/misses.ts";
import type { Suggestion } from "../../eval/suggest/suggest.ts";
import type { SetReport, Summary } from "../../eval/summarise.ts";

/** The number of suggestions and changed queries on a terminal. JSON output has all of them. */
const MOST_SHOWN = 20;

/** Formats the results of a run as a table: overall, by style, and by catalog size and style. */
export function showFigures(report: SetReport, terminal: Terminal): string {
  const paint = styles(terminal.out, terminal.environment);
  const { by_style: byStyle = {}, by_size: bySize = {}, ...figures } = report;
  const lines = table(Object.entries(figures).map(([name, value]) => [name, String(value)]));
  const sizes = Object.entries(bySize).flatMap(([size, { by_style: ownStyles = {}, ...all }]) => [
    [size, all] as const,
    ...Object.entries(ownStyles).map(([style, group]) => [`  ${style}`, group] as const),
  ]);
  return [lines, groups("style", Object.entries(byStyle)), groups("catalog size", sizes)]
    .filter((text) => text !== "")
    .map((text) => `${text}\n`)
    .join("\n");

  function groups(title: string, named: readonly (readonly [string, Summary])[]): string {
    if (named.length === 0) return "";
    const columns = columnsOf(named.map(([, group]) => group));
    const rows = named.map(([name, group]) => [
      clip(name, 24),
      ...columns.map((column) => String(group[column] ?? "")),
    ]);
    return headed([title, ...columns], rows, paint.bold);
  }
}

/** Formats every figure of two runs, and the queries that changed most. `report` belongs to A. */
export function showComparison(comparison: Comparison, report: SetReport, terminal: Terminal): string {
  const { a, b, figures, changed, resamples } = comparison;
  const paint = styles(terminal.out, terminal.environment);
  const rows = Object.entries(figures).map(([name, figure]) => [
    name,
    String(figure.a),
    String(figure.b),
    signed(figure.difference),
    `${signed(figure.low)} … ${signed(figure.high)}`,
    ...[figure.wins, figure.losses, figure.ties].map(String),
  ]);
  const times = (["p50_ms", "p95_ms"] as const).map((name) => [name, String(report[name]), String(b.report[name])]);
  const title = `A ${a.config ?? "defaults"}, ${a.tier}  ·  B ${b.config ?? "defaults"}, ${b.tier}`;
  const text = `\n${paint.bold(title)}\n${headed(["", "A", "B", "B − A", "95 % interval", "wins", "losses", "ties"], [...rows, ...times], paint.bold)}\n`;
  if (changed.length === 0) return `${text}No query changed.\n`;
  const moved = changed
    .slice(0, MOST_SHOWN)
    .map(({ id, query, a_rank, b_rank, difference }) => [
      clip(id, 20),
      `${a_rank ?? "–"} → ${b_rank ?? "–"}`,
      signed(difference),
      clip(query, 72),
    ]);
  return `${text}${paint.dim(`paired bootstrap, ${resamples.toLocaleString("en")} resamples`)}\n\n${headed(["changed most", "rank", "NDCG@10", "query"], moved, paint.bold)}\n`;
}

export function showSuggestions(suggestions: readonly Suggestion[], terminal: Terminal): string {
  const paint = styles(terminal.out, terminal.environment);
  if (suggestions.length === 0) return "\nNo suggestions: no tool shadows another, and no description hides one.\n";
  const lines = suggestions
    .slice(0, MOST_SHOWN)
    .map(
      ({ kind, suggestion }) =>
        `${kind === "description" ? paint.cyan(kind) : paint.yellow(kind)}  ${clip(suggestion, 1000)}`,
    );
  const left = suggestions.length - lines.length;
  return `\n${paint.bold(`Suggestions (${suggestions.length})`)}\n${lines.join("\n")}\n${left > 0 ? `… and ${left} more with --json\n` : ""}`;
}

/** Formats misses as text: the request, the relevant tools and their ranks, the returned tools, and the reason. */
export function showMisses(misses: readonly Miss[], terminal: Terminal): string {
  const paint = styles(terminal.err, terminal.environment);
  const blocks = misses.map(({ id, query, kind, relevant, returned, reason }) => {
    const wanted = relevant
      .map((tool) => `${labelOf(tool)} ${tool.rank === null ? "not in the first 50" : `at ${tool.rank}`}`)
      .join(", ");
    const rows = returned.map((tool, index) => [
      `  ${index + 1}`,
      tool.score.toFixed(3),
      clip(labelOf(tool), 60),
      tool.relevant ? "relevant" : "",
    ]);
    return `${paint.bold(clip(id, 40))} ${paint.yellow(kind)}  ${clip(query, 200)}
  wanted: ${clip(wanted === "" ? "nothing" : wanted, 200)}
${table(rows)}
  ${paint.dim(clip(reason, 300))}
`;
  });
  return blocks.length === 0 ? "No misses.\n" : `${blocks.join("\n")}\n`;
}

function headed(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  bold: (text: string) => string,
): string {
  const [first = "", ...rest] = table([header, ...rows]).split("\n");
  return [bold(first), ...rest].join("\n");
}
