import { createRequire } from "node:module";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { PEERS_ABSENT, peersInstalled } from "../../../../test/peers/peers.ts";
import { ToolArsenal } from "../../../arsenal.ts";
import type { Policy, PolicyDecision } from "../../../guard/policy.port.ts";
import { localOperator, type Principal } from "../../../guard/principal.ts";
import { policyContract } from "../../../testing/policy.contract.ts";
import { defineTool } from "../../../tool/define-tool.ts";
import type { ToolDraft } from "../../../tool/draft.ts";
import type { Tool } from "../../../tool/tool.ts";
import { cedarPolicy, type CedarParts } from "./cedar.ts";
import type { CedarLibrary } from "./library.ts";
import { repeats } from "../../../../test/kit/effort.ts";

const installed = peersInstalled();
if (!installed) process.stderr.write(`Tests of Cedar policies do not run: ${PEERS_ABSENT}\n`);

/** Found from test/peers, which alone has it. */
const library = installed
  ? (createRequire(new URL("../../../../test/peers/peers.ts", import.meta.url))(
      "@cedar-policy/cedar-wasm/nodejs",
    ) as CedarLibrary)
  : undefined;

function policyOf(text: string, parts: CedarParts = {}): Policy {
  return cedarPolicy(text, { ...(library ? { library } : {}), ...parts });
}

function toolAt(id: string, draft: Partial<ToolDraft> = {}): Tool {
  const dot = id.lastIndexOf(".");
  return defineTool({
    name: id.slice(dot + 1),
    namespace: id.slice(0, dot),
    description: "Does something that matters.",
    parameters: { type: "object", properties: {} },
    ...draft,
  });
}

const ada = localOperator({ id: "ada", roles: ["support"], tenant: "acme", scopes: ["crm"], local: false });
const find = toolAt("crm.find");

function decide(
  policy: Policy,
  args: Readonly<Record<string, unknown>> = {},
  { tool = find, principal = ada, toolset }: { tool?: Tool; principal?: Principal; toolset?: string } = {},
): PolicyDecision {
  return policy.decide({
    tool,
    arguments: args,
    principal,
    ...(toolset === undefined ? {} : { toolset }),
  }) as PolicyDecision;
}

const ALL = "permit(principal, action, resource);";
const SEE = 'permit(principal, action == Action::"see", resource);';

it("names the line that installs the library where it is absent", () => {
  expect(() => cedarPolicy(ALL)).toThrow(
    expect.objectContaining({
      code: "LIBRARY_MISSING",
      message: "Cedar policies need a library: npm install @cedar-policy/cedar-wasm",
    }),
  );
});

