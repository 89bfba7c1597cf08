import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { ToolArsenal } from "../../src/index.ts";
import { startLegacyServer, type UpstreamServer } from "../mcp/upstream-server.ts";
import { generateEntries, type RegistryDouble, startRegistry } from "../registries/registry-double.ts";
import { describeInBrowser } from "./dashboard/describe-in-browser.ts";
import { looksOf } from "./dashboard/looks.ts";
import { HOSTILE } from "./dashboard/sample-gateway.ts";
import { barriers, visit } from "./dashboard/visit.ts";

describeInBrowser("the dashboard's page for adding servers", (browser) => {
  let registry: RegistryDouble;
  let upstream: UpstreamServer;
  let arsenal: ToolArsenal;
  let folder: string;
  let url: string;

  beforeAll(async () => {
    [registry, upstream] = await Promise.all([startRegistry(generateEntries(200)), startLegacyServer()]);
    const variables = { token: { description: "Your key", isRequired: true, isSecret: true } };
    const headers = [{ name: "Authorization", value: "Bearer {token}", variables }];
    const remotes = [{ type: "streamable-http", url: upstream.url, headers }];
    registry.publish({
      server: {
        name: "com.example/notes",
        version: "2.0.0",
        description: `Keeps notes ${HOSTILE}`.slice(0, 100),
        remotes,
      },
    });
    registry.publish({
      server: { name: "com.rnicrosoft/notes", version: "1.0.0", description: "Keeps more notes", remotes },
    });
    folder = await mkdtemp(join(tmpdir(), "arsenal-add-page-"));
    const config = join(folder, "arsenal.yaml");
    await writeFile(
      config,
      `# ours\nregistries: [{ name: own, url: ${registry.url}, allow_private: true }]\ntelemetry: { enabled: false }\n`,
    );
    process.env["TOOLARSENAL_CACHE"] = join(folder, "cache");
    arsenal = await ToolArsenal.fromConfig(config);
    url = (await arsenal.serve({ port: 0 })).url ?? "";
  });
  afterAll(async () => {
    await arsenal?.close();
    await Promise.all([registry?.close(), upstream?.close()]);
    await rm(folder, { recursive: true, force: true });
    delete process.env["TOOLARSENAL_CACHE"];
  });

  it("asks no registry before it is told to, then finds, checks and adds a server", async () => {
    const { page, complaints, close } = await visit(browser(), `${url}/ui/add`);
    onTestFinished(close);
    await page.getByLabel("What do you need a server for?").fill("keep notes");
    expect(registry.asked).toEqual([]);
    await page.getByRole("button", { name: "Search the registries" }).click();
    await page.getByRole("link", { name: "Choose com.example/notes" }).click();
    const card = page.getByRole("article", { name: "com.example/notes" });
    await card.getByText("com.example", { exact: true }).waitFor();
    expect(await card.getByLabel(/^token/).getAttribute("type")).toBe("password");
    await card.getByLabel(/^token/).fill("abc123secret");
    await card.getByRole("button", { name: "Check it" }).click();
    await card.getByRole("region", { name: "Its tools" }).getByText("echo", { exact: true }).waitFor();
    expect(await readFile(join(folder, "arsenal.yaml"), "utf8")).not.toContain("mcpServers");
    await card.getByRole("button", { name: "Add notes to the configuration" }).click();
    await card.getByText("notes was added.").waitFor();
    const yaml = await readFile(join(folder, "arsenal.yaml"), "utf8");
    expect(yaml).toContain("# ours\n");
    expect(yaml).toContain("Authorization: Bearer ${NOTES_TOKEN}\n");
    expect(await readFile(join(folder, ".toolarsenal/notes.env"), "utf8")).toBe("NOTES_TOKEN=abc123secret\n");
    expect(complaints).toEqual([]);
  });

  it("shows why a dangerous server is refused, and writes nothing", async () => {
    const before = await readFile(join(folder, "arsenal.yaml"), "utf8");
    const { page, close } = await visit(browser(), `${url}/ui/add?q=notes&server=com.rnicrosoft%2Fnotes`);
    onTestFinished(close);
    await page.getByLabel(/^token/).fill("abc123secret");
    await page.getByRole("button", { name: "Check it" }).click();
    await page.getByRole("alert").getByText("looks like com.microsoft").waitFor();
    expect(await readFile(join(folder, "arsenal.yaml"), "utf8")).toBe(before);
  });

  const views = ["add?q=notes", "add?q=notes&server=com.example%2Fnotes"].flatMap((path) =>
    looksOf(path).map((look) => ({ path, ...look })),
  );
  it.each(views)(
    "has no barrier on $path at $width px in $colorScheme, and does not scroll sideways",
    async ({ path, width, colorScheme }) => {
      const viewport = { width, height: 900 };
      const { page, close } = await visit(browser(), `${url}/ui/${path}`, { viewport, colorScheme });
      await page.locator("article").first().waitFor();
      expect(await barriers(page)).toEqual([]);
      expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
      await close();
    },
  );
});
