import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { expect, it, onTestFinished } from "vitest";
import { runInMemory } from "../terminal.ts";

interface Entry {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Record<string, string>;
}

// The application itself is closed and cannot run here. The client is the SDK that it is built on, and starts what the application would start.
it("is started by Claude Desktop's configuration as a dynamic router: finds tools and runs them [000-13-claude-desktop]", async () => {
  const home = await mkdtemp(join(tmpdir(), "claude-desktop-"));
  onTestFinished(() => rm(home, { recursive: true, force: true, maxRetries: 5 }));
  const file = join(home, ".config/Claude/claude_desktop_config.json");
  await mkdir(join(home, ".config/Claude"), { recursive: true });
  const tiny = join(import.meta.dirname, "../tiny-server.ts");
  const greeter = { command: process.execPath, args: [tiny] };
  await writeFile(file, JSON.stringify({ mcpServers: { greeter }, globalShortcut: "Ctrl+Space" }));
  const environment = { HOME: home, XDG_CONFIG_HOME: join(home, ".config"), XDG_CACHE_HOME: join(home, ".cache") };
  const { code, err } = await runInMemory(["setup", "--write-clients"], { folder: home, environment });
  expect([code, err]).toEqual([0, ""]);

  const { mcpServers, globalShortcut } = JSON.parse(await readFile(file, "utf8")) as {
    readonly mcpServers: Readonly<Record<string, Entry>>;
    readonly globalShortcut: string;
  };
  expect([globalShortcut, ...Object.keys(mcpServers)]).toEqual(["Ctrl+Space", "toolarsenal"]);
  const { command, args, env = {} } = mcpServers["toolarsenal"] as Entry;
  const client = new Client({ name: "claude-ai", version: "0.1.0" });
  const PATH = process.env["PATH"] ?? "";
  await client.connect(
    new StdioClientTransport({ command, args: [...args], env: { PATH, ...environment, ...env }, stderr: "ignore" }),
  );
  onTestFinished(() => client.close());

  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["find_relevant_tools", "execute_tool"]);
  const search = (): Promise<string> =>
    client
      .callTool({ name: "find_relevant_tools", arguments: { query: "say hello to somebody" } })
      .then(({ content }) => JSON.stringify(content));
  await expect.poll(search, { timeout: 20_000 }).toContain("greeter-greet");
  const call = { tool_name: "greeter-greet", arguments: {} };
  expect(await client.callTool({ name: "execute_tool", arguments: call })).toMatchObject({
    content: [{ type: "text", text: "Hello" }],
  });
}, 60_000);
