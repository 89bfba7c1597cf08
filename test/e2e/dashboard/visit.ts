import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";

/** A page of the dashboard, every address it asked for, and everything it complained about. */
export interface Visit {
  readonly page: Page;
  readonly asked: ReadonlySet<string>;
  /** Errors, violations of the Content-Security-Policy and dialogs. */
  readonly complaints: readonly string[];
  close(): Promise<void>;
}

/** Opens a page in a browser of its own, so that nothing is left from an earlier one. */
export async function visit(browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<Visit> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  const asked = new Set<string>();
  const complaints: string[] = [];
  page.on("request", (request) => asked.add(request.url()));
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("console", (message) => {
    // While a server is being added, the page asks for its log, also before the gateway knows the server.
    const isEarly = message.text().includes("status of 404") && /\/log(\?|$)/.test(message.location().url);
    if (message.type() === "error" && !isEarly) complaints.push(message.text());
  });
  page.on("dialog", (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.goto(url);
  return { page, asked, complaints, close: () => context.close() };
}

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What keeps people from using the page, of those findings that axe calls serious or critical. */
export async function barriers(page: Page): Promise<readonly string[]> {
  // A page that was not loaded anew has it already.
  if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(AXE);
  const { violations } = await page.evaluate<{
    violations: { id: string; impact: string; nodes: { html: string }[] }[];
  }>("axe.run()");
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
}
