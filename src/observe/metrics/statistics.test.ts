import { describe, expect, it } from "vitest";
import { createMetricRegistry, type MetricRegistry } from "./registry.ts";
import { type Statistics, toStatistics } from "./statistics.ts";

async function read(registry: MetricRegistry, tenant: string): Promise<Statistics> {
  return toStatistics(await registry.collect(), { since: 0, minutes: [], tenant });
}

function countCalls(tenants: readonly string[], limits: { maxValues?: number; maxSeries?: number }): MetricRegistry {
  const registry = createMetricRegistry(limits);
  const calls = registry.counter("toolarsenal_calls_total", "", ["namespace", "tenant", "status"]);
  for (const tenant of tenants) calls.add(1, "shop", tenant, "success");
  return registry;
}

describe("the figures of one tenant", () => {
  it("are its own", async () => {
    const registry = countCalls(["acme", "other", "none"], {});
    expect(await read(registry, "acme")).toMatchObject({ calls: 1, byStatus: { success: 1 } });
    expect(await read(registry, "acme")).not.toHaveProperty("folded");
  });

  it("say so if they are counted together with those of others", async () => {
    const registry = countCalls(["first", "second", "third", "fourth"], { maxValues: 2 });
    expect(await read(registry, "first")).not.toHaveProperty("folded");
    expect(await read(registry, "third")).toMatchObject({ calls: 0, folded: true });
    const crowded = countCalls(["first", "second", "third"], { maxSeries: 1 });
    expect(await read(crowded, "first")).toMatchObject({ folded: true });
  });

  it.each(["other", "none"])("are never those of the series that %s stands for", async (tenant) => {
    const registry = countCalls(["acme", "none", "other"], {});
    expect(await read(registry, tenant)).toMatchObject({ calls: 0, folded: true });
  });
});
