/** The tokens that a model reads: eight third-party servers through the gateway, every tool listed against two tools and a search for each step. */
import { internalsOf } from "../src/arsenal.ts";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { getDefaultEnvironment, StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { ToolArsenal } from "../src/index.ts";
import { realServers, type ServerEntry } from "../test/e2e/real-servers.ts";
import { peerProgram } from "../test/peers/peers.ts";
import { freePort, listening } from "./gateway/contenders.ts";

/** One step of a task: the model's request, and the call that serves it. */
interface Step {
  readonly query: string;
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
}

interface SearchAnswer {
  readonly tools: readonly { readonly name: string }[];
}

interface Content {
  readonly content: readonly { readonly type: string; readonly text?: string }[];
}

/** Tasks of two steps, all of which need no network. */
function tasks(folder: string): readonly (readonly [Step, Step])[] {
  const note = join(folder, "files", "note.txt");
  const repository = join(folder, "repository");
  const step = (query: string, tool: string, input: Step["input"]): Step => ({ query, tool, input });
  const read = step("read the text of a file", "read_text_file", { path: note });
  const remember = step("remember a fact about a person", "create_entities", {
    entities: [{ name: "Ada", entityType: "person", observations: ["likes the sea"] }],
  });
  const status = step("show which files changed in the git repository", "git_status", { path: repository });
  const list = step("list the files in a directory", "list_directory", { path: join(folder, "files") });
  const add = step("add two numbers", "get-sum", { a: 2, b: 40 });
  const init = step("create a new git repository", "git_init", { path: repository });
  const search = step("search what is remembered", "search_nodes", { query: "Ada" });
  const create = step("make a new folder", "create_directory", { path: join(folder, "files", "new") });
  const log = step("show the history of commits", "git_log", { path: repository });
  const info = step("when was this file last changed", "get_file_info", { path: note });
  const think = step("think a problem through step by step", "sequentialthinking", {
    thought: "Begin with the smallest case",
    thoughtNumber: 1,
    totalThoughts: 1,
    nextThoughtNeeded: false,
  });
  return [
    [read, remember],
    [init, status],
    [list, create],
    [search, add],
    [log, info],
    [think, read],
  ];
}

const tokens = (value: unknown): number => countTokens(typeof value === "string" ? value : JSON.stringify(value));
const text = ({ content }: Content): string => content.map((block) => block.text ?? `[${block.type}]`).join("\n");
const bare = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
const percent = (part: number, whole: number): string => `${((100 * part) / whole).toFixed(1)} %`;

/** A list of tools, as a client gets it. */
interface Listed {
  readonly tools: number;
  readonly tokens: number;
}

/** The lists that a client gets with each server in its own configuration. mcp-proxy serves one server and passes its list on. */
async function listedDirectly(servers: readonly (readonly [string, ServerEntry])[]): Promise<Listed> {
  const lists = await Promise.all(
    servers.map(async ([, { command, args, env = {} }]) => {
      const client = new Client({ name: "tokens", version: "1.0.0" });
      const started = {
        command,
        args: [...args],
        env: { ...getDefaultEnvironment(), ...env },
        stderr: "ignore" as const,
      };
      await client.connect(new StdioClientTransport(started));
      const tools = await listTools(client);
      await client.close();
      return tools;
    }),
  );
  return { tools: lists.flat().length, tokens: lists.reduce((sum, tools) => sum + tokens(tools), 0) };
}

/** The list that a client gets from mcp-hub in front of the same servers, once it has all of them. */
async function listedByHub(
  servers: readonly (readonly [string, ServerEntry])[],
  folder: string,
  expected: number,
): Promise<Listed> {
  const config = join(folder, "hub.json");
  writeFileSync(config, JSON.stringify({ mcpServers: Object.fromEntries(servers) }));
  const port = await freePort();
  const hub = spawn(process.execPath, [peerProgram("mcp-hub").file, "--port", `${port}`, "--config", config], {
    cwd: folder,
    stdio: "ignore",
  });
  try {
    await listening(port);
    // It answers 500 until it has started, and lists more tools as its servers connect.
    for (const deadline = Date.now() + 60_000; ; await new Promise((resolve) => setTimeout(resolve, 500))) {
      const client = new Client({ name: "tokens", version: "1.0.0" });
      const tools = await client
        .connect(new SSEClientTransport(new URL(`http://127.0.0.1:${port}/mcp`)))
        .then(() => listTools(client))
        .catch(() => []);
      await client.close();
      if (tools.length >= expected || Date.now() > deadline) return { tools: tools.length, tokens: tokens(tools) };
    }
  } finally {
    hub.kill("SIGTERM");
  }
}

/** Serves the arsenal in one mode to one client. */
async function served<Value>(
  arsenal: ToolArsenal,
  mode: "static" | "dynamic",
  use: (client: Client) => Promise<Value>,
): Promise<Value> {
  const serving = await arsenal.serve({ mode, port: 0 });
  const client = new Client({ name: "tokens", version: "1.0.0" });
  try {
    await client.connect(new StreamableHTTPClientTransport(new URL(`${serving.url}/mcp`)));
    return await use(client);
  } finally {
    await client.close();
    await serving.close();
  }
}

async function listTools(client: Client): Promise<readonly { readonly name: string }[]> {
  const all = [];
  let cursor: string | undefined;
  do {
    const page = await client.listTools(cursor === undefined ? {} : { cursor });
    all.push(...page.tools);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return all;
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { json: { type: "boolean", default: false } } });
  const folder = mkdtempSync(join(tmpdir(), "toolarsenal-tokens-"));
  try {
    await using arsenal = new ToolArsenal({ telemetry: { enabled: false } });
    const servers = Object.entries(realServers(folder));
    await Promise.all(
      servers.map(([name, entry]) => arsenal.addMcpServer({ name, transport: { kind: "stdio", ...entry } })),
    );
    await internalsOf(arsenal).settled({ tier: "tuned" });
    writeFileSync(join(folder, "files", "note.txt"), "Buy milk. Call Ada.\n");

    const plain = await listedDirectly(servers);
    const hub = await listedByHub(servers, folder, plain.tools);
    const all = await served(arsenal, "static", async (client) => {
      const tools = await listTools(client);
      const spent: number[] = [];
      for (const task of tasks(folder)) {
        let sum = 0;
        for (const { tool, input } of task) {
          const name = tools.find((entry) => bare(entry.name).endsWith(bare(tool)))?.name ?? "";
          const result = (await client.callTool({ name, arguments: input })) as Content;
          sum += tokens({ name, arguments: input }) + tokens(text(result));
        }
        spent.push(sum);
      }
      return { count: tools.length, list: tokens(tools), spent };
    });

    const found = await served(arsenal, "dynamic", async (client) => {
      const listed = await listTools(client);
      const list = tokens(listed);
      const spent: number[] = [];
      const searches: number[] = [];
      const missed: string[] = [];
      for (const task of tasks(folder)) {
        let sum = 0;
        for (const { query, tool, input } of task) {
          const asked = { name: "find_relevant_tools", arguments: { query } };
          const answer = (await client.callTool(asked)) as Content;
          const { tools } = JSON.parse(text(answer)) as SearchAnswer;
          const name = tools.find((entry) => bare(entry.name).endsWith(bare(tool)))?.name;
          if (name === undefined) missed.push(`"${query}" (${tools.length} shown, ${tool} wanted)`);
          const run = { name: "execute_tool", arguments: { tool_name: name ?? tool, arguments: input } };
          const result = (await client.callTool(run)) as Content;
          searches.push(tokens(asked) + tokens(text(answer)));
          sum += (searches.at(-1) ?? 0) + tokens(run) + tokens(text(result));
        }
        spent.push(sum);
      }
      return { count: listed.length, list, spent, searches, missed };
    });

    const search = Math.round(found.searches.reduce((sum, one) => sum + one, 0) / found.searches.length);
    const shares = found.spent.map((spent, index) => (found.list + spent) / (all.list + (all.spent[index] ?? 0)));
    if (values.json) {
      console.log(JSON.stringify({ tools: all.count, plain, hub, static: all, dynamic: found, search, shares }));
      return;
    }
    console.log(`${all.count} tools of 8 servers; tokens of o200k; results count as the text a model is shown\n`);
    console.log("| a client with | tools it lists | tokens of the list |");
    console.log("|---|--:|--:|");
    console.log(`| each server in its own configuration, or behind mcp-proxy | ${plain.tools} | ${plain.tokens} |`);
    console.log(`| mcp-hub ${peerProgram("mcp-hub").version} | ${hub.tools} | ${hub.tokens} |`);
    console.log(`| ToolArsenal, static | ${all.count} | ${all.list} |`);
    console.log(`| ToolArsenal, dynamic | ${found.count} | ${found.list} |\n`);
    console.log("| | static | dynamic | |");
    console.log("|---|--:|--:|--:|");
    console.log(`| tools/list | ${all.list} | ${found.list} | ${percent(found.list, all.list)} |`);
    console.log(`| one search, on average | 0 | ${search} | |`);
    for (const count of [1, 2, 5, 10]) {
      const sum = found.list + count * search;
      const name = count === 1 ? "the list and 1 search" : `the list and ${count} searches`;
      console.log(`| ${name} | ${all.list} | ${sum} | ${percent(sum, all.list)} |`);
    }
    for (const [index, [first, second]] of tasks(folder).entries()) {
      const whole = [all.list + (all.spent[index] ?? 0), found.list + (found.spent[index] ?? 0)] as const;
      console.log(`| ${first.tool}, ${second.tool} | ${whole.join(" | ")} | ${percent(whole[1], whole[0])} |`);
    }
    console.log(`\nworst task ${percent(Math.max(...shares), 1)} of static`);
    console.log(`searches cost ${Math.min(...found.searches)} to ${Math.max(...found.searches)} tokens`);
    console.log(`listing everything is cheaper from ${Math.ceil((all.list - found.list) / search)} searches on`);
    if (found.missed.length > 0) console.log(`not among the tools shown: ${found.missed.join("; ")}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

await main();
