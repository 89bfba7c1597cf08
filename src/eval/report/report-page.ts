import { count } from "../../errors/show-value.ts";
import { createHash } from "node:crypto";
import type { RoutingConfig } from "../../config/config.ts";
import type { AnsweredQuery } from "../answer.ts";
import type { Comparison } from "../compare.ts";
import { rankHistogram, recallCurve, timeEdges, timeHistogram } from "./curves.ts";
import { html, type Markup } from "./escape-html.ts";
import type { Miss } from "../suggest/misses.ts";
import { barPlot, curvePlot } from "./report-plots.ts";
import { comparisonSection, figuresSection, missesSection, suggestionsSection } from "./report-sections.ts";
import { SCRIPT, STYLE } from "./report-style.ts";
import type { Suggestion } from "../suggest/suggest.ts";
import type { SetReport } from "../summarise.ts";

export interface ReportParts {
  readonly toolsFile: string;
  readonly queriesFile: string;
  readonly toolCount: number;
  readonly report: SetReport;
  readonly misses: readonly Miss[];
  readonly comparison: Comparison | undefined;
  readonly suggestions: readonly Suggestion[] | undefined;
  /** Run A, then run B if two runs were compared. */
  readonly runs: readonly ReportedRun[];
}

export interface ReportedRun {
  readonly config: string | undefined;
  readonly tier: string;
  readonly routing: RoutingConfig;
  readonly answers: readonly AnsweredQuery[];
}

const DEPTH = 20;

/** Returns one self-contained HTML page without network requests. Only the script of this module may run in it. */
export function reportPage(parts: ReportParts): string {
  const { report, toolsFile, queriesFile, toolCount, comparison, suggestions, misses, runs } = parts;
  const scriptHash = createHash("sha256").update(SCRIPT).digest("base64");
  const policy = `default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-${scriptHash}'`;
  const asked = `${count(report.queries, "query", "queries")} of ${queriesFile}`;
  const searched = `${count(toolCount, "tool")} of ${toolsFile}`;
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="Content-Security-Policy" content="${policy}" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>Retrieval report: ${queriesFile}</title>
        ${{ markup: `<style>${STYLE}</style>` }}
      </head>
      <body>
        <main>
          <h1>Retrieval report</h1>
          <p class="soft text">${asked} over ${searched}, ranked by ${report.tier}</p>
          ${figuresSection(report)}
          <h2>Plots</h2>
          <div class="plots">${plots(runs)}</div>
          ${comparison ? comparisonSection(comparison) : html``}
          ${suggestions ? suggestionsSection(suggestions) : html``} ${missesSection(misses)}
          <h2>Configuration</h2>
          ${runs.map((run, index) => configuration(run, runs.length > 1 ? `${nameOf(index)}: ` : ""))}
        </main>
        ${{ markup: `<script>${SCRIPT}</script>` }}
      </body>
    </html> `.markup;
}

function nameOf(index: number): string {
  return index === 0 ? "A" : "B";
}

function plots(runs: readonly ReportedRun[]): readonly Markup[] {
  const series = <Value>(values: (run: ReportedRun) => readonly Value[]) =>
    runs.map((run, index) => ({ name: nameOf(index), values: values(run) }));
  const timesOf = ({ answers }: ReportedRun): readonly number[] => answers.map(({ durationMs }) => durationMs);
  const edges = timeEdges(runs.map(timesOf));
  const recall = series(({ answers }) => recallCurve(answers, DEPTH));
  const ranks = series(({ answers }) => rankHistogram(answers));
  const times = series((run) => timeHistogram(timesOf(run), edges));
  return [
    curvePlot("Recall at k", recall),
    barPlot("Rank of the first relevant tool", "rank", ranks),
    barPlot("Time a query takes", "milliseconds, up to", times, 3),
  ];
}

function configuration({ config, tier, routing }: ReportedRun, title: string): Markup {
  const settings = Object.keys(routing).length === 0 ? "every default applies" : JSON.stringify(routing, undefined, 2);
  return html`<p class="text">${title}${config ?? "no configuration file"}, ranked by ${tier}</p>
    <pre>${settings}</pre>`;
}
