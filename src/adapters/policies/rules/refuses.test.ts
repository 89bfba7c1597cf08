import { describe, expect, it } from "vitest";
import { localOperator } from "../../../guard/principal.ts";
import { defineTool } from "../../../tool/define-tool.ts";
import type { RuleDocument } from "./document/document.ts";
import { rulesPolicy, type RulesPolicy } from "./rules.ts";

const policyOf = (...rules: readonly RuleDocument[]): RulesPolicy => rulesPolicy({ version: 1, rules });
const strictly = (...rules: readonly RuleDocument[]): RulesPolicy => rulesPolicy({ version: 1, mode: "strict", rules });
const ada = localOperator({ id: "ada", roles: ["support"], tenant: "acme" });
const find = defineTool({
  name: "find_customer",
  namespace: "crm",
  description: "Finds a customer.",
  parameters: { type: "object" },
});

describe("what rules refuse before there is a call", () => {
  const ruleOf = (policy: RulesPolicy, tool = find): string | undefined => policy.refuses?.(tool, ada)?.rule;

  it("is what a deny rule refuses whatever the arguments and the time", () => {
    expect(ruleOf(policyOf({ id: "a", effect: "deny", roles: "support" }))).toBe("a");
    expect(ruleOf(policyOf({ id: "a", effect: "deny", roles: "finance" }))).toBeUndefined();
    expect(ruleOf(policyOf({ id: "a", effect: "deny", when: 'principal.tenant == "acme"' }))).toBe("a");
    expect(ruleOf(policyOf({ id: "a", effect: "deny", when: "args.amount > 100" }))).toBeUndefined();
    expect(ruleOf(policyOf({ id: "a", effect: "deny", when: "now.getHours() < 8" }))).toBeUndefined();
  });

  it("is what a condition that always fails refuses, whatever the effect of its rule", () => {
    expect(ruleOf(policyOf({ id: "a", effect: "allow", when: "1 / size(principal.roles) > 1 / 0" }))).toBe("a");
  });

  it("is in strict mode what no rule may allow", () => {
    expect(ruleOf(strictly({ id: "a", effect: "allow", namespaces: "crm", roles: "finance" }))).toBe("mode: strict");
    expect(ruleOf(strictly({ id: "a", effect: "allow", namespaces: "crm", roles: "support" }))).toBeUndefined();
    expect(ruleOf(strictly({ id: "a", effect: "require_approval", namespaces: "crm" }))).toBeUndefined();
    expect(ruleOf(strictly({ id: "a", effect: "allow", when: "args.amount < 100" }))).toBeUndefined();
    expect(ruleOf(strictly({ id: "a", effect: "allow", when: 'principal.tenant == "globex"' }))).toBe("mode: strict");
  });

  it("is listed all the same if the rule says hide: false", () => {
    expect(policyOf({ id: "a", effect: "deny", hide: false }).refuses?.(find, ada)).toEqual({
      rule: "a",
      reason: 'Rule "a" denies crm.find_customer to "ada".',
      listed: true,
    });
  });
});
