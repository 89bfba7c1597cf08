import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, it, onTestFinished } from "vitest";
import { createKeyText, hashOfKey } from "../../src/adapters/identity/api-keys/key-file.ts";
import { apiKeys } from "../../src/adapters/identity/index.ts";
import { localOperator, type ToolArsenal, type ToolArsenalConfig } from "../../src/index.ts";
import type { ServeOptions } from "../../src/serve/serve-arsenal.ts";
import { openGateway } from "../serve/rest-gateway.ts";
import { describeInBrowser } from "./dashboard/describe-in-browser.ts";
import { barriers, visit } from "./dashboard/visit.ts";

describeInBrowser("what the dashboard shows of the past", (browser) => {
  /** A gateway with a history, and a way to open its pages. When the test ends, none may have complained. */
  async function open(
    telemetry: ToolArsenalConfig["telemetry"] = {},
    options: ServeOptions = {},
    more: ToolArsenalConfig = {},
  ): Promise<{
    readonly arsenal: ToolArsenal;
    see(path: string): Promise<Page>;
  }> {
    const config = { ...more, telemetry: { enabled: false, history: { enabled: true }, ...telemetry } };
    const { arsenal, url } = await openGateway(options, config);
    return {
      arsenal,
      async see(path) {
        const { page, complaints, close } = await visit(browser(), `${url}/ui/${path}`);
        onTestFinished(async () => {
          await close();
          expect(complaints.filter((each) => !each.includes("401"))).toEqual([]);
        });
        return page;
      },
    };
  }

  /** Waits until the page gets the gateway's events. */
  const live = (page: Page): Promise<unknown> => page.locator("html[data-live]").waitFor({ state: "attached" });
  const tile = (page: Page, title: string) => page.locator(".tile").filter({ hasText: title });

  it("tells on the overview what the saved tokens would have cost, and what calls cost", async () => {
    const { arsenal, see } = await open({ prices: { currency: "EUR", perMillionInputTokens: 1_000_000 } });
    arsenal.register({ name: "translate", description: "Translates a text.", cost: { monetaryCost: 1.25 } }, () => "");
    for (let number = 0; number < 20; number++)
      arsenal.register({ name: `report_${number}`, description: `Writes report ${number}.` }, () => "done");
    await arsenal.sync();
    await arsenal.retrieve({ context: { query: "translate a text" }, limit: 1 });
    await arsenal.execute({ toolName: "translate" });
    const page = await see("");
    await tile(page, "Money saved")
      .getByText(/^€[\d,]{3,}\.\d\d$/)
      .waitFor();
    await tile(page, "Tokens saved")
      .getByText(/^[\d,]{3,}$/)
      .waitFor();
    await tile(page, "Cost of calls").getByText("€1.25", { exact: true }).waitFor();
    expect(await barriers(page)).toEqual([]);
  });

  it("shows an operator of a tenant that tenant's figures, and says so", async () => {
    const key = createKeyText("nora");
    const nora = localOperator({ id: "nora", tenant: "north", local: false });
    const identity = apiKeys({ keys: [{ id: "nora", hash: hashOfKey(key), principal: nora }] });
    const { arsenal, see } = await open({}, { identity });
    for (const principal of [localOperator(), nora, localOperator({ id: "cy", tenant: "south", local: false })])
      await arsenal.execute({ toolName: "shop.ship", principal });
    const page = await see("");
    await page.getByLabel("API key").fill(key);
    await page.getByRole("button", { name: "Sign in" }).click();
    await tile(page, "Calls").first().getByText("1", { exact: true }).waitFor();
    await page.getByText("Calls and searches of north").waitFor();
    expect(await page.getByRole("heading", { name: "The last hour" }).count()).toBe(0);
    expect(await barriers(page)).toEqual([]);
  });

  it("draws a trace as a waterfall, with the stages of its search and the steps of its call", async () => {
    const { arsenal, see } = await open();
    const { traceId } = await arsenal.retrieve({ context: { query: "show me an invoice" } });
    await arsenal.execute({ toolName: "billing.get_invoice", arguments: { invoiceId: "i-1" }, traceId });
    const page = await see(`calls/${traceId}`);
    const steps = page.getByRole("region", { name: "Waterfall" }).locator("tbody th");
    await steps.first().waitFor();
    expect(await steps.allTextContents()).toEqual([
      "search: show me an invoice",
      "understand",
      "filter",
      "lexical",
      "dense",
      "fuse",
      "fit",
      "billing.get_invoice",
      "policy",
      "queue",
      "attempt 1",
    ]);
    expect(await barriers(page)).toEqual([]);
  });

  it("shows how a tool's calls went before the page was opened, and goes on live", async () => {
    const { arsenal, see } = await open();
    await arsenal.execute({ toolName: "shop.break" });
    await arsenal.execute({ toolName: "shop.ship" });
    const page = await see("catalog/shop.break");
    const latest = (calls: string) => page.getByRole("img", { name: new RegExp(`^Latest calls: ${calls} failed`) });
    await latest("1, of which 1").waitFor();
    await live(page);
    await arsenal.execute({ toolName: "shop.break" });
    await latest("2, of which 2").waitFor();
    await page.reload();
    await latest("2, of which 2").waitFor();
    expect(await barriers(page)).toEqual([]);
  });

  it("lists calls by tool, status and server, says which are live, and reads older ones page by page", async () => {
    const { arsenal, see } = await open();
    await arsenal.execute({ toolName: "shop.break" });
    for (let call = 0; call < 60; call++) await arsenal.execute({ toolName: "shop.ship" });
    const page = await see("calls");
    const [now, past] = ["Live", "History"].map((name) =>
      page.getByRole("region", { name, exact: true }).locator("tbody tr"),
    );
    await past?.nth(49).waitFor();
    expect(await past?.count()).toBe(50);
    await page.getByText("No calls since you opened this page.").waitFor();
    await live(page);
    await arsenal.execute({ toolName: "billing.list_invoices" });
    await now?.filter({ hasText: "billing.list_invoices" }).waitFor();
    await page.getByRole("button", { name: "Older" }).click();
    await past?.nth(60).waitFor();
    expect(await past?.count()).toBe(61);
    await page.getByText("These are all.").waitFor();
    expect(await barriers(page)).toEqual([]);
    await page.getByLabel("Tool").fill("break");
    await past?.filter({ hasText: "shop.ship" }).first().waitFor({ state: "detached" });
    expect([await now?.count(), await past?.count()]).toEqual([0, 1]);
    await page.getByLabel("Status").selectOption("success");
    await page.getByText("No calls match.").waitFor();
    expect(new URL(page.url()).search).toBe("?tool=break&status=success");
    await page.reload();
    await page.getByText("No calls match.").waitFor();
  });

  it("shows why calls failed, a range of time, and recorded arguments, with which a call is replayed", async () => {
    const folder = mkdtempSync(join(tmpdir(), "toolarsenal-calls-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const audit = { file: join(folder, "audit.jsonl"), arguments: "full" } as const;
    const { arsenal, see } = await open({}, {}, { audit });
    await arsenal.execute({ toolName: "shop.break" });
    await arsenal.execute({ toolName: "billing.get_invoice", arguments: { invoiceId: "i-7" } });
    const page = await see("calls");
    const past = page.getByRole("region", { name: "History", exact: true }).locator("tbody tr");
    await past.filter({ hasText: "shop.break" }).getByText("It broke.").waitFor();
    await past.filter({ hasText: "billing.get_invoice" }).getByText('{"invoiceId":"i-7"}').waitFor();
    await page.getByLabel("When").selectOption("between");
    await page.getByLabel("From", { exact: true }).fill("2100-01-01T00:00");
    await page.getByText("No calls match.").waitFor();
    expect(new URL(page.url()).search).toBe("?when=between&from=2100-01-01T00%3A00");
    await page.getByLabel("When").selectOption("15m");
    await past.filter({ hasText: "billing.get_invoice" }).getByRole("link").last().click();
    await page.getByLabel("Arguments of billing.get_invoice").getByText('"i-7"').waitFor();
    await page.getByRole("button", { name: "Replay" }).click();
    expect(await page.getByLabel(/^invoiceId /).inputValue()).toBe("i-7");
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByRole("button", { name: "Run again" }).click();
    await page.getByLabel("Result").getByText('"found": "i-7"').waitFor();
    expect(await barriers(page)).toEqual([]);
  });

  it("sums up the calls before a restart, and does not say that the tool was not called", async () => {
    const folder = mkdtempSync(join(tmpdir(), "toolarsenal-restart-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const state = { file: join(folder, "state.sqlite") };
    const before = await openGateway({}, { state });
    for (let call = 0; call < 7; call++) await before.arsenal.execute({ toolName: "shop.ship" });
    await before.close();
    const { see } = await open({}, {}, { state });
    const page = await see("catalog/shop.ship");
    await page.getByText(/^7 calls, 100 % succeeded/).waitFor();
    expect(await page.getByText(/not called/i).count()).toBe(0);
  });

  it("keeps live calls on the page, however much else happens", async () => {
    const { arsenal, see } = await open();
    const page = await see("calls");
    await live(page);
    const ended = page.getByRole("region", { name: "Live", exact: true }).locator("tbody tr");
    await arsenal.execute({ toolName: "shop.ship" });
    await ended.filter({ hasText: "shop.ship" }).waitFor();
    for (let search = 0; search < 510; search++) await arsenal.retrieve({ context: { query: "an invoice" } });
    await arsenal.execute({ toolName: "billing.list_invoices" });
    await ended.filter({ hasText: "billing.list_invoices" }).waitFor();
    expect(await ended.count()).toBe(2);
  });

  it("asks before it runs a call again, unless the tool only reads", async () => {
    const { arsenal, see } = await open();
    const { traceId } = await arsenal.execute({ toolName: "shop.ship" });
    const page = await see(`calls/${traceId}`);
    await page.getByRole("button", { name: "Replay" }).click();
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page
      .getByRole("alertdialog")
      .getByText(/may change something/)
      .waitFor();
    expect(await barriers(page)).toEqual([]);
    await page.getByRole("button", { name: "Don't run" }).click();
    await page.getByRole("alertdialog").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByRole("button", { name: "Run again" }).click();
    await page.getByLabel("Result").getByText("shipped").waitFor();
    const { traceId: read } = await arsenal.execute({ toolName: "billing.list_invoices" });
    const other = await see(`calls/${read}`);
    await other.getByRole("button", { name: "Replay" }).click();
    await other.getByRole("button", { name: "Run", exact: true }).click();
    await other.getByLabel("Result").waitFor();
  });

  it("says on the overview how to see money, if no price is configured", async () => {
    const { see } = await open();
    const page = await see("");
    await tile(page, "Money saved").getByText("telemetry.prices").waitFor();
    expect(await barriers(page)).toEqual([]);
  });
});
