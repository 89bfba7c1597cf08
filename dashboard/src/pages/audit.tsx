import { useMemo, useState } from "preact/hooks";
import { EXECUTION_STATUSES } from "../../../src/execute/result.ts";
import type { KeptRecord, Verification } from "../../../src/guard/audit.port.ts";
import type { RemoteAuditQuery } from "../../../src/client/index.ts";
import { gateway } from "../gateway.ts";
import { Action } from "../parts/action.tsx";
import { useAsk } from "../parts/ask.ts";
import { Badge } from "../parts/badge.tsx";
import { exportRecords } from "../parts/export-records.ts";
import { Choice, Field } from "../parts/field.tsx";
import { Shown } from "../parts/shown.tsx";
import { Table } from "../parts/table.tsx";
import { Time } from "../parts/time.tsx";
import { rangeQuery, readRange, TimeRangeFields, toQuery, useTimes } from "../parts/time-range.tsx";
import { go, place, to } from "../router.ts";

/** The kinds of records and their possible outcomes. */
const OUTCOMES: Readonly<Record<string, readonly string[]>> = {
  call: EXECUTION_STATUSES,
  approval: ["requested", "approved", "denied", "expired", "used", "returned", "refused"],
  "operator-action": ["started", "done", "denied", "failed"],
  connection: ["signed-in", "signed-out"],
  "pin-accepted": [],
  "pin-refused": [],
  "scan-failed": ["allowed", "refused"],
  gap: [],
  checkpoint: [],
};

/** Labels for the recorded actions of operators. */
const ACTIONS: Readonly<Record<string, string>> = {
  addEnsemble: "add a server",
  removeEnsemble: "remove a server",
  connectEnsemble: "connect a server",
  disconnectEnsemble: "disconnect a server",
  reloadEnsemble: "reload a server",
  restartEnsemble: "restart a server",
  registerTool: "add a tool",
  registerTools: "add several tools",
  importTools: "import tools",
  deleteTool: "delete a tool",
  refusePin: "keep refusing a pin",
  reloadPolicy: "reload the policy",
  sync: "index pending tools",
};

type FilterKey = "kind" | "action" | "status" | "tool" | "principal" | "trace";
type Filter = Readonly<Partial<Record<FilterKey, string>>>;

const KEYS: readonly FilterKey[] = ["kind", "action", "status", "tool", "principal", "trace"];

/** Returns the subject of a record: a tool, or an operator's action and its targets. */
function subjectOf({ toolId, action, targets }: KeptRecord): string {
  return String(toolId ?? [action ?? [], targets ?? []].flat(2).join(" "));
}

/** Returns the caller in a record, or the person who decided. */
function personOf({ principal, by }: KeptRecord): string {
  return String(principal ?? by ?? "");
}

