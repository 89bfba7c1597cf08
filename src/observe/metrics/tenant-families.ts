import { NONE } from "./arsenal-metrics.ts";
import { type MetricFamily, OTHER } from "./registry.ts";

/** Metrics of the process and of servers, which reveal nothing about any tenant's callers. A new metric is hidden from tenants unless it is listed here. */
const SHARED = /^(?:process_|nodejs_|toolarsenal_(?:build_info|upstream_up)$)/;

/** The metrics that a tenant may read: its own series and the shared ones. Everything if no tenant is named. */
export function familiesFor(tenant: string | undefined, families: readonly MetricFamily[]): readonly MetricFamily[] {
  if (tenant === undefined) return families;
  // These two stand for callers without a tenant, and for all tenants beyond the limit.
  const isReserved = tenant === OTHER || tenant === NONE;
  return families.map((family) => {
    if (SHARED.test(family.name)) return family;
    return { ...family, series: family.series.filter(({ labels }) => !isReserved && labels["tenant"] === tenant) };
  });
}
