import { afterAll, beforeAll, expect, it } from "vitest";
import { createKeyText, hashOfKey } from "../../src/adapters/identity/api-keys/key-file.ts";
import { apiKeys } from "../../src/adapters/identity/index.ts";
import { localOperator } from "../../src/index.ts";
import { openGateway } from "../serve/rest-gateway.ts";
import { describeInBrowser } from "./dashboard/describe-in-browser.ts";
import { looksOf } from "./dashboard/looks.ts";
import { PAGES_WITH_CONTENT, useSampleGateway } from "./dashboard/pages.ts";
import { openSampleGateway, type SampleGateway } from "./dashboard/sample-gateway.ts";
import { barriers, visit } from "./dashboard/visit.ts";

describeInBrowser("the dashboard, page by page", (browser) => {
  let gateway: SampleGateway;

  beforeAll(async () => {
    gateway = await openSampleGateway();
    await useSampleGateway(gateway);
  });
  afterAll(async () => {
    await gateway?.close();
  });

  it.each(PAGES_WITH_CONTENT)(
    "$name is readable for everyone, light and dark, fits a phone, and stays on its origin",
    async ({ name, path, ready }) => {
      const address = `${gateway.url}/ui/${path}`;
      const { page, asked, complaints, close } = await visit(browser(), address, { colorScheme: "light" });
      await ready(page);
      for (const { colorScheme, width } of looksOf(name)) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 800 });
        expect(await barriers(page)).toEqual([]);
        expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(width);
      }
      expect([...asked].filter((each) => !each.startsWith(gateway.url) && !each.startsWith("data:"))).toEqual([]);
      expect(complaints).toEqual([]);
      await close();
    },
  );

  it("asks for a key where the gateway wants one, says whom it knows, and forgets the key", async () => {
    const key = createKeyText("ada");
    const identity = apiKeys({
      keys: [{ id: "ada", hash: hashOfKey(key), principal: localOperator({ id: "ada", local: false }) }],
    });
    const { url } = await openGateway({ identity });
    const { page, close } = await visit(browser(), `${url}/ui/catalog`);
    await page.getByLabel("API key").fill(createKeyText("mallory"));
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("alert").filter({ hasText: /\w/ }).waitFor();
    expect(await barriers(page)).toEqual([]);
    await page.getByLabel("API key").fill(key);
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "billing.get_invoice" }).waitFor();
    await page.getByRole("banner").getByText("ada").waitFor();
    await page.reload();
    await page.getByRole("link", { name: "billing.get_invoice" }).waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("API key").waitFor();
    expect(await page.evaluate("sessionStorage.length")).toBe(0);
    await close();
  });
});
