import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { type Browser, chromium as driver, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bearerToken } from "../../src/adapters/identity/bearer-token.ts";
import { OPERATIONS } from "../../src/serve/rest/operations/all.ts";
import { chromium } from "../peers/peers.ts";
import { openGateway } from "../serve/rest-gateway.ts";

const program = chromium();
if (program === undefined) process.stderr.write("not run: the page at /docs. There is no chromium\n");

// because a machine without a browser cannot show a page
describe.skipIf(program === undefined)("the page at /docs", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await driver.launch({ executablePath: program ?? "", args: ["--no-sandbox"] });
  });
  afterAll(() => browser?.close());

  /** The page, every address it asked for, and everything it complained about. */
  async function visit(url: string, path = "/docs") {
    const context = await browser.newContext({ viewport: { width: 375, height: 800 } });
    const page = await context.newPage();
    const asked = new Set<string>();
    const complaints: string[] = [];
    page.on("request", (request) => asked.add(request.url()));
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
    await page.goto(url + path);
    return { page, asked, complaints, close: () => context.close() };
  }

  const operations = (page: Page) => page.locator("main details:not([id^=schema])");

  it("shows every operation, asks only this server, and fits a phone", async () => {
    const { url } = await openGateway();
    const { page, asked, complaints, close } = await visit(url);
    await operations(page).first().waitFor();
    expect(await operations(page).count()).toBe(OPERATIONS.length);
    expect([...asked].filter((each) => !each.startsWith(url) && !each.startsWith("data:"))).toEqual([]);
    expect(complaints).toEqual([]);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(375);
    await close();
  });

  it.each(["light", "dark"] as const)(
    "has nothing in its way for people who cannot see it well, %s",
    async (colorScheme) => {
      const { url } = await openGateway();
      const { page, close } = await visit(url, "/docs#search");
      await page.emulateMedia({ colorScheme });
      await page.locator("details#search textarea").waitFor();
      await page.evaluate(readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8"));
      const found = await page.evaluate<{ violations: { id: string; nodes: { html: string }[] }[] }>("axe.run()");
      expect(found.violations.map(({ id, nodes }) => [id, nodes[0]?.html])).toEqual([]);
      await close();
    },
  );

  it("runs an operation from its form, with the keyboard alone, and streams what comes", async () => {
    const { url } = await openGateway();
    const { page, close } = await visit(url, "/docs#execute");
    const execute = page.locator("details#execute");
    await execute.locator("select").selectOption("text/event-stream");
    await execute.locator("textarea").fill('{ "toolName": "shop.ship" }');
    await execute.getByRole("button", { name: "Send" }).focus();
    await page.keyboard.press("Enter");
    await execute.getByText("event: result").waitFor();
    expect(await execute.locator("[aria-live] pre").textContent()).toContain('"message":"packed"');
    await close();
  });

  it("asks for a token where callers need one, and sends it", async () => {
    const token = "a-token-of-some-length";
    const { url } = await openGateway({ identity: bearerToken({ tokens: [token] }) });
    const { page, close } = await visit(url);
    await page.getByText("Enter an API key").waitFor();
    await page.getByLabel("API key or token").fill(token);
    await page.keyboard.press("Enter");
    await operations(page).first().waitFor();
    await page.locator("details#getInfo summary").click();
    await page.locator("details#getInfo").getByRole("button", { name: "Send" }).click();
    const answer = page.locator("details#getInfo [aria-live] pre");
    await answer.getByText("toolCount").waitFor();
    expect(JSON.parse((await answer.textContent()) ?? "")).toMatchObject({ toolCount: 5 });
    await close();
  });
});
