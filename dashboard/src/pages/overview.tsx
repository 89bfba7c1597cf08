import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import type { GatewayOverview, Pin } from "../../../src/client/index.ts";
import type { Verification } from "../../../src/guard/audit.port.ts";
import { showMoney } from "../../../src/observe/money.ts";
import { gateway, identity } from "../gateway.ts";
import { useAsk } from "../parts/ask.ts";
import { Badge } from "../parts/badge.tsx";
import { MinutesChart } from "../parts/chart.tsx";
import { Failure } from "../parts/failure.tsx";
import { Table } from "../parts/table.tsx";
import { Time } from "../parts/time.tsx";
import { to } from "../router.ts";

const REFRESH_MS = 5_000;

/** Verifies the audit log once per visit, because it may be long. Undefined if it cannot be verified now. */
let checking: Promise<Verification | undefined> | undefined;

function verify(): Promise<Verification | undefined> {
  return gateway()
    .audit.verify()
    .catch(() => undefined);
}

/** Shows the current activity, and items that need attention. */
export function Overview() {
  const asked = useAsk(async () => {
    const [stats, pins] = await Promise.all([
      gateway().stats(),
      gateway()
        .pins.list({ states: ["changed", "new"] })
        .catch((): readonly Pin[] => []),
    ]);
    return { stats, pins };
  }, []);
  const keepsAudit = asked.answer?.stats.keeps.audit === true;
  const audit = useAsk(async () => (keepsAudit ? (checking ??= verify()) : undefined), [keepsAudit]);
  useEffect(() => {
    const timer = setInterval(asked.again, REFRESH_MS);
    return () => clearInterval(timer);
  }, []);
  const { answer, error, loading } = asked;
  const tenant = identity.value?.tenant;
  return (
    <>
      <h1>Overview</h1>
      {error !== undefined && <Failure error={error} />}
      {answer === undefined && loading && <p class="dim">Loading…</p>}
      {answer !== undefined && (
        <>
          <Attention {...answer} audit={audit.answer} />
          <Tiles stats={answer.stats} />
          {answer.stats.minutes !== undefined && (
            <section class="card">
              <h2>The last hour</h2>
              <MinutesChart minutes={answer.stats.minutes} />
            </section>
          )}
          <div class="columns">
            <section>
              <h2>Servers</h2>
              <Table
                caption="Servers"
                rows={answer.stats.ensembles}
                keyOf={({ name }) => name}
                empty="Nothing is connected yet."
                columns={[
                  { title: "Name", cell: ({ name }) => <a href={to("servers")}>{name}</a> },
                  { title: "State", cell: ({ state }) => <Badge state={state} /> },
                  { title: "Tools", cell: ({ tools }) => tools },
                ]}
              />
            </section>
            <section>
              <h2>Calls by status</h2>
              <Table
                caption="Calls by status"
                rows={Object.entries(answer.stats.byStatus).sort(([, a], [, b]) => b - a)}
                keyOf={([status]) => status}
                empty="No calls yet."
                columns={[
                  {
                    title: "Status",
                    cell: ([status]) => (
                      <a href={to("calls", [], { status })}>
                        <Badge state={status} />
                      </a>
                    ),
                  },
                  { title: "Calls", cell: ([, calls]) => calls.toLocaleString() },
                ]}
              />
            </section>
          </div>
          <p class="dim">
            {tenant === undefined ? "Counted" : `Calls and searches of ${tenant}, counted`} by the process that
            answered, since <Time at={answer.stats.since} />. To add up several processes, scrape <code>/metrics</code>{" "}
            of each.
            {answer.stats.folded === true &&
              " This gateway counts too many tenants to keep all of yours apart: these figures are too low."}
          </p>
        </>
      )}
    </>
  );
}

