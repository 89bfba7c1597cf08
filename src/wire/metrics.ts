import type { Upstreams } from "../adapters/sources/mcp/upstream/upstreams.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { Engine } from "../execute/engine.ts";
import type { Approvals } from "../guard/aegis.ts";
import { programIdentity } from "../system/program-identity.ts";
import type { Clock } from "../observe/clock.ts";
import type { Events } from "../observe/emitter.ts";
import type { HealthBook } from "../observe/health.ts";
import { createArsenalMetrics, type Prices } from "../observe/metrics/arsenal-metrics.ts";
import { watchProcess } from "../observe/metrics/process-metrics.ts";
import { createRecentMinutes, type Statistics, toStatistics } from "../observe/metrics/statistics.ts";

export type WiredMetrics = ReturnType<typeof wireMetrics>;

/** Wires the metrics of an arsenal. Counting starts with this call, because most arsenals never need metrics. */
export function wireMetrics(stages: {
  readonly events: Pick<Events, "catchUp" | "subscribe" | "dropped">;
  readonly clock: Clock;
  readonly prices: Prices | undefined;
  readonly health: HealthBook;
  readonly catalog: Catalog;
  readonly upstreams: Upstreams;
  readonly approvals: Approvals;
  readonly engine: () => Engine | undefined;
}) {
  const { events, clock, prices, health, catalog, upstreams, approvals, engine } = stages;
  const { registry, record, wants } = createArsenalMetrics({
    version: programIdentity().version,
    prices,
    catchUp: events.catchUp,
    dropped: events.dropped,
    openCircuits: health.openCircuits,
    load: () => engine()?.load() ?? { running: 0, waiting: 0 },
    upstreams: upstreams.all,
    approvalsPending: () => approvals.count(),
    catalog: {
      get size() {
        return catalog.size;
      },
      list: async (query) => (await catalog.open(), catalog.engine.list(query)),
    },
  });
  const since = Math.round(clock.now());
  const recent = createRecentMinutes(clock);
  const unsubscribe = events.subscribe(
    (event) => {
      record(event);
      recent.record(event);
    },
    { wants, isPatient: true },
  );
  const unwatch = watchProcess(registry);
  return {
    registry,
    /** Returns the statistics of this process since counting began, for all tenants or one. */
    statistics: async (tenant?: string): Promise<Statistics> => {
      const families = await registry.collect();
      return toStatistics(families, { since, minutes: recent.read(), prices, tenant });
    },
    close(): void {
      unsubscribe();
      unwatch();
    },
  };
}
