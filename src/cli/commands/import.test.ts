import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { startModernServer, type UpstreamServer } from "../../../test/mcp/upstream-server.ts";
import { startTestAgent } from "../../../test/a2a/test-agent.ts";
import { type Ran, runInMemory } from "../../../test/e2e/terminal.ts";
import { commandName } from "../../adapters/sources/mcp/import-servers.ts";

const TINY_SERVER = fileURLToPath(new URL("../../../test/e2e/tiny-server.ts", import.meta.url));

let folder: string;
let server: UpstreamServer;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "arsenal-"));
  server = await startModernServer();
});
afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true });
});

const run = (...argv: readonly string[]): Promise<Ran> => runInMemory(argv, { folder });
const linesOf = ({ out }: Ran): readonly Record<string, unknown>[] =>
  out
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Record<string, unknown>);

describe("import openapi", () => {
  it("prints one line a tool, and one on stderr for each operation left out", async () => {
    const text =
      "openapi: 3.1.0\npaths:\n  /pets: {get: {operationId: listPets, summary: List all pets.}}\n" +
      "  /bad: {get: {parameters: [{in: query}]}}\n";
    await writeFile(join(folder, "shop.openapi.yaml"), text);
    const ran = await run("import", "openapi", "shop.openapi.yaml");
    expect(linesOf(ran)).toEqual([
      {
        id: "shop.list_pets",
        name: "list_pets",
        namespace: "shop",
        description: "List all pets.",
        parameters: { type: "object", properties: {}, additionalProperties: false },
      },
    ]);
    expect([ran.code, ran.err]).toEqual([
      0,
      "Skipped: GET /bad: a parameter's name is undefined\n1 tool, 1 left out\n",
    ]);
    expect(linesOf(await run("import", "openapi", "shop.openapi.yaml", "--name", "other"))[0]?.["id"]).toBe(
      "other.list_pets",
    );
  });

  it("exits 1 where no tool came, and 2 where the document cannot be read", async () => {
    await writeFile(join(folder, "empty.json"), '{"openapi":"3.1.0"}');
    expect(await run("import", "openapi", "empty.json")).toMatchObject({ code: 1, out: "", err: "0 tools\n" });
    expect(await run("import", "openapi", "none.json")).toMatchObject({ code: 2, out: "" });
  });
});

describe("import mcp", () => {
  it("takes an address, and the configuration file of a client", async () => {
    const byAddress = await run("import", "mcp", server.url, "--name", "one");
    expect(byAddress.code).toBe(0);
    expect(linesOf(byAddress).map(({ namespace }) => namespace)).toContain("one");
    const config = { mcpServers: { two: { url: server.url }, away: { url: "http://127.0.0.1:1/mcp" }, bad: {} } };
    await writeFile(join(folder, "mcp.json"), JSON.stringify(config));
    const byFile = await run("import", "mcp", "mcp.json");
    expect([byFile.code, linesOf(byFile).length]).toEqual([0, linesOf(byAddress).length]);
    expect(byFile.err).toMatch(/^Skipped: bad: command is missing/m);
    expect(byFile.err).toMatch(/^away: /m);
  });
});

