import { NONE } from "./arsenal-metrics.ts";
import { type MetricFamily, OTHER } from "./registry.ts";

/** Metrics of the process and of servers, which reveal nothing about tenants. New metrics are hidden from tenants unless listed here. */
const SHARED = /^(?:process_|nodejs_|toolarsenal_(?:build_info|upstream_up)$)/;

/** Returns the metrics that a tenant may read: its own series and the shared ones. Returns all metrics if no tenant is given. */
export function familiesFor(tenant: string | undefined, families: readonly MetricFamily[]): readonly MetricFamily[] {
  if (tenant === undefined) return families;
  // These labels mean callers without a tenant, and all tenants beyond the limit.
  const isReserved = tenant === OTHER || tenant === NONE;
  return families.map((family) => {
    if (SHARED.test(family.name)) return family;
    return { ...family, series: family.series.filter(({ labels }) => !isReserved && labels["tenant"] === tenant) };
  });
}
