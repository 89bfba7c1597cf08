import type { Comparison } from "../compare.ts";
import { html, type Markup } from "./escape-html.ts";
import { labelOf } from "../known-tools.ts";
import type { Miss, MissKind } from "../suggest/misses.ts";
import { intervalPlot } from "./report-plots.ts";
import type { Suggestion } from "../suggest/suggest.ts";
import type { SetReport, Summary } from "../summarise.ts";

/** More rows would make the page too large for a browser. The JSON lines file has no limit. */
const MOST_MISSES = 1000;
const MOST_SUGGESTIONS = 200;

const KINDS: Readonly<Record<MissKind, string>> = {
  low: "ranked low",
  lost: "not in the first 50",
  refused: "refused, though a tool fits",
  answered: "answered, though nothing fits",
};

export function figuresSection(report: SetReport): Markup {
  const { by_style: byStyle = {}, by_size: bySize = {}, ...figures } = report;
  const tiles = Object.entries(figures).map(
    ([name, value]) =>
      html`<div>
        <dt>${name}</dt>
        <dd>${value}</dd>
      </div>`,
  );
  const sizes = Object.entries(bySize).flatMap(([size, { by_style: ownStyles = {}, ...all }]) => [
    [size, all] as const,
    ...Object.entries(ownStyles).map(([style, group]) => [`${size}, ${style}`, group] as const),
  ]);
  return html`<dl class="figures">${tiles}</dl>
    ${groupTable("By style", "style", Object.entries(byStyle))} ${groupTable("By catalog size", "catalog size", sizes)}`;
}

function groupTable(heading: string, title: string, groups: readonly (readonly [string, Summary])[]): Markup {
  if (groups.length === 0) return html``;
  const columns = columnsOf(groups.map(([, group]) => group));
  const rows = groups.map(
    ([name, group]) =>
      html`<tr>
        <th scope="row" class="text">${name}</th>
        ${columns.map((column) => html`<td class="number">${group[column] ?? ""}</td>`)}
      </tr>`,
  );
  return html`<h2>${heading}</h2>
    ${scrolled("", [...texts(title), ...numbers(...columns)], rows)}`;
}

function scrolled(kind: string, head: readonly Markup[], rows: readonly Markup[]): Markup {
  return html`<div class="scroll">
    <table class="${kind}">
      <thead>
        <tr>
          ${head}
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>
  </div>`;
}

function texts(...titles: readonly string[]): readonly Markup[] {
  return titles.map((title) => html`<th>${title}</th>`);
}

function numbers(...titles: readonly string[]): readonly Markup[] {
  return titles.map((title) => html`<th class="number">${title}</th>`);
}

export function comparisonSection({ a, b, figures, changed, resamples }: Comparison): Markup {
  const most = Math.max(...Object.values(figures).flatMap(({ low, high }) => [Math.abs(low), Math.abs(high)]), 0);
  const rows = Object.entries(figures).map(
    ([name, figure]) =>
      html`<tr>
        <th scope="row">${name}</th>
        <td class="number">${figure.a}</td>
        <td class="number">${figure.b}</td>
        <td class="number">${signed(figure.difference)}</td>
        <td>${intervalPlot(figure, most)}</td>
        <td class="number">${signed(figure.low)} … ${signed(figure.high)}</td>
        <td class="number better">${figure.wins}</td>
        <td class="number worse">${figure.losses}</td>
        <td class="number">${figure.ties}</td>
      </tr>`,
  );
  const interval = html`<th colspan="2">95 % interval</th>`;
  const head = [...texts("figure"), ...numbers("A", "B", "B − A"), interval, ...numbers("B wins", "loses", "ties")];
  const moved = changed.map(
    (query) =>
      html`<tr>
        <td data-label="query" class="text">${query.query} <span class="soft">${query.id}</span></td>
        <td data-label="rank, A → B">${query.a_rank ?? "–"} → ${query.b_rank ?? "–"}</td>
        <td data-label="NDCG@10" class="${query.difference < 0 ? "worse" : "better"}">${signed(query.difference)}</td>
      </tr>`,
  );
  return html`<h2>Comparison</h2>
    <p>
      <span class="key a">A</span>: ${a.config ?? "defaults"}, ${a.tier} · <span class="key b">B</span>:
      ${b.config ?? "defaults"}, ${b.tier} (P50 ${b.report.p50_ms} ms, P95 ${b.report.p95_ms} ms)
    </p>
    ${scrolled("", head, rows)}
    <p class="note">
      Paired bootstrap over the queries, ${resamples.toLocaleString("en")} resamples. An interval that leaves out zero
      is drawn in colour. For false_refused, less is better.
    </p>
    ${
      moved.length === 0
        ? html`<p>No query changed.</p>`
        : html`<h2>Queries that changed most</h2>
            ${scrolled("stacked", texts("query", "rank, A → B", "NDCG@10"), moved)}`
    }`;
}

