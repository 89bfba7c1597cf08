import type { PolicyDecision, PolicyRequest } from "../../../guard/policy.port.ts";
import type { Effect } from "./document/document.ts";
import type { Rule } from "./rule.ts";
import type { Facts } from "./conditions/when.ts";

/** A decision, and how every rule of the document stood to it. */
export interface Explained {
  readonly decision: PolicyDecision;
  /** Whether the caller sees the tool at all. */
  readonly visible: boolean;
  /** The rules that matched, or failed and so refuse, in the order of the document. */
  readonly matched: readonly MatchedRule[];
  /** The others, each with the first condition that did not hold. */
  readonly unmatched: readonly UnmatchedRule[];
}

export interface MatchedRule {
  readonly id: string;
  readonly effect: Effect;
  /** True for the one that the decision names. */
  readonly decides: boolean;
  /** Why it could not be decided, where it could not. */
  readonly failed?: string;
}

export interface UnmatchedRule {
  readonly id: string;
  readonly effect: Effect;
  /** `roles: none of support, admin` */
  readonly why: string;
}

/** Asks every rule, without the index, why it did or did not match. */
export function explainRules(
  rules: readonly Rule[],
  request: PolicyRequest,
  facts: Facts,
  decided: { readonly decision: PolicyDecision; readonly visible: boolean },
): Explained {
  const matched: MatchedRule[] = [];
  const unmatched: UnmatchedRule[] = [];
  for (const rule of rules) {
    const { id, effect } = rule;
    const why = unmetCondition(rule, request);
    const holds = why === undefined ? (rule.when?.evaluate(facts) ?? true) : false;
    if (typeof holds === "object" || holds) {
      const failed = typeof holds === "object" ? { failed: holds.failed } : {};
      matched.push({ id, effect, decides: decided.decision.rule === id, ...failed });
    } else unmatched.push({ id, effect, why: why ?? `when: ${rule.when?.text} is false` });
  }
  return { ...decided, matched, unmatched };
}

function unmetCondition(rule: Rule, { tool, principal, toolset }: PolicyRequest): string | undefined {
  const unmet =
    rule.aboutTool.find(({ holds }) => !holds(tool)) ??
    rule.aboutCaller.find(({ holds }) => !holds({ principal, toolset }));
  return unmet === undefined ? undefined : `${unmet.field}: none of ${unmet.wants.join(", ")}`;
}
