import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { afterEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { ToolArsenal } from "../../src/index.ts";
import { rulesPolicy } from "../../src/adapters/policies/index.ts";
import { createManualClock } from "../../src/testing/manual-clock.ts";

const CARD = "4111111111111111";
const SURFACES = [
  { surface: "aggregate", mode: "static", path: "/mcp", toCall: (tool: string) => ({ name: `bank-${tool}` }) },
  {
    surface: "meta-tool",
    mode: "dynamic",
    path: "/mcp",
    toCall: (tool: string) => ({ name: "execute_tool", arguments: { tool_name: `bank-${tool}`, arguments: {} } }),
  },
  { surface: "transparent plane", mode: "static", path: "/mcp/upstreams/bank", toCall: (name: string) => ({ name }) },
] as const;
const CASES = SURFACES.flatMap((surface) => (["legacy", "modern"] as const).map((era) => ({ ...surface, era })));

const closing: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

/** A real MCP server whose tools all tell a card's number, each in its own way; `hang` tells when it is cancelled. */
async function startBank(): Promise<{
  readonly url: string;
  readonly calls: string[];
  /** Resolves when the call that never ends has reached the server, and when the server is told that nobody waits for it. */
  readonly hanging: Promise<void>;
  readonly cancelled: Promise<void>;
}> {
  const calls: string[] = [];
  const { promise: hanging, resolve: tellHanging } = Promise.withResolvers<void>();
  const { promise: cancelled, resolve: tellCancelled } = Promise.withResolvers<void>();
  const customer = { customer: { name: "Dana", card: CARD } };
  const text = (said: string) => [{ type: "text" as const, text: said }];
  const build = (): McpServer => {
    const server = new McpServer({ name: "bank", version: "1.0.0" });
    const add = (name: string, answer: () => object): void => {
      server.registerTool(name, { description: `Answers with ${name}.`, inputSchema: z.object({}) }, () => {
        calls.push(name);
        return answer() as never;
      });
    };
    add("both", () => ({ content: text(JSON.stringify(customer)), structuredContent: customer }));
    add("words", () => ({ content: text(`Dana pays with ${CARD}.`) }));
    add("failure", () => ({ content: text(`${CARD} was declined.`), isError: true }));
    add("detailed", () => ({ content: text("Dana was declined."), structuredContent: customer, isError: true }));
    add("large", () => ({ content: text("x".repeat(5_000)) }));
    add("harmless", () => ({ content: text("It is sunny."), _meta: { "x/zebra": 1, "x/apple": 2 } }));
    server.registerTool("hang", { description: "Never answers.", inputSchema: z.object({}) }, (_args, context) => {
      const { signal } = context.mcpReq;
      tellHanging();
      return new Promise((resolve) => {
        signal.addEventListener("abort", () => {
          tellCancelled();
          resolve({ content: [] });
        });
      });
    });
    return server;
  };
  const handler = createMcpHandler(build, { legacy: "reject" });
  const answer = toNodeHandler(handler);
  const server = createServer((request, response) => void answer(request as never, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closing.push(async () => {
    await handler.close();
    server.closeAllConnections();
    await new Promise((resolve) => void server.close(resolve));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, calls, hanging, cancelled };
}

const POLICY = {
  version: 1,
  rules: [
    {
      id: "no-cards",
      effect: "allow",
      namespaces: ["bank"],
      obligations: { redact: ["**.card", "/[0-9]{16}/"], max_result_bytes: 1_000 },
    },
  ],
} as const;

async function startGateway(mode: "static" | "dynamic"): Promise<{ readonly url: string; readonly calls: string[] }> {
  const bank = await startBank();
  const arsenal = new ToolArsenal({ telemetry: { enabled: false }, policy: rulesPolicy(POLICY) });
  await arsenal.addMcpServer({ name: "bank", transport: { kind: "http", url: bank.url } });
  const served = await arsenal.serve({ port: 0, mode });
  closing.push(
    () => arsenal.close(),
    () => served.close(),
  );
  return { url: served.url ?? "", calls: bank.calls };
}

async function connect(era: "legacy" | "modern", url: string): Promise<Client> {
  const negotiation = era === "modern" ? { versionNegotiation: { mode: { pin: "2026-07-28" as const } } } : {};
  const client = new Client({ name: "agent", version: "1.0.0" }, negotiation);
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  closing.push(() => client.close());
  return client;
}

describe.each(CASES)("what a rule takes out, for a $era client of the $surface", ({ mode, path, toCall, era }) => {
  it("reaches the client in no form, and everything else as it came", async () => {
    const { url, calls } = await startGateway(mode);
    const client = await connect(era, url + path);
    const call = (tool: string): Promise<Record<string, unknown>> => client.callTool(toCall(tool));

    const customer = { customer: { name: "Dana", card: "[redacted]" } };
    expect(await call("both")).toMatchObject({
      content: [{ type: "text", text: JSON.stringify(customer) }],
      structuredContent: customer,
    });
    expect((await call("words"))["content"]).toEqual([{ type: "text", text: "Dana pays with [redacted]." }]);

    const failure = await call("failure");
    expect(failure).toMatchObject({ isError: true });
    expect(JSON.stringify(failure)).not.toContain(CARD);
    expect(JSON.stringify(failure)).toContain("[redacted] was declined.");

    const detailed = await call("detailed");
    expect(JSON.stringify(detailed)).toContain("The error that bank.detailed reported is withheld: a rule removes it.");
    expect(JSON.stringify(detailed)).not.toContain(CARD);

    const large = await call("large");
    expect(large).toMatchObject({ isError: true });
    expect(JSON.stringify(large)).toContain("bank.large ran, but its result is withheld: it measures at least 5");
    expect(JSON.stringify(large)).not.toContain("xxxx");

    expect(await call("harmless")).toMatchObject({
      content: [{ type: "text", text: "It is sunny." }],
      _meta: { "x/zebra": 1, "x/apple": 2 },
    });
    expect(calls).toEqual(["both", "words", "failure", "detailed", "large", "harmless"]);
  });
});

describe("domains that a rule allows", () => {
  it("are all that an OpenAPI tool reaches", async () => {
    let requests = 0;
    const server = createServer((_request, response) => {
      requests++;
      response.end("done");
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    closing.push(() => new Promise((resolve) => void server.close(resolve)));
    const document = {
      openapi: "3.1.0",
      info: { title: "Pets", version: "1.0.0" },
      paths: { "/pets": { get: { operationId: "listPets", summary: "Lists the pets.", responses: {} } } },
    };
    const statusUnder = async (egress: readonly string[]): Promise<unknown> => {
      const rule = { id: "near", effect: "allow", namespaces: ["pets"], obligations: { egress } } as const;
      const policy = rulesPolicy({ version: 1, rules: [rule] });
      await using arsenal = new ToolArsenal({ telemetry: { enabled: false }, policy });
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      await arsenal.add({ type: "openapi", name: "pets", document, server: url });
      return (await arsenal.execute({ toolName: "pets.list_pets" })).status;
    };
    expect(await statusUnder(["api.example.com"])).toBe("permission_denied");
    expect(await statusUnder([])).toBe("permission_denied");
    expect(requests).toBe(0);
  });

  it("are all that an MCP server over HTTP may be among", async () => {
    const { url, calls } = await startBank();
    const rule = {
      id: "near",
      effect: "allow",
      namespaces: ["bank"],
      obligations: { egress: ["example.com"] },
    } as const;
    const policy = rulesPolicy({ version: 1, rules: [rule] });
    await using arsenal = new ToolArsenal({ telemetry: { enabled: false }, policy });
    await arsenal.addMcpServer({ name: "bank", transport: { kind: "http", url } });
    expect((await arsenal.execute({ toolName: "bank.harmless" })).status).toBe("permission_denied");
    expect(calls).toEqual([]);
  });

  it("keep a function, whose reach nobody can bound, from running", async () => {
    const rule = { id: "near", effect: "allow", tools: ["*"], obligations: { egress: ["api.example.com"] } } as const;
    const policy = rulesPolicy({ version: 1, rules: [rule] });
    await using arsenal = new ToolArsenal({ telemetry: { enabled: false }, policy });
    let runs = 0;
    const parameters = { type: "object", properties: {} } as const;
    arsenal.register({ name: "crawl", description: "Crawls the web for pages.", parameters }, () => runs++);
    const { status, error } = await arsenal.execute({ toolName: "crawl" });
    expect([status, runs]).toEqual(["permission_denied", 0]);
    expect(error?.message).toContain("near restricts the domains that default.crawl may reach");
  });
});

describe("a deadline", () => {
  it("ends a call to an MCP server, which is told", async () => {
    const { url, hanging, cancelled } = await startBank();
    const clock = createManualClock(Date.now());
    await using arsenal = new ToolArsenal({ telemetry: { enabled: false }, clock });
    await arsenal.addMcpServer({ name: "bank", transport: { kind: "http", url } });
    const running = arsenal.execute({ toolName: "bank.hang", deadline: clock.now() + 300 });
    await hanging;
    await clock.advance(300);
    expect(await running).toMatchObject({ status: "timeout", error: { code: "OUTCOME_UNKNOWN" } });
    await cancelled;
  });
});