/** The missed queries, with the relevant tools, the returned tools and the reason. */
export function missesSection(misses: readonly Miss[]): Markup {
  if (misses.length === 0)
    return html`<h2>Misses</h2>
      <p>None: every query has what serves it among its first five tools.</p>`;
  const kinds = [...new Set(misses.map(({ kind }) => kind))];
  const left = misses.length - MOST_MISSES;
  return html`<h2>Misses (${misses.length})</h2>
    <div class="filter" hidden>
      <input type="search" placeholder="Filter by words or tools" aria-label="Filter by words or tools" /><select
        aria-label="Kind of miss"
      >
        <option value="">all kinds</option>
        ${kinds.map((kind) => html`<option value="${kind}">${KINDS[kind]}</option>`)}</select
      ><output class="soft" aria-live="polite"></output>
    </div>
    ${scrolled("misses stacked", texts("query", "wanted", "came instead", "why"), misses.slice(0, MOST_MISSES).map(missRow))}
    ${left > 0 ? html`<p class="note">The first ${MOST_MISSES}. ${left} more with --misses FILE.</p>` : ""}`;
}

function missRow({ id, query, style, kind, relevant, returned, reason }: Miss): Markup {
  const wanted = relevant.map(
    (tool) =>
      html`<li class="text">
        ${labelOf(tool)} <span class="soft">${tool.rank === null ? "not in the first 50" : `at ${tool.rank}`}</span>
      </li>`,
  );
  const came = returned.map(
    (tool) =>
      html`<li class="text${tool.relevant ? " hit" : ""}">
        ${labelOf(tool)} <span class="soft">${tool.score.toFixed(3)}</span>
      </li>`,
  );
  return html`<tr data-kind="${kind}">
    <td data-label="query" class="text">
      ${query}<br /><span class="chip">${KINDS[kind]}</span
      >${style === undefined ? html`` : html`<span class="chip">${style}</span>`}<span class="soft">${id}</span>
    </td>
    <td data-label="wanted">
      ${
        wanted.length === 0
          ? "nothing"
          : html`<ul>
              ${wanted}
            </ul>`
      }
    </td>
    <td data-label="came instead">
      ${
        came.length === 0
          ? html`nothing`
          : html`<ol>
              ${came}
            </ol>`
      }
    </td>
    <td data-label="why" class="text">${reason}</td>
  </tr> `;
}

export function suggestionsSection(suggestions: readonly Suggestion[]): Markup {
  const items = suggestions
    .slice(0, MOST_SUGGESTIONS)
    .map(({ kind, suggestion }) => html`<li class="text"><span class="chip">${kind}</span> ${suggestion}</li>`);
  const left = suggestions.length - items.length;
  return html`<h2>Suggestions (${suggestions.length})</h2>
    ${
      items.length === 0
        ? html`<p>None: no tool shadows another, and no description hides one.</p>`
        : html`<ul class="suggestions">
            ${items}
          </ul>`
    }
    ${left > 0 ? html`<p class="note">${left} more with --json.</p>` : ""}`;
}

/** Returns the names of the figures that occur in any of the groups, in order. */
export function columnsOf(groups: readonly Summary[]): readonly (keyof Summary)[] {
  const widest = groups.find((group) => group.refused !== undefined) ?? groups[0];
  return Object.keys(widest ?? {}) as (keyof Summary)[];
}

/** Formats a difference with its sign, to four digits. */
export function signed(value: number): string {
  return `${value > 0 ? "+" : value < 0 ? "−" : ""}${Math.abs(value).toFixed(4)}`;
}
