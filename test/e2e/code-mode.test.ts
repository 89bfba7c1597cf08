import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ToolArsenal } from "../../src/arsenal.ts";
import { createClient } from "../../src/client/index.ts";
import type { ServedGateway } from "../../src/serve/serve-arsenal.ts";
import { type PayServer, startPayServer } from "./pay-server.ts";

let upstream: PayServer;
let arsenal: ToolArsenal;
let gateway: ServedGateway;
let url = "";

beforeAll(async () => {
  upstream = await startPayServer();
  arsenal = new ToolArsenal({
    telemetry: { enabled: false },
    security: { requireConfirmation: ["pay"], selfApproval: "local" },
    toolsets: [{ name: "orders", include: { namespaces: ["shop"] }, mode: "dynamic" }],
  });
  arsenal.register(
    {
      name: "list_orders",
      namespace: "shop",
      description: "Lists the orders of a customer.",
      parameters: { type: "object", properties: { customer: { type: "string" } }, required: ["customer"] },
    },
    ({ customer }) => [1, 2, 3].map((n) => ({ id: `${customer}-${n}`, total: n * 10 })),
  );
  await arsenal.addMcpServer({ name: "pay", transport: { kind: "http", url: upstream.url } });
  gateway = await arsenal.serve({ port: 0, mode: "code" });
  url = gateway.url ?? "";
});
afterAll(async () => {
  await gateway.close();
  await arsenal.close();
  await upstream.close();
});

async function connect(path = "/mcp", reply?: boolean): Promise<Client> {
  const client = new Client(
    { name: "client", version: "1.0.0" },
    { capabilities: reply === undefined ? {} : { elicitation: { form: {} } } },
  );
  if (reply !== undefined)
    client.setRequestHandler("elicitation/create", async () => ({ action: "accept", content: { approve: reply } }));
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}${path}`)));
  return client;
}

type CallResult = { isError?: boolean; structuredContent?: Record<string, unknown>; content: { text: string }[] };

const call = async (client: Client, name: string, args: Record<string, unknown>): Promise<CallResult> =>
  (await client.callTool({ name, arguments: args })) as unknown as CallResult;

describe("code mode over MCP", () => {
  it("lists search, describe and run, and nothing else", async () => {
    const client = await connect();
    const { tools } = await client.listTools();
    expect(tools.map(({ name, inputSchema }) => [name, Object.keys(inputSchema.properties ?? {})])).toEqual([
      ["search", ["query", "limit"]],
      ["describe", ["tools"]],
      ["run", ["code"]],
    ]);
    expect(tools[2]?.description).toMatch(/your \d+ tools and nothing else/);
    await client.close();
  });

  it("finds tools as calls, describes them, and runs a program with a structured result", async () => {
    const client = await connect();
    const found = await call(client, "search", { query: "orders of a customer", limit: 1 });
    expect(found.content[0]?.text).toBe(
      "shop.list_orders(args: { customer: string }) — Lists the orders of a customer.",
    );
    const code =
      "const orders = await shop.list_orders({ customer: 'acme' });\norders.reduce((sum, { total }) => sum + total, 0)";
    expect((await call(client, "run", { code })).structuredContent).toEqual({
      value: 60,
      logs: [],
      calls: [{ tool: "shop.list_orders", status: "success", durationMs: expect.any(Number) }],
    });
    // The result type was learned from that call.
    const described = await call(client, "describe", { tools: ["shop.list_orders", "shop.list_order"] });
    expect(described.content[0]?.text).toContain("Promise<{ id: string; total: number }[]>");
    expect(described.content[0]?.text).toContain("Did you mean shop.list_orders?");
    await client.close();
  });

  it("refuses a program that is too long in an answer that models see", async () => {
    const client = await connect();
    const refused = await call(client, "run", { code: `"${"x".repeat(300_000)}"` });
    expect(refused).toMatchObject({
      isError: true,
      content: [
        {
          text: "code has 300002 characters, and the limit is 262144. Let tools store the data instead of writing it into the program.",
        },
      ],
    });
    await client.close();
  });

  it("reports a failed program with its line, beside the calls that ran", async () => {
    const client = await connect();
    const failed = await call(client, "run", { code: "await shop.list_orders({ customer: 'a' });\nnull.x" });
    expect(failed).toMatchObject({
      isError: true,
      structuredContent: {
        error: { message: expect.stringContaining("TypeError"), line: 2 },
        calls: [{ tool: "shop.list_orders", status: "success" }],
      },
    });
    await client.close();
  });

  it("asks the person at the client about a call that needs approval, and goes on with the program", async () => {
    const client = await connect("/mcp", true);
    const before = upstream.paid.length;
    const answer = await call(client, "run", { code: "await pay.pay({ amount: 3 });\n'paid'" });
    expect(answer.structuredContent).toMatchObject({ value: "paid", calls: [{ tool: "pay.pay", status: "success" }] });
    expect(upstream.paid.length).toBe(before + 1);
    await client.close();
  });

  it("leaves a toolset with a mode of its own as it is", async () => {
    const client = await connect("/mcp/toolsets/orders");
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["find_relevant_tools", "execute_tool"]);
    await client.close();
  });
});

describe("programs over REST", () => {
  it("run, wait for an approval, and are listed with their calls", async () => {
    const client = createClient({ url });
    const code =
      "const orders = await shop.list_orders({ customer: 'b' });\nawait pay.pay({ amount: orders[0].total });\n'done'";
    const waiting = await client.runCode({ code });
    expect(waiting).toMatchObject({ status: "pending_confirmation", calls: [{ tool: "shop.list_orders" }] });
    const api = async (path: string, method = "GET") =>
      (await (await fetch(`${url}/api/v1${path}`, { method })).json()) as Record<string, unknown>;
    expect(await api(`/runs/${waiting.runId}`)).toMatchObject({
      status: "waiting",
      work: { code },
      waits: [{ tool: "pay.pay", confirmationId: waiting.confirmationId }],
    });
    await client.approvals.approve(waiting.confirmationId ?? "");
    expect(await client.runCode({ code })).toMatchObject({ runId: waiting.runId, status: "success", value: "done" });
    const { runs } = (await api("/runs?limit=1")) as { runs: { id: string; status: string }[] };
    expect(runs).toMatchObject([{ id: waiting.runId, status: "done" }]);
    expect(await api(`/runs/${waiting.runId}/cancel`, "POST")).toEqual({ id: waiting.runId, cancelled: false });
    expect(await api("/runs/unknown")).toMatchObject({ status: 404 });
  });
});
