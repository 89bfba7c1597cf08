import { internalsOf } from "../../../src/arsenal.ts";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { startTestAgent } from "../../a2a/test-agent.ts";
import { type ArsenalClient, createClient } from "../../../src/client/index.ts";
import type { ArsenalEvent, ToolArsenal } from "../../../src/index.ts";
import { startLegacyServer } from "../../mcp/upstream-server.ts";
import { type PayServer, startPayServer } from "../pay-server.ts";
import { operate, type OperatedGateway } from "./operated-gateway.ts";

const TINY = fileURLToPath(new URL("../tiny-server.ts", import.meta.url));
const tiny = { name: "tiny", transport: { kind: "stdio", command: process.execPath, args: [TINY] } } as const;

let pay: PayServer;
beforeEach(async () => void (pay = await startPayServer()));
afterEach(() => pay.close());

/** Operators of these tests are remote, and the servers that they add are on this machine. */
const REACHES_ITSELF = { security: { allowedDomains: ["127.0.0.1"] } };

const toHttp = (url: string) => ({ name: "slow", transport: { kind: "http" as const, url } });
const http = (name: string): object => ({ name, transport: { kind: "http", url: pay.url } });

const withPay = (): Promise<OperatedGateway> =>
  operate({}, { fill: (arsenal) => arsenal.addMcpServer({ name: "pay", transport: { kind: "http", url: pay.url } }) });

async function toolsOf({ arsenal }: OperatedGateway): Promise<readonly string[]> {
  return (await arsenal.listTools()).map(({ id }) => id);
}

const document = (...names: readonly string[]): object => ({
  openapi: "3.1.0",
  info: { title: "Pets", version: "1" },
  servers: [{ url: "http://127.0.0.1:1" }],
  paths: Object.fromEntries(
    names.map((name) => [`/${name}`, { get: { operationId: name, summary: `Lists all ${name}.`, responses: {} } }]),
  ),
});

