import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { PassThrough } from "node:stream";
import type { Client } from "@modelcontextprotocol/client";
import { afterEach, describe, expect, it } from "vitest";
import { httpClient, sseClient } from "../../../../test/e2e/no-bypass/clients.ts";
import { startUpstream } from "../../../../test/e2e/no-bypass/upstream.ts";
import { legacy } from "../../../../test/mcp/sample-endpoint.ts";
import { addTool, ticketArsenal, toolset } from "../../../../test/mcp/toolset-gateway.ts";
import { bearerToken } from "../../../adapters/identity/bearer-token.ts";
import type { ToolArsenal } from "../../../arsenal.ts";
import { localOperator } from "../../../guard/principal.ts";
import type { ServeOptions } from "../../serve-arsenal.ts";

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

async function serve(arsenal: ToolArsenal, options: ServeOptions = {}): Promise<string> {
  const gateway = await arsenal.serve({ port: 0, mode: "static", ...options });
  ends.push(
    () => arsenal.close(),
    () => gateway.close(),
  );
  return gateway.url ?? "";
}

async function connect(era: "legacy" | "modern", url: string, headers?: Record<string, string>): Promise<Client> {
  const client = await httpClient(era, url, headers);
  ends.push(() => client.close());
  return client;
}

const names = async (client: Client): Promise<readonly string[]> =>
  (await client.listTools()).tools.map(({ name }) => name);
const textOf = (result: object): string => JSON.stringify((result as { content: unknown }).content);
const META = ["find_relevant_tools", "execute_tool"];
const OURS = ["support-create_ticket", "support-find_ticket"];

