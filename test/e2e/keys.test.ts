import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ArsenalClient, createClient } from "../../src/client/index.ts";
import { type GatewayProcess, startGateway } from "./gateway-process.ts";
import { httpClient } from "./no-bypass/clients.ts";
import { cardsOf, REMOTE_LISTS } from "./no-bypass/remote.ts";
import { type Ran, runInMemory } from "./terminal.ts";

const MODULE = `export default (arsenal) => {
  const tool = (id, rest) => {
    const [namespace, name] = id.split(".");
    arsenal.register({ namespace, name, description: "Will " + name + " something of the office.", ...rest }, () => name);
  };
  tool("clock.tell");
  tool("notes.look", { capabilities: ["read_data"] });
  tool("notes.write", { capabilities: ["write_data"] });
  tool("notes.delete_all", { capabilities: ["delete_data"] });
  tool("bank.look", { capabilities: ["read_data"], requiredScopes: ["bank"] });
};`;

const ALL = ["bank.look", "clock.tell", "notes.delete_all", "notes.look", "notes.write"];

/** Every way to learn of tools over HTTP besides MCP. */
const WAYS: typeof REMOTE_LISTS = [
  ...REMOTE_LISTS,
  ["the extended cards of A2A", async (at) => (await cardsOf(at)).extended],
];

let folder: string;
let gateway: GatewayProcess;
const made = new Map<string, Ran>();

const run = (...argv: readonly string[]): Promise<Ran> => runInMemory(["keys", ...argv], { folder });
const keyOf = (name: string): string => made.get(name)?.out.trim() ?? "";
const clientOf = (name: string): ArsenalClient => createClient({ url: gateway.url, apiKey: keyOf(name) });
const idsOf = (tools: readonly { readonly id: string }[]): readonly string[] => tools.map(({ id }) => id);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "toolarsenal-keys-"));
  const module = join(folder, "tools.mjs");
  await writeFile(module, MODULE);
  const settings = {
    modules: [module],
    embedder: { tier: "lexical" },
    server: { auth: { api_keys: { file: join(folder, "keys.json") } } },
  };
  // JSON is YAML.
  await writeFile(join(folder, "arsenal.yaml"), JSON.stringify(settings));
  made.set("fresh", await run("create", "fresh"));
  made.set("reader", await run("create", "reader"));
  made.set("granted", await run("grant", "reader", "--capability", "read_data"));
  made.set("worker", await run("create", "worker", "--capability", "all"));
  made.set("boss", await run("create", "boss", "--operator"));
  gateway = await startGateway({ servers: {}, mode: "static", tier: "lexical", settings });
});
afterAll(async () => {
  await gateway.close();
  await rm(folder, { recursive: true });
});

describe("keys create", () => {
  it("says what a key without rights may call, and the commands that widen it", () => {
    const { code, out, err } = made.get("fresh") ?? {};
    expect([code, out]).toEqual([0, expect.stringMatching(/^ta_fresh_\S+\n$/)]);
    expect(err).toContain("fresh has no capabilities and no scopes, so it may call only tools that need none.\n");
    expect(err).toContain(
      "It may call 1 of the 5 tools registered now. Of the others, it lacks the capabilities read_data (2 tools), delete_data (1 tool), write_data (1 tool); it lacks the scopes bank (1 tool).\n",
    );
    expect(err).toContain(
      "To let it call more: toolarsenal keys grant fresh --capability read_data --capability delete_data --capability write_data\n",
    );
    expect(err).toContain("To give it every capability: toolarsenal keys grant fresh --capability all\n");
    expect(err).toContain("To give it the scopes: toolarsenal keys grant fresh --scope bank\n");
  });

  it("says that an operator's key approves the calls of others", () => {
    const { err } = made.get("boss") ?? {};
    expect(err).toContain(
      "boss has every capability and every scope. It operates the gateway and approves the calls of others, never its own.\n",
    );
    expect(err).toContain("It may call 5 of the 5 tools registered now.\n");
  });

  it("gives every capability with --capability all, and says which scopes are missing", () => {
    const { err } = made.get("worker") ?? {};
    expect(err).toContain("worker has every capability and no scopes.");
    expect(err).toContain(
      "It may call 4 of the 5 tools registered now. Of the others, it lacks the scopes bank (1 tool)",
    );
    expect(err).not.toContain("--capability");
  });
});

describe("a key", () => {
  it.each([
    ["fresh", ["clock.tell"]],
    ["reader", ["clock.tell", "notes.look"]],
    ["worker", ["clock.tell", "notes.delete_all", "notes.look", "notes.write"]],
    ["boss", ALL],
  ])("lists for %s only tools that it may call", async (name, callable) => {
    await using client = clientOf(name);
    expect(idsOf(await client.listTools())).toEqual(callable);
    for (const toolName of ALL) {
      const { status } = await client.execute({ toolName });
      const may = callable.includes(toolName);
      const runs = toolName === "notes.delete_all" ? "pending_confirmation" : "success";
      expect([toolName, status]).toEqual([toolName, may ? runs : "permission_denied"]);
    }
  });

  it.each(WAYS)("offers through %s nothing that it may not call", async (_name, tell) => {
    const at = { url: gateway.url, headers: { authorization: `Bearer ${keyOf("fresh")}` } };
    const text = JSON.stringify(await tell(at, "office", ALL));
    expect(text).toMatch(/clock/);
    expect(text).not.toMatch(/notes|bank/);
  });

  it("offers over MCP nothing that it may not call, and names what a refused call lacks", async () => {
    const client = await httpClient("modern", `${gateway.url}/mcp`, { authorization: `Bearer ${keyOf("reader")}` });
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(["clock-tell", "notes-look"]);
    const { isError, content } = await client.callTool({ name: "notes-write", arguments: {} });
    expect([isError, JSON.stringify(content)]).toEqual([
      true,
      expect.stringContaining("lacks the capability write_data"),
    ]);
    await client.close();
  });

  it("finds the others, marked with what is missing, if the search asks for them", async () => {
    await using client = clientOf("reader");
    const listed = await client.listTools({ includeRefused: true });
    expect(listed.map(({ id, refused }) => [id, refused?.rule])).toEqual([
      ["bank.look", "scopes"],
      ["clock.tell", undefined],
      ["notes.delete_all", "capabilities"],
      ["notes.look", undefined],
      ["notes.write", "capabilities"],
    ]);
    const { tools } = await client.retrieve("write something of the office", { includeRefused: true, limit: 10 });
    const found = tools.find(({ tool }) => tool.id === "notes.write");
    expect(found?.refused?.reason).toContain('"reader" lacks the capability write_data that notes.write needs.');
    expect((await client.getTool("write", "notes"))?.refused?.rule).toBe("capabilities");
  });

  it("of an operator approves a call of another key", async () => {
    await using worker = clientOf("worker");
    await using boss = clientOf("boss");
    const waiting = await worker.execute({ toolName: "notes.delete_all" });
    const confirmationId = waiting.confirmationId ?? "";
    await boss.approvals.approve(confirmationId);
    expect(await worker.execute({ toolName: "notes.delete_all", confirmationId })).toMatchObject({ status: "success" });
  });
});
