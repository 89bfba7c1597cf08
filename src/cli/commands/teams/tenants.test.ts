import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Ran, runInMemory } from "../../../../test/e2e/terminal.ts";
import { ToolArsenal } from "../../../index.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "arsenal-tenants-"));
  const settings = [
    "state: { file: ./state.sqlite }",
    "audit: { file: ./audit.jsonl }",
    "server: { auth: { api_keys: { state: true } } }",
    "telemetry: { enabled: false }",
  ];
  await writeFile(join(folder, "arsenal.yaml"), `${settings.join("\n")}\n`);
});
afterEach(() => rm(folder, { recursive: true }));

const run = (...argv: string[]): Promise<Ran> => runInMemory(argv, { folder });
const json = async (...argv: string[]) => JSON.parse((await run(...argv, "--json")).out) as unknown;

describe("toolarsenal tenants", () => {
  it("creates, changes, suspends and removes a tenant, and records each change", async () => {
    const made = await run("tenants", "create", "acme", "--quota", "calls/day=100", "--soft", "calls/day=80");
    expect([made.code, made.err]).toEqual([0, expect.stringContaining("Created acme.")]);
    await run("tenants", "set", "acme", "--quota", "cost/month=2.5", "--group", "eng=operator", "--toolset", "support");
    expect(await json("tenants", "show", "acme")).toMatchObject({
      id: "acme",
      state: "active",
      toolsets: ["support"],
      groups: [{ group: "eng", roles: ["operator"] }],
      quotas: [
        { unit: "calls", period: "day", soft: 80, hard: 100 },
        { unit: "cost", period: "month", hard: 2.5 },
      ],
      used: [
        { unit: "calls", used: 0 },
        { unit: "cost", used: 0 },
      ],
    });
    await run("tenants", "suspend", "acme");
    expect((await run("tenants", "list")).out).toMatch(
      /^acme +suspended .*toolsets support +calls\/day=100 cost\/month=2\.5\n$/,
    );
    expect((await run("tenants", "remove", "acme")).code).toBe(0);
    const gone = await run("tenants", "show", "acme");
    expect([gone.code, gone.err]).toEqual([1, expect.stringContaining('There is no tenant "acme".')]);
    const records = (await readFile(join(folder, "audit.jsonl"), "utf8")).trim().split("\n");
    const done = records
      .map((line) => JSON.parse(line).record ?? JSON.parse(line))
      .filter((record) => record.kind === "operator-action" && record.outcome === "done");
    expect(done.map(({ action, targets, by }) => [action, targets, by])).toEqual([
      ["createTenant", ["acme"], "local"],
      ["changeTenant", ["acme"], "local"],
      ["changeTenant", ["acme"], "local"],
      ["removeTenant", ["acme"], "local"],
    ]);
  });

  it("adds and removes members", async () => {
    await run("tenants", "create", "acme");
    await run("tenants", "add-member", "acme", "ada@example.com", "--role", "operator", "--capability", "read_data");
    expect((await run("tenants", "members", "acme")).out).toBe("ada@example.com  operator  read_data\n");
    await run("tenants", "remove-member", "acme", "ada@example.com");
    expect((await run("tenants", "members", "acme")).out).toBe("");
  });

  it("shows the usage that a program counted, as a table and as CSV", async () => {
    await run("tenants", "create", "acme");
    const arsenal = await ToolArsenal.fromConfig(join(folder, "arsenal.yaml"));
    arsenal.register({ name: "ping", description: "Answers.", parameters: {} }, () => "pong");
    const principal = { id: "=bot", tenant: "acme", roles: [], capabilities: [], scopes: [], local: false };
    for (let call = 0; call < 3; call++) await arsenal.execute({ toolName: "default.ping", principal });
    await arsenal.execute({ toolName: "default.ping" });
    await arsenal.close();
    const { out } = await run("tenants", "usage", "acme", "--by", "tenant,key", "--csv");
    expect(out).toMatch(/^day,tenant,key,tool,calls,errors,tokens,cost\r\n,acme,'=bot,,3,0,\d+,0\r\n$/);
    const table = (await run("tenants", "usage", "--by", "tenant")).out;
    expect(table).toMatch(/tenant +calls +errors +tokens +cost\n- +1 +0 +0 +0\.0000\nacme +3 +0 +\d+ +0\.0000\n/);
  });

  it.each([
    [["create", "Acme"], '"Acme" is not a valid id of a tenant.'],
    [["create", "acme", "--quota", "calls=5"], '--quota cannot be "calls=5".'],
    [["create", "acme", "--budget", "year=5"], '--budget cannot be "year=5".'],
    [["usage", "--by", "color"], '--by cannot be "color".'],
    [["usage", "--from", "May"], "--from is not a day."],
  ])("refuses %j", async (argv, problem) => {
    const refused = await run("tenants", ...argv);
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining(problem)]);
  });
});

describe("toolarsenal keys in the shared state", () => {
  it("creates a key that expires, and rotates it", async () => {
    await run("tenants", "create", "acme");
    const first = (await run("keys", "create", "ci", "--tenant", "acme", "--expires", "30")).out.trim();
    const rotated = await run("keys", "rotate", "ci", "--overlap", "2");
    expect([rotated.code, rotated.out]).toEqual([0, expect.stringMatching(/^ta_ci_[\w-]{43}\n$/)]);
    expect(rotated.out.trim()).not.toBe(first);
    expect(rotated.err).toMatch(/The old one is accepted until \d{4}-/);
    expect((await run("keys", "list")).out).toMatch(/^ci +acme .*expires \d{4}-/);
    expect((await run("keys", "list", "--json")).out).not.toContain("sha256");
  });

  it("refuses a tenant that does not exist, and names the tenant that was meant", async () => {
    await run("tenants", "create", "acme");
    const refused = await run("keys", "create", "ci", "--tenant", "acmee");
    expect([refused.code, refused.out]).toEqual([1, ""]);
    expect(refused.err).toContain('There is no tenant "acmee".');
    expect(refused.err).toContain('Did you mean "acme"? Create a tenant with: toolarsenal tenants create acmee');
    expect((await run("keys", "list")).out).toBe("");
  });

  it("lists the tenants if none has a similar name, and says how to create the first one", async () => {
    const first = await run("keys", "create", "ci", "--tenant", "acme");
    expect([first.code, first.err]).toEqual([1, expect.stringContaining("There are no tenants yet.")]);
    await run("tenants", "create", "acme");
    await run("tenants", "create", "globex");
    const other = await run("keys", "create", "ci", "--tenant", "initech");
    expect(other.err).toContain(
      "The tenants are acme, globex. Create a tenant with: toolarsenal tenants create initech",
    );
  });

  it("refuses it in a key file too if tenants are switched on", async () => {
    const settings = "state: { file: ./state.sqlite }\nteams: { enabled: true }\n";
    const keys = "server: { auth: { api_keys: { file: ./keys.json } } }\n";
    await writeFile(join(folder, "arsenal.yaml"), settings + keys);
    await run("tenants", "create", "acme");
    expect((await run("keys", "create", "ci", "--tenant", "acmee")).err).toContain('There is no tenant "acmee".');
    expect((await run("keys", "create", "ci", "--tenant", "acme")).code).toBe(0);
  });
});
