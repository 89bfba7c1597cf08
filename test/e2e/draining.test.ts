import { spawn } from "node:child_process";
import { once } from "node:events";
import { PassThrough } from "node:stream";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterEach, describe, expect, it } from "vitest";
import { memoryAudit, type MemoryAudit } from "../../src/adapters/audit/memory.ts";
import { ToolArsenal } from "../../src/index.ts";
import type { ServedGateway, ServeOptions } from "../../src/serve/serve-arsenal.ts";
import { startLegacyServer, startModernServer, type UpstreamServer } from "../mcp/upstream-server.ts";
import { gatewayCommand, startGateway } from "./gateway-process.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

const ERAS = [
  { era: "older", mode: "legacy", start: startLegacyServer },
  { era: "modern", mode: "auto", start: startModernServer },
] as const;

/** Lets the sample tool `report` end, once it waits for that. */
async function letGo({ events }: UpstreamServer): Promise<void> {
  while (events.listenerCount("go") === 0) await new Promise((resolve) => setImmediate(resolve));
  events.emit("go");
}

async function setUp(
  start: () => Promise<UpstreamServer>,
  options: ServeOptions,
): Promise<{ readonly server: UpstreamServer; readonly gateway: ServedGateway; readonly audit: MemoryAudit }> {
  const server = await start();
  closing.push(() => server.close());
  const audit = memoryAudit();
  const toolsets = [{ name: "echoes", include: { tools: ["sample.echo"] } }];
  const arsenal = new ToolArsenal({ telemetry: { enabled: false }, toolsets, audit });
  closing.push(() => arsenal.close());
  await arsenal.addMcpServer({ name: "sample", transport: { kind: "http", url: server.url } });
  const gateway = await arsenal.serve({ port: 0, mode: "static", ...options });
  closing.push(() => gateway.close());
  return { server, gateway, audit };
}

async function connect(url: string, mode: "legacy" | "auto"): Promise<Client> {
  const client = new Client({ name: "caller", version: "1.0.0" }, { versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  closing.push(() => client.close());
  return client;
}

/** What the audit has of the calls of one tool. */
function codesIn(audit: MemoryAudit): readonly unknown[] {
  return audit.lines
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter(({ kind }) => kind === "call")
    .map(({ status, code }) => [status, code]);
}

/** What is left of a drain of 60 s that has just begun. */
const REST_OF_A_MINUTE = expect.toSatisfy((seconds: number) => seconds > 1 && seconds <= 60) as unknown;

function secondsToWait({ headers }: Response): number {
  return Number(headers.get("retry-after"));
}

const CALL = {
  jsonrpc: "2.0",
  id: 9,
  method: "tools/call",
  params: { name: "sample-echo", arguments: {}, _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } },
};
const HEADERS = {
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
  "mcp-protocol-version": "2026-07-28",
  "mcp-method": "tools/call",
  "mcp-name": "sample-echo",
};

describe.each(ERAS)("a gateway that closes while a call of the $era era is under way", ({ mode, start }) => {
  it("lets the call end, refuses new ones meanwhile, and says that it is not ready", async () => {
    const { server, gateway } = await setUp(start, { drainMs: 60_000 });
    const client = await connect(`${gateway.url}/mcp`, mode);
    const called = once(server.events, "called");
    const call = client.callTool({ name: "sample-report", arguments: { text: "half", until: "go" } });
    await called;
    expect(gateway.pending).toBe(1);
    const closed = gateway.close();

    const ready = await fetch(`${gateway.url}/readyz`);
    expect([ready.status, await ready.json()]).toEqual([503, { draining: true, upstreams: { sample: "connected" } }]);
    const refused = await fetch(`${gateway.url}/mcp`, { method: "POST", headers: HEADERS, body: JSON.stringify(CALL) });
    expect([refused.status, secondsToWait(refused)]).toEqual([503, REST_OF_A_MINUTE]);
    expect(await refused.json()).toMatchObject({
      id: 9,
      error: { message: expect.stringMatching(/shutting down/), data: { code: "CLOSED" } },
    });
    const elsewhere: readonly (readonly [path: string, init?: RequestInit])[] = [
      ["/mcp/upstreams/sample", { method: "POST", headers: HEADERS, body: JSON.stringify(CALL) }],
      ["/mcp/toolsets/echoes", { method: "POST", headers: HEADERS, body: JSON.stringify(CALL) }],
      ["/mcp", { headers: { accept: "text/event-stream", "mcp-session-id": "new" } }],
      ["/sse"],
      ["/api/v1/approvals"],
    ];
    for (const [path, init] of elsewhere) {
      const answer = await fetch(gateway.url + path, init);
      expect([path, answer.status, secondsToWait(answer)]).toEqual([path, 503, REST_OF_A_MINUTE]);
      expect(await answer.text()).toContain("shutting down");
    }
    expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200);

    await letGo(server);
    expect(await call).toMatchObject({ content: [{ type: "text", text: "reported" }] });
    await closed;
    await expect(fetch(`${gateway.url}/readyz`)).rejects.toThrow();
  });

  it("cuts it off when the time is up, as an outcome that is unknown to the caller and in the audit", async () => {
    const { server, gateway, audit } = await setUp(start, { drainMs: 0 });
    const client = await connect(`${gateway.url}/mcp`, mode);
    const called = once(server.events, "called");
    const call = client.callTool({ name: "sample-wait", arguments: {} });
    await called;
    const closed = gateway.close();
    const result = await call;
    expect(result.isError).toBe(true);
    expect(JSON.stringify(result.content)).toMatch(/shut down.*may or may not have taken effect/);
    await closed;
    expect(codesIn(audit)).toEqual([["failure", "OUTCOME_UNKNOWN"]]);
  });
});