describe("the ensembles of a gateway", () => {
  it("are listed with their state, their source and why they are away", async () => {
    const gateway = await withPay();
    const away = createServer();
    await new Promise<void>((resolve) => void away.listen(0, "127.0.0.1", resolve));
    const { port } = away.address() as AddressInfo;
    await new Promise((resolve) => void away.close(resolve));
    await gateway.arsenal.addMcpServer(
      { name: "away", transport: { kind: "http", url: `http://127.0.0.1:${port}/mcp` } },
      { patient: true },
    );
    await internalsOf(gateway.arsenal).upstreamsAttempted();
    await expect(gateway.arsenal.add({ type: "openapi", name: "bad", document: "/nowhere.yaml" })).rejects.toThrow(
      "bad",
    );
    const { status, body } = await gateway.ask("olga", "GET", "/ensembles");
    expect([status, body]).toEqual([
      200,
      {
        ensembles: [
          { name: "pay", source: "mcp", state: "connected", tools: 2, persisted: true },
          { name: "away", source: "mcp", state: "failed", problem: expect.any(String), tools: 0, persisted: true },
          {
            name: "bad",
            source: "openapi",
            state: "failed",
            problem: expect.stringContaining("nowhere.yaml"),
            tools: 0,
            persisted: true,
          },
        ],
      },
    ]);
    expect((await gateway.ask("olga", "GET", "/ensembles/pay")).body).toMatchObject({ name: "pay", tools: 2 });
  });

  it("can be disconnected, which takes their tools away, and connected again with the same settings", async () => {
    const gateway = await withPay();
    const off = await gateway.ask("olga", "POST", "/ensembles/pay/disconnect", {});
    expect(off).toMatchObject({ status: 200, body: { name: "pay", state: "disconnected", tools: 0 } });
    expect(await toolsOf(gateway)).toEqual([]);
    expect(internalsOf(gateway.arsenal).upstreams).toEqual([]);
    expect((await gateway.ask("olga", "GET", "/ensembles")).body.ensembles).toHaveLength(1);

    const both = await Promise.all([1, 2].map(() => gateway.ask("olga", "POST", "/ensembles/pay/connect", {})));
    for (const on of both)
      expect(on).toMatchObject({ status: 200, body: { name: "pay", state: "connected", tools: 2 } });
    expect(await toolsOf(gateway)).toEqual(["pay.pay", "pay.pay_somebody"]);
    const called = await gateway.arsenal.execute({ toolName: "pay.pay", arguments: { amount: 3 } });
    expect([called.status, pay.paid]).toEqual(["success", [3]]);
  });

  it("that went away keep their tools, and are tried again at once when they are connected", async () => {
    const gateway = await withPay();
    const { port } = new URL(pay.url);
    await pay.close();
    const failed = new Promise<void>((resolve) => {
      gateway.arsenal.subscribe(({ name }) => void (name === "ensemble-failed" && resolve()));
    });
    await gateway.arsenal.execute({ toolName: "pay.pay", arguments: { amount: 1 } });
    await failed;
    const still = await gateway.ask("olga", "POST", "/ensembles/pay/connect", {});
    expect(still.body).toMatchObject({ state: "failed", problem: expect.any(String), tools: 2 });
    pay = await startPayServer(Number(port));
    const back = await gateway.ask("olga", "POST", "/ensembles/pay/connect", {});
    expect(back.body).toMatchObject({ name: "pay", source: "mcp", state: "connected", tools: 2 });
    expect(back.body).not.toHaveProperty("problem");
    expect(await gateway.arsenal.execute({ toolName: "pay.pay", arguments: { amount: 2 } })).toMatchObject({
      status: "success",
    });
  });

  it("that failed can be connected once what was wrong is fixed", async () => {
    const folder = await mkdtemp(join(tmpdir(), "arsenal-ensembles-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const file = join(folder, "pets.json");
    const gateway = await operate();
    await gateway.arsenal.add({ type: "openapi", name: "pets", document: file }).catch(() => undefined);
    const still = await gateway.ask("olga", "POST", "/ensembles/pets/connect", {});
    expect(still.body).toMatchObject({ state: "failed", problem: expect.stringContaining("pets.json") });
    await writeFile(file, JSON.stringify(document("pets")));
    const now = await gateway.ask("olga", "POST", "/ensembles/pets/connect", {});
    expect(now.body).toMatchObject({ name: "pets", source: "openapi", state: "connected", tools: 1 });
    expect(now.body).not.toHaveProperty("problem");
  });

  it("stay in the list however often they are disconnected", async () => {
    const gateway = await withPay();
    for (let time = 0; time < 2; time++)
      expect((await gateway.ask("olga", "POST", "/ensembles/pay/disconnect", {})).body).toMatchObject({
        state: "disconnected",
      });
    expect((await gateway.ask("olga", "POST", "/ensembles/pay/connect", {})).body).toMatchObject({ tools: 2 });
  });

  it("are restarted: calls under way end with a clear error, and the same tools come back", async () => {
    const server = await startLegacyServer();
    onTestFinished(() => server.close());
    const gateway = await operate(
      {},
      {
        fill: (arsenal) => arsenal.addMcpServer({ name: "notes", transport: { kind: "http", url: server.url } }),
      },
    );
    const before = await toolsOf(gateway);
    const called = once(server.events, "called");
    const waiting = gateway.arsenal.execute({ toolName: "notes.wait" });
    await called;
    expect(await gateway.ask("olga", "POST", "/ensembles/notes/restart", {})).toMatchObject({
      status: 200,
      body: { name: "notes", state: "connected", tools: 5 },
    });
    const { status, error } = await waiting;
    expect([status, error?.code]).toEqual(["failure", "OUTCOME_UNKNOWN"]);
    expect(error?.message).toContain('tools/call on the MCP server "notes" was sent, and its answer was lost');
    expect(await toolsOf(gateway)).toEqual(before);
    const echo = { toolName: "notes.echo", arguments: { text: "back" } };
    expect(await gateway.arsenal.execute(echo)).toMatchObject({ status: "success" });
    await gateway.ask("olga", "POST", "/ensembles/notes/disconnect", {});
    expect((await gateway.ask("olga", "POST", "/ensembles/notes/restart", {})).body).toMatchObject({ tools: 5 });
  });

  it("come back from a restart though the operator who asked for it has left", async () => {
    const [asked, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let requests = 0;
    const server = createServer((_request, response) => {
      const answer = (): void => void response.end(JSON.stringify(document("pets")));
      if (requests++ === 0) return answer();
      asked.resolve();
      void held.promise.then(answer);
    });
    onTestFinished(() => void server.close());
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const fill = (arsenal: ToolArsenal): unknown => arsenal.add({ type: "openapi", name: "pets", document: address });
    const { arsenal, url } = await operate({}, { local: true, fill });
    const heard = (...names: readonly ArsenalEvent["name"][]): Promise<string> =>
      new Promise((resolve) => void arsenal.subscribe(({ name }) => resolve(name), { names }));
    const controller = new AbortController();
    const gone = heard("request-finished");
    const restarting = fetch(`${url}/ensembles/pets/restart`, { method: "POST", signal: controller.signal });
    await asked.promise;
    const ended = heard("ensemble-connected", "ensemble-failed");
    controller.abort();
    await expect(restarting).rejects.toThrow("aborted");
    await gone;
    held.resolve();
    expect(await ended).toBe("ensemble-connected");
    expect((await arsenal.listTools()).map(({ id }) => id)).toEqual(["pets.pets"]);
  });

  it("are read again on demand", async () => {
    const folder = await mkdtemp(join(tmpdir(), "arsenal-ensembles-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const file = join(folder, "pets.json");
    await writeFile(file, JSON.stringify(document("pets")));
    const gateway = await operate(
      {},
      { fill: (arsenal) => arsenal.add({ type: "openapi", name: "pets", document: file }) },
    );
    await writeFile(file, JSON.stringify(document("pets", "owners")));
    const reloaded = await gateway.ask("olga", "POST", "/ensembles/pets/reload", {});
    expect(reloaded).toMatchObject({ status: 200, body: { state: "connected", tools: 2 } });
    expect(await toolsOf(gateway)).toEqual(["pets.owners", "pets.pets"]);
    await writeFile(file, "{");
    const broken = await gateway.ask("olga", "POST", "/ensembles/pets/reload", {});
    expect(broken.body).toMatchObject({ state: "connected", tools: 2, problem: expect.stringContaining("pets") });
  });

  it("can be added and removed: an MCP server, an OpenAPI document and an A2A agent, for as long as the process runs", async () => {
    const gateway = await operate(REACHES_ITSELF);
    const added = await gateway.ask("olga", "POST", "/ensembles", { type: "mcp", ...http("pay") });
    expect(added).toMatchObject({ status: 201, body: { name: "pay", tools: 2, persisted: false } });
    expect(added.headers.get("location")).toBe("/api/v1/ensembles/pay");
    expect((await gateway.ask("olga", "GET", "/ensembles/pay")).body).toMatchObject({ persisted: false });
    const agent = await startTestAgent();
    onTestFinished(() => agent[Symbol.asyncDispose]());
    const weather = await gateway.ask("olga", "POST", "/ensembles", { type: "a2a", name: "weather", url: agent.url });
    expect(weather).toMatchObject({ status: 201, body: { name: "weather", tools: 2, persisted: false } });
    expect((await gateway.ask("olga", "POST", "/ensembles/weather/disconnect", {})).body).toMatchObject({ tools: 0 });
    expect((await gateway.ask("olga", "POST", "/ensembles/weather/connect", {})).body).toMatchObject({
      source: "a2a",
      state: "connected",
      tools: 2,
    });
    expect((await gateway.ask("olga", "DELETE", "/ensembles/weather")).status).toBe(204);
    const pets = { name: "pets", document: document("pets") };
    expect(await gateway.ask("olga", "POST", "/ensembles", { type: "openapi", ...pets })).toMatchObject({
      status: 201,
      body: { name: "pets", tools: 1, persisted: false },
    });
    expect(await toolsOf(gateway)).toEqual(["pay.pay", "pay.pay_somebody", "pets.pets"]);
    expect((await gateway.ask("olga", "POST", "/ensembles", { type: "mcp", ...http("pay") })).body).toMatchObject({
      status: 400,
      code: "INPUT_INVALID",
      field: "name",
    });
    expect((await gateway.ask("olga", "DELETE", "/ensembles/pay")).status).toBe(204);
    expect((await gateway.ask("olga", "GET", "/ensembles/pay")).status).toBe(404);
    expect(await toolsOf(gateway)).toEqual(["pets.pets"]);
  });

  it("are not added if they cannot be reached", async () => {
    const gateway = await operate(REACHES_ITSELF);
    const server = { name: "gone", transport: { kind: "http", url: "http://127.0.0.1:1/mcp" } };
    const { body } = await gateway.ask("olga", "POST", "/ensembles", { type: "mcp", ...server });
    expect(body).toMatchObject({ status: 422, code: "SOURCE_UNAVAILABLE", fix: expect.any(String) });
    expect([body.detail.match(/Check that/g), body.detail.endsWith(body.fix)]).toEqual([["Check that"], true]);
    expect((await gateway.ask("olga", "GET", "/ensembles")).body).toEqual({ ensembles: [] });
  });

  it.each([
    ["an MCP server", (client, url, signal) => client.addMcpServer(toHttp(url), { signal })],
    [
      "an OpenAPI document",
      (client, url, signal) => client.add({ type: "openapi", name: "slow", document: url }, { signal }),
    ],
    ["an A2A agent", (client, url, signal) => client.addA2aAgent({ name: "slow", url }, { signal })],
  ] satisfies [string, (client: ArsenalClient, url: string, signal: AbortSignal) => Promise<number>][])(
    "are not added if adding %s is cancelled before it answered",
    async (_what, add) => {
      const gateway = await operate({}, { local: true });
      const silent = createServer();
      onTestFinished(() => void silent.closeAllConnections());
      onTestFinished(() => void silent.close());
      await new Promise<void>((resolve) => void silent.listen(0, "127.0.0.1", resolve));
      const { port } = silent.address() as AddressInfo;
      const controller = new AbortController();
      const asked = once(silent, "request");
      const client = createClient({ url: gateway.url.replace("/api/v1", "") });
      const adding = add(client, `http://127.0.0.1:${port}/`, controller.signal);
      const refused = expect(adding).rejects.toMatchObject({ code: "CANCELLED" });
      const [request] = (await asked) as [IncomingMessage];
      const failed = new Promise<void>((resolve) => {
        gateway.arsenal.subscribe(() => resolve(), { names: ["ensemble-failed"] });
      });
      const hungUp = once(request.socket, "close");
      controller.abort();
      await Promise.all([refused, hungUp, failed]);
      expect(await client.listTools()).toEqual([]);
    },
  );

  it("are not listed any more once adding them is cancelled, though their program takes a while to end", async () => {
    const gateway = await operate({}, { local: true });
    const client = createClient({ url: gateway.url.replace("/api/v1", "") });
    const controller = new AbortController();
    const transport = { kind: "stdio" as const, command: process.execPath, args: ["-e", "setInterval(() => {}, 1e6)"] };
    const refused = expect(
      client.addMcpServer({ name: "stuck", transport }, { signal: controller.signal }),
    ).rejects.toMatchObject({ code: "CANCELLED" });
    const connecting = { name: "stuck", source: "mcp", state: "connecting", tools: 0, persisted: false };
    await expect.poll(() => client.ensembles.list()).toEqual([connecting]);
    const failed = new Promise<void>((resolve) => {
      gateway.arsenal.subscribe(() => resolve(), { names: ["ensemble-failed"] });
    });
    controller.abort();
    await Promise.all([refused, failed]);
    expect(await client.ensembles.list()).toEqual([]);
  });

  it("run commands, and read files and secrets of the machine, only for its own operator or if that is allowed", async () => {
    const remote = await operate();
    const refused = [
      ["/ensembles", { type: "mcp", ...tiny }],
      [
        "/ensembles",
        { type: "mcp", name: "x", transport: { kind: "http", url: pay.url, headers: { "x-key": "env:HOME" } } },
      ],
      [
        "/ensembles",
        { type: "mcp", name: "x", transport: { kind: "http", url: pay.url, oauth: { tokenFile: "/etc/x" } } },
      ],
      ["/ensembles", { type: "openapi", name: "x", document: "/etc/passwd" }],
      ["/ensembles", { type: "a2a", name: "x", url: pay.url, headers: { "x-key": "env:HOME" } }],
      ["/ensembles", { type: "a2a", name: "x", url: pay.url, trustedKeys: "/etc/passwd" }],
      ["/ensembles", { type: "a2a", name: "x", url: pay.url, tls: { cert: "/etc/a", key: "/etc/b" } }],
      ["/ensembles", { type: "openapi", name: "x", document: document("a"), filesFrom: "/etc" }],
      ["/ensembles", { type: "openapi", name: "x", document: document("a"), credentials: { key: "file:/etc/passwd" } }],
    ] as const;
    for (const [path, body] of refused)
      expect((await remote.ask("olga", "POST", path, body)).body).toMatchObject({
        status: 403,
        code: "PERMISSION_DENIED",
        fix: expect.stringContaining("server.allow_commands"),
      });
    const allowed = await operate({ server: { allowCommands: true } });
    expect((await allowed.ask("olga", "POST", "/ensembles", { type: "mcp", ...tiny })).status).toBe(201);
    const local = await operate({}, { local: true });
    expect((await local.ask("olga", "POST", "/ensembles", { type: "mcp", ...tiny })).status).toBe(201);
    expect(await toolsOf(local)).toEqual(["tiny.greet"]);
  });

  it.each([
    ["GET", "/ensembles"],
    ["GET", "/ensembles/pay"],
    ["POST", "/ensembles/pay/connect"],
    ["POST", "/ensembles/pay/disconnect"],
    ["POST", "/ensembles/pay/reload"],
    ["POST", "/ensembles/pay/restart"],
    ["GET", "/ensembles/pay/log"],
    ["POST", "/ensembles"],
    ["DELETE", "/ensembles/pay"],
  ])("are for operators alone: %s %s", async (method, path) => {
    const gateway = await withPay();
    expect((await gateway.ask("guest", method, path, method === "POST" ? {} : undefined)).status).toBe(403);
    expect((await gateway.ask("ada", method, path, method === "POST" ? {} : undefined)).status).toBe(403);
    expect(await toolsOf(gateway)).toHaveLength(2);
  });

  it.each([
    ["GET", "/ensembles/pai"],
    ["POST", "/ensembles/pai/connect"],
    ["POST", "/ensembles/pai/disconnect"],
    ["POST", "/ensembles/pai/reload"],
    ["POST", "/ensembles/pai/restart"],
    ["GET", "/ensembles/pai/log"],
    ["DELETE", "/ensembles/pai"],
  ])("are named in full: %s %s is 404", async (method, path) => {
    const gateway = await withPay();
    expect((await gateway.ask("olga", method, path, method === "POST" ? {} : undefined)).body).toMatchObject({
      status: 404,
      code: "ENSEMBLE_NOT_FOUND",
      detail: expect.stringContaining('Did you mean "pay"?'),
    });
  });

  it.each([
    ["/ensembles", { type: "mcp" }],
    ["/ensembles", { type: "mcp", name: "a b", transport: { kind: "http", url: "http://127.0.0.1/" } }],
    ["/ensembles", { type: "mcp", name: "a", transport: { kind: "pigeon", url: "http://127.0.0.1/" } }],
    ["/ensembles", { type: "mcp", name: "a", transport: { kind: "http" } }],
    ["/ensembles", { type: "mcp", name: "a", transport: { kind: "http", url: "no address" } }],
    ["/ensembles", { type: "mcp", name: "a", transport: { kind: "http", url: "http://127.0.0.1/" }, timeoutMs: -1 }],
    ["/ensembles", { type: "openapi", name: "a" }],
    ["/ensembles", { type: "openapi", name: "a", document: 5 }],
    ["/ensembles", { type: "a2a", name: "a" }],
    ["/ensembles", { type: "a2a", name: "a", url: "no address" }],
  ])("refuses to add to %s what is invalid: %j", async (path, body) => {
    const gateway = await operate();
    expect((await gateway.ask("olga", "POST", path, body)).body).toMatchObject({ status: 400, code: "INPUT_INVALID" });
  });
});
