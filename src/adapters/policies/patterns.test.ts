import { describe, expect, it } from "vitest";
import { ArsenalError } from "../../errors/arsenal-error.ts";
import { localOperator } from "../../guard/principal.ts";
import { policyContract } from "../../testing/policy.contract.ts";
import { defineTool } from "../../tool/define-tool.ts";
import type { ToolDraft } from "../../tool/draft.ts";
import type { Tool } from "../../tool/tool.ts";
import type { PolicyDecision } from "../../guard/policy.port.ts";
import { DEFAULT_CONFIRMATION, patternsPolicy, type PatternsOptions } from "./patterns.ts";

function toolNamed(name: string, draft: Partial<ToolDraft> = {}): Tool {
  return defineTool({
    name,
    description: "Does something that matters.",
    parameters: { type: "object", properties: {} },
    ...draft,
  });
}

async function decide(tool: Tool, options?: PatternsOptions): Promise<PolicyDecision> {
  return patternsPolicy(options).decide({ tool, arguments: {}, principal: localOperator() });
}

for (const options of [{}, { mode: "strict", allow: ["query_*"] }, { deny: ["*_email"] }] as const) {
  describe(`patterns(${JSON.stringify(options)}), as a policy`, () => {
    for (const { name, run } of policyContract(() => ({ adapter: patternsPolicy(options) }))) it(name, run);
  });
}

