import type { ArsenalEvent } from "../../../src/client/index.ts";
import { events, eventsProblem } from "../live.ts";
import { Badge } from "../parts/badge.tsx";
import { Table } from "../parts/table.tsx";
import { Time } from "../parts/time.tsx";
import { to } from "../router.ts";

type Finished = ArsenalEvent<"call-finished">;

/** Calls as they end. */
export function Calls() {
  const calls = events.value.filter((event): event is Finished => event.name === "call-finished");
  return (
    <>
      <h1>Calls</h1>
      {eventsProblem.value !== "" && <p class="bad">{eventsProblem.value}</p>}
      <Table
        caption="Calls, newest first"
        rows={calls}
        keyOf={({ data }) => data.spanId}
        empty="No calls since this page was opened. They appear here as they end."
        columns={[
          { title: "When", cell: ({ at }) => <Time at={at} /> },
          { title: "Tool", cell: ({ data }) => <a href={to("catalog", [data.toolId])}>{data.toolId}</a> },
          { title: "Status", cell: ({ data }) => <Badge state={data.status} /> },
          { title: "Who", cell: ({ data }) => data.principal },
          { title: "Took", cell: ({ data }) => `${Math.round(data.latencyMs)} ms` },
          { title: "Trace", cell: ({ data }) => <a href={to("calls", [data.traceId])}>{data.traceId.slice(0, 12)}</a> },
        ]}
      />
    </>
  );
}