describe("import mcp COMMAND", () => {
  const words = [process.execPath, TINY_SERVER];
  const idsOf = (ran: Ran): readonly unknown[] => linesOf(ran).map(({ id }) => id);

  it("starts the command, whose own options stay its own", async () => {
    const ran = await run("import", "mcp", "--name", "tiny", process.execPath, "--no-warnings", TINY_SERVER, "--json");
    expect([ran.code, ran.err]).toEqual([0, "1 tool\n"]);
    expect(idsOf(ran)).toEqual(["tiny.greet"]);
  });

  it("takes it after a double dash, or as one text", async () => {
    expect(idsOf(await run("import", "mcp", "--name", "tiny", "--", ...words))).toEqual(["tiny.greet"]);
    expect(idsOf(await run("import", "mcp", words.map((word) => `"${word}"`).join(" "), "--name", "tiny"))).toEqual([
      "tiny.greet",
    ]);
  });

  it.each([
    [["npx", "-y", "@modelcontextprotocol/server-everything"], "server-everything"],
    [["node", "--no-warnings", "./servers/files.mjs", "/home"], "files"],
    [["uvx", "mcp-server-time"], "mcp-server-time"],
    [["/usr/bin/my-server", "--stdio"], "my-server"],
    [["npx.cmd", "-y", "pkg@1.2.3"], "pkg"],
    [["uv", "run", "serve.py"], "serve"],
  ])("names the tools of %j after the server", (command, name) => {
    expect(commandName(command)).toBe(name);
  });

  it("takes the name of a configured server", async () => {
    await writeFile(
      join(folder, "arsenal.yaml"),
      JSON.stringify({ mcp: { servers: [{ name: "mine", url: server.url }] } }),
    );
    onTestFinished(() => rm(join(folder, "arsenal.yaml")));
    const ran = await run("import", "mcp", "mine");
    expect([ran.code, linesOf(ran)[0]?.["namespace"]]).toEqual([0, "mine"]);
  });

  it("names a configured server that is spelled like it if the command is not found", async () => {
    await writeFile(
      join(folder, "arsenal.yaml"),
      JSON.stringify({ mcp: { servers: [{ name: "mine", url: server.url }] } }),
    );
    onTestFinished(() => rm(join(folder, "arsenal.yaml")));
    const { code, err } = await run("import", "mcp", "mien");
    expect([code, err]).toEqual([1, expect.stringContaining('Did you mean "mine"?')]);
  });
});

describe("import scripts", () => {
  it("prints one line a tool, and one on stderr for each function left out", async () => {
    await writeFile(
      join(folder, "office.ts"),
      "/** Adds two numbers. */\nexport const add = (a: number, b: number) => a + b;\nexport const far = (x: Far) => x;\n",
    );
    const ran = await run("import", "scripts", "office.ts");
    const numbers = { a: { type: "number" }, b: { type: "number" } };
    expect(linesOf(ran)).toEqual([
      {
        id: "office.add",
        name: "add",
        namespace: "office",
        description: "Adds two numbers.",
        parameters: { type: "object", properties: numbers, required: ["a", "b"], additionalProperties: false },
      },
    ]);
    expect([ran.code, ran.err]).toEqual([
      0,
      expect.stringMatching(/^Skipped: .*office\.ts, line 3: far: .*\n1 tool, 1/),
    ]);
    expect(await run("import", "scripts", "none.ts")).toMatchObject({ code: 1, out: "" });
  });
});

describe("import a2a", () => {
  it("writes the skills of an agent as tools, by its address or its configured name", async () => {
    await using agent = await startTestAgent();
    const ran = await run("import", "a2a", agent.url, "--name", "weather");
    expect(ran).toMatchObject({ code: 0, err: "2 tools\n" });
    expect(linesOf(ran)).toMatchObject([
      {
        id: "weather.a2a_weather_forecast",
        name: "a2a_weather_forecast",
        namespace: "weather",
        parameters: { required: ["message"] },
      },
      { id: "weather.a2a_weather_move_funds" },
    ]);
    await writeFile(join(folder, "agents.yaml"), `a2a:\n  agents:\n    - {name: sky, url: "${agent.url}"}\n`);
    const named = await run("import", "a2a", "sky", "--config", "agents.yaml");
    expect(linesOf(named)[0]?.["id"]).toBe("sky.a2a_sky_forecast");
    const byHost = await run("import", "a2a", agent.url);
    expect(linesOf(byHost)[0]?.["id"]).toBe("127.0.0.1.a2a_127_0_0_1_forecast");
  });

  it("says what is wrong with what is no agent", async () => {
    expect(await run("import", "a2a", "nobody")).toMatchObject({ code: 2, err: expect.stringMatching(/"nobody"/) });
    const { code, err } = await run("import", "a2a", server.url);
    expect([code, err]).toEqual([1, expect.stringMatching(/The agent card of .+ cannot be used/)]);
  });
});

describe("import", () => {
  it.each([["openap", /There is no action "import openap". Did you mean "openapi"/]])(
    "of %s says what can be imported",
    async (kind, message) => {
      const { code, err } = await run("import", kind, "x");
      expect([code, err]).toEqual([2, expect.stringMatching(message)]);
    },
  );
});
