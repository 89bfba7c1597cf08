import assert from "node:assert/strict";
import type { Policy } from "../guard/policy.port.ts";
import { localOperator } from "../guard/principal.ts";
import { toPredicate } from "../tool/tool-filter.ts";
import { contract, type ContractCase, type Make } from "./contract.ts";
import { sampleTools } from "./sample-tools.ts";

/** What every policy must do, whatever it decides. */
export function policyContract(make: Make<Policy>): readonly ContractCase[] {
  return contract(make, {
    "decides every call with one of the three effects": async (policy) => {
      for (const tool of sampleTools()) {
        const { effect } = await policy.decide({ tool, arguments: {}, principal: localOperator() });
        assert.ok(["allow", "deny", "confirm"].includes(effect));
      }
    },
    "names the rule and the reason for anything but allow": async (policy) => {
      for (const tool of sampleTools()) {
        const decision = await policy.decide({ tool, arguments: {}, principal: localOperator() });
        if (decision.effect !== "allow") assert.ok(decision.rule && decision.reason);
      }
    },
    "lists the rule of each decision, if it lists any": async (policy) => {
      const listed = policy.rules?.();
      if (listed === undefined) return;
      for (const tool of sampleTools()) {
        const { effect, rule } = await policy.decide({ tool, arguments: {}, principal: localOperator() });
        if (rule !== undefined) assert.equal(listed.find((each) => each.rule === rule)?.effect, effect, rule);
      }
    },
    "never allows what it does not show": async (policy) => {
      for (const tool of sampleTools()) {
        const principal = localOperator();
        if (policy.sees(tool, principal)) continue;
        assert.equal((await policy.decide({ tool, arguments: {}, principal })).effect, "deny");
      }
    },
    "states every tool it shows as visible, if it states any": async (policy) => {
      const filter = policy.visible?.(localOperator());
      if (filter === undefined) return;
      for (const tool of sampleTools().filter((each) => policy.sees(each, localOperator())))
        assert.ok(toPredicate(filter)(tool), tool.id);
    },
    "decides the same call the same way": async (policy) => {
      for (const tool of sampleTools()) {
        const request = { tool, arguments: { order_id: "1" }, principal: localOperator() };
        assert.deepEqual(await policy.decide(request), await policy.decide(request));
      }
    },
  });
}
