import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeInBrowser } from "./dashboard/describe-in-browser.ts";
import { type GatewayProcess, startGateway } from "./gateway-process.ts";

const MODULE = `export default (arsenal) => {
  for (const name of ["send", "look"])
    arsenal.register({ namespace: "mail", name, description: "Will " + name + " at a mail." }, () => name);
};`;

let folder: string;
let gateway: GatewayProcess;

describeInBrowser("the dashboard of a strict policy", (browser) => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "toolarsenal-strict-"));
    const module = join(folder, "tools.mjs");
    await writeFile(module, MODULE);
    const security = { policy: "strict", allow: ["mail.look"] };
    gateway = await startGateway({ servers: {}, tier: "lexical", settings: { modules: [module], security } });
  });
  afterAll(async () => {
    await gateway.close();
    await rm(folder, { recursive: true });
  });

  it("shows an operator every tool, marked with the rule that refuses it, in the list and on its page", async () => {
    const page = await browser().newPage({ viewport: { width: 390, height: 800 } });
    await page.goto(`${gateway.url}/ui/catalog`);
    const rows = page.getByRole("row");
    const mark = "refused: security.policy: strict";
    await rows.filter({ hasText: "mail.send" }).filter({ hasText: mark }).waitFor();
    expect(await rows.filter({ hasText: "mail.look" }).textContent()).not.toContain("refused");
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(390);
    await page.goto(`${gateway.url}/ui/catalog/mail.send`);
    await page.getByText(mark).waitFor();
    await page.getByText("No rule allows mail.send.").waitFor();
    await page.close();
  });
});
