import type {
  Policy,
  PolicyDecision,
  PolicyFinding,
  PolicyRequest,
  PolicyRule,
  PolicyStep,
  PolicySubjects,
} from "../../../guard/policy.port.ts";
import type { RegistrationLimits } from "../../../register/registration-limits.ts";
import { type Clock, systemClock } from "../../../observe/clock.ts";
import { definitionRules, UNMATCHED_FIX, unmatchedPatterns } from "../patterns.ts";
import { checkDocument } from "./document/check-document.ts";
import type { Effect, ListField, PolicyDocument } from "./document/document.ts";
import { createFacts, createJudge, DEFAULT_DENY } from "./judge.ts";
import type { Locate } from "./document/check-fields.ts";
import { readDocument } from "./document/read-document.ts";
import { compileRules, type Rule } from "./rule.ts";
import { createToolRules } from "./tool-rules.ts";
import { present } from "../../../base/present.ts";
import type { ToolFilter } from "../../../tool/tool-filter.ts";
import type { Capability, RiskLevel, Tool, ToolSource } from "../../../tool/tool.ts";
import { type Caller, type Condition, type Facts, isAboutReach } from "./conditions/conditions.ts";

/** Options of a policy of rules. */
export interface RulesParts {
  /** The clock of `now`. Defaults to the system clock. */
  readonly clock?: Clock;
  /** The name of the document in messages, such as its path. Defaults to `policy`. */
  readonly name?: string;
  /** The mode of a document that does not set its own. */
  readonly mode?: "standard" | "strict";
}

/** A policy of rules. */
export interface RulesPolicy extends Policy {
  decide(request: PolicyRequest): PolicyDecision;
  /** Returns the decision on a call, the rules that matched, and why the others did not. Has no side effects. */
  explain(request: PolicyRequest): Explained;
  /** The document's presets about registering tools. */
  readonly registration: RegistrationLimits;
}

const UNPLACED: Locate = () => "";

/**
 * Creates a policy from a document of rules, as YAML (or JSON) text or as data. Denying has precedence over approvals, and approvals over allowing. A
 * rule whose condition fails refuses. Everything is compiled once. Throws `CONFIG_INVALID` with line, field, value and fix.
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
  const rulesFor = createToolRules(compiled, mode);
  const now = (): number => clock.now();
  const judge = createJudge({ rulesFor, denyByDefault, now });

  const factsOf = ({ tool, principal, arguments: args }: PolicyRequest): Facts =>
    createFacts(rulesFor(tool).view, principal, args, now);

  return {
    sees: (tool, principal, through = {}) => judge.sees(tool, principal, through),
    visible: (principal, { toolset } = {}) => visibleTo({ principal, toolset }, compiled, denyByDefault !== undefined),
    refuses: (tool, principal, through = {}) => judge.refuses(tool, principal, through),
    decide: (request) => judge.decide(request),
    explain(request) {
      const decision = judge.decide(request);
      const facts = factsOf(request);
      const steps = compiled.map((rule) => ({ id: rule.id, effect: rule.effect, ...stepOf(rule, request, facts) }));
      return {
        decision,
        visible: judge.sees(request.tool, request.principal, request),
        matched: steps
          .filter(({ matched }) => matched)
          .map(({ id, effect, why: failed }) => {
            return { id, effect, decides: decision.rule === id, ...(failed !== undefined && { failed }) };
          }),
        unmatched: steps.filter(({ matched }) => !matched).map(({ id, effect, why = "" }) => ({ id, effect, why })),
      };
    },
    steps: (request) => compiled.map((rule) => stepOf(rule, request, factsOf(request))),
    rules: () => [
      ...compiled.map(toShown),
      ...(denyByDefault === undefined
        ? []
        : [{ rule: denyByDefault, effect: "deny", conditions: ["no rule allows it"] } as const]),
      ...definitionRules(mode),
    ],
    findings: (subjects) =>
      checked.rules.flatMap(({ id }) =>
        ruleFindings(
          compiled.find((rule) => rule.id === id),
          subjects,
        ),
      ),
    registration: { maxTools, allowDuplicateNames },
  };
}

/** Returns the problems of one rule with the registered tools and toolsets. */
function ruleFindings(rule: Rule | undefined, { tools, toolsets }: PolicySubjects): readonly PolicyFinding[] {
  if (rule === undefined) return [];
  const { id, effect, aboutTool, aboutCaller, when } = rule;
  const findings: PolicyFinding[] = (when?.unknown ?? []).map(({ name, fix }) => {
    const message = `reads ${name}, which does not exist, so it refuses the calls that it applies to`;
    return { rule: id, state: "failed", message, fix };
  });
  const warn = (message: string, fix: string): void => void findings.push({ rule: id, state: "warning", message, fix });
  const named = aboutTool.find(({ field }) => field === "tools")?.wants ?? [];
  const absent = unmatchedPatterns(named, tools, effect === "allow");
  if (absent.length > 0) warn(`matches no tool with ${absent.join(", ")}`, UNMATCHED_FIX);
  else if (tools.length > 0 && !tools.some((tool) => aboutTool.every(({ holds }) => holds(tool))))
    warn("matches none of the registered tools", UNMATCHED_FIX);
  const wanted = aboutCaller.find(({ field }) => field === "toolsets")?.wants ?? [];
  const unknown = wanted.filter((name) => !name.includes("*") && !toolsets.includes(name));
  if (unknown.length > 0)
    warn(`names toolsets that do not exist: ${unknown.join(", ")}`, "Check: toolarsenal toolsets list");
  return findings;
}

