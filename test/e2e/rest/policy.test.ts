import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { memoryAudit } from "../../../src/adapters/audit/memory.ts";
import type { ArsenalEvent, ToolArsenal } from "../../../src/index.ts";
import { operate, type OperatedGateway } from "./operated-gateway.ts";

const POLICY = `version: 1
rules:
  - { id: no-payroll, effect: deny, tools: ["hr.payroll"], roles: [intern] }
  - { id: big-refunds, effect: require_approval, tools: ["billing.refund"], when: "args.amount > 100" }
`;
const STRICTER = "version: 1\nrules: [{ id: nothing, effect: deny, hide: false }]\n";

let folder: string;
let ran: string[];
let events: ArsenalEvent[];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "arsenal-rest-policy-"));
  await writeFile(join(folder, "policy.yaml"), POLICY);
  ran = [];
  events = [];
});
afterEach(() => rm(folder, { recursive: true }));

function fill(arsenal: ToolArsenal): void {
  const add = (namespace: string, name: string, more: object = {}): void =>
    void arsenal.register(
      { name, namespace, description: `Does ${name}.`, parameters: { type: "object" }, ...more },
      () => void ran.push(name),
    );
  add("hr", "payroll", { capabilities: ["pii_access"] });
  add("billing", "refund", { requiredScopes: ["billing"] });
  arsenal.subscribe((event) => void events.push(event));
}

const audit = memoryAudit();
const serve = (): Promise<OperatedGateway> =>
  operate(
    { security: { policyFile: join(folder, "policy.yaml"), maxRequestsPerMinute: 1 } },
    { fill, parts: { audit } },
  );

const explain = async (gateway: OperatedGateway, body: object, who: "olga" | "nora" = "olga") =>
  gateway.ask(who, "POST", "/policy/explain", body);
const ANN = { id: "ann", scopes: ["*"], capabilities: ["pii_access"] };

