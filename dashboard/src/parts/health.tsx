import type { Health } from "../../../src/client/index.ts";
import { Badge, toneOf } from "./badge.tsx";
import type { Call } from "./past-calls.ts";
import { Time } from "./time.tsx";

/** Shows the health of a tool as text, with its latest calls as a row of bars. */
export function HealthInWords(props: {
  readonly health: Health;
  /** Newest first. */
  readonly calls: readonly Call[];
  /** True if `calls` includes earlier calls and calls of other processes. */
  readonly isComplete: boolean;
}) {
  const { calls, isComplete } = props;
  const { successRate, averageLatencyMs, totalCalls, consecutiveFailures, circuitOpen } = props.health;
  const { lastSuccess, lastFailure } = props.health;
  if (totalCalls === 0 && !circuitOpen)
    return calls.length === 0 ? (
      <p class="dim">{isComplete ? "Not called yet." : "No calls since the gateway started."}</p>
    ) : (
      <>
        <p>{callsInWords(calls)}</p>
        <Sparkline calls={calls} />
      </>
    );
  const failing = consecutiveFailures > 0;
  return (
    <>
      <p>
        <Badge state={circuitOpen ? "circuit_open" : failing ? "failing" : "healthy"} />{" "}
        {totalCalls === 1 ? "1 call" : `${totalCalls} calls`}, {Math.round(successRate * 100)} % succeeded,{" "}
        {Math.round(averageLatencyMs)} ms on average.
        {consecutiveFailures > 1 && ` The last ${consecutiveFailures} failed.`}
      </p>
      {circuitOpen && <p>Calls are refused until its circuit closes again, so that it can recover.</p>}
      <Sparkline calls={calls} />
      <p class="dim">
        {lastSuccess !== undefined && (
          <>
            Last success <Time at={lastSuccess} />.{" "}
          </>
        )}
        {lastFailure !== undefined && (
          <>
            Last failure <Time at={lastFailure} />.
          </>
        )}
      </p>
    </>
  );
}

/** Summarizes calls that the health of this process does not include: earlier calls, calls of other processes, and refused calls. */
function callsInWords(calls: readonly Call[]): string {
  const succeeded = calls.filter(({ status }) => status === "success").length;
  const averageMs = calls.reduce((sum, { latencyMs }) => sum + latencyMs, 0) / calls.length;
  const count = calls.length === 1 ? "1 call" : `${calls.length} calls`;
  return `${count}, ${Math.round((succeeded / calls.length) * 100)} % succeeded, ${Math.round(averageMs)} ms on average.`;
}

export const SHOWN_CALLS = 40;

/** Draws one bar for each of the latest calls. Its height shows the duration, its colour the outcome. */
function Sparkline({ calls }: { readonly calls: readonly Call[] }) {
  const shown = calls.slice(0, SHOWN_CALLS).toReversed();
  const [first] = shown;
  if (first === undefined) return null;
  const slowest = Math.max(1, ...shown.map(({ latencyMs }) => latencyMs));
  const failed = shown.filter(({ status }) => toneOf(status) === "bad").length;
  const label = `Latest calls: ${shown.length}, of which ${failed} failed; the slowest took ${Math.round(slowest)} ms`;
  return (
    <figure class="sparkline">
      <svg viewBox={`0 0 ${SHOWN_CALLS * 4} 24`} preserveAspectRatio="none" role="img" aria-label={label}>
        {shown.map(({ spanId, status, latencyMs }, index) => {
          const height = Math.max(3, (latencyMs / slowest) * 24);
          return <rect key={spanId} class={toneOf(status)} x={index * 4} y={24 - height} width="3" height={height} />;
        })}
      </svg>
      <figcaption class="dim">
        {shown.length === 1 ? "1 call" : `The latest ${shown.length} calls`} since <Time at={first.at} />, the slowest{" "}
        {Math.round(slowest)} ms
      </figcaption>
    </figure>
  );
}
