import { useMemo } from "preact/hooks";
import type { ArsenalEvent, HistoryEntry } from "../../../src/client/index.ts";
import { gateway } from "../gateway.ts";
import { events, eventsProblem } from "../live.ts";
import { useAsk } from "../parts/ask.ts";
import { Badge } from "../parts/badge.tsx";
import { Table } from "../parts/table.tsx";
import { Time } from "../parts/time.tsx";
import { place, to } from "../router.ts";
import { Trace } from "./trace.tsx";

type Call = Extract<HistoryEntry, { readonly kind: "call" }>;

/** Calls as they end, or the trace that the address names. */
export function Calls() {
  const [traceId] = place.value.rest;
  return traceId === undefined ? <AllCalls /> : <Trace key={traceId} traceId={traceId} />;
}

function AllCalls() {
  // A gateway without a history shows what has happened since the page was opened.
  const kept = useAsk(async (): Promise<{ readonly records: readonly HistoryEntry[] }> => {
    const { keeps } = await gateway().stats();
    return keeps.history ? gateway().history.list({ limit: 200 }) : { records: [] };
  }, []);
  const live = liveCalls(events.value);
  const rows = useMemo(() => {
    const seen = new Set(live.map(({ spanId }) => spanId));
    const past = (kept.answer?.records ?? []).filter((record): record is Call => record.kind === "call");
    return [...live, ...past.filter(({ spanId }) => !seen.has(spanId))];
  }, [events.value, kept.answer]);
  return (
    <>
      <h1>Calls</h1>
      {eventsProblem.value !== "" && <p class="bad">{eventsProblem.value}</p>}
      <Table
        caption="Calls, newest first"
        rows={rows}
        keyOf={({ spanId }) => spanId}
        empty="No calls yet. They appear here as they end."
        columns={[
          { title: "When", cell: ({ at }) => <Time at={at} /> },
          { title: "Tool", cell: ({ toolId }) => <a href={to("catalog", [toolId])}>{toolId}</a> },
          { title: "Status", cell: ({ status }) => <Badge state={status} /> },
          { title: "Who", cell: ({ principal }) => principal },
          { title: "Took", cell: ({ latencyMs }) => `${Math.round(latencyMs)} ms` },
          { title: "Trace", cell: ({ traceId }) => <a href={to("calls", [traceId])}>{traceId.slice(0, 12)}</a> },
        ]}
      />
    </>
  );
}

/** The calls among events, as the history has them. */
export function liveCalls(all: readonly ArsenalEvent[]): readonly Call[] {
  return all
    .filter((event): event is ArsenalEvent<"call-finished"> => event.name === "call-finished")
    .map(({ at, data }) => ({ kind: "call", at, ...data }));
}
