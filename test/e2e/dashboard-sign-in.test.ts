import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { createKeyText, hashOfKey } from "../../src/adapters/identity/api-keys/key-file.ts";
import { apiKeys, bearerToken, jwtIdentity, type SignInSettings } from "../../src/adapters/identity/index.ts";
import { anyIdentity } from "../../src/guard/identity/any-identity.ts";
import { CAPABILITIES, localOperator } from "../../src/index.ts";
import { systemClock } from "../../src/observe/clock.ts";
import { openGateway } from "../serve/rest-gateway.ts";
import { describeInBrowser } from "./dashboard/describe-in-browser.ts";
import { looksOf } from "./dashboard/looks.ts";
import { barriers, visit, type Visit } from "./dashboard/visit.ts";
import { startGateway } from "./gateway-process.ts";
import { type OidcServer, startOidcServer } from "./oidc-server.ts";

describeInBrowser("signing in to the dashboard at a real OpenID provider", (browser) => {
  let oidc: OidcServer;

  beforeAll(async () => {
    oidc = await startOidcServer();
  });
  afterAll(async () => {
    await oidc?.close();
  });

  /** A gateway whose people sign in at the provider. `shiftMs` moves the time by which it judges tokens. */
  async function open(settings: Partial<SignInSettings> = {}, { issuer = oidc.issuer } = {}) {
    const time = { shiftMs: 0 };
    const clock = { ...systemClock, now: () => systemClock.now() + time.shiftMs };
    const { id: clientId, secret: clientSecret } = oidc.dashboard;
    const signIn = { clientId, clientSecret, ...settings };
    const scopes = settings.scopes === undefined ? ["tools:use"] : [];
    const jwt = jwtIdentity({ issuer, scopes, capabilities: CAPABILITIES, clock, signIn });
    const key = createKeyText("eve");
    const keys = apiKeys({
      keys: [{ id: "eve", hash: hashOfKey(key), principal: localOperator({ id: "eve", local: false }) }],
    });
    const { url } = await openGateway({ identity: anyIdentity([keys, jwt]) });
    return { url, key, time };
  }

  /** Opens a page and watches which addresses the browser shows. */
  async function at(url: string): Promise<Visit & { readonly addresses: string[] }> {
    const opened = await visit(browser(), url);
    onTestFinished(() => opened.close());
    const { page } = opened;
    // The provider's pages want a font from elsewhere.
    await page.route(/googleapis/, (route) => route.abort());
    const addresses: string[] = [];
    page.on("framenavigated", (frame) => void addresses.push(frame.url()));
    return { ...opened, addresses };
  }

  const start = (page: Page): Promise<void> => page.getByRole("link", { name: /^Sign in with 127\.0\.0\.1/ }).click();

  /** Types a name at the provider and agrees to what it asks. */
  async function signInAs(name: string, page: Page): Promise<void> {
    await start(page);
    await page.getByPlaceholder("Enter any login").fill(name);
    await page.getByPlaceholder("and password").fill("any");
    await page.getByRole("button", { name: "Sign-in" }).click();
    await page.getByRole("button", { name: "Continue" }).click();
  }

  const whoIs = (page: Page, name: string): Promise<void> => page.getByRole("banner").getByText(name).waitFor();
  const token = (page: Page): Promise<string> => page.evaluate("sessionStorage.getItem('toolarsenal.key')");
  const problem = async (page: Page): Promise<string> => {
    const alert = page.getByRole("alert").filter({ hasText: /\w/ });
    await alert.waitFor();
    return (await alert.textContent()) ?? "";
  };

  it("leads to the page that was asked for, with the rights of the person, until they sign out", async () => {
    const { url } = await open();
    const { page, addresses, complaints } = await at(`${url}/ui/catalog/billing.get_invoice?tab=run`);
    await page.getByLabel("API key").waitFor();
    for (const { colorScheme } of looksOf("sign-in")) {
      await page.emulateMedia({ colorScheme });
      expect(await barriers(page)).toEqual([]);
    }
    await signInAs("ada", page);
    await whoIs(page, "jwt:ada");
    expect(page.url()).toBe(`${url}/ui/catalog/billing.get_invoice?tab=run`);
    expect(await page.locator("meta[name=sign-in]").count()).toBe(0);

    await page.getByLabel("invoiceId").fill("i-7");
    await page.getByRole("button", { name: "Run" }).click();
    await page.getByLabel("Result").getByText("i-7").waitFor();
    await page.reload();
    await whoIs(page, "jwt:ada");

    const secret = await token(page);
    expect(secret.split(".")).toHaveLength(3);
    expect(addresses.join(" ")).toContain("/ui/sign-in/callback?code=");
    expect(addresses.join(" ")).not.toContain(secret);
    expect(await page.evaluate("history.state")).toBe(null);
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("button", { name: "Yes, sign me out" }).click();
    await page.getByLabel("API key").waitFor();
    expect(page.url()).toBe(`${url}/ui`);
    expect(await page.evaluate("sessionStorage.length")).toBe(0);
    expect(complaints.filter((each) => !/401|googleapis|ERR_FAILED/.test(each))).toEqual([]);
  });

  it("offers an API key as well, which stays a key", async () => {
    const { url, key } = await open();
    const { page } = await at(`${url}/ui`);
    await page.getByLabel("API key").fill(key);
    await page.keyboard.press("Enter");
    await whoIs(page, "eve");
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("API key").waitFor();
    expect(page.url()).toBe(`${url}/ui`);
  });

  it("asks again, and says why, when a key was revoked", async () => {
    const { url } = await open();
    const { page } = await at(`${url}/ui/catalog`);
    await page.evaluate(`sessionStorage.setItem("toolarsenal.key", "${createKeyText("eve")}")`);
    await page.reload();
    expect(await problem(page)).toBe("Sign in again. The key is unknown, has expired or was revoked.");
    expect(await page.evaluate("sessionStorage.length")).toBe(0);
  });

  it("takes a token of the configuration where it takes a key", async () => {
    const text = "a-token-of-enough-letters";
    const identity = bearerToken({ tokens: [{ token: text, principal: localOperator({ id: "max", local: false }) }] });
    const { url } = await openGateway({ identity });
    const { page } = await at(`${url}/ui`);
    await page.getByLabel("API key").fill(text);
    await page.keyboard.press("Enter");
    await whoIs(page, "max");
    expect(await token(page)).toBe(text);
  });

  it("gives a person without the role what they may use, and says what they may not", async () => {
    const { url } = await open();
    const { page } = await at(`${url}/ui/audit`);
    await signInAs("bob", page);
    await whoIs(page, "jwt:bob");
    expect(await problem(page)).toMatch(/operator/);
    await page.getByRole("link", { name: "Catalog" }).click();
    await page.getByRole("link", { name: "billing.get_invoice" }).waitFor();
  });

  it("is renewed without a question when the token has expired, and asked for if that does not help", async () => {
    const { url, time } = await open();
    onTestFinished(() => void (oidc.tokensLastS = 600));
    const { page, addresses } = await at(`${url}/ui/catalog`);
    await signInAs("ada", page);
    await whoIs(page, "jwt:ada");
    const first = await token(page);

    // An open page would go to the issuer by itself: its stream of events ends with the token.
    await page.goto("about:blank");
    time.shiftMs = 3_600_000;
    oidc.tokensLastS = 7200;
    // The page goes on to the issuer before it has loaded.
    await page.goto(`${url}/ui/playground?q=ship%20a%20parcel`, { waitUntil: "commit" });
    await page.getByRole("button", { name: "shop.ship" }).waitFor();
    await whoIs(page, "jwt:ada");
    expect(page.url()).toBe(`${url}/ui/playground?q=ship%20a%20parcel`);
    expect(await token(page)).not.toBe(first);

    await page.goto("about:blank");
    time.shiftMs = 36_000_000;
    const before = addresses.length;
    await page.goto(`${url}/ui/catalog`, { waitUntil: "commit" });
    expect(await problem(page)).toContain("The token has expired.");
    expect(page.url()).toBe(`${url}/ui/catalog`);
    expect(addresses.slice(before).filter((each) => each.includes("/callback"))).toHaveLength(1);
    expect(await page.getByRole("link", { name: /^Sign in with/ }).count()).toBe(1);
  });

  it("says so if the person cancels, and lets them try again", async () => {
    const { url } = await open();
    const { page } = await at(`${url}/ui/pins`);
    await start(page);
    await page.getByRole("link", { name: "Cancel" }).click();
    expect(await problem(page)).toMatch(/did not sign you in: access_denied/);
    expect(page.url()).toBe(`${url}/ui/pins`);
    expect(await barriers(page)).toEqual([]);
    await signInAs("ada", page);
    await whoIs(page, "jwt:ada");
  });

  it("explains an opaque token, and an issuer that is away", async () => {
    const opaque = await open({ scopes: ["openid"], parameters: { resource: "" } });
    const first = await at(`${opaque.url}/ui`);
    await signInAs("ada", first.page);
    expect(await problem(first.page)).toMatch(/issued an opaque access token\. .*sign_in\.parameters\.audience/);

    const away = await open({}, { issuer: "http://127.0.0.1:9" });
    const second = await at(`${away.url}/ui/audit`);
    await start(second.page);
    expect(await problem(second.page)).toMatch(/^Cannot sign in at 127\.0\.0\.1:9 now/);
    expect(second.page.url()).toBe(`${away.url}/ui/audit`);
  });

  it("refuses an answer that this browser did not ask for, one with another state, and a code that was used", async () => {
    const { url } = await open();
    const { page } = await at(`${url}/ui/sign-in/callback?code=stolen&state=${"0".repeat(32)}`);
    expect(await problem(page)).toContain("was not started in this browser");
    expect(page.url()).toBe(`${url}/ui`);

    const answers: { readonly url: string; readonly cookie: string }[] = [];
    page.on("request", async (request) => {
      if (request.url().includes("/callback?code="))
        answers.push({ url: request.url(), cookie: (await request.allHeaders())["cookie"] ?? "" });
    });
    await signInAs("ada", page);
    await whoIs(page, "jwt:ada");
    const [answer] = answers;
    if (answer === undefined) throw new Error("The browser never came back.");
    const headers = { cookie: answer.cookie };
    const replayed = await fetch(answer.url, { headers });
    expect([replayed.status, await replayed.text()]).toEqual([403, expect.stringContaining("invalid_grant")]);
    const forged = new URL(answer.url);
    forged.searchParams.set("state", `${forged.searchParams.get("state")?.[0]}${"0".repeat(31)}`);
    const refused = await fetch(forged, { headers });
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining("does not belong")]);
  });

  it("goes nowhere else, and shows hostile words of an issuer as text", async () => {
    const { url } = await open();
    const { page, complaints } = await at(`${url}/ui`);
    const asked = page.waitForRequest((request) => request.url().startsWith(`${oidc.issuer}/auth?`));
    await page.goto(`${url}/ui/sign-in?to=https%3A%2F%2Fevil.example%2Fui`);
    const state = new URL((await asked).url()).searchParams.get("state") ?? "";
    const words = '"><img src=x onerror=alert(1)><script>alert(2)</script>';
    const answer = new URLSearchParams({ error: "access_denied", error_description: words, state, iss: oidc.issuer });
    await page.goto(`${url}/ui/sign-in/callback?${answer.toString()}`);
    expect(await problem(page)).toContain(words);
    expect(page.url()).toBe(`${url}/ui`);
    expect(await page.locator("img, main script").count()).toBe(0);
    expect(complaints.filter((each) => /dialog|Content Security/.test(each))).toEqual([]);
  });

  it("works from a configuration file, and leaves neither token nor code in the log", async () => {
    process.env["DASHBOARD_SECRET"] = oidc.dashboard.secret;
    onTestFinished(() => void delete process.env["DASHBOARD_SECRET"]);
    const sign_in = {
      client_id: oidc.dashboard.id,
      client_secret: "env:DASHBOARD_SECRET",
      parameters: { ui_locales: "en" },
    };
    const gateway = await startGateway({
      servers: {},
      tier: "lexical",
      settings: {
        telemetry: { level: "debug" },
        server: { auth: { jwt: { issuer: oidc.issuer, scopes: ["tools:use"], sign_in } } },
      },
    });
    onTestFinished(() => void gateway.close());
    const { page, addresses } = await at(`${gateway.url}/ui/calls`);
    await page.getByRole("link", { name: /^Sign in with/ }).waitFor();
    expect(await page.getByLabel("API key").count()).toBe(0);
    await signInAs("ada", page);
    await whoIs(page, "jwt:ada");
    const code = /code=([^&]+)/.exec(addresses.join(" "))?.[1] ?? "";
    const secret = await token(page);
    await gateway.close();
    expect(code).not.toBe("");
    expect(oidc.requests.some((path) => path.includes("ui_locales=en"))).toBe(true);
    for (const hidden of [secret, code, oidc.dashboard.secret]) expect(gateway.log()).not.toContain(hidden);
  });
});