describe.each(["modern", "legacy"] as const)("a toolset at its own address, for a %s client", (era) => {
  it("is its tools and no others [003-transport-mcp] [003-toolset-expose]", async () => {
    const url = await serve(ticketArsenal());
    const client = await connect(era, `${url}/mcp/toolsets/helpers`);
    expect(await names(client)).toEqual(OURS);
    expect(textOf(await client.callTool({ name: "support-find_ticket", arguments: {} }))).toContain("find_ticket");
    for (const name of ["support-delete_ticket", "support.delete_ticket", "billing-pay"])
      await expect(client.callTool({ name, arguments: {} })).rejects.toMatchObject({
        message: expect.stringContaining(`Unknown tool: ${name}`) as string,
      });
    expect(await names(await connect(era, `${url}/mcp/toolsets/payers`))).toEqual(["billing-pay"]);
    expect(await names(await connect(era, `${url}/mcp`))).toHaveLength(4);
  });

  it.each([
    ["dynamic", META],
    ["hybrid", [...META, "support-create_ticket"]],
  ] as const)("has meta-tools that find and run its tools only, in %s mode", async (mode, listed) => {
    const common = ["support.create_ticket", "support.delete_ticket"];
    const url = await serve(ticketArsenal(), { mode, common });
    const client = await connect(era, `${url}/mcp/toolsets/helpers`);
    expect(await names(client)).toEqual(listed);
    const find = { query: "delete a ticket, pay", limit: 50 };
    const found = textOf(await client.callTool({ name: "find_relevant_tools", arguments: find }));
    expect(found).toContain("support-find_ticket");
    expect(found).not.toMatch(/delete_ticket|pay\b/);
    const run = (tool: string): Promise<object> =>
      client.callTool({ name: "execute_tool", arguments: { tool_name: tool, arguments: {} } });
    expect(textOf(await run("find_ticket"))).toContain("find_ticket");
    for (const tool of ["support.delete_ticket", "delete_ticket", "delete_tickets", "pay"]) {
      const refused = await run(tool);
      expect(refused).toMatchObject({ isError: true });
      expect(textOf(refused).replaceAll(tool, "")).not.toMatch(/delete_ticket|billing/);
    }
  });

  it("tells its client when it gains or loses a tool, and when it is replaced", async () => {
    const arsenal = ticketArsenal();
    const url = await serve(arsenal);
    const client = await connect(era, `${url}/mcp/toolsets/payers`);
    const changed = (): Promise<void> =>
      new Promise((resolve) => client.setNotificationHandler("notifications/tools/list_changed", () => resolve()));
    if (era === "modern") await client.listen({ toolsListChanged: true });
    expect(await names(client)).toEqual(["billing-pay"]);
    let told = changed();
    addTool(arsenal, "refund", "billing");
    await told;
    expect(await names(client)).toEqual(["billing-pay", "billing-refund"]);
    told = changed();
    await arsenal.deleteTool("pay", "billing");
    await told;
    expect(await names(client)).toEqual(["billing-refund"]);
    told = changed();
    arsenal.toolsets.add(toolset("payers", { ids: ["support.create_ticket"] }));
    await told;
    expect(await names(client)).toEqual(["support-create_ticket"]);
    await expect(client.callTool({ name: "billing-refund", arguments: {} })).rejects.toThrow("Unknown tool");
  });

  it("ends when the toolset is removed, and can be opened again when it is added", async () => {
    const arsenal = ticketArsenal();
    const url = await serve(arsenal);
    const client = await connect(era, `${url}/mcp/toolsets/payers`);
    expect(await names(client)).toEqual(["billing-pay"]);
    arsenal.toolsets.remove("payers");
    await expect(client.listTools()).rejects.toThrow("There is no toolset");
    arsenal.toolsets.add(toolset("payers", { namespaces: ["billing"] }));
    expect(await names(await connect(era, `${url}/mcp/toolsets/payers`))).toEqual(["billing-pay"]);
  });

  it("has no resources and no prompts, also of servers whose tools it has", async () => {
    const upstream = await startUpstream("modern");
    const arsenal = ticketArsenal();
    arsenal.toolsets.add(toolset("notes", { namespaces: ["notes"] }));
    await arsenal.addMcpServer({ name: "notes", transport: { kind: "http", url: upstream.url } });
    const url = await serve(arsenal);
    ends.unshift(() => upstream.close());
    const client = await connect(era, `${url}/mcp/toolsets/notes`);
    expect(await names(client)).toEqual(["notes-check", "notes-echo"]);
    expect(Object.keys(client.getServerCapabilities() ?? {}).toSorted()).toEqual(
      era === "modern" ? ["extensions", "logging", "tools"] : ["logging", "tasks", "tools"],
    );
    const [served] = (await (await connect(era, `${url}/mcp`)).listResources()).resources;
    const raw = (method: string, params: object): Promise<unknown> =>
      client.request({ method, params } as never) as Promise<unknown>;
    expect(await raw("resources/list", {})).toMatchObject({ resources: [] });
    expect(await raw("prompts/list", {})).toMatchObject({ prompts: [] });
    await expect(raw("resources/read", { uri: served?.uri ?? "" })).rejects.toThrow("Resource not found");
    await expect(raw("prompts/get", { name: "notes-hello" })).rejects.toThrow();
    for (const ref of [
      { type: "ref/resource", uri: served?.uri ?? "" },
      { type: "ref/prompt", name: "notes-hello" },
    ])
      await expect(raw("completion/complete", { ref, argument: { name: "who", value: "" } })).rejects.toThrow();
    for (const name of ["notes.resources/read", "notes.mcp/request"])
      await expect(client.callTool({ name, arguments: { uri: "note://one" } })).rejects.toThrow("Unknown tool");
    expect(upstream.reached).toEqual([]);
  });
});

