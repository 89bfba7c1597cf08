import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import type { Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, it, onTestFinished, vi } from "vitest";
import { DIALECT_NAMES } from "../../src/adapters/dialects/built-in.ts";
import { startTestAgent } from "../a2a/test-agent.ts";
import { startLegacyServer } from "../mcp/upstream-server.ts";
import { describeInBrowser } from "./dashboard/describe-in-browser.ts";
import { openSampleGateway, type SampleGateway } from "./dashboard/sample-gateway.ts";
import { barriers, visit } from "./dashboard/visit.ts";

const CHATTY = fileURLToPath(new URL("chatty-server.ts", import.meta.url));

describeInBrowser("servers, toolsets and the playground of the dashboard", (browser) => {
  let gateway: SampleGateway;

  beforeAll(async () => {
    gateway = await openSampleGateway();
  });
  afterAll(async () => {
    await gateway?.close();
  });
  afterEach(async () => {
    for (const name of ["late", "chatty"]) await gateway.arsenal.remove(name);
  });

  async function open(path: string, { mayFail = false } = {}): Promise<Page> {
    const permissions = ["clipboard-read", "clipboard-write"];
    const { page, asked, complaints, close } = await visit(browser(), `${gateway.url}/ui/${path}`, { permissions });
    onTestFinished(async () => {
      await close();
      expect([...asked].filter((each) => !each.startsWith(gateway.url) && !each.startsWith("data:"))).toEqual([]);
      // Chromium reports each answer that is a refusal.
      const refused = /Failed to load resource: the server responded with a status of 4\d\d/;
      expect(complaints.filter((each) => !mayFail || !refused.test(each))).toEqual([]);
    });
    return page;
  }

  const server = (page: Page, name: string): Locator => page.getByRole("article", { name, exact: true });

  /** Fills in the form, and sends it. What is an array is filled in as a list, and what is an object as JSON. */
  async function add(
    page: Page,
    type: string,
    settings: Readonly<Record<string, string | readonly string[] | object>>,
  ): Promise<void> {
    // Another type empties the form.
    for (const each of ["builtin", type]) await page.getByRole("radio", { name: each, exact: true }).check();
    const form = page.getByRole("form", { name: "Add a server" });
    for (const [name, value] of Object.entries(settings)) {
      if (!Array.isArray(value)) {
        const text = typeof value === "string" ? value : JSON.stringify(value);
        await form.getByLabel(new RegExp(`^${name} `)).fill(text);
        continue;
      }
      for (const [index, entry] of value.entries()) {
        await form.getByRole("button", { name: `Add ${name}`, exact: true }).click();
        await form.getByLabel(new RegExp(`^${name} ${index + 1} `)).fill(String(entry));
      }
    }
    await form.getByRole("button", { name: "Add", exact: true }).click();
  }

  const chatty = (...args: readonly string[]) => ({
    name: "chatty",
    command: process.execPath,
    args: [CHATTY, ...args],
  });

  it("follows the log of a server, without a mouse, and copies it", async () => {
    const transport = { kind: "stdio" as const, command: process.execPath, args: [CHATTY] };
    await gateway.arsenal.addMcpServer({ name: "chatty", transport });
    const page = await open("servers");
    await server(page, "chatty").getByRole("button", { name: "Log" }).focus();
    await page.keyboard.press("Enter");
    const log = server(page, "chatty").getByRole("log", { name: "Log of chatty" });
    await log.getByText("chatty is starting").waitFor();
    await log.getByText(/connected, with MCP/).waitFor();
    await gateway.arsenal.execute({ toolName: "chatty.greet" });
    await log.getByText('greeter: {"greeted":"nobody"}').waitFor();
    expect(await barriers(page)).toEqual([]);
    await log.getByText("<img src=x onerror=alert(1)> is ready").waitFor();
    expect(await page.locator("img").count()).toBe(0);
    await server(page, "chatty").getByRole("button", { name: "Copy" }).click();
    await server(page, "chatty").getByText("Copied.").waitFor();
    expect(await page.evaluate("navigator.clipboard.readText()")).toMatch(
      /^\d{4}-\d\d-\d\dT[\d:.]+Z stderr chatty is starting\n[^]*mcp warning greeter: \{"greeted":"nobody"\}$/,
    );
    await server(page, "chatty").getByRole("button", { name: "Log" }).click();
    await log.waitFor({ state: "detached" });
  });

  it("restarts a server: its tools come back, and its program has started again", async () => {
    const page = await open("servers");
    await add(page, "mcp", chatty());
    await page.getByText("chatty was added with 2 tools.").waitFor();
    await server(page, "chatty").getByRole("button", { name: "Log" }).click();
    const log = server(page, "chatty").getByRole("log");
    await log.getByText("chatty is starting").waitFor();
    await server(page, "chatty").getByRole("button", { name: "Restart" }).click();
    await log.getByText("chatty is starting").nth(1).waitFor();
    await server(page, "chatty").getByText("connected", { exact: true }).waitFor();
    expect(await gateway.arsenal.execute({ toolName: "chatty.greet" })).toMatchObject({ status: "success" });
  });

  it("removes a server that was added there, once that is confirmed, and none of the configuration", async () => {
    const page = await open("servers");
    await add(page, "mcp", chatty());
    await server(page, "chatty").getByRole("button", { name: "Remove" }).click();
    await server(page, "chatty").getByRole("button", { name: "Keep" }).click();
    await server(page, "chatty").getByRole("button", { name: "Remove" }).click();
    await server(page, "chatty").getByRole("button", { name: "Yes, remove" }).click();
    await server(page, "chatty").waitFor({ state: "detached" });
    expect(await gateway.arsenal.getTool("greet", "chatty")).toBe(undefined);
    expect(await server(page, "memory").getByRole("button", { name: "Restart" }).count()).toBe(1);
    expect(await server(page, "memory").getByRole("button", { name: "Remove" }).count()).toBe(0);
  });

  it("says once why a server could not be added, and shows what it wrote before it ended", async () => {
    const page = await open("servers", { mayFail: true });
    await add(page, "mcp", chatty("fail"));
    const form = page.getByRole("form", { name: "Add a server" });
    await form.getByRole("log").getByText("ModuleNotFoundError: No module named 'pandas'").first().waitFor();
    const alert = (await form.getByRole("alert").textContent()) ?? "";
    expect(alert).toMatch(/exited with code 1\. It last wrote to stderr: .*Run the command in a terminal/);
    expect(await barriers(page)).toEqual([]);
    await add(page, "mcp", { name: "late", url: "http://127.0.0.1:1/mcp" });
    await form.getByRole("alert").filter({ hasText: "late" }).waitFor();
    expect((await form.getByRole("alert").textContent())?.match(/Check that/g)).toEqual(["Check that"]);
    // The log of the server that has the name already is not shown as that of the new one.
    await add(page, "mcp", { ...chatty(), name: "memory" });
    await form.getByRole("alert").filter({ hasText: "already" }).waitFor();
    expect(await form.getByRole("log").count()).toBe(0);
  });

  it("shows no log of the server that has the name already", async () => {
    const page = await open("servers", { mayFail: true });
    await add(page, "mcp", { ...chatty(), name: "memory" });
    const form = page.getByRole("form", { name: "Add a server" });
    await form.getByRole("alert").filter({ hasText: 'There is already a server named "memory"' }).waitFor();
    expect(await form.getByRole("log").count()).toBe(0);
  });

  it("adds a command with an environment, a server with headers, an OpenAPI document and an agent", async () => {
    const page = await open("servers");
    await add(page, "mcp", { ...chatty(), env: { CHATTY_TOKEN: "a b=c" } });
    await page.getByText("chatty was added with 2 tools.").waitFor();
    await server(page, "chatty").getByRole("button", { name: "Log" }).click();
    await server(page, "chatty").getByText("it uses the token a b=c").waitFor();

    const upstream = await startLegacyServer();
    onTestFinished(() => upstream.close());
    vi.stubEnv("DESK_KEY", "desk-key-of-the-gateway");
    onTestFinished(() => void vi.unstubAllEnvs());
    const headers = { "X-Team": "blue", "X-Desk": "4", "X-Key": "env:DESK_KEY" };
    await add(page, "mcp", { name: "late", url: upstream.url, headers });
    await page.getByText("late was added with 5 tools.").waitFor();
    expect(upstream.requests[0]?.headers).toMatchObject({
      "x-team": "blue",
      "x-desk": "4",
      "x-key": "desk-key-of-the-gateway",
    });
    await gateway.arsenal.remove("late");

    const pets = createServer((_request, response) => {
      const responses = { 200: { description: "The pets." } };
      const paths = { "/pets": { get: { operationId: "listPets", summary: "Lists all pets.", responses } } };
      response.end(JSON.stringify({ openapi: "3.1.0", info: { title: "Pets", version: "1" }, paths }));
    });
    onTestFinished(() => void pets.close());
    await new Promise<void>((resolve) => void pets.listen(0, "127.0.0.1", resolve));
    await add(page, "openapi", { name: "late", document: `http://127.0.0.1:${(pets.address() as AddressInfo).port}/` });
    await page.getByText("late was added with 1 tool.").waitFor();
    await gateway.arsenal.remove("late");

    const agent = await startTestAgent();
    onTestFinished(() => agent[Symbol.asyncDispose]());
    await add(page, "a2a", { name: "late", url: agent.url });
    await page.getByText("late was added with 2 tools.").waitFor();
  });

  it("sends nothing while the form has something that is not JSON", async () => {
    const page = await open("servers");
    const sent: string[] = [];
    page.on("request", (request) => void (request.method() === "POST" && sent.push(request.url())));
    await add(page, "mcp", { name: "late", url: "http://127.0.0.1:1/mcp", headers: "nonsense" });
    expect(
      await page
        .getByLabel(/^headers /)
        .evaluate((field) => (field as unknown as { validationMessage: string }).validationMessage),
    ).toContain("JSON");
    expect(sent).toEqual([]);
  });

  it("cancels adding a server that does not answer", async () => {
    const silent = createServer();
    onTestFinished(() => void silent.close());
    onTestFinished(() => silent.closeAllConnections());
    await new Promise<void>((resolve) => void silent.listen(0, "127.0.0.1", resolve));
    const asked = once(silent, "request");
    const page = await open("servers");
    await add(page, "mcp", { name: "late", url: `http://127.0.0.1:${(silent.address() as AddressInfo).port}/` });
    const [request] = (await asked) as [IncomingMessage];
    const hungUp = once(request.socket, "close");
    await page.getByRole("progressbar", { name: "Connecting late" }).waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByText("Cancelled. late was not added.").waitFor();
    await hungUp;
    expect(await gateway.arsenal.listTools({ namespace: "late" })).toEqual([]);
  });

  it("describes a toolset in words, and lists its tools with links", async () => {
    const page = await open("toolsets");
    const card = page.getByRole("article", { name: "support" });
    await card.getByText("in the namespace billing or shop").waitFor();
    await card.getByText("not shop.break").waitFor();
    expect(await card.getByText('"namespaces"').count()).toBe(0);
    await card.getByRole("link", { name: "billing.get_invoice" }).click();
    await page.getByRole("heading", { name: "Health" }).waitFor();
  });

  it("offers every dialect that the gateway knows, also those that a program added", async () => {
    const page = await open("catalog/billing.get_invoice");
    await page.getByText("Definition", { exact: true }).click();
    const choice = page.getByLabel("Format");
    await choice.locator("option").filter({ hasText: "house-style" }).waitFor({ state: "attached" });
    const names = await choice.locator("option").allTextContents();
    expect(names).toEqual([...DIALECT_NAMES, "house-style"]);
    for (const name of names) {
      await choice.selectOption(name);
      await page.getByLabel(`Definition for ${name}`, { exact: true }).getByText("get_invoice").first().waitFor();
    }
  });

  it("changes nothing at the gateway without the page's token, which the page sends", async () => {
    const page = await open("servers", { mayFail: true });
    const restart = (headers: Readonly<Record<string, string>>): Promise<unknown> =>
      page.evaluate(
        `fetch("/api/v1/ensembles/notes/restart", { method: "POST", body: "{}", headers: ${JSON.stringify({
          "content-type": "application/json",
          ...headers,
        })} }).then(async (answer) => [answer.status, (await answer.json()).field])`,
      );
    await server(page, "notes").waitFor();
    expect(await restart({})).toEqual([403, "x-page-token"]);
    expect(await restart({ "x-page-token": "ta1.wrong" })).toEqual([403, "x-page-token"]);
    const sent = page.waitForRequest((request) => request.url().endsWith("/ensembles/notes/restart"));
    await server(page, "notes").getByRole("button", { name: "Restart" }).click();
    const token = (await sent).headers()["x-page-token"] ?? "";
    expect(token).not.toBe("");
    expect((await (await sent).response())?.status()).toBe(200);
    const again = (await restart({ "x-page-token": token })) as unknown[];
    expect(again[0]).toBe(200);
  });
});
