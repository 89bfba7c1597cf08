import { spawn } from "node:child_process";
import { once } from "node:events";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as OldTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema, ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { afterEach, describe, expect, it } from "vitest";
import { serveSample } from "./sample-endpoint.ts";
import { createSamplePlane, type SamplePlane } from "./sample-plane.ts";

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

async function serve(): Promise<{ readonly url: URL; readonly plane: SamplePlane }> {
  const plane = createSamplePlane();
  const endpoint = await serveSample(plane);
  closers.push(endpoint.close);
  return { url: new URL(endpoint.url), plane };
}

const INFO = { name: "test", version: "1" };
const capabilities = { elicitation: {} };
const ADA = { action: "accept" as const, content: { name: "Ada" } };
const STDIO_SERVER = new URL("./stdio-sample.ts", import.meta.url).pathname;

function newClient(mode: "auto" | "legacy"): Client {
  const client = new Client(INFO, { capabilities, versionNegotiation: { mode } });
  client.setRequestHandler("elicitation/create", async () => ADA);
  closers.push(() => client.close());
  return client;
}

/** What a client does here: it lists, calls, and is asked. */
async function exercise(client: Pick<Client, "listTools" | "callTool">): Promise<void> {
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain("echo");
  expect(await client.callTool({ name: "echo", arguments: { text: "hi" } })).toMatchObject({
    content: [{ type: "text", text: "hi" }],
  });
  expect(await client.callTool({ name: "greet" })).toMatchObject({ content: [{ type: "text", text: "Hello Ada" }] });
}

/** Over HTTP only: of what comes in one piece with the answer, as on a pipe, this client drops the progress. */
async function hearProgress(client: Pick<Client, "callTool">): Promise<void> {
  const progress: number[] = [];
  await client.callTool({ name: "progress" }, { onprogress: (report) => void progress.push(report.progress) });
  expect(progress).toEqual([1, 2]);
}

async function cancel(client: Pick<Client, "callTool">, plane: SamplePlane): Promise<void> {
  const controller = new AbortController();
  const before = plane.exchanges.length;
  const waiting = client.callTool({ name: "wait" }, { signal: controller.signal }).catch(() => "cancelled");
  while (plane.exchanges.length === before) await new Promise((resolve) => void setImmediate(resolve));
  const aborted = once(plane.exchanges[before]?.signal ?? AbortSignal.abort(), "abort");
  controller.abort();
  expect(await waiting).toBe("cancelled");
  await aborted;
}

describe("the official clients over HTTP", () => {
  it("2.x in the new era list, call, are asked, hear of progress and changes, and cancel", async () => {
    const { url, plane } = await serve();
    const client = newClient("auto");
    await client.connect(new StreamableHTTPClientTransport(url));
    expect(client.getNegotiatedProtocolVersion()).toBe("2026-07-28");
    await exercise(client);
    await hearProgress(client);
    await cancel(client, plane);
    const { promise: changed, resolve } = Promise.withResolvers<void>();
    client.setNotificationHandler("notifications/tools/list_changed", () => resolve());
    const subscription = await client.listen({ toolsListChanged: true });
    plane.pushAll({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
    await changed;
    await subscription.close();
    while (plane.filters.length > 0) await new Promise((done) => void setImmediate(done));
  });

  it("2.x in the old era list, call, are asked, hear of progress, and cancel", async () => {
    const { url, plane } = await serve();
    const client = newClient("legacy");
    await client.connect(new StreamableHTTPClientTransport(url));
    expect(client.getNegotiatedProtocolVersion()).toBe("2025-11-25");
    await exercise(client);
    await hearProgress(client);
    await cancel(client, plane);
  });

  it("1.x list, call, are asked, hear of progress and changes, cancel, and end their session", async () => {
    const { url, plane } = await serve();
    const client = new OldClient(INFO, { capabilities });
    const transport = new OldTransport(url);
    closers.push(() => client.close());
    client.setRequestHandler(ElicitRequestSchema, async () => ADA);
    const { promise: changed, resolve } = Promise.withResolvers<void>();
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => resolve());
    await client.connect(transport as Parameters<OldClient["connect"]>[0]);
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain("echo");
    expect(await client.callTool({ name: "greet" })).toMatchObject({ content: [{ text: "Hello Ada" }] });
    const progress: number[] = [];
    const onprogress = (report: { readonly progress: number }): void => void progress.push(report.progress);
    await client.callTool({ name: "progress" }, undefined, { onprogress });
    expect(progress).toEqual([1, 2]);
    plane.pushAll({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
    await changed;
    const controller = new AbortController();
    const before = plane.exchanges.length;
    const waiting = client
      .callTool({ name: "wait" }, undefined, { signal: controller.signal })
      .catch(() => "cancelled");
    while (plane.exchanges.length === before) await new Promise((done) => void setImmediate(done));
    const aborted = once(plane.exchanges[before]?.signal ?? AbortSignal.abort(), "abort");
    controller.abort();
    expect(await waiting).toBe("cancelled");
    await aborted;
    await transport.terminateSession();
    expect(plane.sessions).toEqual([]);
  });
});

describe("the official clients over stdio", () => {
  it.each([
    ["auto", "2026-07-28"],
    ["legacy", "2025-11-25"],
  ] as const)("2.x in mode %s speak %s", async (mode, version) => {
    const client = newClient(mode);
    await client.connect(new StdioClientTransport({ command: process.execPath, args: [STDIO_SERVER] }));
    expect(client.getNegotiatedProtocolVersion()).toBe(version);
    await exercise(client);
  });

  it("find a process that ends with its input and has written nothing but messages", async () => {
    const child = spawn(process.execPath, [STDIO_SERVER], { stdio: ["pipe", "pipe", "inherit"] });
    let out = "";
    child.stdout.on("data", (chunk: Buffer) => (out += chunk.toString()));
    child.stdin.end('junk\n{"jsonrpc":"2.0","id":1,"method":"ping"}\n');
    const [code] = (await once(child, "close")) as [number];
    expect(code).toBe(0);
    const messages = out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { readonly id: unknown });
    expect(messages.map(({ id }) => id)).toEqual([null, 1]);
  });
});
