import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type PrometheusService, prometheusMissing, startPrometheus } from "../../services/prometheus.ts";
import { eventually } from "../replicas/eventually.ts";
import { type BusyGateway, startBusyGateway } from "./busy-gateway.ts";

const deployed = (path: string): string => fileURLToPath(new URL(`../../../deploy/${path}`, import.meta.url));
const ALERTS = deployed("prometheus/alerts.yml");

/** Every query of the dashboard, with Grafana's variables as Grafana would fill them. */
function dashboardQueries(): readonly string[] {
  const { panels } = JSON.parse(readFileSync(deployed("grafana/toolarsenal.json"), "utf8")) as {
    readonly panels: readonly { readonly targets?: readonly { readonly expr: string }[] }[];
  };
  return panels
    .flatMap(({ targets = [] }) => targets)
    .map(({ expr }) =>
      expr.replaceAll(/\$__(?:rate_interval|range)/g, "1m").replaceAll(/\$(?:namespace|tenant)/g, ".*"),
    );
}

// because the machine may have no Prometheus, which is printed
describe.skipIf(prometheusMissing() !== undefined)("Prometheus", () => {
  let gateway: BusyGateway;
  let prometheus: PrometheusService;

  beforeAll(async () => {
    const prices = { currency: "EUR", perMillionInputTokens: 3 };
    gateway = await startBusyGateway({ telemetry: { prices } }, { withIdentity: true });
    prometheus = await startPrometheus({
      target: gateway.url,
      rules: [ALERTS],
      token: "prometheus-reads-metrics",
    });
  });

  afterAll(async () => {
    await prometheus?.stop();
    await gateway?.close();
  });

  it("answers every query of the Grafana dashboard with data", async () => {
    await eventually("it scraped twice", async () => ((await prometheus.query("count_over_time(up[1m])"))[0] ?? 0) > 1);
    // So that counters grow between two scrapes.
    await gateway.happen();
    const queries = dashboardQueries();
    expect(queries.length).toBeGreaterThan(30);
    for (const query of queries)
      await eventually(`there is data for ${query}`, async () =>
        (await prometheus.query(query)).some((value) => Number.isFinite(value)),
      );
    expect(await prometheus.query('up{job="toolarsenal"}')).toEqual([1]);
  });

  it("loads the alert rules, and sees the breaker that is open", async () => {
    const { data } = (await (await fetch(`${prometheus.url}/api/v1/rules`)).json()) as {
      readonly data: { readonly groups: readonly { readonly rules: readonly { readonly name: string }[] }[] };
    };
    const names = data.groups.flatMap(({ rules }) => rules.map(({ name }) => name));
    expect(names).toContain("ToolArsenalCircuitOpen");
    await eventually("the expression of the alert holds", async () => {
      return (await prometheus.query("max by (tool) (toolarsenal_circuit_breaker_open) == 1")).length === 1;
    });
  });

  it("finds nothing wrong with the metrics and the rules: promtool", async () => {
    const headers = { authorization: "Bearer prometheus-reads-metrics" };
    const page = await (await fetch(`${gateway.url}/metrics`, { headers })).text();
    const metrics = spawnSync("promtool", ["check", "metrics"], { input: page, encoding: "utf8" });
    expect(metrics.stdout + metrics.stderr).toBe("");
    expect(metrics.status).toBe(0);
    expect(spawnSync("promtool", ["check", "rules", ALERTS]).status).toBe(0);
    expect(spawnSync("promtool", ["check", "config", "--syntax-only", deployed("compose/prometheus.yml")]).status).toBe(
      0,
    );
  });
});
