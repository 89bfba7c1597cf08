import { type Browser, chromium as driver, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { ToolArsenal, ToolArsenalConfig } from "../../src/index.ts";
import { chromium } from "../peers/peers.ts";
import { openGateway } from "../serve/rest-gateway.ts";
import { buildDashboard } from "./dashboard/sample-gateway.ts";
import { barriers, visit } from "./dashboard/visit.ts";

const program = chromium();
if (program === undefined)
  process.stderr.write("not run: what the dashboard shows of the past. There is no chromium\n");

// because a machine without a browser cannot show a page
describe.skipIf(program === undefined)("what the dashboard shows of the past", () => {
  let browser: Browser;

  beforeAll(async () => {
    await buildDashboard();
    browser = await driver.launch({ executablePath: program ?? "", args: ["--no-sandbox"] });
  });
  afterAll(() => browser?.close());

  /** A gateway with a history, and a way to open its pages. When the test ends, none may have complained. */
  async function open(telemetry: ToolArsenalConfig["telemetry"] = {}): Promise<{
    readonly arsenal: ToolArsenal;
    see(path: string): Promise<Page>;
  }> {
    const config = { telemetry: { enabled: false, history: { enabled: true }, ...telemetry } };
    const { arsenal, url } = await openGateway({}, config);
    return {
      arsenal,
      async see(path) {
        const { page, complaints, close } = await visit(browser, `${url}/ui/${path}`);
        onTestFinished(async () => {
          await close();
          expect(complaints).toEqual([]);
        });
        return page;
      },
    };
  }

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

  it("draws a trace as a waterfall, with the stages of its search and the steps of its call", async () => {
    const { arsenal, see } = await open();
    const { traceId } = await arsenal.retrieve({ context: { query: "show me an invoice" } });
    await arsenal.execute({ toolName: "billing.get_invoice", arguments: { invoiceId: "i-1" }, traceId });
    const page = await see(`calls/${traceId}`);
    const steps = page.getByRole("region", { name: "Waterfall" }).locator("tbody th");
    await steps.first().waitFor();
    expect(await steps.allTextContents()).toEqual([
      "search: show me an invoice",
      ...["understand", "filter", "lexical", "dense", "fuse", "fit"],
      "billing.get_invoice",
      ...["policy", "queue", "attempt 1"],
    ]);
    expect(await barriers(page)).toEqual([]);
  });

  it("says on the overview how to see money, if no price is configured", async () => {
    const { see } = await open();
    const page = await see("");
    await tile(page, "Money saved").getByText("telemetry.prices").waitFor();
    expect(await barriers(page)).toEqual([]);
  });
});
