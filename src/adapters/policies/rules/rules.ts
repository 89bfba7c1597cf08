import { compilePatterns } from "../../../guard/pattern.ts";
import type { Policy, PolicyDecision, PolicyRequest } from "../../../guard/policy.port.ts";
import { type Clock, systemClock } from "../../../observe/clock.ts";
import { DEFAULT_CONFIRMATION } from "../patterns.ts";
import { checkDocument } from "./document/check-document.ts";
import type { PolicyDocument, RegistrationSettings } from "./document/document.ts";
import { type Explained, explainRules } from "./explain.ts";
import { createJudge, DEFAULT_DENY } from "./judge.ts";
import type { Locate } from "./document/problems.ts";
import { readDocument } from "./document/read-document.ts";
import { compileRules } from "./rule.ts";
import { createToolRules } from "./tool-rules.ts";
import { visibleTo } from "./visible.ts";

/** What a policy of rules can be given beside its document. */
export interface RulesParts {
  /** What `now` is. The machine's own clock where absent. */
  readonly clock?: Clock;
  /** How messages name the document: its path. `policy` where absent. */
  readonly name?: string;
  /** `strict` makes a document strict that does not say so itself. */
  readonly mode?: "standard" | "strict";
}

/** A policy of rules. */
export interface RulesPolicy extends Policy {
  decide(request: PolicyRequest): PolicyDecision;
  /** The decision on a call, the rules that matched, and why the others did not. Nothing is counted or kept by it. */
  explain(request: PolicyRequest): Explained;
  /** What the document's presets say about registering tools. */
  readonly registration: RegistrationSettings;
}

const UNPLACED: Locate = () => "";

/**
 * The policy that a document of rules writes: its YAML (or JSON) text, or the same as data. Denying wins over asking for an approval, and
 * that over allowing; a rule whose condition fails refuses. Everything is compiled once. Throws `CONFIG_INVALID` with line, field, value
 * and fix.
 *
 * @example
 * rulesPolicy("version: 1\nrules:\n  - { id: no-payroll, effect: deny, namespaces: [payroll] }");
 */
export function rulesPolicy(document: string | PolicyDocument, parts: RulesParts = {}): RulesPolicy {
  const { clock = systemClock, name = "policy" } = parts;
  const { value, locate } =
    typeof document === "string" ? readDocument(document, name) : { value: document as unknown, locate: UNPLACED };
  const checked = checkDocument(value, locate);
  const mode = parts.mode === "strict" ? "strict" : checked.mode;
  const { requireAuthorizationForAll, maxTools, allowDuplicateNames } = checked.presets;
  const denyByDefault =
    mode === "strict" ? DEFAULT_DENY.strict : requireAuthorizationForAll === true ? DEFAULT_DENY.preset : undefined;
  const compiled = compileRules(checked, denyByDefault !== undefined, locate);
  const rulesFor = createToolRules({ rules: compiled, mode, confirmed: compilePatterns(DEFAULT_CONFIRMATION) });
  const now = (): number => clock.now();
  const judge = createJudge({ rulesFor, denyByDefault, now });

  return {
    sees: (tool, principal, through = {}) => judge.sees(tool, principal, through),
    visible: (principal, { toolset } = {}) => visibleTo({ principal, toolset }, compiled, denyByDefault !== undefined),
    decide: (request) => judge.decide(request),
    explain(request) {
      const { tool, principal, arguments: args } = request;
      const facts = { tool: rulesFor(tool).view, principal: { ...principal }, arguments: args, now };
      const decision = judge.decide(request);
      return explainRules(compiled, request, facts, { decision, visible: judge.sees(tool, principal, request) });
    },
    registration: {
      ...(maxTools !== undefined && { maxTools }),
      ...(allowDuplicateNames !== undefined && { allowDuplicateNames }),
    },
  };
}
