/** A bar of the waterfall. Times are in milliseconds since the epoch. */
export interface Bar {
  readonly title: string;
  readonly kind: "retrieval" | "stage" | "call" | "policy" | "queue" | "attempt" | "failed";
  readonly from: number;
  readonly durationMs: number;
}

/** Shows the steps of a trace or a program as bars on one time axis. */
export function Waterfall({ bars }: { readonly bars: readonly Bar[] }) {
  const start = Math.min(...bars.map(({ from }) => from));
  const end = Math.max(...bars.map(({ from, durationMs }) => from + durationMs));
  const scale = 100 / Math.max(end - start, 0.001);
  return (
    <div class="table" role="region" aria-label="Waterfall" tabIndex={0}>
      <table class="waterfall">
        <thead>
          <tr>
            <th scope="col">Step</th>
            <th scope="col">Starts</th>
            <th scope="col">Takes</th>
            <th scope="col">{(end - start).toFixed(1)} ms in all</th>
          </tr>
        </thead>
        <tbody>
          {bars.map(({ title, kind, from, durationMs }, index) => (
            <tr key={index}>
              <th scope="row" class={kind === "call" || kind === "retrieval" ? "whole" : "step"}>
                {title}
              </th>
              <td>{(from - start).toFixed(1)} ms</td>
              <td>{durationMs.toFixed(1)} ms</td>
              <td>
                <svg viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
                  <rect
                    class={`bar-${kind}`}
                    x={Math.min((from - start) * scale, 99.5)}
                    y="0"
                    width={Math.max(durationMs * scale, 0.5)}
                    height="4"
                  />
                </svg>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
