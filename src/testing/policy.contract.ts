import assert from "node:assert/strict";
import type { Policy } from "../guard/policy.port.ts";
import { localOperator } from "../guard/principal.ts";
import type { Tool } from "../tool/tool.ts";
import { toPredicate } from "../tool/tool-filter.ts";
import { contract, type ContractCase, type Make } from "./contract.ts";
import { sampleTools } from "./sample-tools.ts";

/** The contract of every policy, whatever its decisions. */
export function policyContract(make: Make<Policy>): readonly ContractCase[] {
  const principal = localOperator();
  const decide = (policy: Policy, tool: Tool) => policy.decide({ tool, arguments: { order_id: "1" }, principal });
  return contract(make, {
    "decides every call with one of the three effects": async (policy) => {
      for (const tool of sampleTools()) {
        const { effect } = await decide(policy, tool);
        assert.ok(["allow", "deny", "confirm"].includes(effect));
      }
    },
    "names the rule and the reason for anything but allow": async (policy) => {
      for (const tool of sampleTools()) {
        const decision = await decide(policy, tool);
        if (decision.effect !== "allow") assert.ok(decision.rule && decision.reason);
      }
    },
    "lists the rule of each decision, if it lists any": async (policy) => {
      const listed = policy.rules?.();
      if (listed === undefined) return;
      for (const tool of sampleTools()) {
        const { effect, rule } = await decide(policy, tool);
        if (rule !== undefined) assert.equal(listed.find((each) => each.rule === rule)?.effect, effect, rule);
      }
    },
    "never allows what it does not show": async (policy) => {
      for (const tool of sampleTools()) {
        if (!policy.sees(tool, principal)) assert.equal((await decide(policy, tool)).effect, "deny");
      }
    },
    "states every tool it shows as visible, if it states any": async (policy) => {
      const filter = policy.visible?.(principal);
      if (filter === undefined) return;
      for (const tool of sampleTools().filter((each) => policy.sees(each, principal)))
        assert.ok(toPredicate(filter)(tool), tool.id);
    },
    "denies every call that it refuses in advance": async (policy) => {
      for (const tool of sampleTools().filter((each) => policy.refuses?.(each, principal) !== undefined))
        assert.equal((await decide(policy, tool)).effect, "deny", tool.id);
    },
    "decides the same call the same way": async (policy) => {
      for (const tool of sampleTools()) assert.deepEqual(await decide(policy, tool), await decide(policy, tool));
    },
  });
}
