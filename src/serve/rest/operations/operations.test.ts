import { internalsOf } from "../../../arsenal.ts";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { openaiDialect } from "../../../adapters/dialects/openai/openai.ts";
import { memoryEngine } from "../../../adapters/engines/memory.ts";
import type { Dialect } from "../../../transcode/dialect.port.ts";
import { eventsOf, openGateway } from "../../../../test/serve/rest-gateway.ts";

const CALL = { toolName: "billing.get_invoice", arguments: { invoiceId: "INV-1" } };
const STREAM = { accept: "text/event-stream" };

describe("the history over REST", () => {
  it("is narrowed to a range of time, and names a time that is none", async () => {
    const { ask, arsenal } = await openGateway({}, { telemetry: { enabled: false, history: { enabled: true } } });
    await arsenal.execute({ toolName: "shop.ship" });
    const count = async (query: string): Promise<number> =>
      (await ask("GET", `/history?${query}`)).body.records.length as number;
    expect([await count("from=2020-01-01T00:00:00Z"), await count("to=2020-01-01T00:00:00Z")]).toEqual([1, 0]);
    expect((await ask("GET", "/history?from=yesterday")).body).toMatchObject({
      status: 400,
      field: "from",
      detail: 'from is not a time: "yesterday". Write it as 2026-05-04T12:00:00Z.',
    });
  });
});

