import type { Policy, PolicyDecision, Refusal } from "../guard/policy.port.ts";
import type { Principal } from "../guard/principal.ts";
import type { Toolset } from "./toolset.ts";
import type { Toolsets } from "./toolsets.ts";

/**
 * Applies toolsets in front of a policy: through a toolset, a caller sees and calls only the toolset's tools, and only if the toolset admits the
 * caller.
 */
export function withToolsets(policy: Policy, toolsets: Pick<Toolsets, "find" | "has">): Policy {
  return {
    sees(tool, principal, through) {
      const name = through?.toolset;
      if (name !== undefined && !(toolsets.find(name, principal) && toolsets.has(name, tool))) return false;
      return policy.sees(tool, principal, through);
    },
    visible(principal, through) {
      const allowed = policy.visible?.(principal, through);
      if (through?.toolset === undefined) return allowed;
      const toolset = toolsets.find(through.toolset, principal);
      if (toolset === undefined) return { any: [] };
      return allowed === undefined ? toolset.filter : { all: [toolset.filter, allowed] };
    },
    refuses(tool, principal, through) {
      const name = through?.toolset;
      if (name !== undefined && toolsets.find(name, principal) === undefined) return notAdmitted(name, principal);
      if (name !== undefined && !toolsets.has(name, tool)) return { rule: ruleOf(name), reason: NOT_IN_IT };
      return policy.refuses?.(tool, principal, through);
    },
    decide(request) {
      const { toolset: name, tool, principal } = request;
      if (name === undefined) return policy.decide(request);
      const toolset = toolsets.find(name, principal);
      if (toolset === undefined || !toolsets.has(name, tool))
        return { effect: "deny", rule: ruleOf(name), reason: NOT_IN_IT };
      return Promise.resolve(policy.decide(request)).then((decision) => withRate(decision, toolset));
    },
    steps: (request) => policy.steps?.(request),
    rules: () => policy.rules?.(),
    ...(policy.registration && { registration: policy.registration }),
  };
}

const NOT_IN_IT = "the toolset does not have this tool";

/** Returns the refusal for a caller that the toolset does not admit. */
export function notAdmitted(name: string, { id }: Pick<Principal, "id">): Refusal {
  const fix = "Give the caller a role or tenant that the toolset admits.";
  return { rule: ruleOf(name), reason: `The toolset ${name} does not admit "${id}". ${fix}` };
}

function ruleOf(name: string): string {
  return `toolset:${name}`;
}

/** Adds the toolset's rate limit to a decision. */
function withRate(decision: PolicyDecision, { name, policy: { rateLimit } }: Toolset): PolicyDecision {
  if (decision.effect === "deny" || rateLimit === undefined) return decision;
  const rule = ruleOf(name);
  const rate = { key: rule, calls: rateLimit.requestsPerMinute, windowMs: 60_000, rule };
  const rates = [...(decision.obligations?.rates ?? []), rate];
  return { ...decision, obligations: { ...decision.obligations, rates } };
}
