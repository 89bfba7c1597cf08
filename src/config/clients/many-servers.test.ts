import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadConfig } from "../load/load-config.ts";
import { resolveConfig } from "../load/resolve-config.ts";

let folder: string;
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), "arsenal-"))));
afterAll(() => rm(folder, { recursive: true }));

const named = (count: number, from = 0) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`s${from + index}`, { command: "node" }]));
const block = (servers: object): string =>
  Object.keys(servers)
    .map((name) => `  ${name}:\n    command: node\n`)
    .join("");

async function written(name: string, text: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, text);
  return path;
}

const TOO_MANY = "MCP servers are configured, and at most 1,000 are allowed. Remove some, or run several gateways.";

describe("a configuration of very many MCP servers", () => {
  it("has up to 1,000 of them", async () => {
    const path = await written("most.yaml", `mcpServers:\n${block(named(1_000))}`);
    expect((await loadConfig(path, {})).config.mcp.servers).toHaveLength(1_000);
  });

  it.each([
    ["written as YAML", "a.yaml", () => `mcpServers:\n${block(named(16_000))}`, "16,000"],
    ["written as JSON", "b.yaml", () => JSON.stringify({ mcpServers: named(16_000) }), "16,000"],
    [
      "in our own words",
      "c.yaml",
      () =>
        `mcp:\n  servers:\n${"    - { name: NAME, command: node }\n".repeat(1_001).replaceAll("NAME", () => `n${count++}`)}`,
      "1,001",
    ],
  ])("is refused with the number and the limit, %s", async (_, name, text, count) => {
    await expect(loadConfig(await written(name, text()), {})).rejects.toThrow(`${count} ${TOO_MANY}`);
  });
  let count = 0;

  it("is refused where a client's file has 300,000 of them", async () => {
    const path = await written("client.json", JSON.stringify({ mcpServers: named(300_000) }));
    await expect(loadConfig(undefined, {}, { mcpConfigs: [path] })).rejects.toThrow(`300,000 ${TOO_MANY}`);
  });

  it("is refused where several files have them together", async () => {
    const files = [
      await written("one.json", JSON.stringify({ mcpServers: named(600) })),
      await written("two.json", JSON.stringify({ mcpServers: named(600, 600) })),
    ];
    await expect(loadConfig(undefined, {}, { mcpConfigs: files })).rejects.toThrow(`1,200 ${TOO_MANY}`);
  });

  it("is refused in code", () => {
    const servers = Array.from({ length: 1_001 }, (_, index) => ({ name: `s${index}`, command: "node" }));
    expect(() => resolveConfig({ mcp: { servers } })).toThrow(`1,001 ${TOO_MANY}`);
  });
});

describe("a YAML file", () => {
  it("of more than 2 MiB is refused before it is read", async () => {
    const path = await written("large.yaml", `mcpServers:\n${block(named(300_000))}`);
    await expect(loadConfig(path, {})).rejects.toThrow(
      /large\.yaml:1:1 yaml: the file has [\d,]+ characters, and at most 2,097,152 are read\./,
    );
  });

  it.each([
    ["a: 1\nb: 2\na: 3\n", "dup.yaml:3:1 a: the key is given twice. Remove one of the two."],
    ["mcpServers: {x: {command: a}, x: {command: b}}\n", "dup.yaml:1:31 x: the key is given twice."],
    ["mcpServers:\n  x:\n    env: { A: b, A: c }\n", "dup.yaml:3:18 A: the key is given twice."],
  ])("with a key twice is refused, wherever it stands: %j", async (text, message) => {
    await expect(loadConfig(await written("dup.yaml", text), {})).rejects.toThrow(message);
  });

  it.each([
    ["", true],
    ["\n", true],
    ["# nothing\n", true],
    ["---\n", true],
    ["{}\n", false],
    ["mcpServers: {}\n", false],
  ])("that says nothing is known to: %j", async (text, isEmpty) => {
    const path = await written("empty.yaml", text);
    expect((await loadConfig(path, {})).emptyFile).toBe(isEmpty ? path : undefined);
  });
});
