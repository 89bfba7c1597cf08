import { describe, expect, it } from "vitest";
import type { PolicyDecision } from "../../../guard/policy.port.ts";
import { localOperator, type Principal } from "../../../guard/principal.ts";
import { createManualClock } from "../../../testing/manual-clock.ts";
import { policyContract } from "../../../testing/policy.contract.ts";
import { defineTool } from "../../../tool/define-tool.ts";
import type { ToolDraft } from "../../../tool/draft.ts";
import { toPredicate } from "../../../tool/tool-filter.ts";
import type { Tool } from "../../../tool/tool.ts";
import type { RuleDocument } from "./document/document.ts";
import { rulesPolicy, type RulesPolicy } from "./rules.ts";

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

function policyOf(...written: readonly RuleDocument[]): RulesPolicy {
  return rulesPolicy({ version: 1, rules: written });
}

function strictly(...written: readonly RuleDocument[]): RulesPolicy {
  return rulesPolicy({ version: 1, mode: "strict", rules: written });
}

const ada = localOperator({ id: "ada", roles: ["support"], tenant: "acme" });

function decide(
  policy: RulesPolicy,
  tool: Tool,
  args: Readonly<Record<string, unknown>> = {},
  principal: Principal = ada,
): PolicyDecision {
  return policy.decide({ tool, arguments: args, principal });
}

const find = toolAt("crm.find_customer");
const remove = toolAt("crm.delete_customer");

const DOCUMENTS: Readonly<Record<string, string>> = {
  "no rules": "version: 1",
  strict: "{ version: 1, mode: strict, rules: [{ id: reads, effect: allow, tools: query_* }] }",
  hidden: "{ version: 1, rules: [{ id: mail, effect: deny, tools: '*_email' }] }",
  conditional: "{ version: 1, rules: [{ id: orders, effect: deny, when: args.order_id == '1' }] }",
};
for (const [name, text] of Object.entries(DOCUMENTS)) {
  describe(`rules, with ${name}, as a policy`, () => {
    for (const { name: claim, run } of policyContract(() => ({ adapter: rulesPolicy(text) }))) it(claim, run);
  });
}

describe("what the rules let a caller see, as a filter", () => {
  const tools = [
    find,
    remove,
    toolAt("payroll.pay", { tags: ["Internal"], capabilities: ["financial"] }),
    toolAt("web.search", { source: "mcp", riskLevel: "high", tags: ["web"] }),
    toolAt("crm.sub.list_items", { tags: ["internal"] }),
  ];
  const eve = localOperator({ id: "eve", roles: [], tenant: "other" });
  const exact: readonly RulesPolicy[] = [
    policyOf(),
    policyOf({ id: "p", effect: "deny", namespaces: ["Payroll", "web"] }),
    policyOf({ id: "p", effect: "deny", tools: ["crm.delete_customer", "pay"], tenants: ["acme"] }),
    policyOf({ id: "p", effect: "deny", tags: ["internal"], sources: ["function"], principals: ["eve"] }),
    policyOf({ id: "p", effect: "deny", risk: ["high"] }, { id: "q", effect: "deny", capabilities: ["financial"] }),
    policyOf({ id: "p", effect: "deny", tools: ["crm.*"], when: "args.x == 1" }),
    strictly(),
    strictly({ id: "p", effect: "allow", namespaces: ["crm"] }, { id: "q", effect: "allow", tools: ["payroll.pay"] }),
    strictly(
      { id: "p", effect: "allow", namespaces: ["crm", "web"], tenants: ["acme"], roles: ["nobody"] },
      { id: "q", effect: "deny", tools: ["crm.delete_customer"] },
    ),
  ];

  it.each(exact)("agrees with what each tool is answered", (policy) => {
    for (const principal of [ada, eve]) {
      const filter = policy.visible?.(principal);
      const seen = tools.filter((tool) => policy.sees(tool, principal));
      const stated = tools.filter(toPredicate(filter ?? { any: [] }));
      const hidden = stated.filter((tool) => !policy.sees(tool, principal));
      expect(stated.filter((tool) => !hidden.includes(tool))).toEqual(seen);
      // A tag in other capitals is left to `sees`.
      expect(hidden.flatMap(({ tags }) => tags).every((tag) => tag === "Internal")).toBe(true);
    }
  });

  it.each([
    policyOf({ id: "p", effect: "deny", tools: ["delete_*"] }),
    policyOf({ id: "p", effect: "deny", namespaces: ["pay*"] }),
    policyOf({ id: "p", effect: "deny", when: "tool.namespace == 'payroll'" }),
    strictly({ id: "p", effect: "allow", tools: ["find_customer"] }),
  ])("is not stated if a rule looks at more", (policy) => {
    expect(policy.visible?.(ada)).toBeUndefined();
  });
});

