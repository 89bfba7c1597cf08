import { EXECUTION_STATUSES } from "../../../src/execute/result.ts";
import { gateway } from "../gateway.ts";
import { eventsProblem, liveCalls } from "../live.ts";
import { useAsk } from "../parts/ask.ts";
import { Badge } from "../parts/badge.tsx";
import { Choice } from "../parts/field.tsx";
import { type Call, type CallFilter, isShown, usePastCalls } from "../parts/past-calls.ts";
import { type RecordedArguments, useRecordedArguments } from "../parts/recorded-arguments.ts";
import { Shown } from "../parts/shown.tsx";
import { Table } from "../parts/table.tsx";
import { Time } from "../parts/time.tsx";
import { rangeQuery, readRange, type TimeRange, TimeRangeFields, useTimes } from "../parts/time-range.tsx";
import { go, place, to } from "../router.ts";
import { Trace } from "./trace.tsx";

/** Shows live and past calls, or the trace in the address. */
export function Calls() {
  const [traceId] = place.value.rest;
  return traceId === undefined ? <AllCalls /> : <Trace key={traceId} traceId={traceId} />;
}

function AllCalls() {
  const { query } = place.value;
  const range = readRange(query);
  const filter: CallFilter = {
    times: useTimes(range),
    tool: query.get("tool") ?? "",
    status: query.get("status") ?? "",
    ensemble: query.get("server") ?? "",
  };
  const live = liveCalls.value;
  const shown = live.filter((call) => isShown(filter, call));
  const { asked, older } = usePastCalls(filter);
  const heard = new Set(live.map(({ spanId }) => spanId));
  const { answer: recorded } = useRecordedArguments([...shown, ...(asked.answer?.calls ?? [])]);
  const isFiltered = [filter.tool, filter.status, filter.ensemble, range.when].some((each) => each !== "");
  return (
    <>
      <h1>Calls</h1>
      <Filters filter={filter} range={range} />
      <h2>
        Live <LiveBadge />
      </h2>
      {eventsProblem.value !== "" && <p class="bad">{eventsProblem.value}</p>}
      <CallTable
        caption="Live"
        calls={shown}
        recorded={recorded}
        empty={
          live.length === 0
            ? "No calls since you opened this page."
            : "None of the calls since you opened this page match."
        }
      />
      <h2>History</h2>
      <Shown asked={asked}>
        {(past) =>
          past === undefined ? (
            <p class="dim">
              This gateway keeps no history. Set <code>state.file</code>, or <code>telemetry.history.enabled</code>, to
              see earlier calls here.
            </p>
          ) : (
            <>
              <CallTable
                caption="History"
                calls={past.calls.filter(({ spanId }) => !heard.has(spanId))}
                recorded={recorded}
                empty={isFiltered ? "No calls match." : "No earlier calls."}
              />
              {past.calls.length > 0 && (
                <div class="actions">
                  {past.more ? (
                    <button type="button" class="quiet" disabled={asked.loading} onClick={older}>
                      Older
                    </button>
                  ) : (
                    <span class="dim">These are all.</span>
                  )}
                </div>
              )}
            </>
          )
        }
      </Shown>
    </>
  );
}

function LiveBadge() {
  return eventsProblem.value === "" ? (
    <span class="badge good">calls appear as they end</span>
  ) : (
    <span class="badge bad">interrupted</span>
  );
}

/** The filters. They are part of the address, so the view can be shared. */
function Filters({ filter, range }: { readonly filter: CallFilter; readonly range: TimeRange }) {
  const servers = useAsk(async () => (await gateway().stats()).ensembles ?? [], []);
  const change = (changed: Partial<CallFilter>, changedRange = range): void => {
    const { tool, status, ensemble } = { ...filter, ...changed };
    const query = { ...(tool && { tool }), ...(status && { status }), ...(ensemble && { server: ensemble }) };
    go(to("calls", [], { ...query, ...rangeQuery(changedRange) }), { replace: true });
  };
  const names = [...new Set([...(servers.answer ?? []).map(({ name }) => name), filter.ensemble])].filter(Boolean);
  return (
    <div class="filters">
      <label class="field">
        Tool
        <input
          type="search"
          value={filter.tool}
          placeholder="any part of its id"
          onInput={({ currentTarget }) => change({ tool: currentTarget.value.trim() })}
        />
      </label>
      <Choice
        all
        label="Status"
        value={filter.status}
        values={EXECUTION_STATUSES.map((status) => [status, status.replaceAll("_", " ")])}
        onChange={(status) => change({ status })}
      />
      {names.length > 0 && (
        <Choice
          all
          label="Server"
          value={filter.ensemble}
          values={names}
          onChange={(ensemble) => change({ ensemble })}
        />
      )}
      <TimeRangeFields range={range} onChange={(changed) => change({}, changed)} />
    </div>
  );
}

/** Maximum length of a call's arguments in the list, in characters. The page of the call's trace shows all of them. */
const SHOWN_ARGUMENTS = 500;
/** Statuses of calls without an error. A message of such a call is only for its caller. */
const NO_ERROR: ReadonlySet<string> = new Set(["success", "pending_confirmation"]);

function CallTable(props: {
  readonly caption: string;
  readonly calls: readonly Call[];
  readonly recorded: RecordedArguments;
  readonly empty: string;
}) {
  const { recorded } = props;
  const argumentsOf = ({ spanId }: Call) => (JSON.stringify(recorded?.get(spanId)) ?? "").slice(0, SHOWN_ARGUMENTS);
  return (
    <Table
      caption={props.caption}
      rows={props.calls}
      keyOf={({ spanId }) => spanId}
      empty={props.empty}
      columns={[
        { title: "When", cell: ({ at }) => <Time at={at} /> },
        { title: "Tool", cell: ({ toolId }) => <a href={to("catalog", [toolId])}>{toolId}</a> },
        { title: "Status", cell: ({ status }) => <Badge state={status} /> },
        {
          title: "Error",
          cell: ({ message, code, status }) =>
            !NO_ERROR.has(status) && (message ?? code) && <Cut text={message ?? code ?? ""} />,
        },
        ...(recorded === undefined
          ? []
          : [
              {
                title: "Arguments",
                cell: (call: Call) =>
                  argumentsOf(call) !== "" && (
                    <code>
                      <Cut text={argumentsOf(call)} />
                    </code>
                  ),
              },
            ]),
        { title: "Who", cell: ({ principal }) => principal },
        { title: "Took", cell: ({ latencyMs }) => <span class="amount">{Math.round(latencyMs)} ms</span> },
        { title: "Trace", cell: ({ traceId }) => <a href={to("calls", [traceId])}>{traceId.slice(0, 12)}</a> },
      ]}
    />
  );
}

/** Shows the first lines of a text; hovering shows all of it. */
function Cut({ text }: { readonly text: string }) {
  return (
    <span class="cut" title={text}>
      {text}
    </span>
  );
}