it("a call that waits for its turn when the gateway closes was not started, and the audit says so", async () => {
  const { server, gateway, audit } = await setUp(startModernServer, { drainMs: 0 });
  const client = await connect(`${gateway.url}/mcp`, "auto");
  const called = once(server.events, "called");
  const calls = Array.from({ length: 40 }, () => client.callTool({ name: "sample-wait", arguments: {} }));
  await called;
  while (gateway.pending < 40) await new Promise((resolve) => setImmediate(resolve));
  await gateway.close();
  await Promise.allSettled(calls);
  const codes = codesIn(audit).map(String);
  expect(codes.filter((code) => code === "failure,OUTCOME_UNKNOWN")).toHaveLength(32);
  expect(codes.filter((code) => code === "failure,CLOSED")).toHaveLength(8);
});

describe("a gateway over stdio", () => {
  const meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "raw", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const callLine = (id: number, name: string, args: object): string =>
    `${JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: args, _meta: meta } })}\n`;

  function readLines(output: PassThrough): { next(): Promise<Record<string, unknown>> } {
    const lines: string[] = [];
    let rest = "";
    output.on("data", (chunk: Buffer) => {
      const parts = (rest + chunk.toString()).split("\n");
      rest = parts.pop() ?? "";
      lines.push(...parts);
      output.emit("lines");
    });
    return {
      async next() {
        if (lines.length === 0) await once(output, "lines");
        return JSON.parse(lines.shift() ?? "") as Record<string, unknown>;
      },
    };
  }

  it.each(["closes", "is left by its client"] as const)("that %s lets a call end", async (how) => {
    const [input, output] = [new PassThrough(), new PassThrough()];
    const answers = readLines(output);
    const { server, gateway } = await setUp(startModernServer, { transport: "stdio", input, output, drainMs: 60_000 });
    const called = once(server.events, "called");
    input.write(callLine(1, "sample-report", { text: "half", until: "go" }));
    await called;
    let closed = gateway.closed;
    if (how === "closes") {
      closed = gateway.close();
      input.write(callLine(2, "sample-echo", { text: "new" }));
      expect(await answers.next()).toMatchObject({ id: 2, error: { message: expect.stringMatching(/shutting down/) } });
    } else input.end();
    await letGo(server);
    expect(await answers.next()).toMatchObject({ id: 1, result: { content: [{ text: "reported" }] } });
    await closed;
  });

  it("left by its client cuts a call off when the time is up, as an unknown outcome in the audit", async () => {
    const [input, output] = [new PassThrough(), new PassThrough()];
    const { server, gateway, audit } = await setUp(startModernServer, {
      transport: "stdio",
      input,
      output,
      drainMs: 0,
    });
    const called = once(server.events, "called");
    input.write(callLine(1, "sample-wait", {}));
    await called;
    input.end();
    await gateway.closed;
    expect(codesIn(audit)).toEqual([["failure", "OUTCOME_UNKNOWN"]]);
  });
});

describe("toolarsenal serve", () => {
  it("lets a call end after SIGTERM, then exits 0", async () => {
    const server = await startModernServer();
    closing.push(() => server.close());
    const gateway = await startGateway({
      servers: { sample: { type: "http", url: server.url } },
      mode: "static",
      tier: "lexical",
    });
    closing.push(() => gateway.close());
    const client = await connect(`${gateway.url}/mcp`, "auto");
    const called = once(server.events, "called");
    const call = client.callTool({ name: "sample-report", arguments: { text: "half", until: "go" } });
    await called;
    const exited = gateway.close();
    while ((await fetch(`${gateway.url}/readyz`)).status !== 503);
    await letGo(server);
    expect(await call).toMatchObject({ content: [{ type: "text", text: "reported" }] });
    expect(await exited).toBe(0);
    expect(gateway.log()).toContain("1 call is still running");
  });

  it("does not wait after a second Ctrl-C", async () => {
    const server = await startModernServer();
    closing.push(() => server.close());
    const folder = mkdtempSync(join(tmpdir(), "toolarsenal-draining-"));
    closing.push(() => rmSync(folder, { recursive: true, force: true }));
    const settings = { server: { drain_timeout_s: 3600 } };
    const servers = { sample: { type: "http" as const, url: server.url } };
    const { command, args } = gatewayCommand({ servers, settings, mode: "static" }, folder);
    const child = spawn(command, [...args, "--http", "--port", "0"], {
      cwd: folder,
      env: { ...process.env, TOOLARSENAL_TIER: "lexical" },
    });
    const exited = once(child, "exit");
    closing.push(() => child.kill("SIGKILL"));
    let said = "";
    const heard = async (pattern: RegExp): Promise<string> => {
      for (;;) {
        const [found] = pattern.exec(said) ?? [];
        if (found !== undefined) return found;
        said += String((await once(child.stderr, "data"))[0]);
      }
    };
    const url = await heard(/http:\/\/127\.0\.0\.1:\d+/);
    await heard(/sample: connected/);
    const client = await connect(`${url}/mcp`, "auto");
    const called = once(server.events, "called");
    client.callTool({ name: "sample-wait", arguments: {} }).catch(() => {});
    await called;
    child.kill("SIGINT");
    await heard(/1 call is still running/);
    child.kill("SIGINT");
    expect(await exited).toEqual([130, null]);
  });
});