describe("rules", () => {
  it("lets a deny win over an approval, and that over a permission, wherever they stand [000-6.2-policy-language]", () => {
    const allow: RuleDocument = { id: "all", effect: "allow" };
    const ask: RuleDocument = { id: "ask", effect: "require_approval", tools: "crm.*", reason: "Dana wants to know." };
    const deny: RuleDocument = { id: "no", effect: "deny", tools: "crm.*", reason: "Not while we migrate." };
    expect(decide(policyOf(allow), find)).toEqual({ effect: "allow", rule: "all" });
    expect(decide(policyOf(allow, ask), find)).toEqual({
      effect: "confirm",
      rule: "ask",
      reason: "Dana wants to know.",
    });
    expect(decide(policyOf(allow, ask, deny), find)).toEqual({
      effect: "deny",
      rule: "no",
      reason: "Not while we migrate.",
    });
  });

  it("keeps 000's confirmations where no rule speaks, and lets a permission lift the one that goes by names [000-6.2-default-confirmation]", () => {
    const policy = policyOf({ id: "drafts", effect: "allow", tools: "mail.delete_draft" });
    expect(decide(policy, find)).toEqual({ effect: "allow" });
    expect(decide(policy, remove)).toMatchObject({ effect: "confirm", rule: "security.require_confirmation" });
    expect(decide(policy, toolAt("mail.delete_draft"))).toEqual({ effect: "allow", rule: "drafts" });
  });

  it.each([
    ["asks for it", { requiresConfirmation: true }, "tool.requires_confirmation"],
    ["is destructive", { annotations: { destructive: true } }, "tool.annotations.destructive"],
    ["is of critical risk", { riskLevel: "critical" }, "tool.risk_level"],
  ] as const)("confirms a tool that %s, whatever is allowed [000-6.3-confirmation]", (_, draft, rule) => {
    const allow: RuleDocument = { id: "all", effect: "allow" };
    expect(decide(policyOf(allow), toolAt("crm.x", draft))).toMatchObject({ effect: "confirm", rule });
    expect(decide(strictly(allow), toolAt("crm.x", draft))).toMatchObject({ effect: "confirm", rule });
  });

  it("refuses in strict what no rule allows, and says which role would do [000-6.2-strict]", () => {
    const policy = strictly({ id: "billing", effect: "allow", namespaces: "billing", roles: ["finance", "admin"] });
    expect(decide(policy, toolAt("billing.pay"))).toEqual({
      effect: "deny",
      rule: "mode: strict",
      reason:
        'No rule allows billing.pay to "ada": rule "billing" does for the role finance or admin. Add an allow rule to the policy, or use another tool.',
    });
    expect(decide(policy, toolAt("billing.pay"), {}, localOperator({ roles: ["admin"] }))).toMatchObject({
      effect: "allow",
    });
    expect(
      rulesPolicy("version: 1", { mode: "strict" }).decide({ tool: find, arguments: {}, principal: ada }),
    ).toMatchObject({ effect: "deny", rule: "mode: strict" });
  });

  it("does not let a tool pass for another by the name its source gives it", () => {
    const impostor = toolAt("evil.anything", { sourceName: "github.read" });
    for (const effect of ["allow", "require_approval"] as const)
      expect(decide(strictly({ id: "a", effect, tools: "github.*" }), impostor)).toMatchObject({ effect: "deny" });
    expect(decide(policyOf({ id: "a", effect: "deny", tools: "github.*" }), impostor)).toMatchObject({ rule: "a" });
  });
});

