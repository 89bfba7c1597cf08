import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Fleet, ROOT_TOKEN, startProcesses } from "./fleet.ts";

const TENANTS = ["acme", "globex", "initech"] as const;
const ROLES = ["operator", "approver", "user"] as const;

const folder = mkdtempSync(join(tmpdir(), "toolarsenal-access-"));
let fleet: Fleet;
const keys = new Map<string, string>();
const keyOf = (tenant: string, role: string): string => keys.get(`${tenant}-${role}`) ?? "";

beforeAll(async () => {
  fleet = await startProcesses({ state: { file: join(folder, "state.sqlite") } });
  for (const tenant of TENANTS) {
    await fleet.tenant(tenant);
    for (const role of ROLES) {
      const name = `${tenant}-${role}`;
      keys.set(name, await fleet.key(name, { tenant, roles: role === "user" ? [] : [role] }));
    }
  }
}, 120_000);
afterAll(async () => {
  await fleet?.close();
  rmSync(folder, { recursive: true, force: true });
});

interface Described {
  readonly operationId: string;
  readonly "x-access"?: { readonly role: string; readonly tenants: "own" | "all" | "none" };
}

/** The operations that each role of a tenant may use, besides those of every caller. The others are refused. */
const ALLOWED = {
  operator: [
    ..."registerTool deleteTool registerTools importTools listPins listEnsembles getEnsemble".split(" "),
    ..."listPolicyRules explainPolicy testPolicy queryAudit verifyAudit followEvents getStats".split(" "),
    ..."listHistory getTrace getCosts listTenants getTenant getQuotas listMembers setMember removeMember".split(" "),
    ..."listKeys createKey rotateKey revokeKey getUsage exportUsage acceptProgram".split(" "),
  ],
  approver: ["listApprovals", "getApproval", "approveCall", "denyCall", "listPins"],
  user: [],
} as const;

