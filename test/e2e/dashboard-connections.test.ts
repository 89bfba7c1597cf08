import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { ToolArsenal } from "../../src/arsenal.ts";
import type { ServedGateway } from "../../src/serve/serve-arsenal.ts";
import { describeInBrowser } from "./dashboard/describe-in-browser.ts";
import { looksOf } from "./dashboard/looks.ts";
import { barriers, visit } from "./dashboard/visit.ts";
import { type ProtectedServer, startProtectedServer } from "./protected-server.ts";

const folder = mkdtempSync(join(tmpdir(), "toolarsenal-connections-page-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describeInBrowser("the page Connections", (browser) => {
  let server: ProtectedServer;
  let arsenal: ToolArsenal;
  let served: ServedGateway;

  beforeAll(async () => {
    server = await startProtectedServer();
    const tokenFile = join(folder, "tokens.json");
    const oauth = { account: "user", scope: "read write", issuer: server.issuer, tokenFile } as const;
    arsenal = new ToolArsenal({
      telemetry: { enabled: false },
      mcp: { servers: [{ name: "notes", url: server.url, oauth }] },
    });
    await arsenal.start();
    served = await arsenal.serve({ port: 0 });
  });
  afterAll(async () => {
    await served?.close();
    await arsenal?.close();
    await server?.close();
  });

  it("signs a person in at the server and back, makes calls with that sign-in, and signs out", async () => {
    const { page, complaints, close } = await visit(browser(), `${served.url}/ui/connections?server=notes`);
    onTestFinished(close);
    const asked = Promise.withResolvers<void>();
    const mayList = Promise.withResolvers<void>();
    server.behaviour.beforeListing = () => {
      asked.resolve();
      return mayList.promise;
    };
    onTestFinished(() => mayList.resolve());
    await page.getByText("A call of yours waits until you sign in here.").waitFor();
    await page.getByRole("button", { name: "Sign in to notes" }).click();
    await page.getByText("You are signed in to notes.").waitFor();
    // The server is connected and has listed no tool yet.
    await asked.promise;
    await page.reload();
    await page.getByRole("button", { name: "Sign out" }).waitFor();
    mayList.resolve();
    await expect
      .poll(async () => (await arsenal.execute({ toolName: "notes.note", arguments: {} })).status)
      .toBe("success");
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("button", { name: "Sign out of notes" }).click();
    await page.getByRole("button", { name: "Sign in to notes" }).waitFor();
    const { error } = await arsenal.execute({ toolName: "notes.note", arguments: {} });
    expect(error?.code).toBe("SIGN_IN_REQUIRED");
    expect(complaints).toEqual([]);
  });

  it("says what went wrong if the person declines", async () => {
    server.behaviour.declined = true;
    onTestFinished(() => void (server.behaviour.declined = false));
    const { page, close } = await visit(browser(), `${served.url}/ui/connections`);
    onTestFinished(close);
    await page.getByRole("button", { name: "Sign in to notes" }).click();
    expect(await page.getByRole("alert").textContent()).toContain("access_denied");
  });

  it.each(looksOf("connections"))(
    "has no barriers in $colorScheme, $width px wide, and nothing sticks out",
    async ({ colorScheme, width }) => {
      const options = { colorScheme, viewport: { width, height: 900 } };
      const { page, close } = await visit(browser(), `${served.url}/ui/connections`, options);
      onTestFinished(close);
      await page.getByRole("article", { name: "notes" }).waitFor();
      expect(await barriers(page)).toEqual([]);
      expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    },
  );
});
