import { setImmediate as nextTurn } from "node:timers/promises";
import { toolTokens } from "../../tool/estimate-tokens.ts";
import type { Tool } from "../../tool/tool.ts";
import type { ArsenalEvent, EventMap, EventName } from "../events.ts";
import { createMetricRegistry, type MetricRegistry } from "./registry.ts";

/** The configured price of tokens. */
export interface Prices {
  /** An ISO 4217 code. */
  readonly currency: string;
  readonly perMillionInputTokens?: number;
}

interface MetricSources {
  readonly version: string;
  /** Prices the saved tokens. Omitted if no price is configured. */
  readonly prices?: Prices | undefined;
  /** Delivers all emitted events, so that they count before metrics are read. */
  catchUp(): void;
  dropped(): ReadonlyMap<string, number>;
  openCircuits(): readonly string[];
  load(): { readonly running: number; readonly waiting: number };
  upstreams(): readonly { readonly name: string; readonly state: { readonly kind: string } }[];
  approvalsPending(): Promise<number>;
  readonly catalog: {
    readonly size: number;
    list(query: { readonly limit: number; readonly cursor?: string }): Promise<{
      readonly tools: readonly Tool[];
      readonly next?: string;
    }>;
  };
}

/** Upper bounds in seconds. Retrievals take milliseconds, calls up to minutes. */
const RETRIEVAL_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];
const CALL_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/** The number of tools whose definitions are measured. Larger catalogs are extrapolated. */
const MEASURED_TOOLS = 2_000;
const PAGE = 100;

/** The value of a label that does not apply. */
export const NONE = "none";

/** Declares every metric of an arsenal. Most metrics count events; the others are computed on collection. */
export function createArsenalMetrics(sources: MetricSources) {
  const registry = createMetricRegistry();
  // Must be first: the other metrics may depend on these events.
  registry.onCollect(sources.catchUp);
  const retrievals = registry.histogram(
    "toolarsenal_retrieval_duration_seconds",
    "Time to find tools for a request, by the namespace of the best tool found.",
    ["namespace", "tenant"],
    RETRIEVAL_SECONDS,
  );
  const handedOut = registry.counter(
    "toolarsenal_retrieval_tokens_total",
    "Estimated tokens of the definitions that retrievals returned.",
    ["tenant"],
  );
  const saved = registry.counter(
    "toolarsenal_retrieval_tokens_saved_total",
    "Estimated tokens not sent to a model, compared with sending every definition for each retrieval.",
    ["tenant"],
  );
  const saveMoney = savedMoney(registry, sources.prices);
  const calls = registry.counter("toolarsenal_calls_total", "Finished calls, by how they ended.", [
    "namespace",
    "tenant",
    "status",
  ]);
  const durations = registry.histogram(
    "toolarsenal_call_duration_seconds",
    "Time from the start of a handler to the end of the call, retries included. Calls that never ran are left out.",
    ["namespace", "tenant"],
    CALL_SECONDS,
  );
  const queued = registry.histogram(
    "toolarsenal_call_queue_seconds",
    "Time that calls that ran spent before their handler was called: checks, and waiting for a place.",
    ["namespace"],
    CALL_SECONDS,
  );
  // The histograms exist from the start, so that queries and alerts find them before the first call.
  retrievals.start(NONE, NONE);
  durations.start(NONE, NONE);
  queued.start(NONE);
  const cost = registry.counter(
    "toolarsenal_call_cost_total",
    "What calls cost, as their tools declare it, in the currency they use.",
    ["namespace", "tenant"],
  );
  const cached = registry.counter("toolarsenal_calls_cached_total", "Calls answered by the result cache.", [
    "namespace",
  ]);
  const retried = registry.counter("toolarsenal_call_retries_total", "Repeated attempts.", ["namespace"]);
  const findings = registry.counter("toolarsenal_scan_findings_total", "Findings of scans, by action.", [
    "where",
    "severity",
    "action",
  ]);
  const approvals = registry.counter("toolarsenal_approvals_total", "Approvals, by outcome.", ["outcome"]);
  const audit = registry.counter("toolarsenal_audit_failures_total", "Audit records that could not be kept.");
  const tokens = watchTokens(registry, sources);
  collectGauges(registry, sources);

  const count: { readonly [Name in EventName]?: (data: EventMap[Name]) => void } = {
    "catalog-synced": tokens.changed,
    "catalog-changed": tokens.changed,
    "tool-deleted": tokens.changed,
    "retrieval-finished": ({ tools, tenant = NONE, durationMs, tokens: returned }) => {
      retrievals.observe(durationMs / 1_000, namespaceOf(tools[0]?.toolId), tenant);
      handedOut.add(returned, tenant);
      tokens.whenKnown((all) => {
        const fewer = Math.max(0, all - returned);
        saved.add(fewer, tenant);
        saveMoney?.(fewer, tenant);
      });
    },
    "call-finished": (data) => {
      const { status, tenant = NONE, attempts } = data;
      const namespace = namespaceOf(data.toolId);
      calls.add(1, namespace, tenant, status);
      if (data.cached === true) cached.add(1, namespace);
      if (attempts === 0) return;
      durations.observe(data.latencyMs / 1_000, namespace, tenant);
      queued.observe(Math.max(0, data.queuedMs) / 1_000, namespace);
      if (data.cost !== undefined) cost.add(data.cost, namespace, tenant);
    },
    "call-retried": ({ toolId }) => retried.add(1, namespaceOf(toolId)),
    "scan-flagged": ({ where, severity, action }) => findings.add(1, where, severity, action),
    "confirmation-requested": () => approvals.add(1, "requested"),
    "confirmation-resolved": ({ outcome }) => approvals.add(1, outcome),
    "audit-failed": ({ records }) => audit.add(records),
  };

  return {
    registry,
    wants: (name: EventName): boolean => count[name] !== undefined,
    record: ({ name, data }: ArsenalEvent): void => count[name]?.(data as never),
  };
}

