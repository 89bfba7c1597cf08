import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { ToolArsenal } from "../../src/index.ts";
import { startLegacyServer } from "../mcp/upstream-server.ts";
import { fakePrograms } from "../registries/fake-programs.ts";
import { type NpmDouble, startNpm } from "../registries/npm-double.ts";
import { generateEntries, type RegistryDouble, startRegistry } from "../registries/registry-double.ts";
import { npmFiles, serverProgram } from "../registries/server-program.ts";
import { type Ran, runInMemory } from "./terminal.ts";

const NAME = "io.github.octo/weather-mcp";
const PACKAGE = "@octo/weather-mcp";
const FORECAST = { name: "forecast", description: "Returns the weather forecast of a city." };
const WARNINGS = { name: "warnings", description: "Lists storm warnings." };

let registry: RegistryDouble;
let npm: NpmDouble;
let home: string;
let folder: string;

beforeAll(async () => {
  npm = await startNpm();
  home = await mkdtemp(join(tmpdir(), "arsenal-home-"));
  npm.publish(PACKAGE, "1.0.0", npmFiles(PACKAGE, "1.0.0", serverProgram([FORECAST]), { mcpName: NAME }));
  npm.publish(
    PACKAGE,
    "1.1.0",
    npmFiles(PACKAGE, "1.1.0", serverProgram([{ ...FORECAST, description: "Returns the forecast." }, WARNINGS]), {
      mcpName: NAME,
    }),
  );
});
afterAll(async () => {
  await npm.close();
  await rm(home, { recursive: true });
});

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "arsenal-registry-"));
  registry = await startRegistry(generateEntries(200));
  registry.publish({ server: weather("1.0.0") });
  await writeFile(
    join(folder, "arsenal.yaml"),
    `# our servers\nregistries:\n  - { name: double, url: ${registry.url} }\ntelemetry: { enabled: false }\n`,
  );
  return async () => {
    await registry.close();
    await rm(folder, { recursive: true });
  };
});

function weather(version: string) {
  return {
    name: NAME,
    version,
    description: "Forecasts for hikers",
    packages: [
      {
        registryType: "npm",
        identifier: PACKAGE,
        version,
        transport: { type: "stdio" },
        packageArguments: [{ type: "named", name: "--region", default: "alps" }],
        environmentVariables: [
          { name: "WEATHER_TOKEN", description: "Your key", isRequired: true, isSecret: true },
          { name: "UNITS", default: "metric" },
        ],
      },
    ],
  };
}

function environment(): Readonly<Record<string, string>> {
  return {
    PATH: process.env["PATH"] ?? "",
    HOME: home,
    TOOLARSENAL_CACHE: join(folder, "cache"),
    npm_config_registry: npm.url,
    npm_config_cache: join(home, "npm"),
    WEATHER_KEY: "s3cret-value-1234",
  };
}

const run = (...argv: readonly string[]): Promise<Ran> => runInMemory(argv, { folder, environment: environment() });

const text = (file: string): Promise<string> => readFile(join(folder, file), "utf8");
const add = (...more: readonly string[]): Promise<Ran> =>
  run("add", NAME, "--yes", "--input", "WEATHER_TOKEN=s3cret-value-1234", ...more);

