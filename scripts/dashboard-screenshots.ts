// Takes a screenshot of every page of the dashboard, wide and at phone size, for docs/guides/dashboard.md. Needs chromium.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { chromium as driver } from "playwright-core";
import { apiKeys, jwtIdentity } from "../src/adapters/identity/index.ts";
import { anyIdentity } from "../src/guard/identity/any-identity.ts";
import { ToolArsenal } from "../src/index.ts";
import { systemClock } from "../src/observe/clock.ts";
import { PAGES_WITH_CONTENT, type PageWithContent, useSampleGateway } from "../test/e2e/dashboard/pages.ts";
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
// Simulates a gateway that has been running for an hour.
let minutesAgo = 75;
const gateway = await openSampleGateway({ ...systemClock, now: () => systemClock.now() - minutesAgo * 60_000 });
const identity = anyIdentity([
  jwtIdentity({ issuer: "https://login.example.com", signIn: { clientId: "toolarsenal" } }),
  apiKeys({ keys: [] }),
]);
const guarded = await new ToolArsenal({ telemetry: { enabled: false } }).serve({ port: 0, identity });
const SIGN_IN: PageWithContent = {
  name: "sign-in",
  path: "",
  ready: (page) => page.getByRole("heading", { name: "Sign in" }).waitFor(),
};
const browser = await driver.launch({ executablePath: program, args: ["--no-sandbox"] });
try {
  const add = (b: number): Promise<unknown> =>
    gateway.arsenal.execute({ toolName: "everything.get_sum", arguments: { a: 1, b } });
  await add(0);
  for (minutesAgo = 58; minutesAgo > 0; minutesAgo--) {
    await gateway.arsenal.retrieve({ context: { query: "add two numbers" } });
    for (let call = 0; call < ((minutesAgo * 7) % 5) + (58 - minutesAgo) / 20; call++) await add(call);
    if (minutesAgo % 9 === 0) await gateway.arsenal.execute({ toolName: "billing.get_invoice", arguments: {} });
  }
  await useSampleGateway(gateway);
  for (const each of PAGES_WITH_CONTENT) await takePictures(gateway.url, each);
  await takePictures(guarded.url ?? "", SIGN_IN);
} finally {
  await browser.close();
  await gateway.close();
  await guarded.close();
}

async function takePictures(url: string, { name, path, ready }: PageWithContent): Promise<void> {
  for (const width of [1440, 375]) {
    const viewport = { width, height: width === 375 ? 700 : 760 };
    const colorScheme = values.dark ? "dark" : "light";
    const { page, close } = await visit(browser, `${url}/ui/${path}`, { viewport, colorScheme });
    await ready(page);
    await page.screenshot({ path: join(values.out, `${name}-${width}.png`) });
    await close();
  }
}
