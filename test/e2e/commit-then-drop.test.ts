import { afterEach, describe, expect, it } from "vitest";
import { ToolArsenal } from "../../src/index.ts";
import { type DroppingServer, startHttp, startLegacy, startModern } from "./dropping-servers.ts";

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

const DOCUMENT = {
  openapi: "3.1.0",
  info: { title: "Payments", version: "1.0.0" },
  paths: {
    "/payments": {
      post: {
        operationId: "pay",
        summary: "Pays an amount to somebody.",
        requestBody: {
          required: true,
          content: {
            "application/json": {
              schema: { type: "object", properties: { amount: { type: "number" } }, required: ["amount"] },
            },
          },
        },
        responses: { "200": { description: "Paid." } },
      },
    },
  },
};

const addMcp = async (arsenal: ToolArsenal, { url }: DroppingServer): Promise<unknown> =>
  arsenal.addMcpServer({ name: "bank", transport: { kind: "http", url } });

const UPSTREAMS = [
  { kind: "an MCP server of the modern era", start: startModern, add: addMcp },
  { kind: "an MCP server of the older era", start: startLegacy, add: addMcp },
  {
    kind: "an OpenAPI endpoint",
    start: startHttp,
    add: async (arsenal: ToolArsenal, { url }: DroppingServer): Promise<unknown> =>
      arsenal.add({ type: "openapi", name: "bank", document: DOCUMENT, server: url }),
  },
];

/** An arsenal over one such server. */
async function setUp({ start, add }: (typeof UPSTREAMS)[number]): Promise<{
  readonly arsenal: ToolArsenal;
  readonly server: DroppingServer;
}> {
  const server = await start();
  closing.push(server.close);
  const security = { maxRequestsPerMinute: 1_000, requireConfirmation: [] };
  const arsenal = new ToolArsenal({ telemetry: { enabled: false }, security });
  closing.push(() => arsenal.close());
  await add(arsenal, server);
  return { arsenal, server };
}

describe.each(UPSTREAMS)("$kind that commits and then drops the connection", (upstream) => {
  it("ran exactly once, and the caller is told that the outcome is unknown", async () => {
    const { arsenal, server } = await setUp(upstream);
    const result = await arsenal.execute({ toolName: "bank.pay", arguments: { amount: 7 }, retryCount: 5 });
    expect(result).toMatchObject({ status: "failure", attempts: 1, error: { code: "OUTCOME_UNKNOWN" } });
    expect(result.error?.message).toMatch(/taken effect/);
    expect(server.committed).toEqual([7]);
    server.fix();
    expect(await arsenal.execute({ toolName: "bank.pay", arguments: { amount: 8 } })).toMatchObject({
      status: "success",
    });
    expect(server.committed).toEqual([7, 8]);
  });

  it("ran once for fifty calls with one idempotency key, and each is told the same", async () => {
    const { arsenal, server } = await setUp(upstream);
    const call = { toolName: "bank.pay", arguments: { amount: 7 }, idempotencyKey: "invoice-7", retryCount: 5 };
    const lost = await Promise.all(Array.from({ length: 50 }, () => arsenal.execute(call)));
    expect(server.committed).toEqual([7]);
    expect(new Set(lost.map(({ status, error }) => `${status} ${error?.code} ${error?.message}`)).size).toBe(1);
    expect(lost[0]?.error?.code).toBe("OUTCOME_UNKNOWN");
    server.fix();
    expect((await arsenal.execute(call)).error?.code).toBe("OUTCOME_UNKNOWN");
    expect(server.committed).toEqual([7]);
  });

  it("gives fifty calls with one idempotency key one result where it answers", async () => {
    const { arsenal, server } = await setUp(upstream);
    server.fix();
    const call = { toolName: "bank.pay", arguments: { amount: 9 }, idempotencyKey: "invoice-9" };
    const results = await Promise.all(Array.from({ length: 50 }, () => arsenal.execute(call)));
    expect(server.committed).toEqual([9]);
    expect(new Set(results.map(({ status, result }) => `${status} ${JSON.stringify(result)}`)).size).toBe(1);
    expect(results[0]).toMatchObject({ status: "success" });
    expect(results.filter(({ replayed }) => replayed === true)).toHaveLength(49);
  });
});
