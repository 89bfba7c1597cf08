import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ArsenalClient, createClient } from "../../src/client/index.ts";
import { type Caller, type KeyedGateway, startKeyedGateway } from "./rest/keyed-gateway.ts";
import { type Ran, runInMemory } from "./terminal.ts";

const MODULE = `export default (arsenal) => {
  for (const id of ["help.answer", "help.close", "mail.send", "vault.open"]) {
    const [namespace, name] = id.split(".");
    arsenal.register({ namespace, name, description: "Will " + name + " for a customer." }, () => name);
  }
};`;

const POLICY = `
version: 1
mode: strict
rules:
  - { id: helping, effect: allow, namespaces: [help], roles: [approver] }
  - { id: mailing, effect: allow, tools: [mail.send], principals: [guest] }
  - { id: sealed, effect: deny, namespaces: [vault] }
`;

const TOOLSETS = [
  { name: "helping", include: { namespaces: ["help"] }, policy: { allowed_roles: ["approver", "lead"] } },
  { name: "mailing", include: { tools: ["mail.send"] } },
];

let folder: string;
let gateway: KeyedGateway;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "toolarsenal-strict-"));
  const module = join(folder, "tools.mjs");
  await writeFile(module, MODULE);
  await writeFile(join(folder, "policy.yaml"), POLICY);
  const settings = { modules: [module], embedder: { tier: "lexical" }, toolsets: TOOLSETS };
  // JSON is YAML.
  await writeFile(
    join(folder, "arsenal.yaml"),
    JSON.stringify({ ...settings, security: { policy_file: "./policy.yaml" } }),
  );
  gateway = await startKeyedGateway({ settings, policy: POLICY });
});
afterAll(async () => {
  await gateway.close();
  await rm(folder, { recursive: true });
});

const clientOf = (who: Caller): ArsenalClient => createClient({ url: gateway.url, apiKey: gateway.keyOf(who) });
const run = (...argv: readonly string[]): Promise<Ran> => runInMemory(argv, { folder });
const rulesOf = (
  tools: readonly { readonly id: string; readonly refused?: { readonly rule: string } }[],
): readonly unknown[] => tools.map(({ id, refused }) => [id, refused?.rule]);

/** The catalog as an operator sees it whom no rule allows anything. */
const MARKED = [
  ["help.answer", "mode: strict"],
  ["help.close", "mode: strict"],
  ["mail.send", "mode: strict"],
  ["vault.open", "sealed"],
];

describe("a strict policy that allows an operator nothing", () => {
  it("shows the operator the whole catalog over REST, each tool with the rule that refuses it", async () => {
    await using operator = clientOf("operator");
    expect(await operator.listTools()).toEqual([]);
    expect(rulesOf(await operator.listTools({ includeRefused: true }))).toEqual(MARKED);
    const { tools } = await operator.retrieve("send for a customer", { includeRefused: true, limit: 10 });
    const found = tools.map(({ tool, refused }) => ({ id: tool.id, ...(refused && { refused }) }));
    expect([...rulesOf(found)].sort()).toEqual(MARKED);
    const vault = await operator.getTool("open", "vault", { includeRefused: true });
    expect(vault?.refused).toEqual({ rule: "sealed", reason: 'Rule "sealed" denies vault.open to "operator".' });
    expect(await operator.health("vault.open", { includeRefused: true })).toMatchObject({ totalCalls: 0 });
  });

  it("shows the operator every toolset with its roles and its tools, marked if it does not admit the operator", async () => {
    await using operator = clientOf("operator");
    const [helping, mailing] = await operator.toolsets.list();
    expect(helping).toMatchObject({
      name: "helping",
      policy: { allowedRoles: ["approver", "lead"] },
      refused: { rule: "toolset:helping", reason: expect.stringContaining('does not admit "operator"') as string },
    });
    expect(mailing).toMatchObject({ name: "mailing" });
    expect(mailing).not.toHaveProperty("refused");
    expect(rulesOf(await operator.listTools({ toolset: "helping", includeRefused: true }))).toEqual([
      ["help.answer", "toolset:helping"],
      ["help.close", "toolset:helping"],
    ]);
    await expect(operator.listTools({ toolset: "helping" })).rejects.toMatchObject({ code: "TOOLSET_NOT_FOUND" });
  });

  it("shows an agent only what it may call, and nothing that is hidden when it asks for all", async () => {
    await using guest = clientOf("guest");
    await using approver = clientOf("approver");
    expect(rulesOf(await guest.listTools())).toEqual([["mail.send", undefined]]);
    expect(rulesOf(await approver.listTools())).toEqual([
      ["help.answer", undefined],
      ["help.close", undefined],
    ]);
    // The rule names a role and not the caller, so the tools of its namespace can be seen.
    expect(rulesOf(await guest.listTools({ includeRefused: true }))).toEqual([
      ["help.answer", "mode: strict"],
      ["help.close", "mode: strict"],
      ["mail.send", undefined],
    ]);
    const { tools, nearest = [] } = await guest.retrieve("answer for a customer", { limit: 10, refuse: "never" });
    expect([...tools, ...nearest].map(({ tool }) => tool.id)).toEqual(["mail.send"]);
    expect(await guest.getTool("open", "vault", { includeRefused: true })).toBeUndefined();
    expect((await guest.toolsets.list()).map(({ name }) => name)).toEqual(["mailing"]);
  });

  it("names the roles of a toolset to those whom it admits", async () => {
    await using approver = clientOf("approver");
    const [helping] = await approver.toolsets.list();
    expect(helping).toMatchObject({ name: "helping", policy: { allowedRoles: ["approver", "lead"] } });
  });
});

describe("the command line of a strict policy", () => {
  it("lists and finds every tool, marked with the rule", async () => {
    const { out, err } = await run("list");
    expect(out).toMatch(/^help\.answer +Will answer/m);
    expect(out).toMatch(/^mail\.send +\(refused by mode: strict\) Will send/m);
    expect(out).toMatch(/^vault\.open +\(refused by sealed\) Will open/m);
    expect(err).toContain("4 tools, 2 of them refused\n");
    expect((await run("search", "open for a customer")).out).toMatch(/vault\.open +\(refused by sealed\) Will open/);
    expect(rulesOf(JSON.parse((await run("list", "--json")).out) as never)).toEqual([
      // The local operator has the role.
      ["help.answer", undefined],
      ["help.close", undefined],
      ["mail.send", "mode: strict"],
      ["vault.open", "sealed"],
    ]);
  });

  it("shows the tools of a toolset and the roles that it is for", async () => {
    const { out, err } = await run("toolsets", "show", "mailing");
    expect([out, err]).toEqual([
      expect.stringMatching(/^mail\.send +\(refused by mode: strict\) Will send/),
      "1 tool, 1 of them refused\n",
    ]);
    expect((await run("toolsets", "show", "helping")).err).toBe("For the roles approver, lead. 2 tools\n");
    expect((await run("toolsets", "list")).out).toMatch(/^mailing +1 tool$/m);
  });

  it("never has doctor say that a registered tool does not exist", async () => {
    const { out } = await run("doctor");
    expect(out).toContain("toolset helping: 2 tools");
    expect(out).toContain("toolset mailing: 1 tool");
    expect(out).not.toMatch(/which no tool has|has no tools/);
  });
});
