import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CAPABILITIES } from "../../../src/tool/tool.ts";
import { type Caller, type KeyedAnswer, type KeyedGateway, startKeyedGateway } from "./keyed-gateway.ts";

const TINY = fileURLToPath(new URL("../tiny-server.ts", import.meta.url));

const POLICY = `version: 1
rules:
  - { id: no-payroll, effect: deny, tools: ["shared.payroll"], roles: [operator] }
  - { id: only-in-b, effect: require_approval, tenants: [b] }
`;

let gateway: KeyedGateway;
beforeAll(async () => {
  gateway = await startKeyedGateway({
    servers: { tiny: { command: process.execPath, args: [TINY] } },
    policy: POLICY,
  });
  await register("operator", "shared", "lookup");
  await register("operator", "shared", "payroll");
  await register("operator-a", "team_a", "notes");
  await register("operator-b", "team_b", "plans");
});
afterAll(() => gateway.close());

const draft = (namespace: string, name: string, more: object = {}): object => ({
  name,
  namespace,
  description: `Finds ${name} of the team.`,
  parameters: { type: "object" },
  ...more,
});

const api = (who: Caller, method: string, path: string, body?: unknown): Promise<KeyedAnswer> =>
  gateway.ask(who, method, `/api/v1${path}`, body);

async function register(who: Caller, namespace: string, name: string): Promise<void> {
  const { status, body } = await api(who, "POST", "/tools", draft(namespace, name));
  expect([status, body.id]).toEqual([201, `${namespace}.${name}`]);
}

const statuses = async (path: string, callers: readonly Caller[]): Promise<readonly number[]> =>
  Promise.all(callers.map(async (who) => (await api(who, "GET", path)).status));

describe("the tools of a tenant's operator", () => {
  it("belong to the tenant, and other tenants neither find, see nor call them", async () => {
    const callers = ["operator-a", "guest-a", "operator", "operator-b", "guest"] as const;
    expect(await statuses("/tools/team_a.notes", callers)).toEqual([200, 200, 200, 404, 404]);
    const listed = async (who: Caller) =>
      (await api(who, "GET", "/tools")).body.tools
        .map(({ id }: { id: string }) => id)
        .filter((id: string) => id.startsWith("team_"));
    expect(await Promise.all(callers.map(listed))).toEqual([
      ["team_a.notes"],
      ["team_a.notes"],
      ["team_a.notes", "team_b.plans"],
      ["team_b.plans"],
      [],
    ]);
    const search = { context: { query: "find notes of the team" }, limit: 5 };
    for (const who of ["operator-b", "guest"] as const) {
      const { text } = await api(who, "POST", "/search", search);
      expect(text).not.toContain("team_a");
      const call = await api(who, "POST", "/execute", { toolName: "team_a.notes", arguments: {} });
      expect([call.status, call.body.code]).toEqual([404, "TOOL_NOT_FOUND"]);
    }
    expect((await api("guest-a", "POST", "/search", search)).text).toContain("team_a.notes");
    expect((await api("guest-a", "POST", "/execute", { toolName: "team_a.notes", arguments: {} })).body.code).toBe(
      "HANDLER_MISSING",
    );
  });

  it("are that tenant's whatever tenant the definition names", async () => {
    const posted = await api(
      "operator-a",
      "POST",
      "/tools",
      draft("team_a", "moved", { metadata: { tenant: "b", team: 1 } }),
    );
    expect(posted.body.metadata).toEqual({ tenant: "a", team: 1 });
    const batch = { tools: [draft("team_a", "first", { metadata: { tenant: "b" } })] };
    expect((await api("operator-a", "POST", "/tools/batch", batch)).body.registered[0].metadata).toEqual({
      tenant: "a",
    });
    const imported = {
      format: "openai",
      namespace: "team_a",
      tools: [{ type: "function", function: { name: "second", description: "Does more." } }],
    };
    expect((await api("operator-a", "POST", "/tools/import", imported)).body.registered[0].metadata).toEqual({
      tenant: "a",
    });
    for (const id of ["team_a.moved", "team_a.first", "team_a.second"])
      expect(await statuses(`/tools/${id}`, ["operator-a", "operator-b"])).toEqual([200, 404]);
  });

  it("can be replaced and deleted by it, and by an operator without a tenant", async () => {
    await register("operator-a", "team_a", "brief");
    expect((await api("operator-a", "POST", "/tools", draft("team_a", "brief", { tags: ["new"] }))).status).toBe(201);
    expect((await api("operator-a", "DELETE", "/tools/team_a.brief")).status).toBe(204);
    await register("operator-a", "team_a", "brief");
    expect((await api("operator", "DELETE", "/tools/team_a.brief")).status).toBe(204);
  });
});

