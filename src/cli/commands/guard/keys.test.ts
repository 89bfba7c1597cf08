import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runInMemory, type Ran } from "../../../../test/e2e/terminal.ts";
import { sqliteState } from "../../../adapters/state/sqlite.ts";
import { configuredIdentity } from "../../../wire/identity.ts";
import { loadConfig } from "../../../config/load/load-config.ts";
import type { Principal } from "../../../guard/principal.ts";
import { CAPABILITIES } from "../../../tool/tool.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "arsenal-keys-"));
  await writeFile(join(folder, "arsenal.yaml"), "server: { auth: { api_keys: { file: ./secrets/keys.json } } }\n");
});
afterEach(() => rm(folder, { recursive: true }));

const run = (...argv: string[]): Promise<Ran> => runInMemory(["keys", ...argv], { folder });

/** Whom a gateway of this configuration takes the holder of a key for. */
async function callerOf(key: string): Promise<Principal | undefined> {
  const { config } = await loadConfig(join(folder, "arsenal.yaml"), {});
  const identity = await configuredIdentity(config.server);
  return identity?.authenticate({ headers: { "x-api-key": key } });
}

describe("toolarsenal keys", () => {
  it("creates a key that the configured gateway knows, shows it once and keeps its hash in a file of this user", async () => {
    const made = await run(
      "create",
      "ci",
      "--capability",
      "read_data",
      "--scope",
      "build",
      "--role",
      "bot",
      "--tenant",
      "acme",
    );
    expect(made.code).toBe(0);
    expect(made.out).toMatch(/^ta_ci_[\w-]{43}\n$/);
    const key = made.out.trim();
    expect(await callerOf(key)).toEqual({
      id: "ci",
      tenant: "acme",
      roles: ["bot"],
      capabilities: ["read_data"],
      scopes: ["build"],
      local: false,
    });
    const file = join(folder, "secrets", "keys.json");
    expect(made.err).toContain(file);
    expect(await readFile(file, "utf8")).not.toContain(key.slice(6));
    if (process.platform !== "win32") expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await run("list")).toMatchObject({ out: expect.stringContaining("read_data") as string });
  });

  it("gives a key no right that was not asked for, and an operator's key all", async () => {
    const { key: bare } = JSON.parse((await run("create", "bare", "--json")).out) as { key: string };
    expect(await callerOf(bare)).toEqual({ id: "bare", roles: [], capabilities: [], scopes: [], local: false });
    const { out } = await run("create", "boss", "--operator", "--role", "approver");
    const boss = {
      id: "boss",
      roles: ["operator", "approver"],
      capabilities: CAPABILITIES,
      scopes: ["*"],
      local: false,
    };
    expect(await callerOf(out.trim())).toEqual(boss);
  });

  it("gives every capability with --capability all, and lets an operator's key approve", async () => {
    const { out } = await run("create", "worker", "--capability", "all");
    expect(await callerOf(out.trim())).toMatchObject({ roles: [], capabilities: CAPABILITIES, scopes: [] });
    const { out: boss, err } = await run("create", "boss", "--operator");
    expect(await callerOf(boss.trim())).toMatchObject({ roles: ["operator", "approver"] });
    expect(err).toContain("It operates the gateway and approves the calls of others, never its own.\n");
  });

  it("makes an operator by the role that the configuration names", async () => {
    const config = "server: { operator_role: admin, auth: { api_keys: { file: ./keys.json } } }\n";
    await writeFile(join(folder, "arsenal.yaml"), config);
    const { out } = await run("create", "boss", "--operator");
    expect(await callerOf(out.trim())).toMatchObject({ roles: ["admin", "approver"] });
  });

  it("adds rights to a key, which stays the same", async () => {
    const { out } = await run("create", "ci", "--capability", "write_data", "--tenant", "acme");
    const granted = await run("grant", "ci", "--capability", "read_data", "--scope", "build", "--role", "bot");
    expect(granted).toMatchObject({ code: 0, out: "" });
    expect(granted.err).toContain("ci has the capabilities read_data, write_data and the scope build.\n");
    expect(await callerOf(out.trim())).toEqual({
      id: "ci",
      tenant: "acme",
      roles: ["bot"],
      capabilities: ["read_data", "write_data"],
      scopes: ["build"],
      local: false,
    });
    expect(JSON.parse((await run("grant", "ci", "--capability", "all", "--json")).out)).toMatchObject({
      id: "ci",
      principal: { capabilities: CAPABILITIES, scopes: ["build"] },
    });
  });

  it("names the same key file in the commands that widen a key", async () => {
    const file = join(folder, "other.json");
    const { err } = await runInMemory(["keys", "create", "ci", "--file", file]);
    expect(err).toContain(`To give it every capability: toolarsenal keys grant ci --capability all --file ${file}\n`);
  });

  it("revokes a key", async () => {
    const { out } = await run("create", "ci");
    expect(await run("revoke", "ci")).toMatchObject({ code: 0, out: "" });
    expect(await callerOf(out.trim())).toBe(undefined);
    expect((await run("list", "--json")).out).toBe("[]\n");
  });

  it.each([
    [["create"], '"keys create" needs NAME.'],
    [["create", "Two Words"], "is not a valid name for a key"],
    [["make", "ci"], 'There is no action "keys make"'],
    [["revoke", "nobody"], "No key is named nobody"],
    [["create", "ci", "--capability", "fly"], 'There is no capability "fly". Use all, or one of read_data'],
    [["grant", "nobody", "--capability", "all"], "No key is named nobody"],
    [["grant", "taken"], "There is nothing to grant."],
    [["grant", "taken", "--tenant", "acme"], "The tenant of a key cannot be changed."],
    [["create", "ci", "--operator", "--scope", "x"], "Remove --capability and --scope"],
    [["create", "taken"], "A key named taken already exists"],
  ])("refuses %j", async (argv, why) => {
    await run("create", "taken");
    const { code, out, err } = await run(...argv);
    expect([code, out]).toEqual([2, ""]);
    expect(err).toContain(why);
  });

  it("keeps keys in the shared state, where a gateway that runs knows them and no longer knows those that are revoked", async () => {
    const config = "state: { file: ./state.sqlite }\nserver: { auth: { api_keys: { state: true } } }\n";
    await writeFile(join(folder, "arsenal.yaml"), config);
    expect(await run("list", "--json")).toMatchObject({ code: 0, out: "[]\n" });
    const { code, out, err } = await run("create", "ci", "--capability", "read_data");
    expect([code, err]).toEqual([0, expect.stringContaining("Its hash is saved in the shared state.")]);
    const gateway = sqliteState({ file: join(folder, "state.sqlite") });
    const { config: read } = await loadConfig(join(folder, "arsenal.yaml"), {});
    const identity = await configuredIdentity(read.server, { state: () => gateway });
    const caller = (): Promise<Principal | undefined> | undefined =>
      identity?.authenticate({ headers: { "x-api-key": out.trim() } });
    expect(await caller()).toMatchObject({ id: "ci", capabilities: ["read_data"] });
    expect(await run("create", "ci")).toMatchObject({ code: 2, err: expect.stringContaining("already exists") });
    expect((await run("list")).out).toContain("read_data");
    const granted = new Promise((resolve) => void gateway.changes.subscribe("keys", resolve));
    expect(await run("grant", "ci", "--scope", "build")).toMatchObject({ code: 0 });
    await granted;
    expect(await caller()).toMatchObject({ capabilities: ["read_data"], scopes: ["build"] });
    const told = new Promise((resolve) => void gateway.changes.subscribe("keys", resolve));
    expect(await run("revoke", "ci")).toMatchObject({ code: 0 });
    await told;
    expect(await caller()).toBe(undefined);
    expect(await run("revoke", "ci")).toMatchObject({ code: 2, err: expect.stringContaining("No key is named ci") });
    await gateway.close();
  });

  it.each([
    ["{}", "server.auth.api_keys.file"],
    ["{ file: ./keys.json, state: true }", "Remove one of them."],
    ["{ state: true }", "Set state.file or state.type"],
  ])("refuses api_keys: %s", async (keys, why) => {
    await writeFile(join(folder, "arsenal.yaml"), `server: { auth: { api_keys: ${keys} } }\n`);
    expect(await run("list")).toMatchObject({ code: 2, err: expect.stringContaining(why) as string });
  });

  it("says what to set where no file is configured", async () => {
    await writeFile(join(folder, "arsenal.yaml"), "{}\n");
    expect(await run("list")).toMatchObject({
      code: 2,
      err: expect.stringContaining("server.auth.api_keys.file") as string,
    });
  });
});