describe("GET /api/v1/policy/rules", () => {
  it("lists the rules in force as they are written, and those of tools' own definitions", async () => {
    const gateway = await serve();
    const { status, body } = await gateway.ask("olga", "GET", "/policy/rules");
    expect(status).toBe(200);
    expect(body).toMatchObject({
      rules: [
        { rule: "no-payroll", effect: "deny", conditions: ["tools: hr.payroll", "roles: intern"] },
        { rule: "big-refunds", effect: "confirm", conditions: ["tools: billing.refund", "when: args.amount > 100"] },
        { rule: "tool.requires_confirmation", effect: "confirm" },
        { rule: "tool.annotations.destructive", effect: "confirm" },
        { rule: "tool.risk_level", effect: "confirm" },
      ],
    });
  });

  it("lists the new rules after a reload", async () => {
    const gateway = await serve();
    await writeFile(join(folder, "policy.yaml"), STRICTER);
    expect(await gateway.ask("olga", "POST", "/policy/reload")).toMatchObject({ status: 204 });
    const { body } = await gateway.ask("olga", "GET", "/policy/rules");
    expect(body).toMatchObject({ rules: [{ rule: "nothing", effect: "deny", conditions: [] }, {}, {}, {}] });
  });

  it("shows the operators of a tenant no rule about other tenants", async () => {
    const rule = (tenant: string): string => `{ id: for-${tenant}, effect: deny, tenants: [${tenant}], hide: false }`;
    await writeFile(join(folder, "policy.yaml"), `version: 1\nrules: [${rule("north")}, ${rule("south")}]\n`);
    const gateway = await serve();
    const listed = async (who: "olga" | "nora") =>
      JSON.stringify((await gateway.ask(who, "GET", "/policy/rules")).body).match(/(?<="for-)\w+/g);
    expect(await listed("olga")).toEqual(["north", "south"]);
    expect(await listed("nora")).toEqual(["north"]);
  });
});

describe("POST /api/v1/policy/explain", () => {
  it("says what the policy in force would say, and which rules it looked at", async () => {
    const gateway = await serve();
    const call = { toolName: "billing.refund", arguments: { amount: 500 }, principal: ANN };
    expect(await explain(gateway, call)).toMatchObject({
      status: 200,
      body: {
        toolId: "billing.refund",
        visible: true,
        effect: "confirm",
        rule: "big-refunds",
        reason: expect.any(String),
        explains: true,
        steps: [
          { rule: "no-payroll", matched: false, why: "tools: none of hr.payroll" },
          { rule: "big-refunds", matched: true },
        ],
      },
    });
    expect((await explain(gateway, { ...call, arguments: { amount: 5 } })).body).toMatchObject({
      visible: true,
      effect: "allow",
    });
  });

  it("includes the guard's own checks: visibility, capabilities, scopes and what the tool itself asks", async () => {
    const gateway = await serve();
    const payroll = { toolName: "hr.payroll", principal: { ...ANN, roles: ["intern"] } };
    expect((await explain(gateway, payroll)).body).toMatchObject({
      visible: false,
      effect: "deny",
      rule: "no-payroll",
    });
    const lacking = { toolName: "hr.payroll", principal: { id: "bo" } };
    expect((await explain(gateway, lacking)).body).toMatchObject({
      visible: true,
      effect: "deny",
      reason: expect.stringContaining("lacks the capability pii_access"),
    });
    expect((await explain(gateway, { toolName: "billing.refund", principal: { id: "bo" } })).body).toMatchObject({
      effect: "deny",
      reason: expect.stringContaining("lacks the scope billing"),
    });
  });

  it("runs nothing, asks nobody, uses up no limit and leaves no record", async () => {
    const gateway = await serve();
    const records = audit.lines.length;
    const call = { toolName: "billing.refund", arguments: { amount: 500 }, principal: ANN };
    for (let asked = 0; asked < 5; asked++) expect((await explain(gateway, call)).body.effect).toBe("confirm");
    expect([ran, await gateway.arsenal.approvals.list(), audit.lines.length - records]).toEqual([[], [], 0]);
    expect(events.filter(({ name }) => name.startsWith("call-") || name.startsWith("confirmation-"))).toEqual([]);
  });

  it("says where a policy cannot tell how it decides", async () => {
    const parts = { policy: { sees: () => true, decide: () => ({ effect: "allow" as const }) } };
    const gateway = await operate({}, { fill, parts });
    const { body } = await explain(gateway, { toolName: "billing.refund", principal: ANN });
    expect(body).toEqual({ toolId: "billing.refund", visible: true, effect: "allow", explains: false });
  });

  it("tells how lists of patterns decide, too", async () => {
    const gateway = await operate({ security: { deny: ["hr.*"] } }, { fill });
    expect((await explain(gateway, { toolName: "hr.payroll", principal: ANN })).body).toMatchObject({
      visible: false,
      effect: "deny",
      rule: "security.deny",
      steps: [{ rule: "security.deny", matched: true, why: "it matches hr.*" }, {}, {}],
    });
  });

  it("shows an operator of a tenant that tenant's callers only", async () => {
    const gateway = await serve();
    const call = { toolName: "billing.refund", principal: { ...ANN, tenant: "south" } };
    expect((await explain(gateway, call, "nora")).body).toMatchObject({ status: 403, code: "PERMISSION_DENIED" });
    expect((await explain(gateway, { ...call, principal: ANN }, "nora")).status).toBe(200);
  });

  it("refuses callers without the role, unknown tools and invalid requests", async () => {
    const gateway = await serve();
    const call = { toolName: "billing.refund", principal: ANN };
    expect((await gateway.ask("guest", "POST", "/policy/explain", call)).status).toBe(403);
    expect((await explain(gateway, { ...call, toolName: "billing.refnd" })).body).toMatchObject({
      status: 404,
      code: "TOOL_NOT_FOUND",
    });
    for (const bad of [
      {},
      { ...call, principal: { roles: [] } },
      { ...call, arguments: [] },
      { ...call, arguments: 1 },
    ])
      expect((await explain(gateway, bad)).body).toMatchObject({ status: 400, code: "INPUT_INVALID" });
  });
});

describe("POST /api/v1/policy/test", () => {
  const CASES = [
    { name: "small", tool: "billing.refund", principal: "ann", args: { amount: 5 }, expect: "allow" },
    {
      tool: "billing.refund",
      principal: "ann",
      args: { amount: 500 },
      expect: "require_approval",
      rule: "big-refunds",
    },
    { tool: "hr.payroll", principal: { id: "bo", roles: ["intern"] }, expect: "hidden" },
  ];

  it("checks the policy in force against cases, as the command line does", async () => {
    const gateway = await serve();
    const wrong = { ...CASES[0], expect: "deny" };
    expect(await gateway.ask("olga", "POST", "/policy/test", { cases: [...CASES, wrong] })).toMatchObject({
      status: 200,
      body: {
        failed: 1,
        cases: [
          { ok: true, name: "small", expected: "allow", actual: "allow" },
          { ok: true, name: "2: billing.refund", actual: "require_approval", rule: "big-refunds" },
          { ok: true, actual: "hidden" },
          { ok: false, expected: "deny", actual: "allow" },
        ],
      },
    });
  });

  it("checks a document that is not in force yet", async () => {
    const gateway = await serve();
    const { body } = await gateway.ask("olga", "POST", "/policy/test", { policy: STRICTER, cases: CASES.slice(0, 1) });
    expect(body).toMatchObject({ failed: 1, cases: [{ actual: "deny", rule: "nothing" }] });
  });

  it("refuses callers without the role, invalid cases and invalid documents", async () => {
    const gateway = await serve();
    expect((await gateway.ask("guest", "POST", "/policy/test", { cases: CASES })).status).toBe(403);
    for (const bad of [{}, { cases: [] }, { cases: [{ tool: "x" }] }, { policy: "version: 9", cases: CASES }])
      expect((await gateway.ask("olga", "POST", "/policy/test", bad)).body).toMatchObject({
        status: 400,
        code: "INPUT_INVALID",
      });
  });
});

describe("POST /api/v1/policy/reload", () => {
  it("has calls follow what the file says now, and keeps the old policy if it is invalid", async () => {
    const gateway = await serve();
    const call = { toolName: "billing.refund", arguments: { amount: 5 }, principal: ANN };
    await writeFile(join(folder, "policy.yaml"), STRICTER);
    expect(await gateway.ask("olga", "POST", "/policy/reload", {})).toMatchObject({ status: 204 });
    expect((await explain(gateway, call)).body).toMatchObject({ effect: "deny", rule: "nothing" });
    await writeFile(join(folder, "policy.yaml"), "version: 9");
    expect((await gateway.ask("olga", "POST", "/policy/reload", {})).body).toMatchObject({ code: "CONFIG_INVALID" });
    expect((await explain(gateway, call)).body).toMatchObject({ effect: "deny", rule: "nothing" });
    expect((await gateway.ask("guest", "POST", "/policy/reload", {})).status).toBe(403);
  });
});
