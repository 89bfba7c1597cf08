import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, it, onTestFinished } from "vitest";
import { createKeyText, hashOfKey } from "../../src/adapters/identity/api-keys/key-file.ts";
import { apiKeys, jwtIdentity } from "../../src/adapters/identity/index.ts";
import { anyIdentity } from "../../src/guard/identity/any-identity.ts";
import { CAPABILITIES, localOperator } from "../../src/index.ts";
import { PROXY_WAYS, startPathProxy } from "../serve/path-proxy.ts";
import { openGateway } from "../serve/rest-gateway.ts";
import { describeInBrowser } from "./dashboard/describe-in-browser.ts";
import { visit } from "./dashboard/visit.ts";
import { startOidcServer } from "./oidc-server.ts";

const PAGES = ["Playground", "Catalog", "Calls", "Approvals", "Pins", "Policy", "Servers", "Toolsets", "Audit"];

for (const { way, strips } of PROXY_WAYS)
  describeInBrowser(`the dashboard below /tools, behind a proxy that ${way}`, (browser) => {
    /** A gateway with keys and a provider behind the proxy, and a page of it. At the end, nothing was requested that is not there. */
    async function open(path: string) {
      const folder = mkdtempSync(join(tmpdir(), "dashboard-"));
      onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
      const oidc = await startOidcServer();
      onTestFinished(() => oidc.close());
      const key = createKeyText("ada");
      const keys = apiKeys({
        keys: [{ id: "ada", hash: hashOfKey(key), principal: localOperator({ id: "ada", local: false }) }],
      });
      const { id: clientId, secret: clientSecret } = oidc.dashboard;
      const signIn = { clientId, clientSecret };
      const jwt = jwtIdentity({ issuer: oidc.issuer, scopes: ["tools:use"], capabilities: CAPABILITIES, signIn });
      const proxy = await startPathProxy({ strips });
      const { url } = await openGateway(
        { publicUrl: proxy.url, identity: anyIdentity([keys, jwt]) },
        { audit: { file: join(folder, "audit.jsonl") }, telemetry: { enabled: false, history: { enabled: true } } },
      );
      proxy.target = url;
      const { page, close } = await visit(browser(), "about:blank");
      const missing: string[] = [];
      page.on("response", (response) => {
        if (response.status() === 404 || response.status() >= 500) missing.push(response.url());
      });
      // The provider's pages want a font from elsewhere.
      await page.route(/googleapis/, (route) => route.abort());
      onTestFinished(async () => {
        await close();
        expect([missing, proxy.refused]).toEqual([[], []]);
      });
      await page.goto(proxy.url + path);
      return { page, key, own: url, url: proxy.url };
    }

    async function withKey(page: Page, key: string): Promise<void> {
      await page.getByLabel("API key").fill(key);
      await page.keyboard.press("Enter");
      await page.getByRole("banner").getByText("ada").waitFor();
    }

    it("opens every page, follows its links, runs a tool and hears events", async () => {
      const { page, key, url } = await open("/ui/catalog/billing.get_invoice?tab=run");
      await withKey(page, key);
      expect(page.url()).toBe(`${url}/ui/catalog/billing.get_invoice?tab=run`);
      await page.getByLabel("invoiceId").fill("i-7");
      await page.getByRole("button", { name: "Run" }).click();
      await page.getByLabel("Result").getByText("i-7").waitFor();
      await page.locator("html[data-live]").waitFor({ state: "attached" });
      const navigation = page.getByRole("navigation", { name: "Pages" });
      for (const name of PAGES) {
        await navigation.getByRole("link", { name: new RegExp(`^${name}`) }).click();
        await page.getByRole("heading", { level: 1 }).first().waitFor();
        expect(page.url()).toBe(`${url}/ui/${name.toLowerCase()}`);
      }
      await page.getByRole("link", { name: "ToolArsenal" }).click();
      expect(page.url()).toBe(`${url}/ui/`);
      await page.goBack();
      await page.reload();
      await page.getByRole("heading", { level: 1 }).first().waitFor();
      expect(page.url()).toBe(`${url}/ui/audit`);
    });

    it("leads to the issuer and back to the page that was wanted, and out again", async () => {
      const { page, url } = await open("/ui/catalog?namespace=billing");
      await page.getByRole("link", { name: /^Sign in with/ }).click();
      await page.getByPlaceholder("Enter any login").fill("ada");
      await page.getByPlaceholder("and password").fill("any");
      await page.getByRole("button", { name: "Sign-in" }).click();
      await page.getByRole("button", { name: "Continue" }).click();
      await page.getByRole("banner").getByText("jwt:ada").waitFor();
      expect(page.url()).toBe(`${url}/ui/catalog?namespace=billing`);
      await page.getByRole("link", { name: "billing.get_invoice" }).waitFor();
      await page.getByRole("button", { name: "Sign out" }).click();
      await page.getByRole("button", { name: "Yes, sign me out" }).click();
      await page.getByLabel("API key").waitFor();
      expect(page.url()).toBe(`${url}/ui`);
    });

    it("works for an operator who opens it past the proxy", async () => {
      const { page, key, own } = await open("/ui");
      await page.goto(`${own}/ui/catalog?namespace=shop`);
      await withKey(page, key);
      await page.getByRole("link", { name: "shop.ship" }).click();
      await page.getByRole("heading", { name: "Health" }).waitFor();
      expect(page.url()).toBe(`${own}/tools/ui/catalog/shop.ship`);
    });

    it("has the page of the REST API, which sends requests", async () => {
      const { page, key } = await open("/docs#getInfo");
      await page.getByLabel("API key or token").fill(key);
      await page.getByRole("button", { name: "Use it" }).click();
      const operation = page.locator("details#listTools");
      await operation.locator("summary").click();
      await operation.getByRole("button", { name: "Send" }).click();
      await operation.getByText("billing.get_invoice").first().waitFor();
      expect(await operation.locator("p.good").textContent()).toBe("200 application/json");
    });
  });
