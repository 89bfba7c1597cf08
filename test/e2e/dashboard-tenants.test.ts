import { afterAll, beforeAll, expect, it } from "vitest";
import { createKeyText, hashOfKey } from "../../src/adapters/identity/api-keys/key-file.ts";
import { apiKeys } from "../../src/adapters/identity/index.ts";
import { localOperator } from "../../src/index.ts";
import { startLegacyServer, type UpstreamServer } from "../mcp/upstream-server.ts";
import { openGateway } from "../serve/rest-gateway.ts";
import { describeInBrowser } from "./dashboard/describe-in-browser.ts";
import { visit } from "./dashboard/visit.ts";

describeInBrowser("the dashboard of an operator", (browser) => {
  let upstream: UpstreamServer;
  beforeAll(async () => {
    upstream = await startLegacyServer();
  });
  afterAll(() => upstream.close());

  it.each([
    ["without a tenant", undefined, ["Restart", "Reload", "Disconnect", "Log", "Add args", "Add"]],
    ["of a tenant", "north", []],
  ])("%s has the buttons that the operator may use, and no others", async (_name, tenant, expected) => {
    const key = createKeyText("olga");
    const roles = ["operator", "approver"];
    const principal = localOperator({ id: "olga", roles, local: false, ...(tenant !== undefined && { tenant }) });
    const identity = apiKeys({ keys: [{ id: "olga", hash: hashOfKey(key), principal }] });
    const { url, arsenal } = await openGateway({ identity });
    await arsenal.addMcpServer({ name: "files", transport: { kind: "http", url: upstream.url } });
    const { page, complaints, close } = await visit(browser(), `${url}/ui/servers`);
    await page.getByLabel("API key").fill(key);
    await page.keyboard.press("Enter");
    const server = page.getByRole("article", { name: "files" });
    await server.waitFor();
    await page.getByRole("banner").getByText("olga").waitFor();
    expect(await page.getByRole("main").getByRole("button").allTextContents()).toEqual(expected);
    await page.getByRole("link", { name: "Policy" }).click();
    await page.getByRole("button", { name: "Ask" }).waitFor();
    expect(await page.getByRole("button", { name: "Reload the policy file" }).count()).toBe(
      tenant === undefined ? 1 : 0,
    );
    await close();
    // Before signing in, the browser reports the 401.
    expect(complaints.filter((each) => !each.includes("401"))).toEqual([]);
  });

  it("shows an approver the pages that an approver may use, and says of others that they are not for them", async () => {
    const key = createKeyText("petra");
    const principal = localOperator({ id: "petra", roles: ["approver"], local: false });
    const identity = apiKeys({ keys: [{ id: "petra", hash: hashOfKey(key), principal }] });
    const { url } = await openGateway({ identity });
    const { page, complaints, close } = await visit(browser(), `${url}/ui`);
    await page.getByLabel("API key").fill(key);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Playground" }).waitFor();
    const pages = await page.getByRole("navigation").getByRole("link").allTextContents();
    expect(pages).toEqual(["Playground", "Catalog", "Programs", "Approvals", "Pins", "Connections", "Toolsets"]);
    await page.goto(`${url}/ui/audit`);
    await page.getByText("You may not use this page.").waitFor();
    await page.goto(`${url}/ui/catalog/shop.ship`);
    await page.getByText("No calls since the gateway started.").waitFor();
    await close();
    // Before signing in, the browser reports the 401.
    expect(complaints.filter((each) => !each.includes("401"))).toEqual([]);
  });

  it("says what went wrong in words of the dashboard, not of the REST API", async () => {
    const { url } = await openGateway({}, { telemetry: { enabled: false, history: { enabled: true } } });
    const { page, close } = await visit(browser(), `${url}/ui/calls/${"f".repeat(32)}`);
    const said = await page.getByRole("alert").textContent();
    expect(said).toBe(`No records of the trace "${"f".repeat(32)}" are stored. See Calls.`);
    await close();
  });

  it.each(["%E0%A4%A", "catalog/%E0%A4%A", "nothing-here"])("says that it has no page at /ui/%s", async (path) => {
    const { url } = await openGateway();
    const { page, complaints, close } = await visit(browser(), `${url}/ui/${path}`);
    await page.getByRole("link", { name: "ToolArsenal" }).waitFor();
    await (path.startsWith("catalog") ? page.getByRole("alert") : page.getByRole("heading", { name: "Not found" }))
      .first()
      .waitFor();
    expect(complaints.filter((each) => !each.includes("404"))).toEqual([]);
    await close();
    const isMalformed = path.includes("%");
    const response = await fetch(`${url}/ui/${path}`);
    expect([response.status, response.headers.get("content-type")]).toEqual([
      isMalformed ? 404 : 200,
      "text/html; charset=utf-8",
    ]);
  });
});