function Attention(props: {
  readonly stats: GatewayOverview;
  readonly pins: readonly Pin[];
  readonly audit: Verification | undefined;
}) {
  const { stats, pins, audit } = props;
  const { approvalsPending = 0, droppedEvents = 0 } = stats;
  const failed = stats.ensembles.filter(({ state }) => state === "failed");
  const waiting = pins.filter(({ refusedBy }) => refusedBy === undefined).length;
  const items: readonly (readonly [key: string, link: string, text: ComponentChildren])[] = [
    ...failed.map(
      ({ name, problem = "It failed." }) => [`server ${name}`, to("servers"), `${name}: ${problem}`] as const,
    ),
    ...stats.openBreakers.map(
      (id) => [`breaker ${id}`, to("catalog", [id]), `The circuit breaker of ${id} is open.`] as const,
    ),
    ...stats.conflicts.map(
      (id) =>
        [
          `conflict ${id}`,
          to("catalog", [id]),
          `Another process wrote another definition of ${id} into the catalog. It is not used.`,
        ] as const,
    ),
    ...(approvalsPending > 0
      ? [
          [
            "approvals",
            to("approvals"),
            `${count(approvalsPending, "call waits", "calls wait")} for approval.`,
          ] as const,
        ]
      : []),
    ...(waiting > 0
      ? [
          [
            "pins",
            to("pins"),
            `${count(waiting, "tool is", "tools are")} new or changed, and must be accepted.`,
          ] as const,
        ]
      : []),
    ...(audit?.ok === false ? [["audit", to("audit"), `The audit log is broken: ${audit.reason}`] as const] : []),
    ...(droppedEvents > 0
      ? [["dropped", to(""), `${count(droppedEvents, "event", "events")} could not be delivered to a sink.`] as const]
      : []),
  ];
  return (
    <section class="card attention" aria-live="polite">
      <h2>Needs attention now</h2>
      {items.length === 0 ? (
        <p class="good">Nothing. All is well.</p>
      ) : (
        <ul>
          {items.map(([key, link, text]) => (
            <li key={key}>
              <a href={link}>{text}</a>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

interface Tile {
  readonly title: string;
  readonly value: string;
  readonly more?: ComponentChildren;
  readonly tone?: "good" | "bad" | undefined;
}

function Tiles({ stats }: { readonly stats: GatewayOverview }) {
  const { calls, errors, callMs, retrievals, retrievalMs, tokens, cost, currency, running, waiting, ensembles } = stats;
  const everything = tokens.returned + tokens.saved;
  const connected = ensembles.filter(({ state }) => state === "connected").length;
  const money = (amount: number): string => showMoney(amount, currency, undefined);
  const tiles: readonly Tile[] = [
    {
      title: "Calls",
      value: calls.toLocaleString(),
      more: running === undefined ? "" : `${running} running, ${waiting} waiting`,
    },
    {
      title: "Errors",
      value: errors.toLocaleString(),
      more: calls === 0 ? "" : `${((errors / calls) * 100).toFixed(1)} % of calls`,
      tone: errors > 0 ? "bad" : undefined,
    },
    { title: "Call P95", value: ms(callMs.p95), more: `P50 ${ms(callMs.p50)}` },
    {
      title: "Search P95",
      value: ms(retrievalMs.p95),
      more: `P50 ${ms(retrievalMs.p50)}, ${count(retrievals, "search", "searches")}`,
    },
    {
      title: "Tokens saved",
      value: tokens.saved.toLocaleString(),
      more: everything === 0 ? "" : `${Math.round((tokens.saved / everything) * 100)} % less than sending every tool`,
      tone: tokens.saved > 0 ? "good" : undefined,
    },
    tokens.savedCost === undefined
      ? {
          title: "Money saved",
          value: "–",
          more: (
            <>
              Set <code>telemetry.prices</code> to see it
            </>
          ),
        }
      : {
          title: "Money saved",
          value: money(tokens.savedCost),
          more: "input tokens, at your model's price",
          tone: tokens.savedCost > 0 ? "good" : undefined,
        },
    { title: "Cost of calls", value: money(cost), more: "as the tools declare it" },
    {
      title: "Servers",
      value: `${connected} of ${ensembles.length}`,
      more: "connected",
      tone: ensembles.some(({ state }) => state === "failed") ? "bad" : undefined,
    },
  ];
  return (
    <dl class="tiles">
      {tiles.map(({ title, value, more, tone }) => (
        <div class="tile" key={title}>
          <dt class="dim">{title}</dt>
          <dd>
            <b class={tone}>{value}</b>
            <small>{more}</small>
          </dd>
        </div>
      ))}
    </dl>
  );
}

function count(number: number, one: string, many: string): string {
  return `${number.toLocaleString()} ${number === 1 ? one : many}`;
}

function ms(value: number | undefined): string {
  if (value === undefined) return "–";
  return value < 10 ? `${value.toFixed(1)} ms` : `${Math.round(value).toLocaleString()} ms`;
}
