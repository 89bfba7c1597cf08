import type { ArsenalEvent, Health } from "../../../src/client/index.ts";
import { Badge } from "./badge.tsx";
import { Time } from "./time.tsx";

/** How a tool has fared, in words, with its latest calls as a line of bars. */
export function HealthInWords(props: {
  readonly health: Health;
  /** Newest first. */
  readonly calls: readonly ArsenalEvent<"call-finished">[];
}) {
  const { successRate, averageLatencyMs, totalCalls, consecutiveFailures, circuitOpen } = props.health;
  const { lastSuccess, lastFailure } = props.health;
  if (totalCalls === 0 && !circuitOpen) return <p class="dim">Not called yet.</p>;
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
      <Sparkline calls={props.calls} />
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

const SHOWN = 40;

/** One bar for each of the latest calls: as high as it took long, in the colour of how it ended. */
function Sparkline({ calls }: { readonly calls: readonly ArsenalEvent<"call-finished">[] }) {
  if (calls.length === 0) return null;
  const shown = calls.slice(0, SHOWN).toReversed();
  const slowest = Math.max(1, ...shown.map(({ data }) => data.latencyMs));
  const failed = shown.filter(({ data }) => data.status !== "success").length;
  const label = `Latest calls since this page was opened: ${shown.length}, of which ${failed} did not succeed; the slowest took ${Math.round(slowest)} ms`;
  return (
    <svg class="sparkline" viewBox={`0 0 ${SHOWN * 4} 24`} role="img" aria-label={label}>
      {shown.map(({ data }, index) => {
        const height = Math.max(3, (data.latencyMs / slowest) * 24);
        const tone = data.status === "success" ? "good" : "bad";
        return <rect key={data.spanId} class={tone} x={index * 4} y={24 - height} width="3" height={height} />;
      })}
    </svg>
  );
}