/** Counts the cost of saved tokens. Undefined if no price is configured. */
function savedMoney(
  registry: MetricRegistry,
  { currency = "", perMillionInputTokens }: Partial<Prices> = {},
): ((tokens: number, tenant: string) => void) | undefined {
  if (perMillionInputTokens === undefined) return undefined;
  const money = registry.counter(
    "toolarsenal_retrieval_cost_saved_total",
    "What the saved tokens would have cost, at the configured price.",
    ["tenant", "currency"],
  );
  return (tokens, tenant) => money.add((tokens * perMillionInputTokens) / 1_000_000, tenant, currency);
}

/** The part of an id before the tool's name, which has no dot. */
function namespaceOf(toolId: string | undefined): string {
  const end = toolId?.lastIndexOf(".") ?? -1;
  return toolId === undefined || end <= 0 ? NONE : toolId.slice(0, end);
}

/** Estimates the tokens of all definitions after each change of the catalog, a few tools at a time. */
function watchTokens(registry: MetricRegistry, { catalog }: MetricSources) {
  const gauge = registry.gauge("toolarsenal_catalog_tokens", "Estimated tokens of all definitions in the catalog.");
  let average = 0;
  let measuring: Promise<void> | undefined;
  let isStale = false;
  const ofAll = (): number => Math.round(average * catalog.size);

  async function measure(): Promise<void> {
    let [sum, count] = [0, 0];
    let cursor: string | undefined;
    do {
      const page = await catalog.list({ limit: PAGE, ...(cursor !== undefined && { cursor }) });
      for (const tool of page.tools) sum += toolTokens(tool);
      count += page.tools.length;
      cursor = page.next;
      await nextTurn();
    } while (cursor !== undefined && count < MEASURED_TOOLS);
    average = count === 0 ? 0 : sum / count;
  }

  async function measureUntilFresh(): Promise<void> {
    while (isStale) {
      isStale = false;
      await measure().catch(() => {}); // If the engine is unavailable, the last estimate stays.
    }
  }

  function changed(): void {
    isStale = true;
    measuring ??= measureUntilFresh().finally(() => (measuring = undefined));
  }

  changed();
  registry.onCollect(async () => {
    await measuring;
    gauge.set(ofAll());
  });
  return {
    changed,
    whenKnown: (use: (tokens: number) => void): void =>
      measuring === undefined ? use(ofAll()) : void measuring.then(() => use(ofAll())),
  };
}

function collectGauges(registry: MetricRegistry, sources: MetricSources): void {
  const info = registry.gauge("toolarsenal_build_info", "The version that runs; always 1.", ["version"]);
  const tools = registry.gauge("toolarsenal_catalog_tools", "Tools in the catalog.");
  const breakers = registry.gauge("toolarsenal_circuit_breakers_open", "Tools whose circuit breaker is open.");
  const breaker = registry.gauge(
    "toolarsenal_circuit_breaker_open",
    "1 for each tool whose circuit breaker is open; absent while it is closed.",
    ["tool"],
  );
  const running = registry.gauge("toolarsenal_calls_running", "Calls that run now.");
  const waiting = registry.gauge("toolarsenal_calls_waiting", "Calls that wait for a place to run.");
  const up = registry.gauge("toolarsenal_upstream_up", "1 if the MCP server is connected, 0 if not.", ["upstream"]);
  const pending = registry.gauge("toolarsenal_approvals_pending", "Calls that wait for a person's approval.");
  const dropped = registry.counter("toolarsenal_events_dropped_total", "Events that a sink lost.", ["sink"]);
  info.set(1, sources.version);

  registry.onCollect(() => {
    tools.set(sources.catalog.size);
    const open = sources.openCircuits();
    breakers.set(open.length);
    breaker.clear();
    for (const toolId of open) breaker.set(1, toolId);
    const load = sources.load();
    running.set(load.running);
    waiting.set(load.waiting);
    up.clear();
    for (const { name, state } of sources.upstreams()) up.set(state.kind === "connected" ? 1 : 0, name);
    for (const [sink, events] of sources.dropped()) dropped.set(events, sink);
  });
  registry.onCollect(async () => pending.set(await sources.approvalsPending()));
}