describe("toolarsenal add", () => {
  it("installs the exact npm package, connects once, and writes configuration, pins and secrets apart", async () => {
    const { code, out, err } = await add();
    expect([code, out]).toEqual([0, "weather 1.0.0\n"]);
    expect(err).toContain("publisher   io.github.octo\n");
    expect(err).toContain(
      "Connected: 1 tool. It says it is sample 9.9.9.\nforecast  Returns the weather forecast of a city.",
    );
    const yaml = await text("arsenal.yaml");
    expect(yaml.startsWith("# our servers\nregistries:\n  - { name: double")).toBe(true);
    expect(yaml).toMatch(
      /mcpServers:\n {2}weather:\n {4}command: node\n {4}args:\n {6}- \$\{workspaceFolder\}\/\.toolarsenal\/servers\/weather\/1\.0\.0-\w+\/node_modules\/@octo\/weather-mcp\/server\.cjs\n {6}- --region\n {6}- alps\n {4}env:\n {6}UNITS: metric\n {4}envFile: \.toolarsenal\/weather\.env\n/,
    );
    expect(yaml + (await text("arsenal.lock.json"))).not.toContain("s3cret");
    expect(await text(".toolarsenal/weather.env")).toBe("WEATHER_TOKEN=s3cret-value-1234\n");
    expect((await stat(join(folder, ".toolarsenal/weather.env"))).mode & 0o777).toBe(0o600);
    const { servers } = JSON.parse(await text("arsenal.lock.json")) as { servers: Record<string, object> };
    expect(servers["weather"]).toMatchObject({
      name: NAME,
      version: "1.0.0",
      registry: "double",
      kind: "npm",
      package: `${PACKAGE}@1.0.0`,
      checksum: expect.stringMatching(/^sha512-/),
      secrets: { WEATHER_TOKEN: "WEATHER_TOKEN" },
    });
    await using arsenal = await ToolArsenal.fromConfig(join(folder, "arsenal.yaml"));
    await expect.poll(() => arsenal.getTool("forecast", "weather")).toBeDefined();
    const called = await arsenal.execute({ toolName: "weather.forecast" });
    expect(called.status).toBe("success");
    expect(JSON.stringify(called)).toContain("--region");
  });

  it("writes a reference to a secret as a reference", async () => {
    expect((await run("add", NAME, "--yes", "--input", "WEATHER_TOKEN=env:WEATHER_KEY")).code).toBe(0);
    expect(await text("arsenal.yaml")).toContain("WEATHER_TOKEN: env:WEATHER_KEY\n");
    expect(existsSync(join(folder, ".toolarsenal/weather.env"))).toBe(false);
  });

  it("names each input that is missing, and writes nothing", async () => {
    const before = await text("arsenal.yaml");
    const { code, err } = await run("add", NAME, "--yes");
    expect(code).toBe(2);
    expect(err).toContain("The server needs WEATHER_TOKEN (Your key). Pass --input WEATHER_TOKEN=env:VARIABLE.");
    expect(await text("arsenal.yaml")).toBe(before);
    expect(await readdir(folder)).toEqual(["arsenal.yaml"]);
  });

  it("asks for confirmation, and writes nothing with --dry-run", async () => {
    const asked = await run("add", NAME, "--input", "WEATHER_TOKEN=x");
    expect([asked.code, asked.err.includes("Run it again with --yes.")]).toEqual([2, true]);
    const dry = await add("--dry-run", "--json");
    expect(JSON.parse(dry.out)).toMatchObject({ name: "weather", version: "1.0.0", tools: ["forecast"], written: [] });
    expect(await readdir(folder)).toEqual(["arsenal.yaml"]);
  });

  it("refuses a name that is configured already, before it asks the registry", async () => {
    await writeFile(
      join(folder, "arsenal.yaml"),
      "sources:\n  - { type: openapi, name: weather, document: ./x.json }\n",
      {
        flag: "a",
      },
    );
    registry.asked.length = 0;
    const { code, err } = await add();
    expect([code, err]).toEqual([
      2,
      expect.stringContaining("weather is already configured under sources. Update it with toolarsenal update weather"),
    ]);
    expect([err.includes("Fetching"), registry.asked]).toEqual([false, []]);
    expect((await add("--as", "weather2", "--dry-run")).code).toBe(0);
  });

  it("finds a server by the last part of its name, and lists the candidates of an ambiguous one", async () => {
    registry.publish({ server: { ...weather("1.0.0"), name: "io.github.other/weather-mcp" } });
    const { code, err } = await run("add", "weather-mcp", "--yes");
    expect(code).toBe(2);
    expect(err).toContain(
      '2 servers are named "weather-mcp": io.github.octo/weather-mcp, io.github.other/weather-mcp. Write the full name.',
    );
  });

  it("adds a server.json from a file without asking a registry", async () => {
    await writeFile(join(folder, "server.json"), JSON.stringify(weather("1.0.0")));
    const { code } = await run(
      "add",
      "--file",
      "server.json",
      "--as",
      "local",
      "--yes",
      "--input",
      "WEATHER_TOKEN=abcdef",
    );
    expect([code, registry.asked]).toEqual([0, []]);
    expect(await text("arsenal.yaml")).toContain("  local:\n    command: node\n");
    const updated = await run("update");
    expect([updated.code, updated.err, registry.asked]).toEqual([
      0,
      "local came from a file. Remove it and add the new file to update it.\n",
      [],
    ]);
  });

  it.each([
    ["pypi", "io.github.team1/invoices-1", ["python3"], "uv is not installed (Python alone is not enough"],
    ["nuget", "io.github.team3/tickets-3", [], "dnx is not installed. Install the .NET SDK 10 or newer."],
    ["oci", "io.github.team2/calendar-2", [], "Docker is not installed."],
    ["npm", "io.github.team0/weather-0", [], "npm is not installed. Install Node.js, which brings it."],
  ])("explains what a package of %s needs", async (_kind, name, programs, message) => {
    const PATH = await fakePrograms(folder, programs, "");
    const { code, err } = await runInMemory(["add", name, "--yes"], {
      folder,
      environment: { ...environment(), PATH },
    });
    expect([code, err.includes(message)]).toEqual([1, true]);
    expect(err).toContain("Install what is missing, then add it again.");
  });

  it.each([
    ["oci", "io.github.team2/calendar-2", `docker run -i --rm ghcr.io/team/calendar@sha256:${"ab".repeat(32)}`],
    ["pypi", "io.github.team1/invoices-1", "uvx invoices-mcp-1@1.1.0"],
    ["nuget", "io.github.team3/tickets-3", "dnx Team3.tickets@1.3.0 --yes"],
  ])("runs a package of %s at its exact version", async (_kind, name, line) => {
    await writeFile(join(folder, "server.cjs"), serverProgram([FORECAST]));
    const PATH = await fakePrograms(folder, ["docker", "uvx", "dnx"], join(folder, "server.cjs"));
    const index = { UV_DEFAULT_INDEX: registry.url };
    const { code } = await runInMemory(["add", name, "--yes"], {
      folder,
      environment: { ...environment(), ...index, PATH },
    });
    expect(code).toBe(0);
    expect((await text("called.log")).split("\n")).toContain(line);
    const [, command = "", ...words] = /^ {4}command: (\S+)\n {4}args:\n([^]*)/m.exec(await text("arsenal.yaml")) ?? [];
    expect(
      `${command} ${words[0]
        ?.replaceAll(/^ +- |"/gm, "")
        .trim()
        .replaceAll("\n", " ")}`,
    ).toBe(line);
  });

  it("adds a server at an address, with its token in the env file", async () => {
    const upstream = await startLegacyServer();
    onTestFinished(() => upstream.close());
    const header = {
      name: "Authorization",
      value: "Bearer {token}",
      isSecret: true,
      variables: { token: { isRequired: true, isSecret: true } },
    };
    const remote = { type: "streamable-http", url: upstream.url, headers: [header] };
    registry.publish({
      server: { name: "com.example/notes", version: "2.0.0", description: "Notes", remotes: [remote] },
    });
    const answers = ["--yes", "--input", "token=abc123secret"];
    const refused = await run("add", "com.example/notes", ...answers);
    expect([refused.code, refused.err.includes("remotes.0.url does not use https")]).toEqual([1, true]);
    await writeFile(
      join(folder, "arsenal.yaml"),
      `registries: [{ name: own, url: ${registry.url}, allow_private: true }]\n`,
    );
    expect((await run("add", "com.example/notes", ...answers)).code).toBe(0);
    const yaml = await text("arsenal.yaml");
    expect(yaml).toContain("Authorization: Bearer ${NOTES_TOKEN}\n");
    expect(await text(".toolarsenal/notes.env")).toBe("NOTES_TOKEN=abc123secret\n");
  });
});

