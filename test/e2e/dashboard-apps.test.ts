import { McpServer } from "@modelcontextprotocol/server";
import type { Frame, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import * as z from "zod";
import { ToolArsenal } from "../../src/arsenal.ts";
import type { ServedGateway } from "../../src/serve/serve-arsenal.ts";
import { describeInBrowser } from "./dashboard/describe-in-browser.ts";
import { looksOf } from "./dashboard/looks.ts";
import { barriers, visit } from "./dashboard/visit.ts";
import { listenAs } from "./era-server.ts";

const MIME = "text/html;profile=mcp-app";
const URI = "ui://clock/page.html";

/** Shows its call, asks for a height, and keeps every answer of the dashboard. */
const PAGE = `<!doctype html><html lang="en"><title>Clock</title><main><h1>Clock</h1><p id="said"></p></main><script>
const answers = [];
const send = (message) => parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
addEventListener("message", ({ data }) => {
  answers.push(data);
  if (data.id === 1) send({ method: "ui/notifications/initialized", params: {} });
  if (data.method === "ui/notifications/tool-input") window.zone = data.params.arguments.zone;
  if (data.method !== "ui/notifications/tool-result") return;
  document.getElementById("said").textContent = data.params.content[0].text + " in " + window.zone;
  send({ method: "ui/notifications/size-changed", params: { width: 9000, height: 333 } });
});
send({ id: 1, method: "ui/initialize", params: { protocolVersion: "2026-01-26", appInfo: {}, appCapabilities: {} } });
</script></html>`;

describeInBrowser("the app of a tool in the dashboard", (browser) => {
  const ends: (() => Promise<unknown>)[] = [];
  let served: ServedGateway;
  let elsewhere: string;

  beforeAll(async () => {
    const upstream = await listenAs("modern", () => {
      const server = new McpServer({ name: "clock", version: "1.0.0" });
      const inputSchema = z.object({ zone: z.string() });
      const definition = { description: "Tells the time.", inputSchema, _meta: { ui: { resourceUri: URI } } };
      server.registerTool("time", definition, () => ({ content: [{ type: "text", text: "12:00" }] }));
      const csp = { connectDomains: ["https://time.example.com", "https://x.example; script-src *"] };
      server.registerResource("page", URI, { mimeType: MIME }, () => ({
        contents: [{ uri: URI, mimeType: MIME, text: PAGE, _meta: { ui: { csp } } }],
      }));
      return server;
    });
    ends.push(() => upstream.close());
    elsewhere = upstream.url;
    const arsenal = new ToolArsenal({ telemetry: { enabled: false } });
    ends.push(() => arsenal.close());
    await arsenal.addMcpServer({ name: "townclock", transport: { kind: "http", url: upstream.url } });
    served = await arsenal.serve({ port: 0 });
    ends.push(() => served.close());
  });
  afterAll(async () => {
    for (const end of ends.toReversed()) await end();
  });

  async function open(options: object = {}): Promise<{ page: Page; app: Frame; complaints: readonly string[] }> {
    const { page, complaints, close } = await visit(browser(), `${served.url}/ui/catalog/townclock.time`, options);
    onTestFinished(close);
    await page.getByLabel("zone").fill("Lyon");
    await page.getByRole("button", { name: "Run", exact: true }).click();
    const frame = page.getByTitle("App of townclock");
    await frame.contentFrame().getByText("12:00 in Lyon").waitFor();
    const app = await (await frame.elementHandle())?.contentFrame();
    if (!app) throw new Error("The app has no frame.");
    return { page, app, complaints };
  }

  it("shows the arguments and the result of the call, names its server, and gets the height that it asks for", async () => {
    const { page, complaints } = await open();
    const section = page.getByRole("region", { name: "App of townclock" });
    expect(await section.locator("p").first().textContent()).toBe(
      `App of townclock. The server townclock serves what follows, as ${URI}. It cannot read this page.`,
    );
    await expect.poll(async () => section.locator("iframe").getAttribute("height")).toBe("333");
    expect(complaints).toEqual([]);
  });

  it("can neither read the page, its storage or its token, nor reach the gateway or another site", async () => {
    const { page, app } = await open();
    const tried = (code: string): Promise<string> =>
      app.evaluate<string>(`(async () => { try { return String(${code}); } catch (error) { return error.name; } })()`);
    expect(await tried("self.origin")).toBe("null");
    expect(await tried("parent.document.title")).toBe("SecurityError");
    expect(await tried("sessionStorage.length")).toBe("SecurityError");
    expect(await tried("document.cookie")).toBe("SecurityError");
    expect(await tried(`(await fetch(${JSON.stringify(`${served.url}/healthz`)}, { mode: "no-cors" })).type`)).toBe(
      "TypeError",
    );
    const token = await page.locator("meta[name=page-token]").getAttribute("content");
    expect(token).toBeTruthy();
    expect(await tried("document.documentElement.outerHTML + JSON.stringify(answers)")).not.toContain(token);
    const response = await page.request.get(app.url());
    const policy = response.headers()["content-security-policy"]?.split("; ");
    expect(policy).toContain("connect-src https://time.example.com");
    expect(policy).toContain("sandbox allow-scripts");
    // The page's own policy keeps the frame from carrying what it knows to another site in an address.
    await app.evaluate(`void (location.href = ${JSON.stringify(elsewhere)})`);
    await expect.poll(() => app.url()).not.toContain("app-frame");
    expect(app.url()).toBe("chrome-error://chromewebdata/");
  });

  it("is refused everything else that apps may ask of a host", async () => {
    const { app } = await open();
    for (const method of ["tools/call", "resources/read", "ui/open-link", "ui/message"]) {
      await app.evaluate(`send({ id: ${JSON.stringify(method)}, method: ${JSON.stringify(method)}, params: {} })`);
      const find = `answers.find(({ id }) => id === ${JSON.stringify(method)})?.error`;
      await expect
        .poll(() => app.evaluate(find))
        .toEqual({ code: -32601, message: `The dashboard does not support ${method} of apps.` });
    }
  });

  it.each(looksOf("app"))(
    "has no barriers in $colorScheme, $width px wide, and nothing sticks out",
    async ({ colorScheme, width }) => {
      const { page } = await open({ colorScheme, viewport: { width, height: 900 } });
      expect(await barriers(page)).toEqual([]);
      expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    },
  );
});
