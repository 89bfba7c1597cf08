import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createClient } from "../../../src/client/index.ts";
import { CAPABILITIES, type Principal, type ToolArsenal } from "../../../src/index.ts";
import { createManualClock, type ManualClock } from "../../../src/testing/manual-clock.ts";
import { startLegacyServer } from "../../mcp/upstream-server.ts";
import { openGateway } from "../../serve/rest-gateway.ts";
import { operate, type OperatedGateway } from "./operated-gateway.ts";

const HISTORY = { telemetry: { enabled: false, history: { enabled: true } } };
const START = Date.UTC(2026, 4, 1, 12);

const caller = (id: string, tenant?: string): Principal => ({
  id,
  roles: [],
  capabilities: CAPABILITIES,
  scopes: ["*"],
  local: false,
  ...(tenant !== undefined && { tenant }),
});

/** A gateway after a search and four calls: two minutes apart from each other. */
async function after(config: object = HISTORY): Promise<OperatedGateway & { readonly clock: ManualClock }> {
  const clock = createManualClock(START);
  const fill = async (arsenal: ToolArsenal): Promise<void> => {
    for (const name of ["greet", "fail"])
      arsenal.register(
        { name, description: `It can ${name} a customer.`, parameters: { type: "object" }, cost: { monetaryCost: 2 } },
        () => {
          if (name === "fail") throw new Error("no");
        },
      );
    await arsenal.sync();
  };
  const gateway = await operate(config, { fill, parts: { clock } });
  const { arsenal } = gateway;
  await arsenal.retrieve({ context: { query: "greet a customer" }, principal: caller("ann") });
  for (const [toolName, principal] of [
    ["greet", caller("ann")],
    ["fail", caller("ann")],
    ["greet", caller("bo", "north")],
    ["greet", caller("cy", "south")],
  ] as const) {
    await clock.advance(120_000);
    await arsenal.execute({ toolName, principal });
  }
  return { ...gateway, clock };
}