describe("toolarsenal update, outdated and remove", () => {
  it("shows the changes of tools and pins, keeps the inputs and removes the old files", async () => {
    await add();
    expect(await run("outdated")).toMatchObject({ code: 0 });
    registry.publish({ server: weather("1.1.0") });
    const outdated = await run("outdated", "--json");
    expect(outdated.code).toBe(1);
    expect(JSON.parse(outdated.out)).toEqual({
      servers: [{ name: "weather", server: NAME, version: "1.0.0", latest: "1.1.0", state: "outdated" }],
    });
    const { code, err } = await run("update", "weather", "--yes");
    expect(code).toBe(0);
    expect(err).toContain(`- package ${PACKAGE}@1.0.0\n+ package ${PACKAGE}@1.1.0\n- checksum sha512-`);
    expect(err).toMatch(/changed +forecast +Returns the forecast\.\nnew +warnings +Lists storm warnings\./);
    expect(await readdir(join(folder, ".toolarsenal/servers/weather"))).toEqual([expect.stringMatching(/^1\.1\.0-/)]);
    expect(await text(".toolarsenal/weather.env")).toBe("WEATHER_TOKEN=s3cret-value-1234\n");
    expect((await run("update")).err).toContain("weather is up to date (1.1.0).");
  });

  it("removes a server with its files and pins, and keeps comments and secrets", async () => {
    await add();
    const { code, err } = await run("remove", "weather", "--yes");
    expect(code).toBe(0);
    expect(err).toContain("Its secrets stay in .toolarsenal/weather.env; --purge deletes them.");
    const yaml = await text("arsenal.yaml");
    expect([yaml.includes("# our servers"), yaml.includes("weather")]).toEqual([true, false]);
    expect(existsSync(join(folder, ".toolarsenal/servers/weather/"))).toBe(false);
    expect(JSON.parse(await text("arsenal.lock.json"))).toEqual({ version: 1, servers: {} });
  });

  it("removes servers of every section, and suggests a name that is close", async () => {
    const yaml = `mcp:\n  servers:\n    # listed\n    - { name: one, url: "https://one.example" }\n    - { name: two, url: "https://two.example" }\nsources:\n  - { type: mcp, name: three, url: "https://three.example" } # kept?\n`;
    await writeFile(join(folder, "arsenal.yaml"), yaml);
    expect(await run("remove", "thre", "--yes")).toMatchObject({
      code: 2,
      err: expect.stringContaining('Did you mean "three"?'),
    });
    expect((await run("remove", "three", "--yes")).code).toBe(0);
    expect((await run("remove", "two", "--yes")).err).toContain("Removed two from mcp.servers.");
    expect(await text("arsenal.yaml")).toBe(
      'mcp:\n  servers:\n    # listed\n    - { name: one, url: "https://one.example" }\n',
    );
  });

  it("looks for the server before it asks, and removes APIs and agents too", async () => {
    const yaml = `openapi:\n  - { name: pets, document: ./pets.json }\na2a:\n  agents:\n    - { name: zoo, url: "https://zoo.example" }\n`;
    await writeFile(join(folder, "arsenal.yaml"), yaml);
    expect((await run("remove", "zo")).err).toContain('has no server "zo". Did you mean "zoo"?');
    expect((await run("remove", "zoo")).err).toContain("Run it again with --yes.");
    expect((await run("remove", "zoo", "--yes")).err).toContain("Removed zoo from a2a.agents.");
    expect((await run("remove", "pets", "--yes")).err).toContain("Removed pets from openapi.");
    expect((await run("remove", "pets", "--yes")).err).toContain("It names no servers.");
  });

  it("says that a version was deleted, and why, and adds it no more", async () => {
    await add();
    registry.servers.set(NAME, [{ server: weather("1.0.0"), status: "deleted", statusMessage: "The key leaked" }]);
    expect(JSON.parse((await run("outdated", "--json")).out)).toMatchObject({
      servers: [{ state: "deleted", reason: "The key leaked" }],
    });
    const { code, err } = await run("add", NAME, "--as", "again", "--yes");
    expect([code, err.includes('status is deleted: "The key leaked"')]).toEqual([1, true]);
  });

  it("refuses a version whose content changed under the same number", async () => {
    await add();
    const before = await text("arsenal.yaml");
    registry.servers.set(NAME, [
      { server: { ...weather("1.0.0"), packages: [{ ...weather("1.0.0").packages[0], identifier: "@octo/other" }] } },
    ]);
    expect(JSON.parse((await run("outdated", "--json")).out)).toMatchObject({ servers: [{ state: "changed" }] });
    const { code, err } = await run("update", "weather", "--yes");
    expect([code, err.includes("version is 1.0.0 as before, but its packages or addresses changed")]).toEqual([
      1,
      true,
    ]);
    expect(await text("arsenal.yaml")).toBe(before);
  });

  it("fetches pinned versions again after cloning, and refuses a package that changed", async () => {
    const [name, identifier] = ["io.github.octo/tides", "@octo/tides"];
    const publish = (tool: { readonly name: string; readonly description: string }): unknown =>
      npm.publish(identifier, "1.0.0", npmFiles(identifier, "1.0.0", serverProgram([tool])));
    publish(FORECAST);
    const packages = [{ registryType: "npm", identifier, version: "1.0.0", transport: { type: "stdio" } }];
    registry.publish({ server: { name, version: "1.0.0", description: "Tides", packages } });
    expect((await run("add", name, "--yes")).code).toBe(0);
    const installed = join(folder, ".toolarsenal/servers/tides");
    await rm(installed, { recursive: true });
    expect((await run("update", "--locked", "--yes")).code).toBe(0);
    expect(await readdir(installed)).toEqual([expect.stringMatching(/^1\.0\.0-/)]);
    publish(WARNINGS);
    const before = await text("arsenal.yaml");
    const { code, err } = await run("update", "tides", "--locked", "--yes");
    expect([code, err.includes("version is 1.0.0 as before, but the content of @octo/tides@1.0.0 changed")]).toEqual([
      1,
      true,
    ]);
    expect([await text("arsenal.yaml"), await readdir(installed)]).toEqual([
      before,
      [expect.stringMatching(/^1\.0\.0-/)],
    ]);
  });
});

