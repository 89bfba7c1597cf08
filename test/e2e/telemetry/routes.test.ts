import { expect, it, onTestFinished } from "vitest";
import { startCollector } from "../../doubles/otlp-collector.ts";
import { openGateway } from "../../serve/rest-gateway.ts";

/** Requests, and the span of each. A name never has an id, or anything else that a caller can make up. */
const REQUESTS = {
  "POST /api/v1/execute": "POST /api/v1/execute",
  "GET /api/v1/tools": "GET /api/v1/tools",
  "GET /api/v1/tools/billing.get_invoice": "GET /api/v1/tools/{id}",
  "HEAD /api/v1/tools/billing.get_invoice": "HEAD /api/v1/tools/{id}",
  "GET /api/v1/tools/billing.get_invoice/health": "GET /api/v1/tools/{id}/health",
  "POST /api/v1/approvals/a-17/deny": "POST /api/v1/approvals/{id}/deny",
  "PUT /api/v1/tools/billing.get_invoice": "PUT /api/v1/tools/{id}",
  "GET /api/v1/made/up": "GET /api/v1/",
  "GET /api/v1": "GET /api/v1",
  "GET /openapi.json": "GET /openapi.json",
  "POST /mcp": "POST /mcp",
  "POST /mcp/toolsets/invoices": "POST /mcp/toolsets/{name}",
  "POST /mcp/upstreams/made-up": "POST /mcp/upstreams/{name}",
  "POST /a2a": "POST /a2a",
  "POST /a2a/v1/message:send": "POST /a2a/v1/message:send",
  "GET /a2a/v1/tasks/t-17": "GET /a2a/v1/tasks/{id}",
  "POST /a2a/v1/tasks/t-17:cancel": "POST /a2a/v1/tasks/{id}:cancel",
  "GET /a2a/v1/tasks/t-17/pushNotificationConfigs/c-3": "GET /a2a/v1/tasks/{id}/pushNotificationConfigs/{configId}",
  "GET /a2a/v1/made-up": "GET /a2a/v1/",
} as const;

it("names the span of each request by the template of its route", async () => {
  const collector = await startCollector();
  onTestFinished(() => collector.close());
  const { url, close } = await openGateway(
    {},
    {
      telemetry: { type: "opentelemetry", otlp: { endpoint: collector.url, metrics: false } },
      toolsets: [{ name: "invoices", description: "Invoices.", include: { namespaces: ["billing"] } }],
    },
    { environment: {} },
  );
  for (const request of Object.keys(REQUESTS)) {
    const [method = "", path = ""] = request.split(" ");
    const body = method === "POST" ? { body: "{}", headers: { "content-type": "application/json" } } : {};
    await (await fetch(url + path, { method, ...body })).arrayBuffer();
  }
  await close();
  const spans = collector.spans().filter(({ attributes }) => attributes["http.route"] !== undefined);
  expect(spans.map(({ name }) => name).toSorted()).toEqual(Object.values(REQUESTS).toSorted());
  for (const { name, attributes } of spans)
    expect(name).toBe(`${attributes["http.request.method"]} ${attributes["http.route"]}`);
});