describe("tools over REST [003-transport-rest]", () => {
  it("are listed in pages, each of which reads little more than it shows", async () => {
    const engine = memoryEngine();
    let read = 0;
    const counting = {
      ...engine,
      list: async (query?: Parameters<typeof engine.list>[0]) => {
        const page = await engine.list(query);
        // What estimates the tokens of the catalog in the background reads it without a filter.
        if (query?.filter !== undefined) read += page.tools.length;
        return page;
      },
    };
    const { ask, arsenal } = await openGateway({}, {}, { engine: counting });
    const many = Array.from({ length: 3000 }, (_, index) => ({
      tool: {
        name: `tool_${String(index).padStart(4, "0")}`,
        namespace: "many",
        description: "One of very many tools.",
      },
    }));
    await arsenal.add(many);
    await arsenal.sync();
    await internalsOf(arsenal).settled();
    read = 0;
    const first = await ask("GET", "/tools?namespace=many&limit=100");
    expect([first.body.tools.length, first.body.tools[0].id, read]).toEqual([100, "many.tool_0000", 101]);
    const ids: string[] = [];
    for (let next: string | undefined = ""; next !== undefined;) {
      const { body } = await ask("GET", `/tools?namespace=many&limit=700${next === "" ? "" : `&cursor=${next}`}`);
      ids.push(...body.tools.map(({ id }: { id: string }) => id));
      next = body.next;
    }
    expect([ids.length, new Set(ids).size]).toEqual([3000, 3000]);
    expect((await ask("GET", "/tools?cursor=nonsense")).body).toMatchObject({ status: 400, field: "cursor" });
  });

  it("stay hidden in the toolsets that name them, as do other tenants", async () => {
    const policy = { allowedTenants: ["acme", "globex"], rateLimit: { requestsPerMinute: 60 } };
    const principal = { id: "ann", tenant: "acme", roles: [], capabilities: [], scopes: [], local: false };
    const { ask, arsenal } = await openGateway(
      { identity: { name: "test", authenticate: async () => principal, challenge: "Bearer" } },
      { security: { deny: ["shop.break"] } },
    );
    const filter = { ids: ["billing.get_invoice", "shop.break"] };
    arsenal.toolsets.add({ name: "desk", description: "", tags: [], owner: "bob", filter, view: "live", policy });
    for (const path of ["/toolsets", "/toolsets/desk"]) {
      const { status, text } = await ask("GET", path);
      expect([status, text]).toEqual([200, expect.stringContaining("billing.get_invoice")]);
      expect(text).not.toMatch(/shop\.break|globex|bob/);
    }
  });

  it("are filtered by namespace, source, tag and toolset", async () => {
    const toolsets = [{ name: "support", include: { namespaces: ["billing"] } }];
    const { ask } = await openGateway({}, { toolsets });
    const names = async (query: string) =>
      (await ask("GET", `/tools?${query}`)).body.tools.map(({ name }: { name: string }) => name);
    expect(await names("namespace=billing")).toEqual(["get_invoice", "list_invoices"]);
    expect(await names("tag=invoice,other")).toEqual(["get_invoice"]);
    expect(await names("source=mcp")).toEqual([]);
    expect(await names("toolset=support&limit=1")).toEqual(["get_invoice"]);
    expect((await ask("GET", "/tools?toolset=suport")).body).toMatchObject({ status: 404, code: "TOOLSET_NOT_FOUND" });
    expect((await ask("GET", "/toolsets")).body.toolsets.map(({ name }: { name: string }) => name)).toEqual([
      "support",
    ]);
  });

  it("have a version that is not sent twice, and ids whose namespace may have dots", async () => {
    const { ask, arsenal } = await openGateway();
    await arsenal.addTool({ name: "close", namespace: "eu.shop", description: "Closes the shop for the night." });
    const tool = await ask("GET", "/tools/eu.shop.close");
    expect(tool.body).toEqual(JSON.parse(JSON.stringify(await arsenal.getTool("close", "eu.shop"))));
    const etag = tool.headers.get("etag") ?? "";
    const again = await ask("GET", "/tools/eu.shop.close", { headers: { "if-none-match": etag } });
    expect([etag, again.status, again.text]).toEqual([`"${tool.body.contentHash}"`, 304, ""]);
    expect((await ask("GET", "/tools/eu.shop.open")).body).toMatchObject({ status: 404, code: "TOOL_NOT_FOUND" });
    expect((await ask("GET", "/tools/eu.shop.close/health")).body).toMatchObject({ totalCalls: 0, successRate: 1 });
  });

  it("are registered, one or many, in any dialect, and deleted", async () => {
    const { ask } = await openGateway();
    const one = await ask("POST", "/tools", {
      body: { name: "getWeather", description: "Tells the weather of a city." },
    });
    expect([one.status, one.headers.get("location")]).toEqual([201, "/api/v1/tools/default.get_weather"]);
    const bad = await ask("POST", "/tools", { body: { name: "t", version: "one" } });
    expect(bad.body).toMatchObject({ status: 400, code: "TOOL_INVALID", field: expect.any(String) });
    const batch = await ask("POST", "/tools/batch", {
      body: { tools: [{ name: "walk", description: "Walks a while." }, { name: "run", version: "x" }, {}] },
    });
    expect(batch.body.registered.map(({ id }: { id: string }) => id)).toEqual(["default.walk"]);
    expect(batch.body.rejected).toMatchObject([
      { index: 1, name: "run", error: { code: "TOOL_INVALID" } },
      { index: 2, error: { code: "TOOL_INVALID", message: expect.any(String) } },
    ]);
    const format = "anthropic";
    const tools = [{ name: "fly", description: "Flies away.", input_schema: { type: "object" } }];
    const imported = await ask("POST", "/tools/import", { body: { format, tools, namespace: "birds" } });
    expect(imported.body.registered.map(({ id }: { id: string }) => id)).toEqual(["birds.fly"]);
    expect((await ask("DELETE", "/tools/birds.fly")).status).toBe(204);
    expect((await ask("DELETE", "/tools/birds.fly")).body).toMatchObject({ status: 404, code: "TOOL_NOT_FOUND" });
    const run = await ask("POST", "/execute", { body: { toolName: "default.walk" } });
    expect(run.body).toMatchObject({ status: 409, code: "HANDLER_MISSING", result: { attempts: 0 } });
  });

  it("are found as in the library, with the explanation", async () => {
    const houseStyle = { ...(openaiDialect() as unknown as Dialect), name: "house-style" };
    const { ask, arsenal } = await openGateway({}, {}, { dialects: [houseStyle] });
    const query = { context: { query: "show me an invoice" }, limit: 2, explain: true };
    const found = await ask("POST", "/search", { body: query });
    const { tools, explanation, confidence } = await arsenal.retrieve(query);
    expect(found.body).toMatchObject(JSON.parse(JSON.stringify({ tools, explanation, confidence })));
    expect(found.body.tools[0].tool.id).toBe("billing.get_invoice");
    const definitions = await ask("POST", "/tools/retrieve", {
      body: { query: "show me an invoice", dialect: "anthropic" },
    });
    expect(definitions.body.tools[0]).toMatchObject({ name: expect.stringContaining("get_invoice"), input_schema: {} });
    const { dialects } = (await ask("GET", "/info")).body;
    expect(dialects).toEqual(expect.arrayContaining(["openai", "openai-responses", "ai-sdk", "house-style"]));
    for (const format of dialects)
      expect((await ask("POST", "/export", { body: { format, ids: ["billing.get_invoice"] } })).status).toBe(200);
    expect((await ask("POST", "/tools/retrieve", { body: { query: "x", dialect: "klingon" } })).body).toMatchObject({
      status: 400,
      code: "QUERY_INVALID",
    });
    const exported = await ask("POST", "/export", {
      body: { format: "openai", ids: ["billing.get_invoice", "no.such"] },
    });
    expect(exported.body).toMatchObject({ tools: [{ type: "function" }], missing: ["no.such"] });
    for (const [path, format, more] of [
      ["/export", "opnai", { ids: [] }],
      ["/export", "auto", { ids: [] }],
      ["/tools/import", "opnai", { tools: [] }],
    ] as const) {
      const { body } = await ask("POST", path, { body: { format, ...more } });
      expect([path, format, body]).toMatchObject([path, format, { code: "QUERY_INVALID", field: "format" }]);
      expect(body.detail).toContain("format");
    }
  });
});

