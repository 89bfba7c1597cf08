import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTokenIssuer, type TokenIssuer } from "../token-issuer.ts";
import { type Fleet, ROOT_TOKEN, startFleet } from "./fleet.ts";

const TINY = fileURLToPath(new URL("../tiny-server.ts", import.meta.url));

let issuer: TokenIssuer;
let fleet: Fleet;
beforeAll(async () => {
  issuer = await startTokenIssuer();
  const server = {
    tokens: { root: ROOT_TOKEN },
    auth: { apiKeys: { state: true }, jwt: { issuer: issuer.issuer, audience: ["arsenal"] } },
  };
  const toolsets = [
    { name: "support", include: { namespaces: ["support"] } },
    { name: "sales", include: { namespaces: ["sales"] } },
  ];
  fleet = await startFleet({ server, toolsets, security: { pins: "changes" } }, async (arsenal) => {
    for (const namespace of ["support", "sales"])
      arsenal.register(
        { name: "find", namespace, description: `Finds ${namespace} cases.`, parameters: {} },
        () => "found",
      );
    await arsenal.add({ type: "mcp", name: "tiny", command: process.execPath, args: [TINY] });
  });
  await fleet.tenant("acme", { groups: [{ group: "acme-staff" }, { group: "acme-admins", roles: ["operator"] }] });
  await fleet.tenant("globex", { groups: [{ group: "globex-staff" }], toolsets: ["support"] });
}, 120_000);
afterAll(async () => {
  await fleet?.close();
  await issuer?.close();
});

const token = (sub: string, groups: readonly string[] = []): Promise<string> =>
  issuer.sign({ iss: issuer.issuer, sub, groups, aud: "arsenal", exp: Math.floor(Date.now() / 1_000) + 600 });

const caller = async (at: number, key: string) => {
  const { status, body } = await fleet.ask(at, key, "GET", "/info");
  return status === 200 ? { tenant: body.caller.tenant, roles: body.caller.roles } : status;
};

describe("people who sign in at an issuer", () => {
  it("get the tenant and the roles of their groups", async () => {
    expect(await caller(0, await token("ada", ["acme-staff"]))).toEqual({ tenant: "acme", roles: [] });
    expect(await caller(1, await token("ada", ["acme-staff", "acme-admins"]))).toEqual({
      tenant: "acme",
      roles: ["operator"],
    });
    expect(await caller(2, await token("ada", ["other"]))).toEqual({ tenant: undefined, roles: [] });
  });

  it("are refused if their groups belong to several tenants, unless they are a member of one", async () => {
    const key = await token("bob", ["acme-staff", "globex-staff"]);
    expect(await caller(0, key)).toBe(401);
    await fleet.ask(0, ROOT_TOKEN, "PUT", "/tenants/globex/members/bob", { roles: ["approver"] });
    for (const at of [0, 1, 2])
      await expect.poll(() => caller(at, key), { timeout: 20_000 }).toEqual({ tenant: "globex", roles: ["approver"] });
    await fleet.ask(0, ROOT_TOKEN, "DELETE", "/tenants/globex/members/bob");
    for (const at of [0, 1, 2]) await expect.poll(() => caller(at, key), { timeout: 20_000 }).toBe(401);
  });

  it("are not taken for a key that has the same name", async () => {
    await fleet.key("carol", { tenant: "acme", roles: ["operator"] });
    expect(await caller(0, await token("carol"))).toEqual({ tenant: undefined, roles: [] });
  });
});

describe("a tenant with toolsets of its own", () => {
  it("has their tools and no others: in lists, searches, calls, toolsets, ensembles, pins and statistics", async () => {
    const operator = await fleet.key("globex-operator", { tenant: "globex", roles: ["operator", "approver"] });
    const free = await fleet.key("acme-operator", { tenant: "acme", roles: ["operator", "approver"] });
    const read = async (
      key: string,
      path: string,
      pick: (body: Record<string, never[]>) => readonly { id?: string; name?: string }[],
    ) => pick((await fleet.ask(1, key, "GET", path)).body).map(({ id, name }) => id ?? name);
    const tools = (key: string) => read(key, "/tools", ({ tools: all = [] }) => all);
    expect(await tools(operator)).toEqual(["support.find"]);
    expect(await tools(free)).toEqual(expect.arrayContaining(["sales.find", "support.find"]));
    expect(await read(operator, "/toolsets", ({ toolsets = [] }) => toolsets)).toEqual(["support"]);
    expect(await read(free, "/toolsets", ({ toolsets = [] }) => toolsets)).toEqual(["sales", "support"]);
    expect(await read(operator, "/ensembles", ({ ensembles = [] }) => ensembles)).toEqual([]);
    expect(await read(free, "/ensembles", ({ ensembles = [] }) => ensembles)).toEqual(["tiny"]);
    expect(await read(operator, "/pins", ({ pins = [] }) => pins)).toEqual([]);
    expect((await read(free, "/pins", ({ pins = [] }) => pins)).length).toBeGreaterThan(0);
    expect(await read(operator, "/stats", ({ ensembles = [] }) => ensembles)).toEqual([]);
    const hidden = await fleet.ask(2, operator, "GET", "/ensembles/tiny");
    expect([hidden.status, hidden.body.code, hidden.body.detail]).toEqual([
      404,
      "ENSEMBLE_NOT_FOUND",
      expect.stringContaining('There is no ensemble "tiny".'),
    ]);
    const call = (toolName: string, more: object = {}) =>
      fleet.ask(0, operator, "POST", "/execute", { toolName, ...more });
    expect((await call("support.find")).body.result).toBe("found");
    expect((await call("sales.find")).body.code).toBe("TOOL_NOT_FOUND");
    expect((await call("sales.find", { toolset: "sales" })).status).toBe(404);
    const found = await fleet.ask(0, operator, "POST", "/search", { context: { query: "find sales cases" }, limit: 5 });
    expect(found.text).not.toContain("sales.find");
  });
});
