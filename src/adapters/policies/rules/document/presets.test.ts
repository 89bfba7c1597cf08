import { describe, expect, it } from "vitest";
import type { PolicyDecision } from "../../../../guard/policy.port.ts";
import { localOperator } from "../../../../guard/principal.ts";
import { defineTool } from "../../../../tool/define-tool.ts";
import type { ToolDraft } from "../../../../tool/draft.ts";
import type { Tool } from "../../../../tool/tool.ts";
import type { RuleDocument } from "./document.ts";
import { rulesPolicy, type RulesPolicy } from "../rules.ts";

function toolAt(id: string, draft: Partial<ToolDraft> = {}): Tool {
  const [namespace = "", name = ""] = id.split(".");
  const parameters = { type: "object", properties: {} } as const;
  return defineTool({ name, namespace, description: "Does something that matters.", parameters, ...draft });
}

function decide(policy: RulesPolicy, tool: Tool, args: Readonly<Record<string, unknown>> = {}): PolicyDecision {
  return policy.decide({ tool, arguments: args, principal: localOperator() });
}

const find = toolAt("crm.find_customer");
const remove = toolAt("crm.delete_customer");

describe("presets", () => {
  const withPresets = (...presets: readonly (string | Record<string, unknown>)[]): RulesPolicy =>
    rulesPolicy({ version: 1, presets, rules: [{ id: "reads", effect: "allow", tools: "crm.find_*" }] });

  it("requireAuthorizationForAll refuses what no rule allows [002-security-all]", () => {
    const policy = withPresets("requireAuthorizationForAll");
    expect(decide(policy, find)).toMatchObject({ effect: "allow", rule: "reads" });
    expect(decide(policy, toolAt("crm.send"))).toMatchObject({ rule: "preset:requireAuthorizationForAll" });
  });

  it("blockHighRiskWithoutApproval asks a person, and permits nothing by it [002-security-high-risk]", () => {
    const risky = toolAt("crm.find_all", { riskLevel: "high" });
    const rule = "preset:blockHighRiskWithoutApproval";
    expect(decide(withPresets("blockHighRiskWithoutApproval"), risky)).toMatchObject({ effect: "confirm", rule });
    expect(
      decide(
        withPresets("blockHighRiskWithoutApproval", "requireAuthorizationForAll"),
        toolAt("crm.send", { riskLevel: "high" }),
      ),
    ).toMatchObject({ effect: "deny" });
  });

  it("confirmDestructiveNames keeps asking for what is allowed", () => {
    const all: RuleDocument = { id: "all", effect: "allow" };
    const policy = rulesPolicy({ version: 1, mode: "strict", presets: ["confirmDestructiveNames"], rules: [all] });
    expect(decide(policy, remove)).toMatchObject({ effect: "confirm", rule: "preset:confirmDestructiveNames" });
    expect(decide(rulesPolicy({ version: 1, mode: "strict", rules: [all] }), remove)).toMatchObject({
      effect: "allow",
    });
  });

  it.each([
    ["sudo reboot", "deny"],
    ["echo hi;  SUDO  reboot", "deny"],
    ["rm   -rf   /home", "deny"],
    ["rm -rf ./build", "allow"],
    ["echo pseudosudo", "allow"],
  ])("blockedCommands decides on %j for tools that run code [002-security-commands]", (command, effect) => {
    const shell = toolAt("ops.shell", { capabilities: ["execute_code"] });
    const policy = withPresets("blockedCommands");
    expect(decide(policy, shell, { steps: [{ command }] })).toMatchObject({ effect });
    expect(decide(policy, shell, { argv: command.split(" ") })).toMatchObject({ effect });
    expect(decide(policy, find, { command })).toMatchObject({ effect: "allow" });
  });

  it("carry registration's settings, which decide on no call", () => {
    expect(withPresets({ maxTools: 50 }, { allowDuplicateNames: false }).registration).toEqual({
      maxTools: 50,
      allowDuplicateNames: false,
    });
    expect(withPresets("maxTools").registration).toEqual({ maxTools: 1_000 });
  });
});