describe("what a caller sees", () => {
  const sees = (policy: RulesPolicy, tool: Tool, principal: Principal = ada, toolset?: string): boolean =>
    policy.sees(tool, principal, toolset === undefined ? {} : { toolset });

  it("lacks what an unconditional deny is about, for those it is about", () => {
    const policy = policyOf({ id: "hr", effect: "deny", namespaces: "hr.*", roles: "support" });
    const salaries = toolAt("hr.payroll.read_salary");
    expect(sees(policy, salaries)).toBe(false);
    expect(sees(policy, salaries, localOperator({ roles: ["hr"] }))).toBe(true);
    expect(sees(policy, find)).toBe(true);
  });

  it("has what a deny refuses for its arguments or the time, and what one shows on purpose", () => {
    for (const rule of [
      { id: "a", effect: "deny", when: "args.amount > 5" },
      { id: "a", effect: "deny", when: "now.getHours() >= 0" },
      { id: "a", effect: "deny", hide: false },
    ] as const)
      expect(sees(policyOf(rule), find)).toBe(true);
    expect(decide(policyOf({ id: "a", effect: "deny", hide: false }), find)).toMatchObject({ effect: "deny" });
  });

  it("lacks what a deny by tool and caller alone is about, also where that cannot be decided", () => {
    const policy = policyOf({ id: "own", effect: "deny", when: "principal.tenant != tool.namespace" });
    expect(sees(policy, toolAt("acme.find"))).toBe(true);
    expect(sees(policy, toolAt("globex.find"))).toBe(false);
    expect(sees(policy, toolAt("acme.find"), localOperator())).toBe(false);
  });

  it("has, in strict, what some permission reaches by tool, tenant and toolset", () => {
    const policy = strictly(
      { id: "own", effect: "allow", namespaces: "crm", tenants: "acme", roles: "admin" },
      { id: "desk", effect: "require_approval", namespaces: "docs", toolsets: "desk" },
    );
    expect(sees(policy, find)).toBe(true);
    expect(decide(policy, find)).toMatchObject({ effect: "deny" });
    expect(sees(policy, find, localOperator({ tenant: "globex" }))).toBe(false);
    expect(sees(policy, find, localOperator())).toBe(false);
    expect(sees(policy, toolAt("docs.find"), ada, "desk")).toBe(true);
    expect(sees(policy, toolAt("docs.find"), ada, "office")).toBe(false);
    expect(sees(policy, toolAt("docs.find"))).toBe(false);
  });

  it("is not changed by case in the names of tools and namespaces, and is in those of people", () => {
    expect(sees(policyOf({ id: "a", effect: "deny", namespaces: "CRM" }), find)).toBe(false);
    expect(sees(policyOf({ id: "a", effect: "deny", principals: "ADA" }), find)).toBe(true);
  });

  it.each([
    ["a*a", false],
    ["*d*", false],
    ["ada*a", true],
    ["a*d*da", true],
    ["a*b*a", true],
  ])("goes by %s in names as one reads it: each part once, in order", (principals, visible) => {
    expect(sees(policyOf({ id: "a", effect: "deny", principals }), find)).toBe(visible);
  });

  it("takes ? in the names of people as it is written: ids may be addresses", () => {
    const rule = { id: "a", effect: "deny", principals: "https://id.example/?user=*" } as const;
    const seenBy = (id: string): boolean => sees(policyOf(rule), find, { ...ada, id });
    expect(seenBy("https://id.example/?user=ada")).toBe(false);
    expect(seenBy("https://id.example/xuser=ada")).toBe(true);
  });
});

