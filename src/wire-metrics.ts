import type { Upstreams } from "./adapters/sources/mcp/upstream/upstreams.ts";
import type { Catalog } from "./catalog/catalog.ts";
import type { Engine } from "./execute/engine.ts";
import type { Approvals } from "./guard/aegis.ts";
import { ownIdentity } from "./mcp/client-identity.ts";
import type { Events } from "./observe/emitter.ts";
import type { HealthBook } from "./observe/health.ts";
import { createArsenalMetrics } from "./observe/metrics/arsenal-metrics.ts";
import { watchProcess } from "./observe/metrics/process-metrics.ts";
import type { MetricRegistry } from "./observe/metrics/registry.ts";

/** Metrics that are being counted. */
export interface WiredMetrics {
  readonly registry: MetricRegistry;
  close(): void;
}

/** Wires the metrics of an arsenal. Counting begins now: nothing is counted for an arsenal whose metrics nobody wants. */
export function wireMetrics(stages: {
  readonly events: Pick<Events, "subscribe" | "dropped">;
  readonly health: HealthBook;
  readonly catalog: Catalog;
  readonly upstreams: Upstreams;
  readonly approvals: Approvals;
  /** Undefined until the first call. */
  readonly engine: () => Engine | undefined;
}): WiredMetrics {
  const { events, health, catalog, upstreams, approvals, engine } = stages;
  const { registry, record } = createArsenalMetrics({
    version: String(ownIdentity().info["version"]),
    dropped: events.dropped,
    openCircuits: health.openCircuits,
    load: () => engine()?.load() ?? { running: 0, waiting: 0 },
    upstreams: upstreams.all,
    approvalsPending: async () => (await approvals.list()).filter(({ state }) => state === "pending").length,
    catalog: {
      get size() {
        return catalog.size;
      },
      list: async (query) => (await catalog.open(), catalog.engine.list(query)),
    },
  });
  const unsubscribe = events.subscribe(record);
  const unwatch = watchProcess(registry);
  return {
    registry,
    close() {
      unsubscribe();
      unwatch();
    },
  };
}
