import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Browser, type BrowserContextOptions, chromium as driver, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DOORS } from "../../site/.vitepress/pages.ts";
import { everyNth } from "../kit/effort.ts";
import { chromium } from "../peers/peers.ts";
import { looksOf } from "./dashboard/looks.ts";
import { barriers, visit, type Visit } from "./dashboard/visit.ts";
import { openSite, type Site, siteMissing } from "./site/open-site.ts";
import { ANSWERS, anchorOf, QUESTIONS } from "./site/questions.ts";

const program = chromium();
const missing = program === undefined ? "there is no chromium" : siteMissing();
if (missing !== undefined) process.stderr.write(`not run: the docs site. ${missing}\n`);

/** A page of each kind: the front with a diagram, programs, answers, tables with a list of pages beside them. */
const PAGES = ["", "start/library.html", ANSWERS, "reference/adapters/state/sqlite.html"];
const VIEWS = PAGES.flatMap((path) => looksOf(path).map((shown) => ({ path, ...shown })));

// because a machine without a browser cannot show a page, and one without site/node_modules cannot make it
describe.skipIf(missing !== undefined)("the docs site", () => {
  let browser: Browser;
  let site: Site;
  beforeAll(async () => {
    site = await openSite();
    browser = await driver.launch({ executablePath: program ?? "", args: ["--no-sandbox"] });
  }, 600_000);
  afterAll(async () => {
    await browser?.close();
    site?.close();
  });

  const look = (
    path: string,
    width = 1440,
    colorScheme: "light" | "dark" = "light",
    more: BrowserContextOptions = {},
  ): Promise<Visit> =>
    visit(browser, `${site.url}/${path}`, { viewport: { width, height: 900 }, colorScheme, ...more });
  const outside = (asked: ReadonlySet<string>): readonly string[] =>
    [...asked].filter((address) => !address.startsWith(site.url) && !address.startsWith("data:"));

  it.each(VIEWS)(
    "shows /$path at $width pixels, $colorScheme, without a barrier, an error or an outside request",
    async ({ path, width, colorScheme }) => {
      const { page, asked, complaints, close } = await look(path, width, colorScheme);
      await page.locator("main h1").waitFor();
      expect(await barriers(page)).toEqual([]);
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(width);
      expect([outside(asked), complaints]).toEqual([[], []]);
      await close();
    },
  );

  it.each(looksOf("search"))(
    "has a search without a barrier at $width pixels, $colorScheme",
    async ({ width, colorScheme }) => {
      const { page, asked, close } = await look("", width, colorScheme);
      expect(await search(page, "approvals")).toHaveLength(3);
      expect(await barriers(page)).toEqual([]);
      expect(outside(asked)).toEqual([]);
      await close();
    },
  );

  const pages = DOORS.flatMap(({ groups }) => groups.flatMap((group) => group.pages));
  const withScripts = new Set(everyNth(pages, 4));
  // Scripts take half of the time and are the same on every page, so each run tries them on other pages.
  it.each([true, false])("fits every page of the four doors on a phone, scripts: %s", async (javaScriptEnabled) => {
    const { page, complaints, close } = await look("", 375, "light", { javaScriptEnabled });
    const wide: string[] = [];
    for (const name of pages.filter((each) => withScripts.has(each) === javaScriptEnabled)) {
      await page.goto(`${site.url}/${name.replace(/README$/, "index")}.html`, { waitUntil: "domcontentloaded" });
      if ((await page.evaluate("document.documentElement.scrollWidth")) !== 375) wide.push(name);
    }
    expect([wide, complaints]).toEqual([[], []]);
    await close();
  });

  it("leads from each old address to the new one, with the section", async () => {
    const { page, close } = await look("policy.html#conditions");
    await expect.poll(() => page.url()).toBe(`${site.url}/guides/policy.html#conditions`);
    await page.goto(`${site.url}/adapters/`);
    await expect.poll(() => page.url()).toBe(`${site.url}/reference/adapters/index.html`);
    await close();
  });

  it("has every page and every anchor that its pages link to", () => {
    const read = (path: string): string => readFileSync(join(site.folder, path), "utf8");
    const ids = new Map<string, ReadonlySet<string | undefined>>();
    const isBroken = (link: URL): boolean => {
      const path = link.pathname.slice(1).replace(/(^|\/)$/, "$1index.html");
      if (!existsSync(join(site.folder, path))) return true;
      if (!ids.has(path)) ids.set(path, new Set([...read(path).matchAll(/\bid="([^"]+)"/g)].map(([, id]) => id)));
      return link.hash !== "" && !ids.get(path)?.has(decodeURIComponent(link.hash.slice(1)));
    };
    const links = globSync("**/*.html", { cwd: site.folder }).flatMap((path) =>
      [...read(path).matchAll(/<a\b[^>]*\bhref="([^"]+)"/g)]
        .map(([, href = ""]) => [path, new URL(href, `${site.url}/${path}`)] as const)
        .filter(([, { origin }]) => origin === site.url),
    );
    expect(links.length).toBeGreaterThan(1000);
    expect(links.filter(([, link]) => isBroken(link)).map(([path, { href }]) => `${path}: ${href}`)).toEqual([]);
  });

  describe("answers what new users ask", () => {
    let front: Visit;
    beforeAll(async () => void (front = await look("")));
    afterAll(() => front.close());

    it.each(QUESTIONS)("$question, within one search", async ({ question, otherWords, leadsTo }) => {
      const answer = `/${ANSWERS}#${anchorOf(question)}`;
      expect(await search(front.page, question)).toContain(answer);
      const [page = ""] = leadsTo.split("#");
      const found = await search(front.page, otherWords);
      expect(found.filter((link) => link === answer || link.startsWith(`/${page}`))).not.toEqual([]);
    });

    it.each(QUESTIONS)("$question, within two clicks", async ({ question, leadsTo }) => {
      await front.page.goto(site.url);
      await front.page.locator("main").getByRole("link", { name: question, exact: true }).click();
      const heading = front.page.locator(`h2#${anchorOf(question)}`);
      await heading.waitFor();
      expect(new URL(front.page.url()).pathname).toBe(`/${ANSWERS}`);
      const links = await heading.evaluate((element) => {
        const found: string[] = [];
        for (
          let next = element.nextElementSibling;
          next !== null && next.tagName !== "H2";
          next = next.nextElementSibling
        )
          for (const link of next.querySelectorAll("a")) found.push(link.href);
        return found;
      });
      expect(links).toContain(`${site.url}/${leadsTo}`);
    });
  });
});

/** Types into the search box and returns the first three results. */
async function search(page: Page, words: string): Promise<readonly string[]> {
  const box = page.locator("#localsearch-input");
  if (!(await box.isVisible())) await page.locator("button.DocSearch-Button").click();
  const results = page.locator("#localsearch-list a.result");
  await box.fill("");
  await expect.poll(() => results.count()).toBe(0);
  await box.fill(words);
  await results.nth(2).waitFor();
  return results.evaluateAll((links) => links.slice(0, 3).map((link) => link.getAttribute("href") ?? ""));
}