describe("GET /stats", () => {
  it("tells what the process did since it started, with the last hour by minutes", async () => {
    const gateway = await after();
    const { status, body } = await gateway.ask("olga", "GET", "/stats");
    expect(status).toBe(200);
    expect(body).toMatchObject({
      since: START,
      calls: 4,
      errors: 1,
      byStatus: { success: 3, failure: 1 },
      callMs: { p50: expect.any(Number), p95: expect.any(Number) },
      retrievals: 1,
      retrievalMs: { p50: expect.any(Number), p95: expect.any(Number) },
      tokens: { returned: expect.any(Number), saved: expect.any(Number), catalog: expect.any(Number) },
      cost: 8,
      approvalsPending: 0,
      droppedEvents: 0,
      openBreakers: [],
      ensembles: [],
      keeps: { audit: false, history: true },
    });
    expect(body.minutes).toHaveLength(60);
    expect(body.minutes.slice(-7).map((each: { calls: number; errors: number }) => [each.calls, each.errors])).toEqual([
      [1, 0],
      [0, 0],
      [1, 1],
      [0, 0],
      [1, 0],
      [0, 0],
      [1, 0],
    ]);
  });

  it("forgets the minutes of an hour ago, and nothing else", async () => {
    const gateway = await after();
    await gateway.clock.advance(3_600_000);
    const { body } = await gateway.ask("olga", "GET", "/stats");
    expect(body.minutes.every(({ calls }: { calls: number }) => calls === 0)).toBe(true);
    expect(body.calls).toBe(4);
  });

  it("says what the saved tokens would have cost, and in which currency calls are counted, if prices are configured", async () => {
    const prices = { currency: "EUR", perMillionInputTokens: 2_000_000 };
    const gateway = await after({ telemetry: { ...HISTORY.telemetry, prices } });
    const { arsenal } = gateway;
    for (let number = 0; number < 30; number++)
      arsenal.register({ name: `report_${number}`, description: `Writes report ${number}.` }, () => "done");
    await arsenal.sync();
    await arsenal.retrieve({ context: { query: "greet a customer" }, limit: 1 });
    const { body } = await gateway.ask("olga", "GET", "/stats");
    expect(body.tokens.saved).toBeGreaterThan(100);
    expect(body).toMatchObject({ currency: "EUR", cost: 8, tokens: { savedCost: body.tokens.saved * 2 } });
    expect((await gateway.ask("olga", "GET", "/costs")).body.currency).toBe("EUR");
  });

  it("names no currency and no money saved if no prices are configured", async () => {
    const { body } = await (await after()).ask("olga", "GET", "/stats");
    expect(body).not.toHaveProperty("currency");
    expect(body.tokens).not.toHaveProperty("savedCost");
  });

  it("shows an operator of a tenant the figures of that tenant, and leaves out those of the whole process", async () => {
    const gateway = await after();
    const { arsenal } = gateway;
    await arsenal.retrieve({ context: { query: "greet a customer" }, principal: caller("bo", "north") });
    const { body: all } = await gateway.ask("olga", "GET", "/stats");
    const { body } = await gateway.ask("nora", "GET", "/stats");
    expect(body).toMatchObject({
      calls: 1,
      errors: 0,
      byStatus: { success: 1 },
      retrievals: 1,
      cost: 2,
      openBreakers: [],
      keeps: { history: true },
    });
    expect(body.tokens.returned).toBe(all.tokens.returned / 2);
    const whole = ["running", "waiting", "approvalsPending", "droppedEvents", "minutes"];
    expect(whole.filter((name) => !(name in all))).toEqual([]);
    expect(whole.filter((name) => name in body)).toEqual([]);
    expect(body.tokens).not.toHaveProperty("catalog");
  });

  it("names no open breaker of a tool that the operator's tenant may not see", async () => {
    const folder = await mkdtemp(join(tmpdir(), "arsenal-stats-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const policyFile = join(folder, "policy.yaml");
    await writeFile(
      policyFile,
      'version: 1\nrules: [{ id: own, effect: deny, tools: ["secret.*"], tenants: [north] }]\n',
    );
    const fill = async (arsenal: ToolArsenal): Promise<void> => {
      for (const namespace of ["shared", "secret"])
        arsenal.register({ name: "fail", namespace, description: "Fails." }, () => {
          throw new Error("no");
        });
    };
    const execution = { circuitBreakerThreshold: 1, maxRetries: 1 };
    const gateway = await operate({ security: { policyFile }, execution }, { fill });
    for (const toolName of ["shared.fail", "secret.fail"]) await gateway.arsenal.execute({ toolName });
    const open = async (who: "olga" | "nora"): Promise<unknown> =>
      (await gateway.ask(who, "GET", "/stats")).body.openBreakers.toSorted();
    expect(await open("olga")).toEqual(["secret.fail", "shared.fail"]);
    expect(await open("nora")).toEqual(["shared.fail"]);
  });

  it("is for operators", async () => {
    const gateway = await after();
    for (const path of ["/stats", "/history", `/history/${"0".repeat(32)}`, "/costs"])
      expect((await gateway.ask("guest", "GET", path)).status).toBe(403);
  });
});

describe("GET /history", () => {
  it("lists searches and calls in pages, newest first, though some ended at the same time", async () => {
    const gateway = await after();
    await gateway.arsenal.execute({ toolName: "greet", principal: caller("di") });
    await gateway.arsenal.execute({ toolName: "greet", principal: caller("ed") });
    const seen: string[] = [];
    for (let cursor: string | undefined = ""; cursor !== undefined;) {
      const { body } = await gateway.ask("olga", "GET", `/history?limit=2${cursor && `&cursor=${cursor}`}`);
      expect(body.records.length).toBeLessThanOrEqual(2);
      seen.push(...body.records.map((each: { principal: string; kind: string }) => `${each.kind} ${each.principal}`));
      cursor = body.next;
    }
    expect(seen.slice(0, 3).toSorted()).toEqual(["call cy", "call di", "call ed"]);
    expect(seen.slice(3)).toEqual(["call bo", "call ann", "call ann", "retrieval ann"]);
    expect((await gateway.ask("olga", "GET", "/history?cursor=nonsense")).body).toMatchObject({ field: "cursor" });
  });

  it("lists the calls of a tool, of a status or of a server", async () => {
    const gateway = await after();
    const { arsenal } = gateway;
    const server = await startLegacyServer();
    onTestFinished(() => server.close());
    await arsenal.addMcpServer({ name: "notes", transport: { kind: "http", url: server.url } });
    await arsenal.execute({ toolName: "notes.echo", arguments: { text: "hi" }, principal: caller("ann") });
    const tools = async (query: string, who: "olga" | "nora" = "olga"): Promise<string[]> => {
      const { body } = await gateway.ask(who, "GET", `/history?${query}`);
      return body.records.map((each: { kind: string; toolId?: string }) => each.toolId ?? each.kind);
    };
    expect(await tools("tool=default.fail")).toEqual(["default.fail"]);
    expect(await tools("tool=default.*&limit=2")).toEqual(["default.greet", "default.greet"]);
    expect(await tools("tool=default.*", "nora")).toEqual(["default.greet"]);
    expect(await tools("status=failure")).toEqual(["default.fail"]);
    expect(await tools("ensemble=notes")).toEqual(["notes.echo"]);
    expect(await tools("ensemble=notes&status=failure")).toEqual([]);
    expect(await tools("kind=retrieval")).toEqual(["retrieval"]);
    expect(await tools("kind=call")).toHaveLength(5);
    expect((await gateway.ask("olga", "GET", "/history?status=fine")).status).toBe(400);
  });

  it("shows an operator of a tenant what that tenant did", async () => {
    const gateway = await after();
    const { body } = await gateway.ask("nora", "GET", "/history");
    expect(body.records.map(({ principal }: { principal: string }) => principal)).toEqual(["bo"]);
    expect((await gateway.ask("nora", "GET", "/costs")).body.costs).toEqual([
      { name: "default.greet", calls: 1, cost: 2 },
    ]);
    const { body: all } = await gateway.ask("olga", "GET", "/history");
    const { traceId } = all.records.find(({ principal }: { principal: string }) => principal === "cy");
    expect((await gateway.ask("nora", "GET", `/history/${traceId}`)).status).toBe(404);
  });

  it("says what to set if no history is kept", async () => {
    const gateway = await after({});
    expect(await gateway.ask("olga", "GET", "/history")).toMatchObject({
      status: 404,
      body: { code: "CONFIG_INVALID", fix: expect.stringContaining("telemetry.history.enabled") },
    });
  });

  it("explains a trace at once: every signal of its search, every step of its call", async () => {
    const { url, ask } = await openGateway({}, HISTORY);
    const client = createClient({ url });
    onTestFinished(() => client.close());
    const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
    const headers = { traceparent: `00-${traceId}-00f067aa0ba902b7-01` };
    const query = { context: { query: "show me an invoice" }, explain: true };
    const { body: found } = await ask("POST", "/search", { body: query, headers });
    await ask("POST", "/execute", {
      body: { toolName: "billing.get_invoice", arguments: { invoiceId: "INV-1" } },
      headers,
    });
    const trace = await client.history.trace(traceId);
    const { steps } = found;
    expect(Object.keys(steps)).toEqual(
      ["understand", "search", "filter", "lexical", "dense", "fuse", "fit"].map((step) => `${step}Ms`),
    );
    expect(trace.retrievals).toMatchObject([{ query: "show me an invoice", searchTimeMs: found.searchTimeMs, steps }]);
    expect(trace.retrievals[0]?.explanation).toEqual(found.explanation);
    expect(trace.calls).toMatchObject([
      {
        toolId: "billing.get_invoice",
        status: "success",
        steps: { policy: { startedAt: expect.any(Number) }, attempts: [{ durationMs: expect.any(Number) }] },
      },
    ]);
    expect((await client.history.list({ limit: 1 })).records).toMatchObject([{ kind: "call", traceId }]);
    expect((await client.stats()).calls).toBe(1);
    await expect(client.history.trace("0".repeat(32))).rejects.toThrow("No records of the trace");
  });
});

describe("GET /costs", () => {
  it("adds up by tool, tenant or day", async () => {
    const gateway = await after();
    const costs = async (query: string): Promise<unknown> =>
      (await gateway.ask("olga", "GET", `/costs${query}`)).body.costs;
    expect(await costs("")).toEqual([
      { name: "default.greet", calls: 3, cost: 6 },
      { name: "default.fail", calls: 1, cost: 2 },
    ]);
    expect(await costs("?by=day&days=1")).toEqual([{ name: "2026-05-01", calls: 4, cost: 8 }]);
    expect(await costs("?by=tenant")).toMatchObject([{ name: "none" }, { name: "north" }, { name: "south" }]);
  });
});