describe("patterns", () => {
  it("confirms what destroys or pays, unless told otherwise [000-6.2-default-confirmation]", async () => {
    expect(DEFAULT_CONFIRMATION).toEqual(["delete_*", "payment_*", "drop_*", "refund_*"]);
    for (const name of ["delete_user", "payment_send", "drop_table", "refund_order"]) {
      expect(await decide(toolNamed(name))).toMatchObject({ effect: "confirm", rule: "security.require_confirmation" });
    }
    expect(await decide(toolNamed("process_refund"))).toEqual({ effect: "allow" });
    expect(await decide(toolNamed("delete_user"), { requireConfirmation: ["send_*"] })).toEqual({ effect: "allow" });
  });

  it("lists its lists as rules", () => {
    const options = { mode: "strict", allow: ["get_*"], deny: ["*_email", "wipe"], humanInTheLoop: ["pay_*"] } as const;
    expect(patternsPolicy(options).rules?.()).toMatchObject([
      { rule: "security.deny", effect: "deny", conditions: ["tools: *_email, wipe"] },
      { rule: "security.allow", effect: "allow", conditions: ["tools: get_*"] },
      { rule: "security.policy: strict", effect: "deny", conditions: ["no rule allows it"] },
      { rule: "security.require_confirmation", conditions: ["tools: delete_*, payment_*, drop_*, refund_*"] },
      { rule: "security.human_in_the_loop", effect: "confirm", conditions: ["tools: pay_*"] },
      { rule: "tool.requires_confirmation" },
      { rule: "tool.annotations.destructive" },
      { rule: "tool.risk_level" },
    ]);
  });

  it("goes by the source's own name as well", async () => {
    expect(await decide(toolNamed("user_removal", { sourceName: "delete_user" }))).toEqual({
      effect: "confirm",
      rule: "security.require_confirmation",
      reason: "A person must approve default.user_removal: it matches delete_*.",
    });
  });

  it("confirms what humanInTheLoop adds, beside the defaults [000-6.2-human-in-the-loop]", async () => {
    const options = { humanInTheLoop: ["mail.*"] };
    expect(await decide(toolNamed("send_it", { namespace: "mail" }), options)).toEqual({
      effect: "confirm",
      rule: "security.human_in_the_loop",
      reason: "A person must approve mail.send_it: it matches mail.*.",
    });
    expect(await decide(toolNamed("delete_user"), options)).toMatchObject({ effect: "confirm" });
  });

  it.each([
    ["asks for it", { requiresConfirmation: true }, "tool.requires_confirmation"],
    ["hints that it is destructive", { annotations: { destructive: true } }, "tool.annotations.destructive"],
    ["is of critical risk", { riskLevel: "critical" }, "tool.risk_level"],
  ] as const)("confirms a tool that %s, whatever the lists say [000-6.3-confirmation]", async (_, draft, rule) => {
    const tool = toolNamed("harmless", draft);
    const options = { requireConfirmation: [], allow: ["*"] };
    expect(await decide(tool, options)).toMatchObject({ effect: "confirm", rule });
    expect(await decide(tool, { ...options, mode: "strict" })).toMatchObject({ effect: "confirm", rule });
  });

  it("lets a server's own hint that its tool is destructive count in strict, or once somebody vouches for it", async () => {
    const hinted: Tool = {
      ...toolNamed("write_file"),
      source: "mcp",
      annotations: { destructive: true, confirmed: false },
    };
    expect(await decide(hinted)).toEqual({ effect: "allow" });
    const confirmed = { effect: "confirm", rule: "tool.annotations.destructive" };
    expect(await decide(hinted, { mode: "strict", allow: ["*"] })).toMatchObject(confirmed);
    const vouched = { ...hinted, annotations: { destructive: true, confirmed: true } };
    expect(await decide(vouched)).toMatchObject(confirmed);
  });

  it("allows a tool of high risk", async () => {
    expect(await decide(toolNamed("harmless", { riskLevel: "high" }))).toEqual({ effect: "allow" });
  });

  it("hides and refuses what is denied, also where it is allowed", async () => {
    const options: PatternsOptions = { deny: ["*_secret"], allow: ["*"], mode: "strict" };
    const tool = toolNamed("read_secret");
    expect(patternsPolicy(options).sees(tool, localOperator())).toBe(false);
    expect(patternsPolicy(options).sees(toolNamed("read_page"), localOperator())).toBe(true);
    expect(await decide(tool, options)).toEqual({
      effect: "deny",
      rule: "security.deny",
      reason: "default.read_secret is denied to every caller: it matches *_secret.",
    });
  });

  it("refuses in strict what no rule allows, names the rule to add, and still shows it [000-6.2-strict]", async () => {
    const options: PatternsOptions = { mode: "strict", allow: ["read_*"] };
    const tool = toolNamed("write_page");
    expect(await decide(tool, options)).toEqual({
      effect: "deny",
      rule: "security.policy: strict",
      reason: 'No rule allows default.write_page. Add "default.write_page" to security.allow to let it run.',
    });
    expect(patternsPolicy(options).sees(tool, localOperator())).toBe(true);
    expect(await decide(toolNamed("read_page"), options)).toEqual({ effect: "allow" });
    expect(await decide(tool, { ...options, mode: "standard" })).toEqual({ effect: "allow" });
  });

  it("confirms in strict what is allowed and matches a confirmation as well", async () => {
    expect(await decide(toolNamed("delete_user"), { mode: "strict", allow: ["*"] })).toMatchObject({
      effect: "confirm",
    });
  });

  it("does not let a tool into strict by a source name that looks like an allowed id", async () => {
    const impostor = toolNamed("anything", { namespace: "evil", sourceName: "github.read" });
    expect(await decide(impostor, { mode: "strict", allow: ["github.*"] })).toMatchObject({ effect: "deny" });
    expect(await decide(impostor, { deny: ["github.*"] })).toMatchObject({ effect: "deny" });
  });

  it.each([
    ["security.deny.0", { deny: [""] }],
    ["security.allow.1", { allow: ["a", 3 as unknown as string] }],
    ["security.require_confirmation.0", { requireConfirmation: [" "] }],
    ["security.human_in_the_loop.0", { humanInTheLoop: [null as unknown as string] }],
    ["security.policy", { mode: "paranoid" as "strict" }],
  ])("refuses a wrong %s when it is made, not when it is used", (field, options) => {
    expect(() => patternsPolicy(options)).toThrow(ArsenalError);
    expect(() => patternsPolicy(options)).toThrow(field);
  });
});
