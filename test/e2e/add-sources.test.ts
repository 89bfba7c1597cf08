import { internalsOf } from "../../src/arsenal.ts";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { a2a, builtins, descriptors, mcp, openapi, scripts } from "../../src/adapters/sources/index.ts";
import { ownFiles } from "../../src/config/load/own-files.ts";
import { loadConfig } from "../../src/config/load/load-config.ts";
import { ToolArsenal } from "../../src/index.ts";
import { startTestAgent } from "../a2a/test-agent.ts";
import { startLegacyServer } from "../mcp/upstream-server.ts";

const DOCUMENT = {
  openapi: "3.1.0",
  info: { title: "Pets", version: "1" },
  paths: { "/pets": { get: { operationId: "listPets", summary: "Lists all pets.", responses: {} } } },
};

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "arsenal-sources-"));
  await writeFile(
    join(folder, "double.ts"),
    "/** Doubles a number. */\nexport function double(x: number): number {\n  return 2 * x;\n}\n",
  );
  await writeFile(join(folder, "io.toml"), '[ensemble]\nname = "io"\n');
  await writeFile(join(folder, "pets.json"), JSON.stringify(DOCUMENT));
});
afterAll(() => rm(folder, { recursive: true }));

const quiet = { telemetry: { enabled: false } };

describe("arsenal.add", () => {
  it("takes every type of source, in the words of its settings, and says how many tools came", async () => {
    await using arsenal = new ToolArsenal(quiet);
    await using agent = await startTestAgent();
    const server = await startLegacyServer();
    onTestFinished(() => server.close());
    expect(await arsenal.add(mcp({ name: "flat", url: server.url }))).toBe(5);
    expect(await arsenal.add(mcp({ name: "typed", type: "http", url: server.url }))).toBe(5);
    expect(await arsenal.add(mcp({ name: "spelled", transport: { kind: "http", url: server.url } }))).toBe(5);
    expect(await arsenal.add(a2a({ name: "weather", url: agent.url, refreshS: 0 }))).toBe(2);
    expect(await arsenal.add(openapi({ name: "pets", document: DOCUMENT, baseUrl: "http://127.0.0.1:1" }))).toBe(1);
    expect(await arsenal.add(scripts(join(folder, "double.ts")))).toBe(1);
    expect(await arsenal.add(builtins({ tools: ["http-get"] }))).toBe(1);
    expect(await arsenal.add(descriptors(join(folder, "*.toml")))).toBe(0);
    expect(internalsOf(arsenal).upstreams.map(({ name }) => name)).toEqual(["flat", "typed", "spelled"]);
    expect(await arsenal.execute({ toolName: "scripts.double", arguments: { x: 4 } })).toMatchObject({ result: 8 });
    for (const name of ["flat", "typed", "spelled", "weather", "pets", "scripts", "builtin", "io"])
      expect([name, await arsenal.remove(name)]).toEqual([name, true]);
    expect([arsenal.toolCount, internalsOf(arsenal).upstreams]).toEqual([0, []]);
  });

  it("takes a list of tools, and leaves out those that are invalid", async () => {
    await using arsenal = new ToolArsenal(quiet);
    const draft = { name: "lookup", description: "Looks an order up by its number.", parameters: { type: "object" } };
    const seven = { tool: { ...draft, name: "seven" }, handler: () => 7 };
    const { registered, rejected } = await arsenal.add([draft, seven, { ...draft, name: "" }]);
    expect(registered.map(({ name }) => name)).toEqual(["lookup", "seven"]);
    expect(rejected).toMatchObject([{ index: 2, error: { code: "TOOL_INVALID" } }]);
    expect(await arsenal.execute({ toolName: "seven" })).toMatchObject({ result: 7 });
  });

  it.each([
    [{ type: "opnapi", name: "x" }, 'Did you mean "openapi"?'],
    [{ name: "x" }, "Set type to one of mcp, a2a, "],
    [5, "Pass the result of mcp({…}), openapi({…}) or a similar function"],
    [{ type: "builtin", tools: ["file-read"] }, "Name the folders it may use"],
    [{ type: "a2a", name: "x", url: "x.example" }, "Write an address that starts with http:// or https://."],
    [{ type: "openapi", name: "x", document: DOCUMENT, credentials: { key: "hunter2" } }, "Write env:NAME"],
  ])("refuses %j, with the fix", async (source, fix) => {
    await using arsenal = new ToolArsenal(quiet);
    await expect(arsenal.add(source as never)).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      details: { fix: expect.stringContaining(fix) as string },
    });
  });
});

describe("sources: in a file", () => {
  const write = async (text: string): Promise<string> => {
    const file = join(folder, "arsenal.yaml");
    await writeFile(file, `telemetry: { enabled: false }\n${text}`);
    return file;
  };

  it("are used, with paths from the file's folder, and are among the gateway's own files", async () => {
    const web = createServer((_request, response) => void response.writeHead(503).end());
    onTestFinished(() => void web.close());
    await new Promise<void>((resolve) => void web.listen(0, "127.0.0.1", resolve));
    const { port } = web.address() as AddressInfo;
    const file = await write(`sources:
  - { type: openapi, name: Pets, document: ./pets.json, base_url: "http://127.0.0.1:1" }
  - { type: scripts, name: files, paths: [./double.ts] }
  - { type: openapi, name: away, document: "http://127.0.0.1:${port}/" }
  - { type: mcp, name: off, command: node, disabled: true }
`);
    await using arsenal = await ToolArsenal.fromConfig(file);
    expect((await arsenal.listTools()).map(({ id }) => id)).toEqual(["files.double", "pets.list_pets"]);
    expect(await (await arsenal.start()).sources).toMatchObject([
      { type: "openapi", name: "pets", place: join(folder, "pets.json"), tools: 1 },
      { type: "scripts", name: "files", tools: 1 },
      { type: "openapi", name: "away", error: { message: expect.stringContaining("HTTP 503") as string } },
    ]);
    const own = ownFiles((await loadConfig(file, {})).config);
    expect(own).toEqual(expect.arrayContaining([join(folder, "pets.json"), join(folder, "*.ts")]));
  });

  it("take the key and the connections of an MCP server, as the library does", async () => {
    const oauth = "{ client_id: me, private_key: env:KEY, private_key_algorithm: RS256, grant: client_credentials }";
    const file = await write(
      `sources: [{ type: mcp, name: x, url: "http://127.0.0.1:1", max_connections: 3, oauth: ${oauth} }]\n`,
    );
    const { config } = await loadConfig(file, {});
    expect(config.sources).toMatchObject([
      { maxConnections: 3, oauth: { privateKey: "env:KEY", privateKeyAlgorithm: "RS256" } },
    ]);
  });
});
