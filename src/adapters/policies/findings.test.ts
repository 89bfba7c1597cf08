import { expect, it } from "vitest";
import { defineTool } from "../../tool/define-tool.ts";
import { patternsPolicy } from "./patterns.ts";
import { rulesPolicy } from "./rules/rules.ts";

const find = defineTool({
  name: "find_customer",
  namespace: "crm",
  description: "Finds a customer by name.",
  parameters: { type: "object", properties: {} },
});
const subjects = { tools: [find], toolsets: ["support"] };

it("finds rules that match no tool, toolsets that do not exist, and attributes that no caller and no tool has", () => {
  const policy = rulesPolicy(`
version: 1
presets: [confirmDestructiveNames]
rules:
  - { id: fine, effect: allow, tools: [find_customer], toolsets: [support], when: "tool.annotations.confirmed || principal.tenant == 'acme'" }
  - { id: typo, effect: deny, tools: [find_customer, find_custmer] }
  - { id: elsewhere, effect: deny, namespaces: [payroll] }
  - { id: view, effect: allow, toolsets: [suport] }
  - { id: department, effect: deny, when: "principal.tennant == 'x' || has(tool.owner) || tool.annotations.readonly" }
  - { id: own-variable, effect: deny, when: "args.list.exists(tool, tool.owner == 'x')" }
`);
  const found = policy.findings?.(subjects)?.map(({ rule, state, message }) => `${rule} ${state}: ${message}`);
  expect(found).toEqual([
    "typo warning: matches no tool with find_custmer",
    "elsewhere warning: matches none of the registered tools",
    "view warning: names toolsets that do not exist: suport",
    "department failed: reads principal.tennant, which does not exist, so it refuses the calls that it applies to",
    "department failed: reads tool.owner, which does not exist, so it refuses the calls that it applies to",
    "department failed: reads tool.annotations.readonly, which does not exist, so it refuses the calls that it applies to",
  ]);
  expect(policy.findings?.(subjects)?.[3]?.fix).toBe("Did you mean principal.tenant?");
});

it("finds entries of the lists under security that match no tool, except the default ones", () => {
  const policy = patternsPolicy({ mode: "strict", allow: ["crm.*", "cmr.*"], deny: ["drop_table"] });
  expect(policy.findings?.(subjects)).toMatchObject([
    { rule: "security.deny", state: "warning", message: "matches no tool with drop_table" },
    { rule: "security.allow", state: "warning", message: "matches no tool with cmr.*" },
  ]);
  expect(policy.findings?.({ tools: [], toolsets: [] })).toEqual([]);
});