describe("a toolset at its own address", () => {
  it("tells models its description, and names no server", async () => {
    const upstream = await startUpstream("modern");
    const arsenal = ticketArsenal();
    await arsenal.addMcpServer({ name: "hidden-one", transport: { kind: "http", url: upstream.url } });
    const url = await serve(arsenal);
    ends.unshift(() => upstream.close());
    const client = await connect("legacy", `${url}/mcp/toolsets/helpers`);
    expect(client.getInstructions()).toBe(
      "This server offers the tools of the toolset helpers. For the people at the desk.",
    );
  });

  it("does not name servers that are still connecting", async () => {
    const arsenal = ticketArsenal();
    const held = createServer(() => undefined).listen(0, "127.0.0.1");
    await once(held, "listening");
    const { port } = held.address() as AddressInfo;
    await arsenal.addMcpServer(
      { name: "hidden-one", transport: { kind: "http", url: `http://127.0.0.1:${port}/mcp` } },
      { patient: true },
    );
    const url = await serve(arsenal, { startupWaitMs: 1 });
    ends.unshift(async () => {
      held.closeAllConnections();
      held.close();
    });
    const client = await connect("modern", `${url}/mcp/toolsets/helpers`);
    expect(JSON.stringify(await client.listTools())).not.toContain("hidden-one");
    await expect(client.callTool({ name: "nothing", arguments: {} })).rejects.toThrow(/^(?!.*hidden-one)/);
    const all = await connect("modern", `${url}/mcp`);
    expect(JSON.stringify(await all.listTools())).toContain("hidden-one");
  });

  it("is not found alike if it does not exist and if the caller may not use it", async () => {
    const arsenal = ticketArsenal();
    arsenal.toolsets.add(toolset("secret", { all: [] }, { policy: { allowedTenants: ["acme"] } }));
    const tokens = ["acme", "globex"].map((tenant) => ({
      token: `the-token-of-${tenant}`,
      principal: localOperator({ id: tenant, tenant, local: false }),
    }));
    const url = await serve(arsenal, { identity: bearerToken({ tokens }) });
    const ask = async (name: string, tenant: string): Promise<readonly [number, string]> => {
      const response = await fetch(`${url}/mcp/toolsets/${name}`, {
        method: "POST",
        headers: {
          accept: "application/json, text/event-stream",
          "content-type": "application/json",
          authorization: `Bearer the-token-of-${tenant}`,
        },
        body: JSON.stringify(legacy(1, "initialize", { protocolVersion: "2025-11-25", capabilities: {} })),
      });
      return [response.status, (await response.text()).replaceAll(name, "NAME")];
    };
    expect((await ask("secret", "acme"))[0]).toBe(200);
    const refused = await ask("secret", "globex");
    expect(refused).toEqual([404, expect.stringContaining("There is no toolset") as string]);
    expect(await ask("nosuch", "globex")).toEqual(refused);
    expect(refused[1]).not.toContain("secret");
  });
});

describe("a caller whom a toolset no longer admits", () => {
  it.each(["modern", "legacy"] as const)(
    "hears of no more changes as a %s client, until it is admitted again",
    async (era) => {
      const arsenal = ticketArsenal();
      const principal = localOperator({ id: "ann", tenant: "acme", local: false });
      const url = await serve(arsenal, {
        identity: bearerToken({ tokens: [{ token: "the-token-of-acme", principal }] }),
      });
      const headers = { authorization: "Bearer the-token-of-acme" };
      const client = await connect(era, `${url}/mcp/toolsets/payers`, headers);
      let told = 0;
      const waiting = new Set<() => void>();
      client.setNotificationHandler("notifications/tools/list_changed", () => {
        told += 1;
        for (const resolve of waiting) resolve();
      });
      const heard = (): Promise<void> => new Promise((resolve) => waiting.add(resolve));
      if (era === "modern") await client.listen({ toolsListChanged: true });
      const replace = (tenant: string): void =>
        void arsenal.toolsets.add(toolset("payers", { all: [] }, { policy: { allowedTenants: [tenant] } }));
      let again = heard();
      replace("acme");
      await again;
      told = 0;
      replace("globex");
      await expect(client.listTools()).rejects.toThrow("There is no toolset");
      // Changes are gathered for a moment before clients are notified: an admitted operator's notification shows that this is over.
      const operator = await serveOperator(arsenal);
      await operator.changed(() => addTool(arsenal, "refund", "billing"));
      expect(told).toBe(0);
      again = heard();
      replace("acme");
      await again;
      expect(told).toBe(1);
      expect(await names(client)).toContain("billing-refund");
    },
  );

  /** Another gateway of the same arsenal, whose caller may use everything. */
  async function serveOperator(arsenal: ToolArsenal): Promise<{ changed(change: () => void): Promise<void> }> {
    const gateway = await arsenal.serve({ port: 0, mode: "static" });
    ends.push(() => gateway.close());
    const client = await connect("legacy", `${gateway.url}/mcp/toolsets/payers`);
    return {
      async changed(change) {
        const told = new Promise<void>((resolve) =>
          client.setNotificationHandler("notifications/tools/list_changed", () => resolve()),
        );
        change();
        await told;
      },
    };
  }
});

