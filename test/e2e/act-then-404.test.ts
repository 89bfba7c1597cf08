import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterEach, describe, expect, it } from "vitest";
import { ToolArsenal } from "../../src/index.ts";
import { type ForgetfulServer, startSse, startStreamable, UNKNOWN_SESSION } from "./act-then-404.ts";

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

const TRANSPORTS = [
  { over: "streamable HTTP", kind: "http", start: startStreamable },
  { over: "HTTP+SSE", kind: "sse", start: startSse },
] as const;

const REFUSALS = [
  { says: "HTTP 404 with a JSON-RPC error", refusal: UNKNOWN_SESSION },
  { says: "HTTP 404 without a body", refusal: { status: 404, body: "" } },
  { says: "HTTP 400 about the session", refusal: { status: 400, body: "Bad session" } },
];

async function setUp(
  { kind, start }: (typeof TRANSPORTS)[number],
  trustAnnotations = false,
): Promise<{ readonly arsenal: ToolArsenal; readonly server: ForgetfulServer }> {
  const server = await start();
  closing.push(server.close);
  const arsenal = new ToolArsenal({
    telemetry: { enabled: false },
    security: { maxRequestsPerMinute: 1_000, requireConfirmation: [] },
    execution: { retryBaseMs: 1 },
  });
  closing.push(() => arsenal.close());
  await arsenal.addMcpServer({ name: "bank", transport: { kind, url: server.url }, trustAnnotations });
  return { arsenal, server };
}

describe.each(TRANSPORTS)("a server over $over that acts and then no longer knows the session", (transport) => {
  it.each(REFUSALS)("ran the call once where it says $says, and the outcome is unknown", async ({ refusal }) => {
    const { arsenal, server } = await setUp(transport);
    server.refusal = refusal;
    const result = await arsenal.execute({ toolName: "bank.pay", arguments: { amount: 7 }, retryCount: 5 });
    expect(server.committed).toEqual([7]);
    expect(result).toMatchObject({ status: "failure", attempts: 1, error: { code: "OUTCOME_UNKNOWN" } });
    expect(result.error?.message).toMatch(/session/);
  });

  it("gets the next call in a new session", async () => {
    const { arsenal, server } = await setUp(transport);
    await arsenal.execute({ toolName: "bank.pay", arguments: { amount: 7 } });
    server.refusal = undefined;
    const result = await arsenal.execute({ toolName: "bank.pay", arguments: { amount: 8 } });
    expect(result).toMatchObject({ status: "success", attempts: 1 });
    expect(server.committed).toEqual([7, 8]);
    expect(server.sessions).toBe(2);
  });

  it("gets a call of a confirmed read-only tool again, as often as the engine's own retries allow", async () => {
    const { arsenal, server } = await setUp(transport, true);
    const result = await arsenal.execute({ toolName: "bank.look", arguments: { amount: 1 }, retryCount: 2 });
    expect(server.committed).toEqual([1, 1]);
    expect(result).toMatchObject({ status: "failure", attempts: 2, error: { code: "OUTCOME_UNKNOWN" } });
  });
});

describe("a gateway before a server that acts and then no longer knows the session", () => {
  it.each([
    { plane: "/mcp", name: "bank-pay", era: "legacy" },
    { plane: "/mcp", name: "bank-pay", era: "auto" },
    { plane: "/mcp/upstreams/bank", name: "pay", era: "legacy" },
    { plane: "/mcp/upstreams/bank", name: "pay", era: "auto" },
  ] as const)("sends a call at $plane of a client ($era) once", async ({ plane, name, era }) => {
    const { arsenal, server } = await setUp(TRANSPORTS[0]);
    const gateway = await arsenal.serve({ port: 0, mode: "static" });
    closing.push(gateway.close);
    const client = new Client({ name: "caller", version: "1.0.0" }, { versionNegotiation: { mode: era } });
    await client.connect(new StreamableHTTPClientTransport(new URL(`${gateway.url}${plane}`)));
    closing.push(() => client.close());
    const result = await client.callTool({ name, arguments: { amount: 7 } });
    expect(server.committed).toEqual([7]);
    expect(result.isError).toBe(true);
    expect(JSON.stringify(result.content)).toMatch(/taken effect/);
    server.refusal = undefined;
    expect((await client.callTool({ name, arguments: { amount: 8 } })).isError).not.toBe(true);
    expect(server.committed).toEqual([7, 8]);
  });
});
