import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { SkillsClient } from "@modelcontextprotocol/client/ext/skills";
import { McpServer } from "@modelcontextprotocol/server";
import { memorySkillFiles, SkillsExtension } from "@modelcontextprotocol/server/ext/skills";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as z from "zod";
import { ToolArsenal } from "../../src/arsenal.ts";
import { EXTENSIONS } from "../../src/mcp/extensions.ts";
import type { ServedGateway } from "../../src/serve/serve-arsenal.ts";
import { listenAs } from "./era-server.ts";

const PAGE = "<!doctype html><title>Clock</title><p id=time>now</p>";
const MIME = "text/html;profile=mcp-app";
const SKILL =
  "---\nname: refunds\ndescription: How to refund an order.\n---\n# Refunds\nSee [rules](references/RULES.md).\n";
const FILES = { "refunds/SKILL.md": SKILL, "refunds/references/RULES.md": "# Rules\nAsk first.\n" };

const ends: (() => Promise<unknown>)[] = [];
let served: ServedGateway;

beforeAll(async () => {
  const skills = await SkillsExtension.load(memorySkillFiles(FILES));
  const build = (): McpServer => {
    const server = new McpServer({ name: "clock", version: "1.0.0" });
    const ui = { resourceUri: "ui://clock/page.html" };
    const text = () => ({ content: [{ type: "text" as const, text: "12:00" }] });
    const inputSchema = z.object({});
    server.registerTool("time", { description: "Tells the time.", inputSchema, _meta: { ui } }, text);
    const forApp = { ui: { ...ui, visibility: ["app"] } };
    server.registerTool("tick", { description: "Is called by the page.", inputSchema, _meta: forApp }, text);
    server.registerResource("page", "ui://clock/page.html", { mimeType: MIME }, (uri) => ({
      contents: [{ uri: uri.href, mimeType: MIME, text: PAGE, _meta: { ui: { csp: { connectDomains: [] } } } }],
    }));
    skills.attach(server);
    return server;
  };
  const arsenal = new ToolArsenal({ telemetry: { enabled: false } });
  ends.push(() => arsenal.close());
  for (const era of ["modern", "legacy"] as const) {
    const upstream = await listenAs(era, build);
    ends.push(() => upstream.close());
    await arsenal.addMcpServer({ name: `${era}clock`, transport: { kind: "http", url: upstream.url } });
  }
  served = await arsenal.serve({ mode: "static", port: 0 });
  ends.push(() => served.close());
});
afterAll(async () => {
  for (const end of ends.toReversed()) await end();
});

async function connect(era: "legacy" | "modern", path: string, extensions: object = {}): Promise<Client> {
  const options = era === "modern" ? { versionNegotiation: { mode: { pin: "2026-07-28" } } as const } : {};
  const client = new Client({ name: "host", version: "1" }, { capabilities: { extensions } as never, ...options });
  await client.connect(new StreamableHTTPClientTransport(new URL(path, served.url)));
  return client;
}

const APPS = { [EXTENSIONS.apps]: { mimeTypes: [MIME] } };

describe.each(["legacy", "modern"] as const)("a %s client", (era) => {
  describe.each(["legacy", "modern"] as const)("of a %s server", (upstream) => {
    it.each([
      ["/mcp", `${upstream}clock-`, `ui://${upstream}clock/clock/page.html`],
      [`/mcp/upstreams/${upstream}clock`, "", "ui://clock/page.html"],
    ])("that announces apps gets the interface of a tool unchanged over %s", async (path, prefix, uri) => {
      const client = await connect(era, path, APPS);
      const { tools } = await client.listTools();
      const tool = tools.find(({ name }) => name === `${prefix}time`);
      expect(tool?._meta?.["ui"]).toEqual({ resourceUri: uri });
      expect(tools.map(({ name }) => name)).toContain(`${prefix}tick`);
      const { contents } = await client.readResource({ uri });
      expect(contents).toEqual([{ uri, mimeType: MIME, text: PAGE, _meta: { ui: { csp: { connectDomains: [] } } } }]);
      await client.close();
    });

    it.each(["/mcp", `/mcp/upstreams/${upstream}clock`])(
      "that does not announce apps gets neither interfaces nor their own tools over %s",
      async (path) => {
        const client = await connect(era, path);
        const { tools } = await client.listTools();
        expect(JSON.stringify(tools)).not.toContain("ui://");
        expect(tools.filter(({ name }) => name.endsWith("tick"))).toEqual([]);
        expect(JSON.stringify(await client.listResources())).not.toContain("ui://");
        await client.close();
      },
    );
  });

  it.each(["/mcp", "/mcp/upstreams/modernclock"])("lists, reads and verifies skills over %s", async (path) => {
    const client = await connect(era, path);
    const skills = new SkillsClient(client);
    expect(skills.supported).toBe(true);
    const { skills: found } = await skills.list();
    const [skill] = found.filter(({ uri }) => path !== "/mcp" || uri.startsWith("skill://modernclock/"));
    expect(skill?.frontmatter).toEqual({ name: "refunds", description: "How to refund an order." });
    const file = await skills.read(skill as never, "references/RULES.md");
    expect([file.text, file.verified]).toEqual(["# Rules\nAsk first.\n", true]);
    expect((await skills.get(skill?.uri ?? "")).skill.uri).toBe(skill?.uri);
    await client.close();
  });
});