describe("a condition", () => {
  const limited = policyOf({ id: "limit", effect: "deny", when: "args.amount > 100" });

  it("refuses what it says, and names itself", () => {
    expect(decide(limited, find, { amount: 101 })).toEqual({
      effect: "deny",
      rule: "limit",
      reason: 'Rule "limit" denies crm.find_customer to "ada" where args.amount > 100.',
    });
    expect(decide(limited, find, { amount: 100 })).toEqual({ effect: "allow" });
  });

  it.each([
    ["a missing argument", "args.amount > 100", {}, "field not found: amount"],
    ["one of another type", "args.amount > 100", { amount: "101" }, "no matching overload"],
    ["a missing tenant", "principal.tenant == 'acme'", {}, "field not found: tenant"],
    ["an answer that is neither true nor false", "args.amount", { amount: 5 }, "neither true nor false"],
    ["a division by zero", "1 / 0 == 1", {}, "divide by zero"],
    ["a text that is not a number", "double(args.amount) > 100.0", { amount: "many" }, "not a number"],
    ["a null that is there", "!has(args.amount) || args.amount < 5", { amount: null }, "no matching overload"],
    ["what is no JSON", "args.amount == 1", { amount: () => 1 }, "unsupported"],
  ])("refuses the call at %s, whatever the rule's effect", (_, when, args, said) => {
    for (const effect of ["allow", "deny", "require_approval"] as const) {
      const decision = decide(policyOf({ id: "limit", effect, when }), find, args, localOperator());
      expect(decision).toMatchObject({ effect: "deny", rule: "limit" });
      expect(decision).toHaveProperty("reason", expect.stringContaining(said));
      expect(decision).toHaveProperty("reason", expect.stringContaining('"limit"'));
    }
  });

  it("sees the time of the clock it is given", async () => {
    const clock = createManualClock(Date.UTC(2026, 0, 5, 7, 59));
    const hours: RuleDocument = { id: "hours", effect: "deny", when: "now.getHours() < 8" };
    const policy = rulesPolicy({ version: 1, rules: [hours] }, { clock });
    expect(decide(policy, find)).toMatchObject({ effect: "deny" });
    await clock.advance(60_000);
    expect(decide(policy, find)).toEqual({ effect: "allow" });
  });

  it("sees the tool as a document spells it", () => {
    const tool = toolAt("crm.x", { riskLevel: "high", tags: ["pii"], annotations: { readOnly: true } });
    const when =
      "tool.id == 'crm.x' && tool.risk == 'high' && 'pii' in tool.tags && tool.annotations.read_only && tool.source == 'function'";
    expect(decide(policyOf({ id: "all-of-it", effect: "deny", when }), tool)).toMatchObject({ rule: "all-of-it" });
  });

  it.each([
    ["read_only", { readOnly: true }, "tool.annotations.read_only"],
    ["idempotent", { idempotent: true }, "tool.annotations.idempotent"],
    ["not destructive", { destructive: false }, "!tool.annotations.destructive"],
    ["not open to the world", { openWorld: false }, "!tool.annotations.open_world"],
  ])("is not satisfied by a server's own hint that a tool is %s, until somebody confirms it", (_what, hints, when) => {
    const policy = strictly({ id: "trusting", effect: "allow", when });
    const claimed = { ...find, annotations: { ...hints, confirmed: false } };
    expect(decide(policy, claimed).effect).toBe("deny");
    expect(decide(policy, { ...claimed, annotations: { ...hints, confirmed: true } })).toMatchObject({
      effect: "allow",
      rule: "trusting",
    });
  });

  it.each([
    [{ destructive: true }, "tool.annotations.destructive"],
    [{ openWorld: true }, "tool.annotations.open_world"],
    [{ readOnly: false }, "!tool.annotations.read_only"],
  ])("believes a server that warns of its own tool: %j", (hints, when) => {
    const policy = policyOf({ id: "careful", effect: "deny", when });
    expect(decide(policy, { ...find, annotations: { ...hints, confirmed: false } })).toMatchObject({ rule: "careful" });
  });

  it("refuses to loop over large arguments, and does not take long over a hostile pattern", () => {
    const loop = policyOf({ id: "loop", effect: "deny", when: "args.list.exists(each, each in args.list)" });
    const large = { list: Array.from({ length: 3_000 }, (_, index) => `value ${index}`) };
    expect(decide(loop, find, large)).toHaveProperty("reason", expect.stringContaining("too large"));
    const long = { list: ["x".repeat(70_000)] };
    expect(decide(loop, find, long)).toHaveProperty("reason", expect.stringContaining("too large"));
    expect(decide(loop, find, { list: ["x"] })).toMatchObject({ effect: "deny", rule: "loop" });
    const pattern = policyOf({ id: "pattern", effect: "deny", when: "args.text.matches('^(a+)+$')" });
    expect(decide(pattern, find, { text: `${"a".repeat(50_000)}!` })).toEqual({ effect: "allow" });
  });

  it("does not reach what objects inherit", () => {
    expect(decide(policyOf({ id: "a", effect: "deny", when: "has(args.toString)" }), find)).toEqual({
      effect: "allow",
    });
    for (const name of ["constructor", "__proto__", "toString"])
      expect(decide(policyOf({ id: "a", effect: "allow", when: `args.${name} != 1` }), find)).toMatchObject({
        effect: "deny",
        reason: expect.stringContaining(`field not found: ${name}`),
      });
  });
});