describe("toolarsenal search --registries", () => {
  it("ranks servers by their descriptions, and keeps the list", async () => {
    const { code, out, err } = await run(
      "search",
      "--registries",
      "money back for a customer's bill",
      "--limit",
      "3",
      "--json",
    );
    expect(code).toBe(0);
    const { servers } = JSON.parse(out) as { servers: { description: string }[] };
    expect(servers.map(({ description }) => description.startsWith("Create, send and reconcile invoices"))).toEqual([
      true,
      true,
      true,
    ]);
    expect(err).toBe("");
    const pages = registry.asked.length;
    expect(pages).toBe(3);
    await run("search", "--registries", "weather");
    expect(registry.asked.length).toBe(pages);
  });

  it("warns of a registry that fails, and still lists the others", async () => {
    await writeFile(join(folder, "own.json"), JSON.stringify({ servers: [weather("1.0.0")] }));
    await writeFile(
      join(folder, "arsenal.yaml"),
      `registries:\n  - { name: broken, url: ${registry.url}, timeout_ms: 300 }\n  - { name: own, file: own.json }\n`,
    );
    for (const instead of [
      { status: 500, body: "no" },
      { status: 200, body: "<html>hello</html>" },
      { status: 200, body: '{"servers":7}' },
      "silence" as const,
    ]) {
      registry.instead = () => instead;
      const { code, out, err } = await run("search", "--registries", "weather");
      expect([code, out.startsWith(`${NAME}  1.0.0  own`)]).toEqual([0, true]);
      expect(err).toMatch(/^The registry "broken" \(http:\/\/127\.0\.0\.1:\d+\) (answered|did not answer)/);
    }
  });
});
