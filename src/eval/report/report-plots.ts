import type { Bar } from "./curves.ts";
import { html, type Markup } from "./escape-html.ts";

/** The values of one run in a plot. The first series is drawn first. */
export interface Series<Value> {
  readonly name: string;
  readonly values: readonly Value[];
}

const WIDTH = 360;
const HEIGHT = 220;
const LEFT = 38;
const RIGHT = 350;
const TOP = 14;
const BOTTOM = 182;

/** Draws one curve per run, over k = 1, 2, …, with values in [0, 1]. */
export function curvePlot(title: string, series: readonly Series<number>[]): Markup {
  const depth = Math.max(1, ...series.map(({ values }) => values.length));
  const x = (index: number): number => LEFT + 8 + (index / Math.max(1, depth - 1)) * (RIGHT - LEFT - 16);
  const y = (value: number): number => BOTTOM - value * (BOTTOM - TOP);
  const grid = [0, 0.25, 0.5, 0.75, 1].map((value) => gridLine(y(value), value.toFixed(2)));
  const ticks = [1, 5, 10, 15, 20].filter((k) => k <= depth).map((k) => tick(x(k - 1), String(k)));
  const lines = series.map(({ name, values }, index) => {
    const points = values.map((value, at) => `${x(at).toFixed(1)},${y(value).toFixed(1)}`).join(" ");
    const dots = values.map(
      (value, at) =>
        html`<circle class="${seriesClass(index)}" cx="${x(at).toFixed(1)}" cy="${y(value).toFixed(1)}" r="2.6"
          ><title>${name}, k = ${at + 1}: ${value.toFixed(4)}</title></circle
        >`,
    );
    return html`<polyline class="line ${seriesClass(index)}" points="${points}" />${dots}`;
  });
  return figure(title, "k", series, html`${grid}${ticks}${lines}`);
}

/** Draws bars per run, side by side. Every `every`-th bar has a label. */
export function barPlot(title: string, axis: string, series: readonly Series<Bar>[], every = 1): Markup {
  const labels = series[0]?.values.map(({ label }) => label) ?? [];
  const top = niceTop(Math.max(1, ...series.flatMap(({ values }) => values.map(({ count }) => count))));
  const slot = (RIGHT - LEFT) / Math.max(1, labels.length);
  const width = (slot - 4) / Math.max(1, series.length);
  const y = (count: number): number => BOTTOM - (count / top) * (BOTTOM - TOP);
  const grid = [0, 0.5, 1].map((share) => gridLine(y(share * top), String(share * top)));
  const ticks = labels.map((label, at) =>
    (at % every === every - 1 && at < labels.length - 2) || at === labels.length - 1 || every === 1
      ? tick(LEFT + (at + 0.5) * slot, label)
      : html``,
  );
  const bars = series.map(({ name, values }, index) =>
    values.map(({ label, count }, at) => {
      const left = LEFT + at * slot + 2 + index * width;
      return count === 0
        ? html``
        : html`<rect
            class="${seriesClass(index)}"
            x="${left.toFixed(1)}"
            y="${y(count).toFixed(1)}"
            width="${width.toFixed(1)}"
            height="${(BOTTOM - y(count)).toFixed(1)}"
            rx="1.5"
            ><title>${name}, ${label}: ${count}</title></rect
          >`;
    }),
  );
  return figure(title, axis, series, html`${grid}${ticks}${bars.flat()}`);
}

/** Draws an interval on a scale from -`most` to `most`, next to its numbers. */
export function intervalPlot(
  interval: { readonly low: number; readonly high: number; readonly difference: number },
  most: number,
): Markup {
  const x = (value: number): string => (70 + (value / Math.max(most, 1e-9)) * 64).toFixed(1);
  const sure = interval.low > 0 || interval.high < 0;
  return html`<svg class="interval${sure ? " sure" : ""}" viewBox="0 0 140 18" aria-hidden="true">
    <line class="zero" x1="70" x2="70" y1="0" y2="18" />
    <line class="span" x1="${x(interval.low)}" x2="${x(interval.high)}" y1="9" y2="9" />
    <circle cx="${x(interval.difference)}" cy="9" r="3.5" />
  </svg>`;
}

function figure(title: string, axis: string, series: readonly Series<unknown>[], content: Markup): Markup {
  const legend =
    series.length > 1
      ? series.map(({ name }, index) => html`<span class="key ${seriesClass(index)}">${name}</span>`)
      : [];
  return html`<figure>
    <figcaption>${title}<span class="legend">${legend}</span></figcaption>
    <svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${title}">
      ${content}
      <text class="axis" x="${(LEFT + RIGHT) / 2}" y="${HEIGHT - 6}" text-anchor="middle">${axis}</text>
    </svg>
  </figure>`;
}

function seriesClass(index: number): string {
  return index === 0 ? "a" : "b";
}

function gridLine(y: number, label: string): Markup {
  return html`<line class="grid" x1="${LEFT}" x2="${RIGHT}" y1="${y.toFixed(1)}" y2="${y.toFixed(1)}" /><text
      x="${LEFT - 6}"
      y="${(y + 4).toFixed(1)}"
      text-anchor="end"
      >${label}</text
    >`;
}

function tick(x: number, label: string): Markup {
  return html`<text x="${x.toFixed(1)}" y="${BOTTOM + 16}" text-anchor="middle">${label}</text>`;
}

/** Rounds up to a round even number. */
function niceTop(most: number): number {
  const magnitude = 10 ** Math.floor(Math.log10(most));
  const top = ([1, 2, 4, 6, 8, 10].find((factor) => factor * magnitude >= most) ?? 10) * magnitude;
  return Math.max(2, top);
}
