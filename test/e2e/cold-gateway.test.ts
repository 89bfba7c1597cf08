import { internalsOf, servableOf } from "../../src/arsenal.ts";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { McpServer } from "@modelcontextprotocol/server";
import { afterEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { ToolArsenal } from "../../src/index.ts";
import { aggregatePlane } from "../../src/serve/mcp/aggregate/aggregate-plane.ts";
import type { Plane, Push } from "../../src/serve/mcp/plane.ts";
import { createSeal } from "../../src/serve/mcp/modern/seal.ts";
import { createStartup, type Startup } from "../../src/serve/startup.ts";
import { createManualClock, type ManualClock } from "../../src/testing/manual-clock.ts";
import { call, legacy, modern, namesOf, send, textOf } from "../mcp/served-aggregate.ts";
import { listenAs } from "./era-server.ts";
import { gatewayCommand } from "./gateway-process.ts";
import { type Held, holdServer, holdStdio } from "./held-server.ts";

const closers: (() => Promise<unknown> | void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

/** A real server with one tool, one prompt and one resource, which answers nothing until it is released. */
async function heldServer(): Promise<Held> {
  const real = await listenAs("legacy", () => {
    const server = new McpServer({ name: "held", version: "1.0.0" });
    const described = { description: "Refunds a payment to a customer.", inputSchema: z.object({}) };
    server.registerTool("refund", described, () => ({ content: [{ type: "text", text: "refunded" }] }));
    server.registerPrompt("greeting", {}, () => ({ messages: [] }));
    server.registerResource("note", "memo:note", {}, () => ({ contents: [] }));
    return server;
  });
  const held = await holdServer(real.url);
  closers.push(() => real.close());
  closers.push(() => held.close());
  return held;
}

/** An arsenal whose server "slow" is being connected to. */
async function coldArsenal(held: Held): Promise<ToolArsenal> {
  const arsenal = new ToolArsenal({ telemetry: { enabled: false } });
  closers.push(() => arsenal.close());
  await arsenal.addMcpServer({ name: "slow", transport: { kind: "http", url: held.url } }, { patient: true });
  return arsenal;
}

/** The plane of a cold gateway, with a clock that the test moves. */
async function coldPlane(mode: "static" | "dynamic" | "hybrid"): Promise<{
  readonly plane: Plane;
  readonly held: Held;
  readonly clock: ManualClock;
  readonly arsenal: ToolArsenal;
  readonly startup: Startup;
}> {
  const held = await heldServer();
  const arsenal = await coldArsenal(held);
  const clock = createManualClock();
  const startup = createStartup({ arsenal: servableOf(arsenal), clock, waitMs: 10_000 });
  const plane = aggregatePlane({
    arsenal,
    upstreams: () => internalsOf(arsenal).upstreams,
    mode,
    common: ["slow.*"],
    seal: createSeal(),
    clock,
    startup,
  });
  closers.push(() => plane.close());
  return { plane, held, clock, arsenal, startup };
}

/** Lets the answer be waited for first, and only then the server answer. */
async function whileHeld<Answer>(held: Held, ask: () => Promise<Answer>): Promise<Answer> {
  const asking = ask();
  await held.asked;
  held.release();
  return asking;
}

interface Found {
  readonly tools: readonly { readonly name: string }[];
  readonly connecting?: readonly string[];
}

const foundIn = (result: object): Found => JSON.parse(textOf(result as never)) as Found;

describe("a gateway whose servers are still connecting", () => {
  it.each([
    ["new", "auto"],
    ["old", "legacy"],
  ] as const)("finds their tools all the same, over HTTP in the %s era", async (_era, mode) => {
    const held = await heldServer();
    const arsenal = await coldArsenal(held);
    const served = await arsenal.serve({ port: 0, startupWaitMs: 600_000 });
    closers.push(() => served.close());
    const client = new Client({ name: "early", version: "1.0.0" }, { versionNegotiation: { mode } });
    closers.push(() => client.close());
    await client.connect(new StreamableHTTPClientTransport(new URL(`${served.url}/mcp`)));
    const query = "refund a payment";
    const ask = () => client.callTool({ name: "find_relevant_tools", arguments: { query } });
    const found = foundIn(await whileHeld(held, ask));
    expect(found.tools.map(({ name }) => name)).toEqual(["slow-refund"]);
    expect(found.connecting).toBeUndefined();
  });

  it.each([
    ["new", "auto"],
    ["old", "legacy"],
  ] as const)("lists their tools all the same, over stdio in the %s era", async (_era, mode) => {
    const held = await holdStdio();
    closers.push(() => held.close());
    const folder = mkdtempSync(join(tmpdir(), "toolarsenal-cold-"));
    closers.push(() => rmSync(folder, { recursive: true, force: true }));
    const { command, args: given } = held;
    const servers = { slow: { command, args: given } };
    const settings = { mcp: { startup_wait_ms: 600_000 } };
    const gateway = gatewayCommand({ mode: "static", servers, settings }, folder);
    const client = new Client({ name: "early", version: "1.0.0" }, { versionNegotiation: { mode } });
    closers.push(() => client.close());
    const args = [...gateway.args, "--stdio"];
    await client.connect(new StdioClientTransport({ command: gateway.command, args, stderr: "ignore" }));
    expect(client.getInstructions()).toBe("This server offers the tools of slow.");
    const { tools } = await whileHeld(held, () => client.listTools());
    expect(tools.map(({ name }) => name)).toEqual(["slow-greet"]);
  });

  it.each(["static", "hybrid"] as const)("lists their tools, prompts and resources in %s mode", async (mode) => {
    const { plane, held } = await coldPlane(mode);
    const lists = await whileHeld(held, () =>
      Promise.all(["tools/list", "prompts/list", "resources/list"].map((method) => send(plane, method))),
    );
    expect(namesOf(lists[0] ?? {})).toContain("slow-refund");
    expect(lists[1]).toMatchObject({ prompts: [{ name: "slow-greeting" }] });
    expect(lists[2]).toMatchObject({ resources: [{ uri: "toolarsenal:slow/memo:note" }] });
  });

  it.each([
    ["execute_tool", { tool_name: "slow-refund", arguments: {} }],
    ["execute_tool", { tool_name: "refund", arguments: {} }],
    ["slow-refund", {}],
  ])("runs their tools, called as %s %j", async (name, args) => {
    const { plane, held } = await coldPlane("dynamic");
    expect(textOf(await whileHeld(held, () => call(plane, name, args)))).toBe("refunded");
  });

  it("runs a tool that is there without waiting for them", async () => {
    const { plane, arsenal } = await coldPlane("dynamic");
    const parameters = { type: "object" } as const;
    await arsenal.addTool({ name: "here", description: "Is here already.", parameters }, () => "ran");
    for (const [name, args] of [["execute_tool", { tool_name: "here", arguments: {} }] as const, ["here", {}] as const])
      expect(textOf(await call(plane, name, args))).toBe("ran");
  });

  it("describes itself and lists its two tools without waiting for them", async () => {
    const { plane } = await coldPlane("dynamic");
    expect(await plane.shared.describe()).toMatchObject({ instructions: expect.stringContaining("slow") });
    expect(namesOf(await send(plane, "tools/list"))).toEqual(["find_relevant_tools", "execute_tool"]);
  });

  it("answers without them after ten seconds, and says which they are", async () => {
    const { plane, held, clock, arsenal } = await coldPlane("static");
    const parameters = { type: "object" } as const;
    await arsenal.addTool({ name: "here", description: "Pays an invoice.", parameters }, () => "ran");
    await held.asked;
    const listing = send(plane, "tools/list");
    const running = call(plane, "slow-refund");
    running.catch(() => undefined);
    await clock.advance(9_999);
    expect(await Promise.race([listing, running, "waiting"])).toBe("waiting");
    await clock.advance(1);
    const listed = await listing;
    expect(namesOf(listed)).toEqual(["here"]);
    expect(listed["_meta"]).toEqual({ "toolarsenal/connecting": ["slow"] });
    await expect(running).rejects.toMatchObject({
      message: "Unknown tool: slow-refund. Still connecting: slow. The tool may be theirs: try again in a few seconds.",
    });
  });

  it("tells a model which they are, when it finds tools and when it runs one", async () => {
    const { plane, held, clock } = await coldPlane("dynamic");
    await held.asked;
    const finding = call(plane, "find_relevant_tools", { query: "refund a payment" });
    const running = call(plane, "execute_tool", { tool_name: "slow-refund", arguments: {} });
    await clock.advance(10_000);
    expect(foundIn(await finding)).toMatchObject({
      tools: [],
      connecting: ["slow"],
      hint: expect.stringContaining("Still connecting: slow."),
    });
    const refused = await running;
    expect(refused["isError"]).toBe(true);
    expect(textOf(refused)).toContain("Still connecting: slow. The tool may be theirs: try again in a few seconds.");
    expect(refused["_meta"]).toMatchObject({ "toolarsenal/connecting": ["slow"] });
  });

  it("tells clients of both eras when a late server's tools have come", async () => {
    const { plane, held, clock } = await coldPlane("static");
    const told = new Set<string>();
    const telling =
      (who: string): Push =>
      ({ method }) =>
        method === "notifications/tools/list_changed" && told.add(who);
    const ask = (): Promise<never> => Promise.reject(new Error("nobody asks"));
    await plane.openSession(legacy, { push: telling("old"), ask });
    const { signal } = new AbortController();
    await plane.listen({ toolsListChanged: true }, telling("new"), { peer: modern, signal });
    await held.asked;
    const listing = send(plane, "tools/list");
    await clock.advance(10_000);
    expect(namesOf(await listing)).toEqual([]);
    const arrived = send(plane, "tools/list");
    held.release();
    expect(namesOf(await arrived)).toEqual(["slow-refund"]);
    // The arsenal tells of its tools a turn later, and changes are gathered for a moment.
    while (told.size < 2) await clock.advance(100);
  });

  it("stops waiting when the request is cancelled, and leaves no timer behind", async () => {
    const { plane, held, clock } = await coldPlane("static");
    await held.asked;
    const controller = new AbortController();
    const listing = send(plane, "tools/list", {}, { signal: controller.signal });
    await clock.advance(0);
    expect(clock.pending).toBe(1);
    controller.abort(new Error("cancelled"));
    await expect(listing).rejects.toThrow("cancelled");
    expect(clock.pending).toBe(0);
  });

  it("waits for the servers of its configuration from the first moment", async () => {
    const held = await heldServer();
    const config = { telemetry: { enabled: false }, mcp: { servers: [{ name: "slow", url: held.url }] } };
    const arsenal = new ToolArsenal(config);
    closers.push(() => arsenal.close());
    const served = await arsenal.serve({ port: 0, mode: "static", startupWaitMs: 600_000 });
    closers.push(() => served.close());
    const client = new Client({ name: "early", version: "1.0.0" }, { versionNegotiation: { mode: "auto" } });
    closers.push(() => client.close());
    await client.connect(new StreamableHTTPClientTransport(new URL(`${served.url}/mcp`)));
    const { tools } = await whileHeld(held, () => client.listTools());
    expect(tools.map(({ name }) => name)).toEqual(["slow-refund"]);
  });

  it("waits for a server that was added while it runs", async () => {
    const { plane, held, arsenal } = await coldPlane("static");
    held.release();
    expect(namesOf(await send(plane, "tools/list"))).toEqual(["slow-refund"]);
    const added = await heldServer();
    await arsenal.addMcpServer({ name: "late", transport: { kind: "http", url: added.url } }, { patient: true });
    await added.asked;
    const listed = await whileHeld(added, () => send(plane, "tools/list"));
    expect(namesOf(listed)).toEqual(["late-refund", "slow-refund"]);
  });

  it("does not hold up a gateway that stops", async () => {
    const held = await heldServer();
    const arsenal = await coldArsenal(held);
    const served = await arsenal.serve({ port: 0, startupWaitMs: 600_000, drainMs: 600_000 });
    const client = new Client({ name: "early", version: "1.0.0" }, { versionNegotiation: { mode: "auto" } });
    closers.push(() => client.close());
    await client.connect(new StreamableHTTPClientTransport(new URL(`${served.url}/mcp`)));
    const finding = client.callTool({ name: "find_relevant_tools", arguments: { query: "refund a payment" } });
    while (served.pending === 0) await new Promise((resolve) => void setImmediate(resolve));
    const [found] = await Promise.all([finding, served.close()]);
    expect(foundIn(found)).toMatchObject({ match: "none", connecting: ["slow"] });
  });

  it("waits neither for a server whose first attempt failed, nor once all have connected", async () => {
    const closed = createServer().listen(0, "127.0.0.1");
    await once(closed, "listening");
    const { port } = closed.address() as AddressInfo;
    closed.close();
    await once(closed, "close");
    const { plane, held, clock, arsenal, startup } = await coldPlane("static");
    const url = `http://127.0.0.1:${port}/mcp`;
    await arsenal.addMcpServer({ name: "gone", transport: { kind: "http", url } }, { patient: true });
    await internalsOf(arsenal).upstreamsAttempted({ name: "gone" });
    const listing = send(plane, "tools/list");
    await clock.advance(10_000);
    expect((await listing)["_meta"]).toEqual({ "toolarsenal/connecting": ["slow"] });
    held.release();
    expect(namesOf(await send(plane, "tools/list"))).toEqual(["slow-refund"]);
    expect(startup.wait(new AbortController().signal)).toBeUndefined();
  });
});
