import { readFile } from "node:fs/promises";
import type { BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { localOperator } from "../../src/index.ts";
import { startLegacyServer } from "../mcp/upstream-server.ts";
import { describeInBrowser } from "./dashboard/describe-in-browser.ts";
import { HOSTILE, openSampleGateway, type SampleGateway } from "./dashboard/sample-gateway.ts";
import { visit } from "./dashboard/visit.ts";

describeInBrowser("the dashboard of a gateway with three real MCP servers", (browser) => {
  let gateway: SampleGateway;

  beforeAll(async () => {
    gateway = await openSampleGateway();
  });
  afterAll(async () => {
    await gateway?.close();
  });

  /** Opens a page and, when the test ends, checks that it stayed on its origin and broke no policy. */
  async function open(path: string, options: BrowserContextOptions = {}): Promise<Page> {
    const { page, asked, complaints, close } = await visit(browser(), `${gateway.url}/ui/${path}`, options);
    onTestFinished(async () => {
      await close();
      expect([...asked].filter((each) => !each.startsWith(gateway.url) && !each.startsWith("data:"))).toEqual([]);
      expect(complaints).toEqual([]);
    });
    return page;
  }

  /** Waits until the page gets the gateway's events, so that what happens from now on is seen. */
  const live = (page: Page): Promise<unknown> => page.locator("html[data-live]").waitFor({ state: "attached" });

  it("ranks tools while you type, with the number behind each signal, and what narrowly missed", async () => {
    const page = await open("playground");
    await page.getByLabel("What does the user ask for?").pressSequentially("list the invoices of a customer");
    const first = page.locator(".ranking > li").first();
    await first.getByRole("button", { name: /^billing\./ }).waitFor();
    expect(await first.getByRole("img").getAttribute("aria-label")).toMatch(/meaning and words \d\.\d{3}/);
    const missed = page.locator(".missed > li").first();
    await missed.waitFor();
    expect(await missed.locator("small").last().textContent()).toMatch(/limit|threshold|unlikely|similar|conflicts/);
    expect(new URL(page.url()).searchParams.get("q")).toBe("list the invoices of a customer");
  });

  it("opens a tool on a phone where it was tapped, keeps scores whole, and folds what is the same for all", async () => {
    const viewport = { width: 390, height: 844 };
    const page = await open("playground?q=read%20a%20file%20of%20the%20knowledge%20graph", { viewport });
    const second = page.locator(".ranking > li").nth(1);
    await second.getByRole("button").first().click();
    await second.getByRole("button", { name: "Run" }).waitFor();
    expect(await page.locator("form.run").count()).toBe(1);
    const broken = `[...document.querySelectorAll(".score, .legend b, .folded b")].filter((each) => each.getClientRects().length > 1).length`;
    expect(await page.evaluate(broken)).toBe(0);
    const folded = second.locator("details.folded");
    expect(await folded.locator("summary").textContent()).toMatch(/^\d neutral signals \d\.\d{3}$/);
    expect(await folded.getByText("health").isVisible()).toBe(false);
    await folded.locator("summary").click();
    await folded.getByText("health").waitFor();
    await second.getByRole("button").first().click();
    await page.locator("form.run").waitFor({ state: "detached" });
  });

  it("offers what was asked before, and opens the best tool", async () => {
    await gateway.arsenal.retrieve({ context: { query: "add two numbers" } });
    const page = await open("playground");
    await page.getByRole("link", { name: "add two numbers" }).click();
    await page.getByLabel("Tool everything.get_sum").waitFor();
    expect(await page.locator(".ranking button[aria-pressed=true]").textContent()).toBe("everything.get_sum");
  });

  it("says when nothing fits, and how sure it is", async () => {
    const page = await open("playground?q=zzqx%20wvvk");
    await page.getByText("Nothing fits.").waitFor();
    expect(await page.locator(".columns section").first().textContent()).toMatch(/confidence 0\.\d\d/);
  });

  it("runs a tool of a real server from a form built from its schema, and writes it in another dialect", async () => {
    const page = await open("playground?q=add%20two%20numbers");
    await page.getByRole("button", { name: "everything.get_sum" }).click();
    const card = page.getByLabel("Tool everything.get_sum");
    await card.locator("input[type=number]").first().fill("40");
    await card.locator("input[type=number]").last().fill("2");
    await card.getByRole("button", { name: "Run" }).click();
    await card.getByText("42").first().waitFor();
    await card.getByText("Definition", { exact: true }).click();
    await card.getByLabel("Format").selectOption("anthropic");
    const definition = card.getByLabel("Definition for anthropic");
    await definition.getByText("input_schema").waitFor();
    expect(JSON.parse((await definition.textContent()) ?? "")).toMatchObject({ name: "everything-get_sum" });
  });

  it("has fields for lists of objects, and says in words what a tool takes", async () => {
    const page = await open("catalog/memory.create_entities");
    const taken = page.locator(".schema").first();
    await taken.getByText("entityType").waitFor();
    expect(await taken.textContent()).toContain("list of object required");
    await page.getByRole("button", { name: "Add entities" }).click();
    await page.getByLabel(/^name /).fill("Ada");
    await page.getByLabel(/^entityType /).fill("person");
    await page.getByRole("button", { name: "Add observations" }).click();
    await page.getByLabel(/^observations 1 /).fill("writes programs");
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByText("success", { exact: true }).waitFor();
    const { result } = await gateway.arsenal.execute({ toolName: "memory.read_graph" });
    expect(JSON.stringify(result)).toContain("writes programs");
  });

  it("shows what it sends after an entry was removed from a list of JSON", async () => {
    const parameters = { type: "object", properties: { things: { type: "array", items: {} } } } as const;
    const pile = { name: "pile", namespace: "lists", description: "Piles things up.", parameters };
    gateway.arsenal.register(pile, ({ things }) => things);
    await gateway.arsenal.sync();
    const page = await open("catalog/lists.pile");
    for (const [index, text] of ['"first"', '"second"'].entries()) {
      await page.getByRole("button", { name: "Add things" }).click();
      await page.getByLabel(new RegExp(`^things ${index + 1} `)).fill(text);
    }
    await page.getByRole("button", { name: "Remove things 1" }).click();
    expect(await page.getByLabel(/^things 1 /).inputValue()).toBe('"second"');
    await page.getByRole("button", { name: "Run", exact: true }).click();
    const result = page.getByLabel("Result");
    await result.waitFor();
    expect(JSON.parse((await result.textContent()) ?? "")).toEqual(["second"]);
  });

  it("finds tools in the catalog page by page, with health, pin and losses in words", async () => {
    const page = await open("catalog");
    await page.getByLabel("Namespace").fill("everything");
    const rows = page.locator("tbody tr");
    await page.getByRole("link", { name: "everything.echo" }).waitFor();
    await page.locator("[aria-busy=false]").waitFor();
    await page.getByText(/which is all/).waitFor();
    expect(await rows.filter({ hasNotText: "everything." }).count()).toBe(0);
    await page.getByRole("link", { name: "everything.echo" }).click();
    await page.getByRole("heading", { name: "Health" }).waitFor();
    await page.getByText("Not called yet.").waitFor();
    await page.getByText(/Accepted when it was first seen/).waitFor();
    await page.goto(`${gateway.url}/ui/catalog`);
    await page.getByText(/^Showing 25 tools/).waitFor();
    await page.getByRole("button", { name: "More" }).click();
    await page.getByText(/^Showing (?!25)\d+ tools/).waitFor();
  });

  it("shows a call that waits and for how long, and what a person decided with which note", async () => {
    const page = await open("approvals");
    await page.getByText("No call waits for your approval.").waitFor();
    await live(page);
    const call = {
      principal: localOperator({ id: "ada" }),
      toolName: "shop.close_account",
      arguments: { reason: "moved away" },
    };
    expect((await gateway.arsenal.execute(call)).status).toBe("pending_confirmation");
    const card = page.locator("article").filter({ hasText: "shop.close_account" });
    await card.getByText("moved away").waitFor();
    await page.getByRole("link", { name: "Approvals 1 waiting" }).waitFor();
    expect(await card.getByRole("timer").textContent()).toMatch(/^expires in (9:\d\d|10:00)$/);
    const link = (name: string) => card.getByRole("link", { name }).getAttribute("href");
    expect(await link("shop.close_account")).toBe("/ui/catalog/shop.close_account");
    expect(await link("Trace of the call")).toMatch(/^\/ui\/calls\/[0-9a-f]{32}$/);
    await card.getByLabel(/^Note/).fill("Checked with the customer.");
    await card.getByRole("button", { name: "Approve" }).click();
    await page.getByText("No call waits for your approval.").waitFor();
    const decided = page.getByRole("region", { name: "Decided" }).locator("tbody tr").first();
    await decided.getByText("Checked with the customer.").waitFor();
    expect(await decided.textContent()).toMatch(/shop\.close_account.*approved.*local.*ada/);
    await page.getByRole("link", { name: "Approvals", exact: true }).waitFor();
    expect(await gateway.arsenal.execute(call)).toMatchObject({ status: "success", result: "closed" });
  });

  it("shows what changed in a pinned tool and what the scanner finds in it, keeps refusing it, and accepts it", async () => {
    const page = await open("pins");
    await page.getByText("Nothing waits to be accepted.").waitFor();
    await live(page);
    await gateway.changePin();
    const card = page.locator("article").filter({ hasText: "notes.echo" });
    await card.getByText(/^\+.*copies what you say to another server/).waitFor();
    await card.getByLabel("Findings of the scanner").getByText("Wants something kept from the user.").waitFor();
    await page.getByText(/^A pin is the version of a tool/).waitFor();
    await page.getByRole("link", { name: "Pins 1 waiting" }).waitFor();
    await card.getByRole("button", { name: "Show the whole diff" }).click();
    await card.getByRole("button", { name: "Show only what changed" }).waitFor();
    await card.getByRole("button", { name: "Remove server" }).click();
    await card.getByRole("button", { name: "Yes, remove notes" }).waitFor();
    await card.getByRole("button", { name: "Keep it" }).click();
    await card.getByRole("button", { name: "Keep refusing" }).click();
    await page.getByText("Nothing waits to be accepted.").waitFor();
    await card.getByText(/decided to keep refusing it/).waitFor();
    await page.getByRole("link", { name: "Pins", exact: true }).waitFor();
    const refused = await gateway.arsenal.execute({ toolName: "notes.echo", arguments: { text: "hi" } });
    expect(refused.status).toBe("permission_denied");
    await card.getByRole("button", { name: "Accept" }).click();
    await card.waitFor({ state: "detached" });
    expect((await gateway.arsenal.execute({ toolName: "notes.echo", arguments: { text: "hi" } })).status).toBe(
      "success",
    );
  });

  it("shows a circuit open while it happens", async () => {
    const page = await open("catalog/payments.charge_card");
    await page.getByText("Not called yet.").waitFor();
    await live(page);
    for (let call = 0; call < 2; call++) await gateway.arsenal.execute({ toolName: "payments.charge_card" });
    await page.getByText("circuit open", { exact: true }).waitFor();
    await page.getByText(/2 calls, 0 % succeeded/).waitFor();
    const latest = page.getByRole("img", { name: /Latest calls.*: 2, of which 2 failed/ });
    await latest.waitFor();
    expect(await latest.locator("rect.bad").count()).toBe(2);
  });

  it("adds a server, disconnects it and connects it again", async () => {
    const server = await startLegacyServer();
    onTestFinished(() => server.close());
    const page = await open("servers");
    await page.getByRole("radio", { name: "mcp", exact: true }).check();
    const form = page.getByRole("form", { name: "Add a server" });
    await form.getByLabel(/^name /).fill("late");
    await form.getByLabel(/^url /).fill(server.url);
    await form.getByRole("button", { name: "Add", exact: true }).click();
    await page.getByText("late was added with 5 tools.").waitFor();
    const row = page.getByRole("article", { name: "late" });
    await row.getByText("connected", { exact: true }).waitFor();
    await row.getByRole("button", { name: "Disconnect" }).click();
    await row.getByText("disconnected", { exact: true }).waitFor();
    await row.getByRole("button", { name: "Connect" }).click();
    await row.getByText("connected", { exact: true }).waitFor();
    expect(await gateway.arsenal.remove("late")).toBe(true);
  });

  it("says what the policy makes of a call that is not made", async () => {
    const page = await open("policy");
    await page.getByLabel("Tool").fill("shop.close_account");
    await page.getByLabel("Caller").fill("ada");
    await page.getByRole("button", { name: "Ask" }).click();
    await page.locator("section[aria-live] .badge").waitFor();
    expect(await page.locator("section[aria-live] .badge").textContent()).not.toBe("allow");
    const rule = page.getByRole("region", { name: "Rules in force" }).locator("tr", { hasText: "tool.risk_level" });
    await rule.getByText("risk: critical").waitFor();
    expect(await rule.locator(".badge").textContent()).toBe("confirm");
  });

  it("leads from a run that waits for approval to the approvals", async () => {
    const page = await open("catalog/shop.close_account");
    await page.getByRole("button", { name: "Run" }).click();
    const result = page.locator(".result");
    await result.getByText("pending confirmation").waitFor();
    expect(await result.locator(".bad").count()).toBe(0);
    await page.getByRole("img", { name: /Latest calls.*of which 0 failed/ }).waitFor();
    expect(await page.locator(".sparkline rect.warn").count()).toBeGreaterThan(0);
    await result.getByRole("link", { name: "Approvals" }).click();
    await page.getByRole("heading", { name: "Approvals" }).waitFor();
  });

  it("filters the audit log by choices and by time, exports it, and verifies it", async () => {
    await gateway.arsenal.execute({ toolName: "billing.get_invoice", arguments: { invoiceId: "i-1" } });
    const page = await open("audit");
    await page.getByLabel("Tool").fill("billing.get_invoice");
    const row = page.locator("tbody tr").filter({ hasText: "billing.get_invoice" }).first();
    expect(await row.getByRole("link").getAttribute("href")).toMatch(/^\/ui\/calls\/[0-9a-f]{32}$/);
    const choose = (label: RegExp, option: string) => page.getByLabel(label).selectOption(option);
    await choose(/^Kind/, "call");
    await choose(/^When/, "1h");
    await choose(/^Outcome/, "success");
    await page.locator("[aria-busy=false]").first().waitFor();
    const downloading = page.waitForEvent("download");
    await page.getByRole("button", { name: "Export" }).click();
    const download = await downloading;
    expect(download.suggestedFilename()).toMatch(/^audit-\d{4}-\d\d-\d\d\.jsonl$/);
    const lines = (await readFile(await download.path(), "utf8")).trim().split("\n");
    expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject(
      lines.map(() => ({ kind: "call", toolId: "billing.get_invoice", status: "success" })),
    );
    await page.getByText(/exported\.$/).waitFor();
    await choose(/^When/, "between");
    await page.getByLabel("From", { exact: true }).fill("2100-01-01T00:00");
    await page.getByText("No records match.").waitFor();
    expect(new URL(page.url()).search).toBe(
      "?kind=call&status=success&tool=billing.get_invoice&when=between&from=2100-01-01T00%3A00",
    );
    await page.getByRole("button", { name: "Verify the whole log" }).click();
    await page.getByText("intact", { exact: true }).waitFor();
    expect(await page.locator(".actions [aria-live]").first().textContent()).toMatch(/intact \d+ records/);
  });

  it("finds what operators did in the audit log", async () => {
    const { url } = gateway;
    await fetch(`${url}/api/v1/tools/shop.nothing`, { method: "DELETE" });
    const page = await open("audit");
    await page.getByLabel(/^Kind/).selectOption("operator-action");
    await page.getByLabel(/^Action/).selectOption({ label: "delete a tool" });
    const row = page.locator("tbody tr").filter({ hasText: "deleteTool shop.nothing" }).first();
    await row.waitFor();
    expect(await row.textContent()).toMatch(/operator action.*failed/);
    await page.locator("tbody tr").filter({ hasText: "checkpoint" }).waitFor({ state: "detached" });
  });

  it("says which page it does not have", async () => {
    const page = await open("nonsense");
    await page.getByText('The dashboard has no page "nonsense".').waitFor();
    expect(await page.title()).toBe("Not found · ToolArsenal");
  });

  it("lists the toolsets in words", async () => {
    const page = await open("toolsets");
    await page.getByText("What the support desk works with.").waitFor();
    expect(await page.locator("article").textContent()).toMatch(/\/mcp\/toolsets\/support.*For everybody\./s);
  });

  it("shows hostile text as text, wherever a tool puts it", async () => {
    const page = await open("catalog/attack.hostile");
    await page.getByRole("heading", { level: 1, name: HOSTILE }).waitFor();
    await page.getByRole("button", { name: "Run" }).click();
    await page.getByLabel("Result").getByText("onerror").waitFor();
    const inert = async (): Promise<void> =>
      expect(await page.locator("img, main script, main [onerror], a[href^='javascript']").count()).toBe(0);
    await inert();
    for (const path of ["catalog", "playground?q=hostile", "calls", "audit"]) {
      await page.goto(`${gateway.url}/ui/${path}`);
      await live(page);
      await gateway.arsenal.execute({ toolName: "attack.hostile" });
      await page.getByText("attack.hostile").first().waitFor();
      await inert();
    }
  });

  it("can be used without a mouse: from the address to a search and its result", async () => {
    const page = await open("");
    await page.getByRole("navigation").waitFor();
    await page.keyboard.press("Tab");
    expect(await page.evaluate("document.activeElement.textContent.trim()")).toBe("Skip to content");
    for (let tabs = 0; tabs < 20; tabs++) {
      if ((await page.evaluate("document.activeElement.textContent")) === "Playground") break;
      await page.keyboard.press("Tab");
    }
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Playground" }).waitFor();
    await page.getByLabel("What does the user ask for?").waitFor();
    for (let tabs = 0; tabs < 30; tabs++) {
      if ((await page.evaluate("document.activeElement.type")) === "search") break;
      await page.keyboard.press("Tab");
    }
    await page.keyboard.type("ship a parcel");
    await page.getByRole("button", { name: "shop.ship" }).waitFor();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.getByLabel("Tool shop.ship").waitFor();
  });
});