/** Shows the tamper-evident record of every call and operator action. The filters are part of the address, so the view can be shared. */
export function Audit() {
  const { query } = place.value;
  const [verdict, setVerdict] = useState<Verification>();
  const range = readRange(query);
  const times = useTimes(range);
  const filter: Filter = Object.fromEntries(KEYS.flatMap((key) => (query.has(key) ? [[key, query.get(key)]] : [])));
  const key = JSON.stringify([filter, times]);
  const asking: RemoteAuditQuery = useMemo(() => ({ ...filter, ...toQuery(times) }), [key]);
  const [pages, setPages] = useState<{ readonly key: string; readonly cursors: readonly string[] }>();
  const cursors = pages?.key === key ? pages.cursors : [];
  const turn = (next: readonly string[]): void => setPages({ key, cursors: next });
  const cursor = cursors.at(-1);
  const asked = useAsk(
    () => gateway().audit.query({ ...asking, limit: 50, ...(cursor !== undefined && { cursor }) }),
    [key, cursor],
    { delayMs: 200 },
  );
  const change = (changed: Filter, changedRange = range): void => {
    const next = Object.entries({ ...filter, ...changed }).filter(([, value]) => value !== "");
    go(to("audit", [], { ...Object.fromEntries(next), ...rangeQuery(changedRange) }), { replace: true });
  };
  return (
    <>
      <h1>Audit</h1>
      <div class="actions">
        <Action
          label="Verify the whole log"
          operation="verifyAudit"
          tone="quiet"
          run={async () => setVerdict(await gateway().audit.verify())}
        />
        <span aria-live="polite">{verdict && <Verdict verdict={verdict} />}</span>
      </div>
      <Filters
        filter={filter}
        records={asked.answer?.records ?? []}
        onChange={change}
        times={<TimeRangeFields range={range} onChange={(changed) => change({}, changed)} />}
      />
      <Export key={key} asking={asking} />
      <Shown asked={asked}>
        {({ records, next }) => (
          <>
            <Records records={records} isCut={next !== undefined} />
            <div class="actions">
              {cursor !== undefined && (
                <button type="button" class="quiet" onClick={() => turn(cursors.slice(0, -1))}>
                  Newer
                </button>
              )}
              {next !== undefined && (
                <button type="button" class="quiet" onClick={() => turn([...cursors, next])}>
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

function Filters(props: {
  readonly filter: Filter;
  /** The shown records, which supply the suggestions for tools and people. */
  readonly records: readonly KeptRecord[];
  readonly times: preact.JSX.Element;
  onChange(changed: Filter): void;
}) {
  const { filter, records, times, onChange } = props;
  const { kind = "" } = filter;
  const outcomes = kind === "" ? [...new Set(Object.values(OUTCOMES).flat())] : (OUTCOMES[kind] ?? []);
  const suggested = (name: string, values: readonly string[]) => (
    <datalist id={name}>
      {[...new Set(values)].filter(Boolean).map((value) => (
        <option key={value} value={value} />
      ))}
    </datalist>
  );
  const text = (key: "tool" | "principal" | "trace", label: string, list?: string) => (
    <Field label={label}>
      <input
        type="search"
        list={list}
        value={filter[key] ?? ""}
        onInput={({ currentTarget }) => onChange({ [key]: currentTarget.value.trim() })}
      />
    </Field>
  );
  return (
    <div class="filters">
      <Choice
        all
        label="Kind"
        value={kind}
        values={Object.keys(OUTCOMES).map((each) => [each, inWords(each)])}
        onChange={(chosen) => onChange({ kind: chosen, action: "", status: "" })}
      />
      {kind === "operator-action" && (
        <Choice
          all
          label="Action"
          value={filter.action ?? ""}
          values={Object.entries(ACTIONS)}
          onChange={(action) => onChange({ action })}
        />
      )}
      {outcomes.length > 0 && (
        <Choice
          all
          label="Outcome"
          value={filter.status ?? ""}
          values={outcomes.map((each) => [each, inWords(each)])}
          onChange={(status) => onChange({ status })}
        />
      )}
      {times}
      {text("tool", "Tool", "audit-tools")}
      {text("principal", "Who", "audit-people")}
      {text("trace", "Trace")}
      {suggested(
        "audit-tools",
        records.map(({ toolId, targets }) => String(toolId ?? (Array.isArray(targets) ? targets[0] : "") ?? "")),
      )}
      {suggested("audit-people", records.map(personOf))}
    </div>
  );
}

function inWords(name: string): string {
  return name.replaceAll(/[-_]/g, " ");
}

/** Saves all matching records as JSON Lines. */
function Export({ asking }: { readonly asking: RemoteAuditQuery }) {
  const [progress, setProgress] = useState("");
  return (
    <div class="actions">
      <Action
        label="Export"
        tone="quiet"
        run={async () => setProgress(await exportRecords(asking, (count) => setProgress(`${count} records…`)))}
      />
      <span class="dim" aria-live="polite">
        {progress === "" ? "Saves every record that matches, one JSON object on each line." : progress}
      </span>
    </div>
  );
}

function Records({ records, isCut }: { readonly records: readonly KeptRecord[]; readonly isCut: boolean }) {
  return (
    <Table
      caption="Audit records"
      rows={records}
      keyOf={({ seq }) => String(seq)}
      empty={isCut ? "No records match so far. Older ones may." : "No records match."}
      columns={[
        { title: "#", cell: ({ seq }) => seq },
        { title: "When", cell: ({ at }) => <Time at={at} /> },
        { title: "Kind", cell: ({ kind }) => inWords(kind) },
        { title: "What", cell: (record) => subjectOf(record) && <code>{subjectOf(record)}</code> },
        { title: "Who", cell: personOf },
        {
          title: "Outcome",
          cell: (record) => {
            const state = record["status"] ?? record["outcome"];
            return typeof state === "string" && <Badge state={state} />;
          },
        },
        { title: "Note", cell: ({ note }) => String(note ?? "") },
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