// because Cedar's library is a peer that the user installs; CI has it.
describe.skipIf(!installed)("cedar", () => {
  for (const text of [ALL, SEE, 'forbid(principal, action, resource) when { resource.risk == "high" };'])
    for (const { name, run } of policyContract(() => ({ adapter: policyOf(text) }))) it(`${name}: ${text}`, run);

  it("permits by default nothing, and says so", () => {
    expect(decide(policyOf(SEE))).toEqual({
      effect: "deny",
      rule: "default-deny",
      reason: 'No policy permits crm.find to "ada". Add a permit, or use another tool.',
    });
    expect(policyOf("").sees(find, ada)).toBe(false);
  });

  it("names the permit that lets a call run", () => {
    expect(decide(policyOf(`@id("everything") ${ALL}`))).toEqual({ effect: "allow", rule: "everything" });
    expect(decide(policyOf(`\n\n${ALL}`))).toEqual({ effect: "allow", rule: "policy 1" });
  });

  it("lets a forbid win over every permit, and names it", () => {
    const policy = policyOf(
      `${ALL}\n@id("rows") forbid(principal, action == Action::"call", resource) when { context.args.rows > 10 };`,
    );
    expect(decide(policy, { rows: 10 }).effect).toBe("allow");
    expect(decide(policy, { rows: 11 })).toEqual({
      effect: "deny",
      rule: "rows",
      reason: 'Policy "rows" forbids crm.find to "ada".',
    });
  });

  it("asks a person where a matching permit says so, though another permits outright", () => {
    const asking =
      '@id("big") @require_approval("Ask the owner.") permit(principal, action, resource) when { context has args && context.args.rows > 10 };';
    const policy = policyOf(`${ALL}\n${asking}`);
    expect(decide(policy, { rows: 1 }).effect).toBe("allow");
    expect(decide(policy, { rows: 11 })).toEqual({ effect: "confirm", rule: "big", reason: "Ask the owner." });
    expect(policy.rules?.()?.slice(0, 2)).toEqual([
      { rule: "policy 1", effect: "allow", conditions: [ALL] },
      { rule: "big", effect: "confirm", conditions: [asking] },
    ]);
    expect(decide(policyOf(`@require_approval ${ALL}`))).toEqual({
      effect: "confirm",
      rule: "policy 1",
      reason: 'A person must approve crm.find: policy "policy 1" requires it.',
    });
  });

  it("asks a person where the tool's own definition does, whatever permits it", () => {
    const tool = toolAt("crm.erase", { requiresConfirmation: true });
    expect(decide(policyOf(ALL), {}, { tool })).toMatchObject({
      effect: "confirm",
      rule: "tool.requires_confirmation",
    });
    const claimed = { ...find, source: "mcp", annotations: { destructive: true, confirmed: false } } as const;
    expect(decide(policyOf(ALL), {}, { tool: claimed }).effect).toBe("allow");
    expect(decide(policyOf(ALL, { mode: "strict" }), {}, { tool: claimed }).effect).toBe("confirm");
  });

  it("does not believe a server's own hint that its tool only reads, until somebody confirms it", () => {
    const policy = policyOf("permit(principal, action, resource) when { resource.annotations.read_only };");
    const claimed = { ...find, source: "mcp", annotations: { readOnly: true, confirmed: false } } as const;
    expect(decide(policy, {}, { tool: claimed }).effect).toBe("deny");
    const confirmed = { ...claimed, annotations: { readOnly: true, confirmed: true } };
    expect(decide(policy, {}, { tool: confirmed }).effect).toBe("allow");
  });

  it.each([
    'principal == Principal::"ada"',
    'principal in Role::"support"',
    'principal in Tenant::"acme"',
    'principal is Principal in Role::"support"',
  ])("knows who asks: %s", (who) => {
    const policy = policyOf(`permit(${who}, action, resource);`);
    expect(decide(policy).effect).toBe("allow");
    expect(policy.sees(find, localOperator({ id: "bob", roles: ["guest"], tenant: "other" }))).toBe(false);
  });

  it.each([
    'principal.id == "ada" && principal.tenant == "acme"',
    'principal.roles.contains("support") && principal.scopes.contains("crm")',
    'principal.capabilities.containsAll(["read_data", "financial"]) && !principal.local',
    'resource in Namespace::"crm" && resource.namespace == "crm" && resource.name == "find"',
    'resource.id == "crm.find" && resource.version == "1.0.0" && resource.tags.contains("people")',
    'resource.source == "function" && resource.source_name == "find" && resource.risk == "high"',
    'resource.capabilities == ["read_data"] && resource.scopes == ["crm"] && resource.category == "sales"',
    "resource.annotations.read_only && resource.annotations.confirmed && !resource.requires_confirmation && !resource.deprecated",
    "!(resource has ensemble) && !(resource has source_uri) && !(resource.annotations has destructive)",
  ])("shows policies all of a tool and its caller: %s", (condition) => {
    const tool = toolAt("crm.find", {
      tags: ["people"],
      category: "sales",
      riskLevel: "high",
      capabilities: ["read_data"],
      requiredScopes: ["crm"],
      annotations: { readOnly: true },
    });
    expect(decide(policyOf(`permit(principal, action, resource) when { ${condition} };`), {}, { tool }).effect).toBe(
      "allow",
    );
  });

  it.each<readonly [string, Readonly<Record<string, unknown>>]>([
    ['context.args == {a: 1, b: "x", c: true}', { a: 1, b: "x", c: true, gone: null, undefined }],
    ['context.args.list == [1, "x"]', { list: [1, "x", 1, null] }],
    ["context.args.deep.er == {}", { deep: { er: {} } }],
    ['context.args.price == decimal("12.5")', { price: 12.5 }],
    ['context.args.angle == "0.123456"', { angle: 0.123_456 }],
    ['context.args.large == "1e+21"', { large: 1e21 }],
    ["context.args.negative < 0", { negative: -3 }],
    ['context.toolset == "sales"', {}],
  ])("shows policies the arguments: %s", (condition, args) => {
    const text = `${SEE} permit(principal, action == Action::"call", resource) when { ${condition} };`;
    expect(decide(policyOf(text), args, { toolset: "sales" }).effect).toBe("allow");
  });

  it.each([
    ["a value of another type", { rows: "many" }],
    ["a value that is absent", {}],
    ["a fraction in place of a whole number", { rows: 1.5 }],
  ])("refuses where a policy fails on %s, be it one that forbids", (_what, args) => {
    const policy = policyOf(
      `${ALL} @id("rows") forbid(principal, action == Action::"call", resource) when { context.args.rows > 10 };`,
    );
    expect(decide(policy, args)).toMatchObject({ effect: "deny", rule: "rows" });
  });

  it.each([
    ["an entity", { role: { __entity: { type: "Role", id: "admin" } } }],
    ["an extension", { list: [{ __extn: { fn: "decimal", arg: "1.5" } }] }],
    ["an expression", { x: { __expr: "true" } }],
    ["a function", { x: () => 1 }],
    ["a nesting without end", { x: JSON.parse("[".repeat(100) + "]".repeat(100)) as unknown }],
  ])("refuses arguments that would pass for %s", (_what, args) => {
    expect(decide(policyOf(ALL), args)).toMatchObject({
      effect: "deny",
      rule: "cedar",
      reason: expect.stringContaining("its arguments cannot be converted for a policy: they "),
    });
  });

  it("refuses a tool or a caller that the library cannot read", () => {
    const broken = { ...find, riskLevel: null } as unknown as Tool;
    expect(policyOf(ALL).sees(broken, ada)).toBe(false);
    expect(decide(policyOf(ALL), {}, { tool: broken }).effect).toBe("deny");
  });

  it("hides what it lets nobody see, and asks about it once", () => {
    let asked = 0;
    const counting = library && {
      ...library,
      statefulIsAuthorized: (call: Parameters<CedarLibrary["statefulIsAuthorized"]>[0]) => (
        asked++,
        library.statefulIsAuthorized(call)
      ),
    };
    const policy = policyOf(
      'permit(principal, action == Action::"call", resource);',
      counting ? { library: counting } : {},
    );
    for (let turn = 0; turn < 3; turn++) expect(policy.sees(find, { ...ada })).toBe(false);
    expect(asked).toBe(1);
    expect(decide(policy)).toEqual({ effect: "deny", rule: "see", reason: 'No policy lets "ada" see crm.find.' });
    expect(asked).toBe(1);
    for (const other of [
      { id: "x" },
      { tenant: "x" },
      { roles: [] },
      { scopes: [] },
      { capabilities: [] },
      { local: true },
    ])
      policy.sees(find, { ...ada, ...other });
    policy.sees(find, ada, { toolset: "x" });
    policy.sees(toolAt("crm.find"), ada);
    expect(asked).toBe(9);
  });

  it("decides arguments of any shape, and never by throwing", () => {
    const policy = policyOf(ALL);
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (args) => {
        expect(["allow", "deny"]).toContain(decide(policy, args).effect);
      }),
      { numRuns: repeats(200) },
    );
  });

  it.each([
    ["permit(principal", "a.cedar:1 is not a valid policy"],
    [`${ALL}\n\nforbid(nobody, action, resource);`, "a.cedar:3 is not a valid policy"],
    ["permit(principal == ?principal, action, resource);", "a.cedar:1 is a template."],
    [`@id("a") ${ALL}\n@id("a") ${SEE}`, 'a.cedar:2 has the id "a" of another policy. Give it its own @id.'],
    [
      `${ALL}\n@require_approval("x") forbid(principal, action, resource);`,
      "a.cedar:2 is a forbid, which cannot require approval. Write @require_approval on a permit.",
    ],
  ])("refuses %j with its line", (text, message) => {
    expect(() => policyOf(text, { name: "a.cedar" })).toThrow(
      expect.objectContaining({ code: "CONFIG_INVALID", message: expect.stringContaining(message) }),
    );
  });

  it("keeps two policies apart, and the same text twice as one", () => {
    const [one, other] = [policyOf(`@id("one") ${ALL}`), policyOf(`@id("other") ${ALL} ${ALL} ${ALL}`)];
    expect(decide(one)).toEqual({ effect: "allow", rule: "one" });
    expect(decide(other)).toEqual({ effect: "allow", rule: "other" });
  });

  it("guards an arsenal", async () => {
    const policy = policyOf(
      `${SEE} permit(principal in Role::"operator", action == Action::"call", resource in Namespace::"crm");`,
    );
    await using arsenal = new ToolArsenal({ telemetry: { enabled: false }, policy });
    for (const namespace of ["crm", "hr"])
      arsenal.register(
        { name: "look", namespace, description: "Looks something up.", parameters: { type: "object" } },
        () => namespace,
      );
    expect(await arsenal.execute({ toolName: "crm.look", arguments: {} })).toMatchObject({ result: "crm" });
    expect(await arsenal.execute({ toolName: "hr.look", arguments: {} })).toMatchObject({
      status: "permission_denied",
    });
  });
});