describe("three tenants, three roles and every REST operation, on three gateways, each a process,", () => {
  it("are allowed and refused as the table says", async () => {
    const { body: document } = await fleet.ask(0, ROOT_TOKEN, "GET", "/openapi.json");
    const operations = Object.entries(document.paths as Record<string, Record<string, Described>>).flatMap(
      ([path, methods]) => Object.entries(methods).map(([method, described]) => ({ ...described, method, path })),
    );
    const known = operations.map(({ operationId }) => operationId);
    expect(
      Object.values(ALLOWED)
        .flat()
        .filter((id) => !known.includes(id)),
    ).toEqual([]);
    const wrong: unknown[] = [];
    let asked = 0;
    for (const [index, { operationId, method, path, ...described }] of operations.entries()) {
      const below = path.replace("/api/v1", "").replaceAll(/\{\w+\}/g, "none.such");
      await Promise.all(
        TENANTS.flatMap((tenant, row) =>
          ROLES.flatMap((role) =>
            [0, 1, 2].map(async (at) => {
              asked++;
              const sent = method === "get" ? undefined : {};
              const { status, body } = await fleet.ask(at, keyOf(tenant, role), method.toUpperCase(), below, sent);
              const isRefused = status === 403 && /lacks the role|all tenants share/.test(String(body?.detail));
              const may =
                described["x-access"] === undefined || (ALLOWED[role] as readonly string[]).includes(operationId);
              if (isRefused === may || status === 401 || status >= 500)
                wrong.push([operationId, tenant, role, at, status, body?.detail, index + row]);
            }),
          ),
        ),
      );
    }
    expect(wrong).toEqual([]);
    expect(asked).toBe(operations.length * 27);
    expect(operations.length).toBeGreaterThan(55);
  });

  it("give no tenant's operator anything of another tenant", async () => {
    for (const at of [0, 1, 2])
      for (const tenant of TENANTS) {
        const key = keyOf(tenant, "operator");
        const other = TENANTS[(TENANTS.indexOf(tenant) + 1) % 3];
        const ask = (method: string, path: string, body?: unknown) => fleet.ask(at, key, method, path, body);
        expect((await ask("GET", "/tenants")).body.tenants.map(({ id }: { id: string }) => id)).toEqual([tenant]);
        const listed = (await ask("GET", "/keys")).body.keys.map(({ name }: { name: string }) => name);
        expect(listed).toEqual(["approver", "operator", "user"].map((role) => `${tenant}-${role}`));
        for (const [method, path, body] of [
          ["GET", `/tenants/${other}`],
          ["GET", `/tenants/${other}/quotas`],
          ["GET", `/tenants/${other}/members`],
          ["PUT", `/tenants/${other}/members/eve`, {}],
          ["DELETE", `/tenants/${other}/members/eve`],
          ["GET", `/keys?tenant=${other}`],
          ["GET", `/usage?tenant=${other}`],
          ["POST", "/keys", { name: "intruder", tenant: other }],
          ["POST", `/keys/${other}-user/rotate`, {}],
          ["DELETE", `/keys/${other}-user`],
        ] as const) {
          const answer = await ask(method, path, body);
          expect([path, answer.status, answer.body.code]).toEqual([path, 404, "TENANT_NOT_FOUND"]);
        }
      }
    expect((await fleet.ask(1, keyOf("acme", "user"), "GET", "/info")).status).toBe(200);
  });

  it("show each tenant's operator the calls of that tenant alone, wherever they ran", async () => {
    for (const [at, tenant] of TENANTS.entries()) {
      const call = await fleet.ask(at, keyOf(tenant, "user"), "POST", "/execute", { toolName: "default.ping" });
      expect(call.body.result).toBe("pong");
    }
    for (const tenant of TENANTS) {
      const read = async (path: string) => (await fleet.ask(1, keyOf(tenant, "operator"), "GET", path)).body;
      await expect
        .poll(async () => (await read("/usage?by=tenant,key,tool")).usage, { timeout: 20_000 })
        .toMatchObject([{ tenant, key: `${tenant}-user`, tool: "default.ping", calls: 1, errors: 0 }]);
      const { records } = await read("/history?kind=call");
      expect(records.map((record: { tenant: string }) => record.tenant)).toEqual(records.map(() => tenant));
    }
    const all = async () => (await fleet.ask(2, ROOT_TOKEN, "GET", "/usage?by=tenant&tenant=globex")).body.usage;
    expect(await all()).toMatchObject([{ tenant: "globex", key: "", calls: 1 }]);
    const csv = await fleet.ask(2, keyOf("acme", "operator"), "GET", "/usage.csv?by=tenant,key,tool");
    const [header, line, end] = csv.text.split("\r\n");
    expect(header).toBe("day,tenant,key,tool,calls,errors,tokens,cost");
    expect(line).toMatch(/^,acme,acme-user,default\.ping,1,0,\d+,0$/);
    expect(end).toBe("");
  });

  it("let no operator give rights that the operator lacks", async () => {
    const operator = keyOf("acme", "operator");
    for (const [more, right] of [
      [{ roles: ["approver"] }, "approver"],
      [{ capabilities: ["financial"] }, "financial"],
    ] as const) {
      const made = await fleet.ask(0, operator, "POST", "/keys", { name: "more", ...more });
      expect([made.status, made.body.code, made.body.detail]).toEqual([
        403,
        "PERMISSION_DENIED",
        expect.stringContaining(`"acme-operator" lacks "${right}"`),
      ]);
    }
    const member = await fleet.ask(0, operator, "PUT", "/tenants/acme/members/ada", { roles: ["operator"] });
    expect([member.status, member.body]).toMatchObject([200, { id: "ada", tenant: "acme", roles: ["operator"] }]);
    const taken = await fleet.ask(1, keyOf("globex", "operator"), "PUT", "/tenants/globex/members/ada", {});
    expect([taken.status, taken.body.code]).toEqual([409, "NAME_TAKEN"]);
  });
});