describe("an attribute that is missing or of another type", () => {
  const everyone = policyOf({ id: "no-support", effect: "deny", roles: "support" });

  it.each([
    ["principal.roles", find, { ...ada, roles: "support" }],
    ["principal.tenant", find, { ...ada, tenant: 5 }],
    ["principal.id", find, { ...ada, id: undefined }],
    ["tool.riskLevel", { ...find, riskLevel: undefined }, ada],
    ["tool.capabilities", { ...find, capabilities: undefined }, ada],
    ["tool.source", { ...find, source: "elsewhere" }, ada],
  ])("refuses the call and hides the tool: %s", (attribute, tool, principal) => {
    const request = { tool: tool as Tool, arguments: {}, principal: principal as Principal };
    const decision = everyone.decide(request);
    expect(decision).toMatchObject({ effect: "deny", rule: "policy-attributes" });
    expect(decision).toHaveProperty("reason", expect.stringContaining(attribute));
    expect(everyone.sees(request.tool, request.principal)).toBe(false);
  });
});

describe("explain", () => {
  it("has the rules that matched in order, the one that decides, and why the others did not match", () => {
    const policy = policyOf(
      { id: "reads", effect: "allow", tools: ["crm.find_*"] },
      { id: "hr", effect: "deny", namespaces: ["hr"] },
      { id: "admins", effect: "allow", roles: ["admin"] },
      { id: "large", effect: "deny", when: "args.limit > 100" },
      { id: "ask", effect: "require_approval", tools: "crm.*" },
      { id: "broken", effect: "allow", when: "args.missing" },
    );
    expect(policy.explain({ tool: find, arguments: { limit: 5 }, principal: ada })).toEqual({
      decision: {
        effect: "deny",
        rule: "broken",
        reason:
          'Rule "broken" could not be decided, so the call is refused: field not found: missing, in args.missing. Pass the values that it uses, or fix the rule.',
      },
      visible: true,
      matched: [
        { id: "reads", effect: "allow", decides: false },
        { id: "ask", effect: "require_approval", decides: false },
        { id: "broken", effect: "allow", decides: true, failed: "field not found: missing" },
      ],
      unmatched: [
        { id: "hr", effect: "deny", why: "namespaces: none of hr" },
        { id: "admins", effect: "allow", why: "roles: none of admin" },
        { id: "large", effect: "deny", why: "when: args.limit > 100 is false" },
      ],
    });
  });
});