describe("what is shared, and what is another tenant's", () => {
  it.each(["shared.lookup", "team_b.plans", "tiny.greet"])(
    "is not replaced by an operator of a tenant: %s",
    async (id) => {
      const [namespace = "", name = ""] = id.split(".");
      const before = (await api("operator", "GET", `/tools/${id}`)).body.contentHash;
      const stolen = draft(namespace, name, { requiresConfirmation: false, tags: ["stolen"] });
      const one = await api("operator-a", "POST", "/tools", stolen);
      expect([403, 409]).toContain(one.status);
      const batch = await api("operator-a", "POST", "/tools/batch", { tools: [stolen, draft("team_a", "kept")] });
      expect(batch.body).toMatchObject({ registered: [{ id: "team_a.kept" }], rejected: [{ index: 0, name }] });
      const tools = [{ type: "function", function: { name, description: "Replaces it." } }];
      const imported = await api("operator-a", "POST", "/tools/import", { format: "openai", namespace, tools });
      expect(imported.body).toMatchObject({ registered: [], rejected: [{ index: 0 }] });
      expect((await api("operator", "GET", `/tools/${id}`)).body.contentHash).toBe(before);
    },
  );

  it("is not deleted by an operator of a tenant, and another tenant's does not exist for it", async () => {
    const shared = await api("operator-a", "DELETE", "/tools/shared.lookup");
    expect(shared.body).toMatchObject({
      status: 403,
      detail: expect.stringContaining('does not belong to the tenant "a"'),
    });
    expect((await api("operator-a", "DELETE", "/tools/team_b.plans")).status).toBe(404);
    expect((await api("operator-a", "DELETE", "/tools/tiny.greet")).status).not.toBe(204);
    expect(await statuses("/tools/shared.lookup", ["operator"])).toEqual([200]);
    expect(await statuses("/tools/team_b.plans", ["operator-b"])).toEqual([200]);
  });

  it("servers, the policy and the index stay as they are", async () => {
    const attempts: readonly (readonly [string, string, unknown?])[] = [
      ...["connect", "disconnect", "reload", "restart"].map((action) => ["POST", `/ensembles/tiny/${action}`] as const),
      ["DELETE", "/ensembles/tiny"],
      [
        "POST",
        "/ensembles",
        { type: "mcp", name: "new", transport: { kind: "http", url: "https://mcp.example.com/mcp" } },
      ],
      ["POST", "/ensembles", { type: "openapi", name: "new", document: { openapi: "3.1.0", info: {}, paths: {} } }],
      ["POST", "/ensembles", { type: "a2a", name: "new", url: "https://agent.example.com" }],
      ["POST", "/policy/reload"],
      ["POST", "/sync"],
    ];
    for (const [method, path, body] of attempts)
      expect([path, (await api("operator-a", method, path, body)).status]).toEqual([path, 403]);
    const { ensembles } = (await api("operator", "GET", "/ensembles")).body;
    expect(ensembles).toMatchObject([{ name: "tiny", state: "connected", tools: 1 }]);
    expect((await api("operator", "POST", "/ensembles/tiny/restart")).body.state).toBe("connected");
    expect((await api("operator", "POST", "/policy/reload")).status).toBe(204);
  });

  it("pins are accepted by an approver without a tenant only", async () => {
    const { pins } = (await api("approver-a", "GET", "/pins")).body;
    const [{ id }] = pins;
    expect((await api("approver-a", "POST", `/pins/${encodeURIComponent(id)}/accept`, {})).status).toBe(403);
    // It is accepted already, and the gateway says so.
    expect((await api("approver", "POST", `/pins/${encodeURIComponent(id)}/accept`, {})).body).toMatchObject({
      status: 400,
      detail: expect.stringContaining("accepted"),
    });
  });
});