function toShown({ id, effect, aboutTool, aboutCaller, when, reason, obligations = {} }: Rule): PolicyRule {
  const { rate, redact, egress, maxResultBytes } = obligations;
  const obliged = [
    rate && `rate: ${rate.calls} calls in ${rate.windowMs / 1_000} s`,
    redact && `redact: ${redact.map(({ text }) => text).join(", ")}`,
    egress && `egress: ${egress.join(", ") || "none"}`,
    maxResultBytes && `max_result_bytes: ${maxResultBytes}`,
  ].filter((text) => typeof text === "string");
  const tenants = aboutCaller.find(({ field }) => field === "tenants")?.wants;
  const lists = [...aboutTool, ...aboutCaller].map(({ field, wants }) => `${field}: ${wants.join(", ")}`);
  return present({
    rule: id,
    effect: effect === "require_approval" ? "confirm" : effect,
    conditions: when === undefined ? lists : [...lists, `when: ${when.text}`],
    tenants,
    obligations: obliged.length > 0 ? obliged : undefined,
    reason,
  });
}

/** Returns a filter for the tools that the rules show a caller; undefined if a filter cannot express a deciding rule. */
function visibleTo(caller: Caller, rules: readonly Rule[], denyByDefault: boolean): ToolFilter | undefined {
  const holds = (condition: Condition<Caller>): boolean => condition.holds(caller);
  const hiding = rules.filter(({ hides, aboutCaller }) => hides && aboutCaller.every(holds));
  const reaching = rules.filter(({ grants, aboutCaller }) => grants && aboutCaller.filter(isAboutReach).every(holds));
  const hidden: readonly (ToolFilter | undefined)[] = hiding.map(({ aboutTool, when }) =>
    // Only exact names. `sees` handles a source's own names.
    when === undefined ? allOf(aboutTool, (ids) => ({ any: [{ ids }, { names: ids }] })) : undefined,
  );
  // A bare name also matches a source's own name.
  const onlyIds = (ids: readonly string[]) => (ids.every((id) => id.includes(".")) ? { ids } : undefined);
  const reached: readonly (ToolFilter | undefined)[] = denyByDefault
    ? reaching.map(({ aboutTool }) => allOf(aboutTool.filter(isAboutReach), onlyIds))
    : [];
  if (!isStated(hidden) || !isStated(reached)) return undefined;
  const shown: readonly ToolFilter[] = hidden.map((filter) => ({ not: filter }));
  return { all: denyByDefault ? [{ any: reached }, ...shown] : shown };
}

function isStated(filters: readonly (ToolFilter | undefined)[]): filters is readonly ToolFilter[] {
  return filters.every((filter) => filter !== undefined);
}

function allOf(
  conditions: readonly Condition<Tool>[],
  named: (ids: readonly string[]) => ToolFilter | undefined,
): ToolFilter | undefined {
  const stated = conditions.map((condition) => toFilter(condition, named));
  return isStated(stated) ? { all: stated } : undefined;
}

function toFilter(
  { field, wants }: Condition<Tool>,
  named: (ids: readonly string[]) => ToolFilter | undefined,
): ToolFilter | undefined {
  if (wants.some((pattern) => /[*?]/.test(pattern))) return undefined;
  // Ids, names and namespaces are in lower case.
  const folded = wants.map((text) => text.toLowerCase());
  const filters: Readonly<Partial<Record<ListField, ToolFilter | undefined>>> = {
    tools: named(folded),
    namespaces: { namespaces: folded },
    tags: { tags: [...new Set([...wants, ...folded])] },
    sources: { sources: wants as readonly ToolSource[] },
    risk: { risks: wants as readonly RiskLevel[] },
    capabilities: { capabilities: wants as readonly Capability[], match: "any" },
  };
  return filters[field];
}

/** A decision, with the evaluation of every rule of the document. @internal */
export interface Explained {
  readonly decision: PolicyDecision;
  readonly visible: boolean;
  /** The rules that matched, or that failed and therefore refuse, in the order of the document. `decides` marks the rule that the decision names. */
  readonly matched: readonly {
    readonly id: string;
    readonly effect: Effect;
    readonly decides: boolean;
    readonly failed?: string;
  }[];
  /** The other rules, each with its first unmet condition: `roles: none of support, admin`. */
  readonly unmatched: readonly { readonly id: string; readonly effect: Effect; readonly why: string }[];
}

/** A failing rule counts as matched, and refuses. */
function stepOf(rule: Rule, { tool, principal, toolset }: PolicyRequest, facts: Facts): PolicyStep {
  const { id, aboutTool, aboutCaller, when } = rule;
  const unmet =
    aboutTool.find(({ holds }) => !holds(tool)) ?? aboutCaller.find(({ holds }) => !holds({ principal, toolset }));
  if (unmet !== undefined)
    return { rule: id, matched: false, why: `${unmet.field}: none of ${unmet.wants.join(", ")}` };
  const holds = when?.evaluate(facts) ?? true;
  if (typeof holds === "object") return { rule: id, matched: true, why: holds.failed };
  return holds ? { rule: id, matched: true } : { rule: id, matched: false, why: `when: ${when?.text} is false` };
}

/** The endings of files with rules, and any file that no other policy reads. */
export const reads = [".yaml", ".yml", ".json", "*"];

export function create(text: string, parts: Required<Pick<RulesParts, "name" | "clock" | "mode">>): RulesPolicy {
  return rulesPolicy(text, parts);
}
