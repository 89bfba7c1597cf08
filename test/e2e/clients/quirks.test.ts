import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { memoryAudit } from "../../../src/adapters/audit/memory.ts";
import { ToolArsenal } from "../../../src/index.ts";
import { QUIRKY_CLIENTS } from "../../../src/serve/mcp/client-quirks.ts";

const ERAS = ["legacy", "modern"] as const;
const LONG = "a_tool_whose_name_is_longer_than_most_clients_can_take";
const META = ["find_relevant_tools", "execute_tool"];
const parameters = {
  type: "object",
  properties: { rows: { type: "array" }, when: { default: { type: "array" } } },
} as const;

/** A server that starts and never answers. */
const SLOW = { name: "slow", command: process.execPath, args: ["-e", "setInterval(() => {}, 60000)"] };

const audit = memoryAudit();
const arsenals: ToolArsenal[] = [];
let url: string;
let plainUrl: string;
let connectingUrl: string;

/** One gateway that lists every tool: 150 of them, and two whose names differ only where a client would cut them. */
async function gateway(clientQuirks: boolean, options: { readonly waits?: boolean } = {}): Promise<string> {
  const servers = options.waits === true ? [SLOW] : [];
  const arsenal = new ToolArsenal({ embedder: { tier: "lexical" }, mcp: { clientQuirks, servers }, audit });
  arsenals.push(arsenal);
  for (const end of ["one", "two"])
    arsenal.register(
      { name: `${LONG}_${end}`, namespace: "a-server", description: `Does thing ${end}.`, parameters },
      () => `ran ${end}`,
    );
  const count = options.waits === true ? 1 : 148;
  await arsenal.add(
    Array.from({ length: count }, (_, at) => ({
      tool: { name: `tool_${at}`, namespace: "b", description: `Does thing ${at}.`, parameters },
      handler: () => `ran ${at}`,
    })),
  );
  const { url: address = "" } = await arsenal.serve({ mode: "static", port: 0, startupWaitMs: 0 });
  return address;
}

beforeAll(async () => {
  [url, plainUrl, connectingUrl] = await Promise.all([gateway(true), gateway(false), gateway(true, { waits: true })]);
});
afterAll(() => Promise.all(arsenals.map((arsenal) => arsenal.close())));

type Era = (typeof ERAS)[number];

async function as<Result>(
  name: string,
  era: Era,
  use: (client: Client) => Promise<Result>,
  address = url,
): Promise<Result> {
  const pinned = era === "modern" ? { versionNegotiation: { mode: { pin: "2026-07-28" } } } : {};
  const client = new Client({ name, version: "1.0.0" }, pinned);
  await client.connect(new StreamableHTTPClientTransport(new URL(`${address}/mcp`)));
  try {
    return await use(client);
  } finally {
    await client.close();
  }
}

const listed = async (client: Client): Promise<readonly string[]> =>
  (await client.listTools()).tools.map(({ name }) => name);

describe.each(ERAS)("the quirks of clients, %s era", (era) => {
  it("do not concern other clients, or any client if they are switched off", async () => {
    const all = await as("some-client", era, listed);
    expect(all).toHaveLength(150);
    expect(all.some((name) => name.length > 50)).toBe(true);
    expect(await as("cursor-vscode", era, listed, plainUrl)).toEqual(all);
  });

  it.each([
    ["cursor-vscode", 47],
    ["claude-ai", 46],
    ["claude-code", 46],
    ["codex-mcp-client", 46],
    ["gemini-cli-mcp-client", 47],
    ["Q DEV CLI", 50],
  ] as const)("give %s names of at most %i characters, each of which runs its own tool", async (name, most) => {
    await as(name, era, async (client) => {
      const names = await listed(client);
      expect(names.every((each) => each.length <= most)).toBe(true);
      const long = names.filter((each) => /^a.server.a_tool/.test(each));
      expect(new Set(long).size).toBe(2);
      const results = await Promise.all(long.map((each) => client.callTool({ name: each, arguments: {} })));
      expect(results.map(({ content }) => content)).toEqual([
        [{ type: "text", text: "ran one" }],
        [{ type: "text", text: "ran two" }],
      ]);
    });
  });

  it("give Q DEV CLI names without dashes", async () => {
    await as("Q DEV CLI", era, async (client) => {
      const names = await listed(client);
      expect(names.filter((each) => !/^[A-Za-z][A-Za-z0-9_]*$/.test(each))).toEqual([]);
      const [name = ""] = names.filter((each) => each.startsWith("b_tool_7_"));
      expect(await client.callTool({ name, arguments: {} })).toMatchObject({ content: [{ text: "ran 7" }] });
    });
  });

  it.each([
    ["cursor-vscode", 40],
    ["Visual Studio Code", 100],
    ["Visual Studio Code - Insiders", 100],
    ["windsurf-client", 100],
    ["cursor-vscode (via mcp-remote 0.1.37)", 40],
  ] as const)("give %s %i tools, and the search that reaches the others", async (name, most) => {
    await as(name, era, async (client) => {
      const names = await listed(client);
      expect(names).toHaveLength(most);
      expect(names.slice(0, 2)).toEqual(META);
      const all = await as("some-client", era, listed);
      const left = all.find((each) => each.startsWith("b-") && !names.includes(each)) ?? "";
      const run = await client.callTool({ name: "execute_tool", arguments: { tool_name: left, arguments: {} } });
      expect(run).toMatchObject({ content: [{ text: `ran ${left.slice("b-tool_".length)}` }] });
    });
  });

  it("give Visual Studio Code lists with items, and leave values alone", async () => {
    const schemaFor = (name: string): Promise<unknown> =>
      as(name, era, async (client) => (await client.listTools()).tools.at(-1)?.inputSchema);
    expect(await schemaFor("Visual Studio Code")).toMatchObject({
      properties: { rows: { type: "array", items: {} }, when: { default: { type: "array" } } },
    });
    expect(await schemaFor("some-client")).toEqual(parameters);
  });

  it.each(["claude-ai", "claude-code", "codex-mcp-client"])(
    "give %s, which reads the list once, the search while a server is still connecting",
    async (name) => {
      expect((await as(name, era, listed, connectingUrl)).slice(0, 2)).toEqual(META);
      expect(await as("some-client", era, listed, connectingUrl)).not.toContain(META[0]);
      expect(await as(name, era, listed)).not.toContain(META[0]);
    },
  );
});

it("have a test for every client of the table", () => {
  expect(QUIRKY_CLIENTS.toSorted()).toEqual([
    "claude-ai",
    "claude-code",
    "codex-mcp-client",
    "cursor-vscode",
    "gemini-cli-mcp-client",
    "q dev cli",
    "visual studio code",
    "visual studio code - insiders",
    "windsurf-client",
  ]);
});

it("leave a record of every call under the tool's own id", () => {
  expect(audit.lines.some((line) => line.includes(`a-server.${LONG}_one`))).toBe(true);
});