describe("what a tenant's operator learns of others", () => {
  it("is nothing from /metrics: it gets its tenant's series, and those of the process", async () => {
    for (const who of ["guest-a", "operator-b", "guest"] as const) {
      await api(who, "POST", "/execute", { toolName: "tiny.greet", arguments: {} });
      await api(who, "POST", "/search", { context: { query: "say hello" } });
    }
    const read = async (who: Caller): Promise<string> => (await gateway.ask(who, "GET", "/metrics")).text;
    const all = await read("operator");
    for (const tenant of ["a", "b", "none"]) expect(all).toContain(`tenant="${tenant}"`);
    expect(all).toContain("toolarsenal_approvals_pending");
    const [own, others] = [await read("operator-a"), await read("operator-b")];
    expect(own).toContain('toolarsenal_calls_total{namespace="tiny",tenant="a",status="success"} 1');
    expect(own).not.toMatch(/tenant="(?!a")/);
    expect(others).not.toMatch(/tenant="(?!b")/);
    expect(own).toContain("process_cpu_seconds_total");
    // What counts the calls of every tenant together is not a tenant's to read.
    expect(own).not.toMatch(/toolarsenal_(call_queue|calls_running|approvals|catalog|circuit|scan)/);
    expect((await gateway.ask("guest-a", "GET", "/metrics")).status).toBe(403);
  });

  it("is nothing from /policy/explain: not about their callers, their tools or their rules", async () => {
    const explain = async (who: Caller, toolName: string, principal: object = { id: "ann" }) =>
      api(who, "POST", "/policy/explain", {
        toolName,
        principal: { scopes: ["*"], capabilities: CAPABILITIES, ...principal },
      });
    expect((await explain("operator-a", "tiny.greet", { id: "bob", tenant: "b" })).status).toBe(403);
    expect((await explain("operator-a", "tiny.greet", { id: "ann", tenant: "a" })).status).toBe(200);
    // Without a tenant, the caller is one of the operator's tenant.
    expect((await explain("operator-b", "tiny.greet")).body).toMatchObject({ effect: "confirm", rule: "only-in-b" });
    const own = await explain("operator-a", "tiny.greet");
    expect(own.body.effect).toBe("allow");
    expect(own.text).not.toContain("only-in-b");
    expect(own.text).toContain("no-payroll");
    expect((await explain("operator", "tiny.greet")).text).toContain("only-in-b");
    // Another tenant's tool, one that is hidden, and one that does not exist: the answers do not differ.
    const answers = ["team_b.plans", "shared.payroll", "zebra.unheard"].map(async (id) => {
      const { status, body } = await explain("operator-a", id);
      return [status, body.code, String(body.detail).replace(id, "ID")];
    });
    const [first, ...others] = await Promise.all(answers);
    expect(first?.slice(0, 2)).toEqual([404, "TOOL_NOT_FOUND"]);
    for (const other of others) expect(other).toEqual(first);
  });

  it("is nothing from /policy/test", async () => {
    const test = async (who: Caller, tool: unknown, principal?: unknown, more: object = {}) =>
      api(who, "POST", "/policy/test", { cases: [{ tool, principal, expect: "allow" }], ...more });
    expect((await test("operator-a", "tiny.greet", { id: "bob", tenant: "b" })).status).toBe(403);
    expect((await test("operator", "tiny.greet", { id: "bob", tenant: "b" })).body.cases[0].rule).toBe("only-in-b");
    expect((await test("operator-a", "tiny.greet", "ann")).body).toMatchObject({ failed: 0 });
    expect((await test("operator-b", "tiny.greet", "bob")).body.cases[0]).toMatchObject({ rule: "only-in-b" });
    for (const id of ["team_b.plans", "shared.payroll", "team_c.none", { id: "team_b.plans", risk: "low" }])
      expect((await test("operator-a", id, "ann")).body).toMatchObject({ status: 404, code: "TOOL_NOT_FOUND" });
    // A draft of its own may be about any tool: the gateway's tools and rules play no part in it.
    const policy = "version: 1\nrules: [{ id: own, effect: deny, hide: false }]\n";
    expect((await test("operator-a", "team_c.none", "ann", { policy })).body.cases[0]).toMatchObject({ rule: "own" });
  });

  it("is not how many tools there are", async () => {
    const [own, all] = [(await api("operator-a", "GET", "/info")).body, (await api("operator", "GET", "/info")).body];
    const { tools } = (await api("operator-a", "GET", "/tools")).body;
    expect(own.toolCount).toBe(tools.length);
    expect(all.toolCount).toBeGreaterThan(own.toolCount);
  });
});
