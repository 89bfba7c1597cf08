import {
  BarController,
  BarElement,
  CategoryScale,
  Chart,
  Legend,
  LinearScale,
  LineController,
  LineElement,
  PointElement,
  Tooltip,
} from "chart.js";
import { useEffect, useRef } from "preact/hooks";
import type { GatewayOverview } from "../../../src/client/index.ts";

Chart.register(
  BarController,
  BarElement,
  CategoryScale,
  Legend,
  LinearScale,
  LineController,
  LineElement,
  PointElement,
  Tooltip,
);

type Minutes = NonNullable<GatewayOverview["minutes"]>;

/** Shows calls and errors of the last hour as bars, and the P95 of their latency as a line. */
export function MinutesChart({ minutes }: { readonly minutes: Minutes }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const chart = useRef<Chart | undefined>(undefined);
  const latest = useRef(minutes);
  latest.current = minutes;

  useEffect(() => {
    const element = canvas.current;
    if (element === null) return undefined;
    const drawn = new Chart(element, settings(latest.current, element));
    chart.current = drawn;
    /** Repaints, because a canvas does not follow the colours of the page. */
    const repaint = (): void => {
      const { data, options } = settings(latest.current, element);
      drawn.data = data;
      drawn.options = options;
      drawn.update("none");
    };
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    scheme.addEventListener("change", repaint);
    const observer = new MutationObserver(repaint);
    observer.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    return () => {
      scheme.removeEventListener("change", repaint);
      observer.disconnect();
      drawn.destroy();
    };
  }, []);

  useEffect(() => {
    if (chart.current === undefined || canvas.current === null) return;
    chart.current.data = settings(minutes, canvas.current).data;
    chart.current.update("none");
  }, [minutes]);

  const sum = (pick: (minute: Minutes[number]) => number): number =>
    minutes.reduce((total, minute) => total + pick(minute), 0);
  const slowest = Math.max(0, ...minutes.map(({ p95Ms = 0 }) => p95Ms));
  const said = `The last hour by minutes: ${sum(({ calls }) => calls)} calls, ${sum(({ errors }) => errors)} errors, P95 at most ${Math.round(slowest)} ms.`;
  return (
    <div class="chart">
      <canvas ref={canvas} role="img" aria-label={said} />
    </div>
  );
}

function settings(minutes: Minutes, element: Element) {
  const styles = getComputedStyle(element);
  // The computed colour of an element resolves the theme's variable.
  const probe = document.createElement("span");
  element.parentElement?.append(probe);
  const colour = (name: string): string => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const [accent, bad, warn, dim, line] = ["accent", "bad", "warn", "dim", "line"].map(colour) as [
    string,
    string,
    string,
    string,
    string,
  ];
  probe.remove();
  const time = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
  const scale = (title: string) => ({
    beginAtZero: true,
    title: { display: true, text: title, color: dim },
    ticks: { color: dim, precision: 0 },
  });
  return {
    type: "bar" as const,
    data: {
      labels: minutes.map(({ at }) => time.format(at)),
      datasets: [
        {
          type: "line" as const,
          label: "P95, ms",
          data: minutes.map(({ p95Ms }) => p95Ms ?? null),
          yAxisID: "ms",
          borderColor: warn,
          backgroundColor: warn,
          borderWidth: 2,
          pointRadius: 2,
          cubicInterpolationMode: "monotone" as const,
          spanGaps: true,
        },
        {
          label: "Errors",
          data: minutes.map(({ errors }) => errors),
          backgroundColor: bad,
          stack: "calls",
          yAxisID: "calls",
        },
        {
          label: "Other calls",
          data: minutes.map(({ calls, errors }) => calls - errors),
          backgroundColor: accent,
          stack: "calls",
          yAxisID: "calls",
        },
      ],
    } as never,
    options: {
      animation: false as const,
      maintainAspectRatio: false,
      interaction: { mode: "index" as const, intersect: false },
      font: { family: styles.fontFamily },
      plugins: {
        legend: {
          align: "end" as const,
          labels: { color: dim, usePointStyle: true, pointStyle: "circle", boxWidth: 8, boxHeight: 8 },
        },
      },
      scales: {
        x: { stacked: true, ticks: { color: dim, maxRotation: 0, autoSkipPadding: 24 }, grid: { display: false } },
        calls: { ...scale("calls a minute"), stacked: true, grid: { color: line } },
        ms: { ...scale("P95, ms"), position: "right" as const, grid: { display: false } },
      },
    },
  };
}