describe("calls over REST", () => {
  it("answer with the result of a tool that ran, whatever became of it", async () => {
    const { ask } = await openGateway();
    const ran = await ask("POST", "/execute", { body: CALL });
    expect([ran.status, ran.body.status, ran.body.result]).toEqual([200, "success", { found: "INV-1" }]);
    const failed = await ask("POST", "/execute", { body: { toolName: "shop.break" } });
    expect([failed.status, failed.body.status, failed.body.error.message]).toEqual([200, "failure", "It broke."]);
    const waiting = await ask("POST", "/execute", { body: { toolName: "shop.close_account" } });
    expect([waiting.status, waiting.body.status]).toEqual([202, "pending_confirmation"]);
  });

  it("answer alike if the arsenal throws failed results", async () => {
    const { ask } = await openGateway({}, { execution: { onFailure: "throw" } });
    const failed = await ask("POST", "/execute", { body: { toolName: "shop.break" } });
    expect([failed.status, failed.body.status]).toEqual([200, "failure"]);
  });

  it("that are refused before they run are problems, with the result and the time to try again", async () => {
    const { ask, arsenal } = await openGateway();
    const wrong = await ask("POST", "/execute", { body: { toolName: CALL.toolName, arguments: { invoiceId: 7 } } });
    expect(wrong.body).toMatchObject({
      status: 422,
      code: "ARGUMENTS_INVALID",
      result: { status: "failure", attempts: 0, toolId: CALL.toolName },
    });
    expect((await ask("POST", "/execute", { body: { toolName: "nope" } })).body).toMatchObject({ status: 404 });
    arsenal.register({ name: "seldom", description: "May be called once a minute.", cost: { rateLimit: 1 } }, () => 1);
    await ask("POST", "/execute", { body: { toolName: "seldom", timeoutMs: 100 } });
    const limited = await ask("POST", "/execute", { body: { toolName: "seldom", timeoutMs: 100 } });
    expect([limited.status, limited.body.code]).toEqual([429, "RATE_LIMITED"]);
    expect(Number(limited.headers.get("retry-after"))).toBe(Math.ceil(limited.body.retryAfterMs / 1000));
  });

  it("stream their progress and then the result", async () => {
    const { ask } = await openGateway();
    const { status, headers, text } = await ask("POST", "/execute", {
      body: { toolName: "shop.ship" },
      headers: STREAM,
    });
    expect([status, headers.get("content-type")]).toEqual([200, "text/event-stream"]);
    expect(eventsOf(text)).toMatchObject([
      { event: "progress", data: { progress: 1, total: 2, message: "packed" } },
      { event: "progress", data: { progress: 2, total: 2, message: "sent" } },
      { event: "result", data: { status: "success", result: { shipped: true } } },
    ]);
  });

  it("are cancelled when the caller hangs up, streamed or not", async () => {
    const { ask, arsenal } = await openGateway();
    for (const headers of [{}, STREAM]) {
      const started = Promise.withResolvers<void>();
      const cancelled = Promise.withResolvers<void>();
      arsenal.register({ name: "wait", description: "Waits until it is told to stop." }, async (_args, { signal }) => {
        started.resolve();
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        cancelled.resolve();
      });
      const caller = new AbortController();
      const asked = ask("POST", "/execute", { body: { toolName: "wait" }, headers, signal: caller.signal });
      await started.promise;
      caller.abort();
      await expect(asked).rejects.toThrow();
      await cancelled.promise;
    }
  });

  it("run once for an idempotency key, also through another gateway on the same state", async () => {
    const folder = mkdtempSync(join(tmpdir(), "rest-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const state = { file: join(folder, "state.sqlite") };
    let runs = 0;
    const open = async () => {
      const opened = await openGateway({}, { state });
      opened.arsenal.register({ name: "pay", description: "Pays once, not twice." }, () => ({ payment: ++runs }));
      return opened.ask;
    };
    const [a, b] = [await open(), await open()];
    const headers = { "idempotency-key": "order-7" };
    const first = await a("POST", "/execute", { body: { toolName: "pay" }, headers });
    const second = await b("POST", "/execute", { body: { toolName: "pay", idempotencyKey: "order-7" } });
    expect([first.body.result, second.body.result, second.body.replayed, runs]).toEqual([
      { payment: 1 },
      { payment: 1 },
      true,
      1,
    ]);
    const other = await b("POST", "/execute", { body: { toolName: "pay", arguments: { x: 1 } }, headers });
    expect(other.body).toMatchObject({ status: 409, code: "IDEMPOTENCY_CONFLICT" });
    const both = await a("POST", "/execute", { body: { toolName: "pay", idempotencyKey: "order-8" }, headers });
    expect(both.body).toMatchObject({ status: 400, field: "idempotencyKey" });
  });

  it("come in batches, whose answer has the result of each", async () => {
    const { ask } = await openGateway();
    const calls = [CALL, { toolName: "shop.break" }, { toolName: "nope" }];
    const { status, body } = await ask("POST", "/batch", { body: { calls, strategy: "parallel" } });
    expect([status, body.successfulCount, body.failedCount]).toEqual([200, 1, 2]);
    expect(body.results.map((each: { status: string }) => each.status)).toEqual(["success", "failure", "failure"]);
    const wrong = await ask("POST", "/batch", { body: { calls: [{ toolname: "x" }] } });
    expect(wrong.body).toMatchObject({ status: 400, field: expect.stringMatching(/^calls\.0\.tool/) });
  });

  it("under way finish when the gateway shuts down, streamed or not; new ones are told when to come back", async () => {
    const { ask, arsenal, gateway } = await openGateway({ drainMs: 60_000 });
    const finish = Promise.withResolvers<void>();
    let started = 0;
    const all = Promise.withResolvers<void>();
    arsenal.register({ name: "slow", description: "Takes its time to end." }, async () => {
      if (++started === 2) all.resolve();
      await finish.promise;
      return "done";
    });
    const plain = ask("POST", "/execute", { body: { toolName: "slow" } });
    const streamed = ask("POST", "/execute", { body: { toolName: "slow" }, headers: STREAM });
    await all.promise;
    const closing = gateway.close();
    const late = await ask("POST", "/execute", { body: CALL });
    expect([late.status, late.body.code, Number(late.headers.get("retry-after")) > 1]).toEqual([503, "CLOSED", true]);
    finish.resolve();
    expect((await plain).body.result).toBe("done");
    expect(eventsOf((await streamed).text).at(-1)).toMatchObject({ event: "result", data: { result: "done" } });
    await closing;
  });
});

describe("a gateway with one toolset", () => {
  it("finds, shows and runs its tools over REST and no others", async () => {
    const toolsets = [
      { name: "support", include: { namespaces: ["billing"] } },
      { name: "other", include: { namespaces: ["shop"] } },
    ];
    const { ask } = await openGateway({ toolset: "support" }, { toolsets });
    const { body } = await ask("GET", "/tools?toolset=other");
    expect(body.tools.map(({ namespace }: { namespace: string }) => namespace)).toEqual(["billing", "billing"]);
    expect((await ask("GET", "/tools/shop.ship")).status).toBe(404);
    expect((await ask("GET", "/toolsets/other")).status).toBe(404);
    expect((await ask("GET", "/info")).body.toolCount).toBe(2);
    expect((await ask("POST", "/execute", { body: { toolName: "shop.ship", toolset: "other" } })).status).toBe(404);
    const calls = [{ toolName: "shop.ship", toolset: "other" }];
    expect((await ask("POST", "/batch", { body: { calls } })).body.results[0].error.code).toBe("TOOL_NOT_FOUND");
    expect((await ask("POST", "/execute", { body: CALL })).body.status).toBe("success");
    const exported = await ask("POST", "/export", { body: { format: "openai", ids: ["shop.ship"], toolset: "other" } });
    expect(exported.body.missing).toEqual(["shop.ship"]);
  });
});
