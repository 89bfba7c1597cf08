import { afterEach, describe, expect, it } from "vitest";
import { openGateway } from "../../serve/rest-gateway.ts";
import { type BusyGateway, startBusyGateway } from "./busy-gateway.ts";

let gateway: BusyGateway | undefined;

afterEach(async () => {
  await gateway?.close();
  gateway = undefined;
});

async function read(url: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  return fetch(url, { headers });
}

/** The value of the one sample with this name and these labels. */
function valueOf(page: string, sample: string): number | undefined {
  const line = page.split("\n").find((each) => each.startsWith(`${sample} `));
  return line === undefined ? undefined : Number(line.slice(sample.length + 1));
}

describe("/metrics", () => {
  it("tells of retrievals, calls, breakers, servers, approvals, findings, cost and the process [000-2.3-metrics] [000-5.5-prometheus] [000-2.3-latency-by-tenant]", async () => {
    gateway = await startBusyGateway();
    const answer = await read(`${gateway.url}/metrics`);
    const page = await answer.text();
    expect(answer.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    const samples = {
      'toolarsenal_retrieval_duration_seconds_count{namespace="shop",tenant="acme"}': 1,
      'toolarsenal_calls_total{namespace="shop",tenant="acme",status="success"}': 1,
      'toolarsenal_calls_total{namespace="greeter",tenant="none",status="success"}': 1,
      'toolarsenal_calls_total{namespace="shop",tenant="none",status="failure"}': 3,
      'toolarsenal_calls_total{namespace="shop",tenant="none",status="circuit_open"}': 1,
      'toolarsenal_calls_total{namespace="shop",tenant="none",status="pending_confirmation"}': 1,
      'toolarsenal_call_duration_seconds_count{namespace="shop",tenant="none"}': 4,
      'toolarsenal_call_cost_total{namespace="shop",tenant="acme"}': 0.25,
      'toolarsenal_circuit_breaker_open{tool="shop.ship_order"}': 1,
      toolarsenal_circuit_breakers_open: 1,
      toolarsenal_calls_waiting: 0,
      toolarsenal_calls_running: 0,
      'toolarsenal_upstream_up{upstream="greeter"}': 1,
      toolarsenal_approvals_pending: 1,
      toolarsenal_catalog_tools: 5,
    };
    expect(Object.fromEntries(Object.keys(samples).map((name) => [name, valueOf(page, name)]))).toEqual(samples);
    expect(page).toMatch(/^toolarsenal_scan_findings_total\{where="result",severity="\w+",action="flagged"\} 1$/m);
    const [all, handedOut, saved] = [
      "toolarsenal_catalog_tokens",
      'toolarsenal_retrieval_tokens_total{tenant="acme"}',
      'toolarsenal_retrieval_tokens_saved_total{tenant="acme"}',
    ].map((name) => valueOf(page, name) ?? 0);
    expect(all).toBeGreaterThan(50);
    expect(saved).toBe(Math.max(0, (all ?? 0) - (handedOut ?? 0)));
    for (const name of ["process_cpu_seconds_total", "process_resident_memory_bytes"])
      expect(valueOf(page, name)).toBeGreaterThan(0);
  });

  it("has every histogram before the first call, with nothing counted", async () => {
    const { url } = await openGateway();
    const page = await (await read(`${url}/metrics`)).text();
    for (const [name, labels] of [
      ["toolarsenal_retrieval_duration_seconds", 'namespace="none",tenant="none"'],
      ["toolarsenal_call_duration_seconds", 'namespace="none",tenant="none"'],
      ["toolarsenal_call_queue_seconds", 'namespace="none"'],
    ] as const) {
      expect(page).toContain(`# TYPE ${name} histogram`);
      expect(valueOf(page, `${name}_count{${labels}}`)).toBe(0);
      expect(valueOf(page, `${name}_sum{${labels}}`)).toBe(0);
      expect(valueOf(page, `${name}_bucket{${labels},le="+Inf"}`)).toBe(0);
    }
  });

  it("counts the money that saved tokens would have cost, if a price is configured", async () => {
    const prices = { currency: "EUR", perMillionInputTokens: 2_000_000 };
    gateway = await startBusyGateway({ telemetry: { prices } });
    const page = await (await read(`${gateway.url}/metrics`)).text();
    const saved = valueOf(page, 'toolarsenal_retrieval_tokens_saved_total{tenant="acme"}') ?? 0;
    expect(valueOf(page, 'toolarsenal_retrieval_cost_saved_total{tenant="acme",currency="EUR"}')).toBe(saved * 2);
  });

  it("is for the operator and for those with the role metrics, where callers have identities", async () => {
    gateway = await startBusyGateway({}, { withIdentity: true });
    const url = `${gateway.url}/metrics`;
    const as = async (token: string): Promise<number> => (await read(url, { authorization: `Bearer ${token}` })).status;
    expect((await read(url)).status).toBe(401);
    expect([
      await as("operator-of-this-gateway"),
      await as("prometheus-reads-metrics"),
      await as("agent-of-a-tenant-acme"),
    ]).toEqual([200, 200, 403]);
    const acme = { authorization: "Bearer agent-of-a-tenant-acme" };
    const refusals = [await read(url), await read(url, acme), await fetch(url, { method: "POST", headers: acme })];
    for (const refusal of refusals) expect(refusal.headers.get("content-type")).toBe("application/problem+json");
    expect(await Promise.all(refusals.map((refusal) => refusal.json()))).toMatchObject([
      { status: 401, code: "UNAUTHENTICATED" },
      { status: 403, code: "PERMISSION_DENIED", fix: expect.stringContaining('"metrics"') as string },
      { status: 405, code: "INPUT_INVALID" },
    ]);
    const posted = await fetch(`${gateway.url}/ui`, { method: "POST" });
    expect([posted.status, posted.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
    expect(await posted.json()).toMatchObject({ status: 405, code: "INPUT_INVALID", fix: "Use GET, HEAD." });
  });

  it("is for everybody who can connect if server.metrics is open", async () => {
    gateway = await startBusyGateway({ server: { metrics: "open" } }, { withIdentity: true });
    expect((await read(`${gateway.url}/metrics`)).status).toBe(200);
    expect((await read(`${gateway.url}/mcp`)).status).toBe(401);
  });

  it("answers in OpenMetrics to those who accept it", async () => {
    gateway = await startBusyGateway();
    const answer = await read(`${gateway.url}/metrics`, { accept: "application/openmetrics-text; version=1.0.0" });
    expect(answer.headers.get("content-type")).toBe("application/openmetrics-text; version=1.0.0; charset=utf-8");
    const page = await answer.text();
    expect(page).toContain("# TYPE toolarsenal_calls counter");
    expect(page.endsWith("# EOF\n")).toBe(true);
  });

  it.each([
    { exposePrometheus: true, prometheusPort: 0 },
    { enabled: true, type: "prometheus", prometheusPort: 0 },
  ] as const)(
    "is also served on a port of its own, where nothing else is, with %j [000-9.1-prometheus-port]",
    async (telemetry) => {
      gateway = await startBusyGateway({ telemetry });
      const { metricsUrl = "" } = gateway;
      expect(new URL(metricsUrl).port).not.toBe(new URL(gateway.url).port);
      expect(await (await read(metricsUrl)).text()).toContain("toolarsenal_calls_total");
      expect((await read(new URL("/mcp", metricsUrl).href)).status).toBe(404);
    },
  );
});
