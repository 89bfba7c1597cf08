import { type Browser, chromium as driver } from "playwright-core";
import { afterAll, beforeAll, describe } from "vitest";
import { chromium } from "../../peers/peers.ts";
import { buildDashboard } from "./sample-gateway.ts";

/** Describes what people see of the dashboard, which is built first. Without a browser on this machine it is skipped, and a line says so. */
export function describeInBrowser(name: string, suite: (browser: () => Browser) => void): void {
  const program = chromium();
  if (program === undefined) process.stderr.write(`not run: ${name}. There is no chromium\n`);
  // because a machine without a browser cannot show a page
  describe.skipIf(program === undefined)(name, () => {
    let browser: Browser | undefined;
    beforeAll(async () => {
      await buildDashboard();
      browser = await driver.launch({ executablePath: program ?? "", args: ["--no-sandbox"] });
    });
    afterAll(() => browser?.close());
    suite(() => browser as Browser);
  });
}
