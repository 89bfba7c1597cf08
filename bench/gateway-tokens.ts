/** The tokens that a model reads: eight third-party servers through the gateway, every tool listed against two tools and a search for each step. */
import { internalsOf } from "../src/arsenal.ts";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { ToolArsenal } from "../src/index.ts";
import { realServers } from "../test/e2e/real-servers.ts";

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
      const list = tokens(await listTools(client));
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
      return { list, spent, searches, missed };
    });

    const search = Math.round(found.searches.reduce((sum, one) => sum + one, 0) / found.searches.length);
    const shares = found.spent.map((spent, index) => (found.list + spent) / (all.list + (all.spent[index] ?? 0)));
    if (values.json) {
      console.log(JSON.stringify({ tools: all.count, static: all, dynamic: found, search, shares }));
      return;
    }
    console.log(`${all.count} tools of 8 servers; tokens of o200k; results count as the text a model is shown\n`);
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
