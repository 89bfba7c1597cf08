import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { parse as parseYaml } from "yaml";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Ran, runInMemory } from "./terminal.ts";

const TINY = fileURLToPath(new URL("tiny-server.ts", import.meta.url));

/** Put together, so that no scanner takes this file for a leak. */
const SECRETS = {
  github: ["ghp", "_", "Ab1Cd2Ef3Gh4Ij5Kl6Mn7Op8Qr9St0Uv1Wx2"].join(""),
  quoted: `it's "quoted" # and $\{odd}`,
  header: "header-token-4711",
  query: "query-key-0815",
  flag: "flag-secret-42",
  remote: "remote-header-99",
  project: "project-token-7",
  windsurf: "windsurf-password-1",
};

let root: string;
let home: string;
let folder: string;
let web: Server;
let origin: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "arsenal-setup-"));
  [home, folder] = [join(root, "home"), join(root, "project")];
  await mkdir(home);
  await mkdir(folder);
  // Answers MCP only to those who prove themselves, by a header or in the address.
  web = createServer(async (request, response) => {
    const body = await text(request);
    const { searchParams } = new URL(request.url ?? "/", "http://here");
    const proven =
      request.headers.authorization === `Bearer ${SECRETS.header}` || searchParams.get("api_key") === SECRETS.query;
    const { id, method } = (body === "" ? {} : JSON.parse(body)) as { id?: number; method?: string };
    if (!proven) return void response.writeHead(403).end();
    if (request.method !== "POST") return void response.writeHead(405).end();
    if (id === undefined) return void response.writeHead(202).end();
    const results: Readonly<Record<string, object>> = {
      initialize: {
        protocolVersion: "2025-11-25",
        capabilities: { tools: {} },
        serverInfo: { name: "w", version: "1" },
      },
      "tools/list": { tools: [{ name: "greet", description: "Says hello", inputSchema: { type: "object" } }] },
    };
    const result = results[method ?? ""];
    const answer = result === undefined ? { error: { code: -32_601, message: "Method not found" } } : { result };
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
  });
  await new Promise<void>((resolve) => web.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(web.address() as AddressInfo).port}`;
});
afterEach(async () => {
  web.closeAllConnections();
  await new Promise((resolve) => web.close(resolve));
  await rm(root, { recursive: true });
});

const environment = (): Record<string, string> => ({ HOME: home, XDG_CONFIG_HOME: join(home, ".config") });
const run = (...argv: readonly string[]): Promise<Ran> => runInMemory(argv, { folder, environment: environment() });

async function put(file: string, value: unknown): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, typeof value === "string" ? value : JSON.stringify(value, undefined, 2));
}

/** A server that ends at once unless the check, an expression, is true. */
async function stdioServer(name: string, check: string): Promise<string> {
  const file = join(folder, `${name}.mjs`);
  await put(
    file,
    `if (!(${check})) { console.error("refused"); process.exit(1); }\nawait import(${JSON.stringify(TINY)});\n`,
  );
  return file;
}

const has = (name: string, value: string): string =>
  `process.env[${JSON.stringify(name)}] === ${JSON.stringify(value)}`;

/** The configurations of five clients, with servers that work in them. */
async function fillHome(): Promise<void> {
  const node = process.execPath;
  const { github, quoted, header, query, flag, remote, project, windsurf } = SECRETS;
  await put(join(home, ".config/Claude/claude_desktop_config.json"), {
    mcpServers: {
      github: {
        command: node,
        args: [await stdioServer("github", `${has("GITHUB_TOKEN", github)} && ${has("LOG_LEVEL", "debug")}`)],
        env: { GITHUB_TOKEN: github, LOG_LEVEL: "debug" },
      },
      // As mcp-remote is set up: the server itself, not the client, puts the variable into its argument.
      remote: {
        command: node,
        args: [
          await stdioServer(
            "remote",
            `process.argv[2] === "Authorization:\${AUTH_HEADER}" && ${has("AUTH_HEADER", remote)}`,
          ),
          "Authorization:${AUTH_HEADER}",
        ],
        env: { AUTH_HEADER: remote },
      },
      plain: {
        command: node,
        args: [await stdioServer("plain", `process.argv[2] === "\${REGION}" && ${has("REGION", "eu")}`), "${REGION}"],
        env: { REGION: "eu" },
      },
    },
  });
  await put(join(home, ".cursor/mcp.json"), {
    mcpServers: {
      web: { url: `${origin}/mcp`, headers: { Authorization: `Bearer ${header}`, "X-Region": "eu" } },
      address: { url: `${origin}/mcp?api_key=${query}` },
    },
  });
  await put(join(home, ".config/Code/User/mcp.json"), {
    inputs: [{ id: "level", type: "promptString", default: "info" }],
    servers: {
      flags: {
        type: "stdio",
        command: node,
        args: [
          await stdioServer("flags", `process.argv[3] === ${JSON.stringify(flag)} && ${has("LEVEL", "info")}`),
          "--api-key",
          flag,
        ],
        env: { LEVEL: "${input:level}" },
      },
    },
  });
  await put(join(home, ".codeium/windsurf/mcp_config.json"), {
    mcpServers: {
      windy: {
        command: node,
        args: [await stdioServer("windy", `${has("DB_PASSWORD", windsurf)} && ${has("NOTE_SECRET", quoted)}`)],
        env: { DB_PASSWORD: windsurf, NOTE_SECRET: quoted, DATA: "/srv/data", MAX_TOKENS: "4096" },
      },
    },
  });
  await put(join(folder, "settings/project.env"), `PROJECT_TOKEN=${project}\n`);
  await stdioServer("relative", `${has("PROJECT_TOKEN", project)} && ${has("EXTRA_KEY", flag)}`);
  await put(join(home, ".claude.json"), {
    projects: {
      [folder]: {
        mcpServers: {
          relative: {
            type: "stdio",
            command: node,
            args: ["relative.mjs"],
            envFile: "settings/project.env",
            env: { EXTRA_KEY: flag },
          },
        },
      },
    },
  });
}

const NAMES = ["github", "remote", "plain", "web", "address", "flags", "windy", "relative"];

/** Every file below a folder with its mode and text. */
async function files(top: string): Promise<Readonly<Record<string, { readonly mode: number; readonly text: string }>>> {
  const entries = await readdir(top, { recursive: true, withFileTypes: true });
  const found = await Promise.all(
    entries
      .filter((entry) => entry.isFile())
      .map(async (entry) => {
        const file = join(entry.parentPath, entry.name);
        const { mode } = await stat(file);
        return [relative(top, file), { mode: mode & 0o777, text: await readFile(file, "utf8") }] as const;
      }),
  );
  return Object.fromEntries(found.toSorted(([a], [b]) => a.localeCompare(b)));
}

interface Finding {
  readonly check: string;
  readonly state: string;
}

async function doctorStates(...argv: readonly string[]): Promise<Readonly<Record<string, string>>> {
  const { out } = await run("doctor", "--running", "--json", ...argv);
  const { findings } = JSON.parse(out) as { readonly findings: readonly Finding[] };
  return Object.fromEntries(findings.filter(({ check }) => NAMES.includes(check)).map((f) => [f.check, f.state]));
}

const allOk = Object.fromEntries(NAMES.map((name) => [name, "ok"]));

describe("setup, with the servers of five clients", () => {
  it("keeps every server working with nothing exported by hand", async () => {
    await fillHome();
    const { code, out } = await run("setup");
    expect(code).toBe(0);
    expect(out).not.toContain("export ");
    expect(await doctorStates()).toEqual(allOk);
  });

  it("moves only what looks secret into files that only their owner can read, and that git ignores", async () => {
    await fillHome();
    const { out } = await run("setup");
    const after = await files(folder);
    const yaml = after["arsenal.yaml"]?.text ?? "";
    for (const secret of Object.values(SECRETS)) {
      expect(yaml).not.toContain(secret);
      expect(out).not.toContain(secret);
    }
    expect(yaml).toContain("LOG_LEVEL: debug");
    expect(yaml).toContain("DATA: /srv/data");
    expect(yaml).toContain('MAX_TOKENS: "4096"');
    expect(yaml).toContain("X-Region: eu");
    const envFiles = Object.entries(after).filter(
      ([name]) => name.startsWith(".toolarsenal/") && name.endsWith(".env"),
    );
    expect(envFiles.map(([name]) => name)).toContain(".toolarsenal/github.env");
    for (const [, { mode }] of envFiles) expect(mode).toBe(0o600);
    expect(after[".toolarsenal/github.env"]?.text).toContain(`GITHUB_TOKEN=${SECRETS.github}`);
    // Each server is given its own secrets and nobody else's.
    expect(after[".toolarsenal/github.env"]?.text).not.toContain(SECRETS.windsurf);
    expect(after[".toolarsenal/.gitignore"]?.text).toBe("*\n");
  });

  it("does exactly what --dry-run says", async () => {
    await fillHome();
    const before = await files(root);
    const dry = JSON.parse((await run("setup", "--dry-run", "--json")).out) as Plan;
    const shown = await run("setup", "--dry-run");
    expect(await files(root)).toEqual(before);
    const real = JSON.parse((await run("setup", "--json")).out) as Plan;
    expect({ ...dry, dryRun: false }).toEqual(real);
    const after = await files(folder);
    const fresh = Object.keys(after).filter((name) => !Object.hasOwn(before, join("project", name)));
    expect(dry.files.map(({ file }) => relative(folder, file)).toSorted()).toEqual(fresh.toSorted());
    for (const { file, mode } of dry.files) {
      expect(after[relative(folder, file)]?.mode.toString(8)).toBe(mode);
      expect(shown.out).toContain(relative(folder, file));
    }
    for (const secret of Object.values(SECRETS)) expect(shown.out + JSON.stringify(dry)).not.toContain(secret);
  });

  it.each([["--write-clients"], ["--inline-env", "--write-clients"], ["--write-clients", "--force"]])(
    "does exactly what --dry-run says with %j %j",
    async (...options) => {
      await fillHome();
      await writeFile(join(folder, "arsenal.yaml"), "# mine\n");
      const before = await files(root);
      const dry = JSON.parse((await run("setup", "--dry-run", "--json", ...options)).out) as Plan;
      expect(await files(root)).toEqual(before);
      const real = JSON.parse((await run("setup", "--json", ...options)).out) as Plan;
      const withoutBackups = real.files.map(({ backup: _backup, ...file }) => file);
      expect({ ...dry, dryRun: false }).toEqual({ ...real, files: withoutBackups });
      const after = await files(root);
      const changed = Object.keys(after).filter((name) => before[name]?.text !== after[name]?.text);
      const backups = changed.filter((name) => name.includes(".bak-"));
      // What setup --undo needs: the copies, and the record of what was written.
      const kept = [...backups, join("project", ".toolarsenal", "clients.json")];
      const planned = [...new Set(dry.files.map(({ file }) => relative(root, file)))];
      expect(changed.filter((name) => !kept.includes(name)).toSorted()).toEqual(planned.toSorted());
      expect(JSON.stringify(real.files)).toContain(backups[0]);
      for (const secret of Object.values(SECRETS)) expect(JSON.stringify([dry, real])).not.toContain(secret);
      expect(await doctorStates()).toEqual(allOk);
    },
  );

  it("changes nothing the second time, and keeps what was added by hand", async () => {
    await fillHome();
    await run("setup");
    const file = join(folder, "arsenal.yaml");
    const edited = (await readFile(file, "utf8")).replace("  github:\n", "  github:\n    namespace: gh # mine\n");
    await writeFile(file, edited);
    const before = await files(folder);
    const { code, out } = await run("setup");
    expect([code, await files(folder)]).toEqual([0, before]);
    expect(out).toContain("has all of them already");
    expect(await doctorStates()).toEqual(allOk);
  });

  it("adds to an arsenal.yaml that is there, and keeps a copy of it", async () => {
    await fillHome();
    await writeFile(join(folder, "arsenal.yaml"), "# mine\nexecution: { max_retries: 2 }\n");
    expect((await run("setup")).code).toBe(0);
    const after = await files(folder);
    expect(after["arsenal.yaml"]?.text).toMatch(/^# mine\nexecution: \{ max_retries: 2 \}\n/);
    expect(Object.keys(after).some((name) => name.startsWith("arsenal.yaml.bak-"))).toBe(true);
    expect(await doctorStates()).toEqual(allOk);
  });

  it("keeps a server that was edited in arsenal.yaml and adds the others, unless --force says otherwise", async () => {
    await fillHome();
    const file = join(folder, "arsenal.yaml");
    await writeFile(file, "mcpServers:\n  # mine\n  github: { command: mine, timeout_ms: 5000 } # stays\n");
    const { code, out } = await run("setup");
    expect(code).toBe(0);
    expect(out).toContain("github: edited in");
    const merged = await readFile(file, "utf8");
    expect(merged).toContain("  # mine\n  github: { command: mine, timeout_ms: 5000 } # stays\n");
    expect(Object.keys((parseYaml(merged) as { readonly mcpServers: object }).mcpServers)).toEqual(
      expect.arrayContaining([...NAMES]),
    );
    expect((await run("setup")).out).toContain("has all of them already");
    expect(await readFile(file, "utf8")).toBe(merged);
    expect((await run("setup", "--force")).code).toBe(0);
    expect((await files(folder))["arsenal.yaml"]?.text).toContain("timeout_ms: 5000");
    expect(await doctorStates()).toEqual(allOk);
  });

  it("does not lose a changed secret: the new one needs --force, and a copy of the old file stays private", async () => {
    await fillHome();
    await run("setup");
    const env = join(folder, ".toolarsenal/github.env");
    await writeFile(env, `${await readFile(env, "utf8")}MORE=mine\n`);
    expect((await run("setup")).code).toBe(0);
    await writeFile(env, "GITHUB_TOKEN=other\nMORE=mine\n");
    const refused = await run("setup");
    expect([refused.code, await readFile(env, "utf8")]).toEqual([1, "GITHUB_TOKEN=other\nMORE=mine\n"]);
    expect(refused.out).toContain("GITHUB_TOKEN");
    expect((await run("setup", "--force")).code).toBe(0);
    expect(await readFile(env, "utf8")).toContain("MORE=mine");
    const after = await files(join(folder, ".toolarsenal"));
    const backup = Object.entries(after).find(([name]) => name.startsWith("github.env.bak-"))?.[1];
    expect(backup).toEqual({ mode: 0o600, text: "GITHUB_TOKEN=other\nMORE=mine\n" });
    expect(await doctorStates()).toEqual(allOk);
  });

  it("keeps them working in a configuration that lies in another folder", async () => {
    await fillHome();
    await mkdir(join(folder, "deploy"));
    expect((await run("setup", "--config", "deploy/tools.yaml")).code).toBe(0);
    expect(await doctorStates("--config", "deploy/tools.yaml")).toEqual(allOk);
  });

  it("keeps them working with --inline-env, where secrets are in the file and not on the screen", async () => {
    await fillHome();
    const dry = await run("setup", "--inline-env", "--dry-run");
    const { out } = await run("setup", "--inline-env");
    for (const secret of Object.values(SECRETS)) expect(dry.out + out).not.toContain(secret);
    const after = await files(folder);
    expect(after["arsenal.yaml"]?.mode).toBe(0o600);
    expect(Object.keys(after).filter((name) => name.endsWith(".env"))).toEqual(["settings/project.env"]);
    expect(await doctorStates()).toEqual(allOk);
  });
});

interface Plan {
  readonly dryRun: boolean;
  readonly files: readonly { readonly file: string; readonly mode: string; readonly backup?: string }[];
}
