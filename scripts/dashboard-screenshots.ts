// Takes a picture of every page of the dashboard, wide and as on a phone, for docs/dashboard.md. Needs chromium.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { chromium as driver } from "playwright-core";
import { PAGES_WITH_CONTENT, useSampleGateway } from "../test/e2e/dashboard/pages.ts";
import { buildDashboard, openSampleGateway } from "../test/e2e/dashboard/sample-gateway.ts";
import { visit } from "../test/e2e/dashboard/visit.ts";
import { chromium } from "../test/peers/peers.ts";

const { values } = parseArgs({
  options: {
    out: { type: "string", default: join(import.meta.dirname, "../docs/images/dashboard") },
    dark: { type: "boolean", default: false },
  },
});
const program = chromium();
if (program === undefined) throw new Error("There is no chromium. Install it with: bash scripts/ci-services");
mkdirSync(values.out, { recursive: true });
await buildDashboard();
const gateway = await openSampleGateway();
const browser = await driver.launch({ executablePath: program, args: ["--no-sandbox"] });
try {
  await useSampleGateway(gateway);
  for (const { name, path, ready } of PAGES_WITH_CONTENT)
    for (const width of [1440, 375]) {
      const viewport = { width, height: width === 375 ? 700 : 760 };
      const colorScheme = values.dark ? "dark" : "light";
      const { page, close } = await visit(browser, `${gateway.url}/ui/${path}`, { viewport, colorScheme });
      await ready(page);
      await page.screenshot({ path: join(values.out, `${name}-${width}.png`) });
      await close();
    }
} finally {
  await browser.close();
  await gateway.close();
}
