import { useState } from "preact/hooks";
import type { KeptRecord, Verification } from "../../../src/guard/audit.port.ts";
import { gateway } from "../gateway.ts";
import { Action } from "../parts/action.tsx";
import { useAsk } from "../parts/ask.ts";
import { Badge } from "../parts/badge.tsx";
import { Shown } from "../parts/shown.tsx";
import { Table } from "../parts/table.tsx";
import { Time } from "../parts/time.tsx";
import { to } from "../router.ts";

const FILTERS = [
  ["kind", "Kind"],
  ["tool", "Tool"],
  ["principal", "Who"],
  ["status", "Status"],
  ["trace", "Trace"],
] as const;

const KINDS = [
  "call",
  "approval",
  "pin-accepted",
  "pin-refused",
  "operator-action",
  "scan-failed",
  "gap",
  "checkpoint",
] as const;

/** The subject of a record: a tool, or an operator's action and its targets. */
function subjectOf({ toolId, action, targets }: KeptRecord): string {
  return String(toolId ?? [action ?? [], targets ?? []].flat(2).join(" "));
}

/** The tamper-evident record of every call and every operator action. */
export function Audit() {
  const [filter, setFilter] = useState<Readonly<Record<string, string>>>({});
  const [cursors, setCursors] = useState<readonly string[]>([]);
  const [verdict, setVerdict] = useState<Verification>();
  const cursor = cursors.at(-1);
  const asked = useAsk(
    () => gateway().audit.query({ ...filter, limit: 50, ...(cursor !== undefined && { cursor }) }),
    [filter, cursor],
    { delayMs: 200 },
  );
  return (
    <>
      <h1>Audit</h1>
      <div class="actions">
        <Action
          label="Verify the whole log"
          tone="quiet"
          run={async () => setVerdict(await gateway().audit.verify())}
        />
        <span aria-live="polite">{verdict && <Verdict verdict={verdict} />}</span>
      </div>
      <div class="filters">
        {FILTERS.map(([key, title]) => (
          <label key={key} class="field">
            {title}
            <input
              list={key === "kind" ? "kinds" : undefined}
              value={filter[key] ?? ""}
              onInput={({ currentTarget: { value } }) => {
                const { [key]: _old, ...others } = filter;
                setCursors([]);
                setFilter(value === "" ? others : { ...others, [key]: value });
              }}
            />
          </label>
        ))}
        <datalist id="kinds">
          {KINDS.map((kind) => (
            <option key={kind} value={kind} />
          ))}
        </datalist>
      </div>
      <Shown asked={asked}>
        {({ records, next }) => (
          <>
            <Table
              caption="Audit records"
              rows={records}
              keyOf={({ seq }) => String(seq)}
              empty="No records match."
              columns={[
                { title: "#", cell: ({ seq }) => seq },
                { title: "When", cell: ({ at }) => <Time at={at} /> },
                { title: "Kind", cell: ({ kind }) => kind },
                { title: "What", cell: (record) => subjectOf(record) && <code>{subjectOf(record)}</code> },
                { title: "Who", cell: (record) => String(record["principal"] ?? record["by"] ?? "") },
                {
                  title: "Status",
                  cell: (record) => {
                    const state = record["status"] ?? record["outcome"];
                    return typeof state === "string" && <Badge state={state} />;
                  },
                },
                {
                  title: "Trace",
                  cell({ kind, traceId }) {
                    if (typeof traceId !== "string") return "";
                    const start = traceId.slice(0, 12);
                    return kind === "call" ? <a href={to("calls", [traceId])}>{start}</a> : <code>{start}</code>;
                  },
                },
              ]}
            />
            <div class="actions">
              {cursor !== undefined && (
                <button type="button" class="quiet" onClick={() => setCursors(cursors.slice(0, -1))}>
                  Newer
                </button>
              )}
              {next !== undefined && (
                <button type="button" class="quiet" onClick={() => setCursors([...cursors, next])}>
                  Older
                </button>
              )}
            </div>
          </>
        )}
      </Shown>
    </>
  );
}

function Verdict({ verdict }: { readonly verdict: Verification }) {
  if (!verdict.ok)
    return (
      <b class="bad">
        Record {verdict.seq}: {verdict.reason}
      </b>
    );
  return (
    <>
      <Badge state="intact" /> {verdict.records} records, the last is <code>{verdict.head.hash.slice(0, 12)}</code>
    </>
  );
}
