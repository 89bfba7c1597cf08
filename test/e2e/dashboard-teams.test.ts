import { afterAll, beforeAll, expect, it } from "vitest";
import { type Fleet, ROOT_TOKEN, startFleet } from "./teams/fleet.ts";
import { describeInBrowser } from "./dashboard/describe-in-browser.ts";
import { looksOf } from "./dashboard/looks.ts";
import { barriers, visit, type Visit } from "./dashboard/visit.ts";

describeInBrowser("the dashboard's pages for teams", (browser) => {
  let fleet: Fleet;
  let operator: string;
  beforeAll(async () => {
    fleet = await startFleet({}, (arsenal) => {
      arsenal.register({ name: "ping", description: "Answers at once.", parameters: {} }, () => "pong");
    });
    const quotas = [
      { unit: "calls", period: "month", soft: 1, hard: 2 },
      { unit: "cost", period: "day", hard: 5 },
    ];
    await fleet.tenant("acme", { name: "Acme Corp.", quotas });
    await fleet.tenant("globex");
    operator = await fleet.key("acme-operator", { tenant: "acme", roles: ["operator"] });
    await fleet.ask(0, operator, "PUT", "/tenants/acme/members/ada", { roles: ["operator"] });
    for (let call = 0; call < 3; call++)
      await fleet.ask(0, operator, "POST", "/execute", { toolName: "default.ping", arguments: {} });
  }, 120_000);
  afterAll(() => fleet?.close());

  async function signedIn(key: string, path: string, options: object = {}): Promise<Visit> {
    const visited = await visit(browser(), `${fleet.urls[0]}/ui/${path}`, options);
    await visited.page.getByLabel("API key").fill(key);
    await visited.page.keyboard.press("Enter");
    await visited.page.getByRole("banner").getByText("Sign out").waitFor();
    return visited;
  }
  /** Before signing in, the browser reports the 401. */
  const others = (complaints: readonly string[]) => complaints.filter((each) => !each.includes("401"));

  it("can be used by everyone, light and dark, on a desk and on a phone", async () => {
    const { page, complaints, close } = await signedIn(ROOT_TOKEN, "tenants");
    for (const [name, sign] of [
      ["tenants", "Quotas of acme"],
      ["keys", "Keys"],
      ["usage", "Usage"],
    ] as const) {
      await page.goto(`${fleet.urls[0]}/ui/${name}`);
      await page.getByRole("region", { name: sign }).waitFor();
      for (const summary of await page.locator("summary").all()) await summary.click();
      for (const { colorScheme, width } of looksOf(name)) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 900 });
        expect([name, width, await barriers(page)]).toEqual([name, width, []]);
        const overflow = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
        expect([name, width, overflow]).toEqual([name, width, 0]);
      }
    }
    await close();
    expect(others(complaints)).toEqual([]);
  });

  it("create a tenant, set its quota, add a member and a key that works once it is shown, and suspend it", async () => {
    const { page, complaints, close } = await signedIn(ROOT_TOKEN, "tenants");
    await page.getByText("Create a tenant").click();
    await page.getByLabel("Id").fill("initech");
    await page.getByRole("button", { name: "Create" }).click();
    const card = page.getByRole("article", { name: "initech" });
    await card.getByText("Set a quota of initech").click();
    await card.getByLabel("Soft limit").fill("8");
    await card.getByLabel("Hard limit").fill("10");
    await card.getByRole("button", { name: "Set" }).click();
    await card.getByRole("cell", { name: "calls a day" }).waitFor();
    await card.getByText("Add a member of initech").click();
    await card.getByLabel("Person").fill("bill");
    await card.getByRole("button", { name: "Add" }).click();
    await card.getByRole("cell", { name: "bill" }).waitFor();

    await page.getByRole("link", { name: "Keys" }).click();
    await page.getByText("Create a key").click();
    await page.getByLabel("Name").fill("initech-bot");
    await page.getByLabel("Tenant").fill("initech");
    await page.getByRole("button", { name: "Create" }).click();
    const text = (await page.getByRole("status", { name: "New key" }).locator("code").textContent()) ?? "";
    expect(text).toMatch(/^ta_initech-bot_[\w-]{43}$/);
    await expect.poll(async () => (await fleet.ask(1, text, "GET", "/info")).body.caller?.tenant).toBe("initech");
    await page.reload();
    await page.getByRole("cell", { name: "initech-bot" }).waitFor();
    expect(await page.content()).not.toContain(text);

    await page.getByRole("link", { name: "Tenants" }).click();
    await card.getByRole("button", { name: "Suspend" }).click();
    await card.getByRole("button", { name: "Suspend initech" }).click();
    await card.getByText("suspended").waitFor();
    await expect.poll(async () => (await fleet.ask(2, text, "GET", "/info")).status, { timeout: 20_000 }).toBe(401);
    await close();
    expect(others(complaints)).toEqual([]);
  });

  it("show a tenant's operator that tenant, what is used of its quotas and its usage, and no buttons for more", async () => {
    const { page, complaints, close } = await signedIn(operator, "tenants");
    const card = page.getByRole("article", { name: "acme" });
    await card.getByText("used up").waitFor();
    expect(await page.getByRole("article").count()).toBe(1);
    expect(await page.getByRole("button", { name: "Suspend" }).count()).toBe(0);
    expect(await page.getByText("Create a tenant").count()).toBe(0);
    await page.getByRole("link", { name: "Keys" }).click();
    await page.getByRole("cell", { name: "acme-operator" }).waitFor();
    expect(await page.getByRole("row").count()).toBe(2);
    await page.getByRole("link", { name: "Usage" }).click();
    await page.getByLabel("Add up by").selectOption({ label: "tool" });
    await page.getByRole("cell", { name: "default.ping" }).waitFor();
    const saved = page.waitForEvent("download");
    await page.getByRole("button", { name: "Export as CSV" }).click();
    expect((await saved).suggestedFilename()).toBe("usage.csv");
    await close();
    expect(others(complaints)).toEqual([]);
  });
});