describe("a gateway that serves one toolset", () => {
  it("serves it at /mcp and /sse, and nothing else", async () => {
    const upstream = await startUpstream("modern");
    const arsenal = ticketArsenal();
    await arsenal.addMcpServer({ name: "notes", transport: { kind: "http", url: upstream.url } });
    const url = await serve(arsenal, { toolset: "helpers" });
    ends.unshift(() => upstream.close());
    expect(await names(await connect("modern", `${url}/mcp`))).toEqual(OURS);
    const old = await sseClient(`${url}/sse`);
    expect(await names(old)).toEqual(OURS);
    await expect(old.callTool({ name: "billing-pay", arguments: {} })).rejects.toThrow("Unknown tool");
    await old.close();
    for (const path of ["/mcp/upstreams/notes", "/mcp/toolsets/payers", "/mcp/toolsets/helpers"])
      expect((await fetch(url + path, { method: "POST" })).status).toBe(404);
    const page = await (await fetch(url)).text();
    arsenal.toolsets.remove("helpers");
    for (const path of ["/mcp", "/sse"]) expect((await fetch(url + path)).status).toBe(404);
    expect(page).toContain("The toolset helpers as an MCP server.");
    expect(page).not.toContain("/mcp/upstreams/");
  });

  it("serves it over standard streams", async () => {
    const arsenal = ticketArsenal();
    const [input, output] = [new PassThrough(), new PassThrough()];
    const served = await arsenal.serve({ transport: "stdio", mode: "static", toolset: "helpers", input, output });
    input.write(`${JSON.stringify(legacy(1, "initialize", { protocolVersion: "2025-11-25", capabilities: {} }))}\n`);
    await once(output, "data");
    input.write(`${JSON.stringify(legacy(2, "tools/list"))}\n`);
    const [line] = (await once(output, "data")) as [Buffer];
    const { result } = JSON.parse(line.toString()) as { result: { tools: { name: string }[] } };
    expect(result.tools.map(({ name }) => name)).toEqual(OURS);
    await served.close();
    await arsenal.close();
  });

  it("refuses a toolset that does not exist, and callers whom the toolset does not admit", async () => {
    const arsenal = ticketArsenal();
    await expect(arsenal.serve({ port: 0, toolset: "helper" })).rejects.toMatchObject({
      code: "TOOLSET_NOT_FOUND",
      message: expect.stringContaining('Did you mean "helpers"?') as string,
    });
    arsenal.toolsets.add(toolset("helpers", { all: [] }, { policy: { allowedTenants: ["acme"] } }));
    const principal = localOperator({ id: "eve", tenant: "globex", local: false });
    const identity = bearerToken({ tokens: [{ token: "the-token-of-globex", principal }] });
    const url = await serve(arsenal, { toolset: "helpers", identity });
    const headers = { authorization: "Bearer the-token-of-globex" };
    for (const path of ["/mcp", "/sse"]) expect((await fetch(url + path, { headers })).status).toBe(404);
  });
});
