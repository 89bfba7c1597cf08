import type { Obligations, PolicyDecision, PolicyRequest, PolicyView, Refusal } from "../../../guard/policy.port.ts";
import type { Principal } from "../../../guard/principal.ts";
import { isTexts } from "../../../tool/json-schema.ts";
import type { Tool } from "../../../tool/tool.ts";
import { type Caller, type Facts, isAboutReach } from "./conditions/conditions.ts";
import { looksAtCall, type Rule } from "./rule.ts";
import type { ToolRules } from "./tool-rules.ts";

/** The rule to report if a policy denies by default. */
export const DEFAULT_DENY = { strict: "mode: strict", preset: "preset:requireAuthorizationForAll" } as const;

/** Decides by the rules. A deny or a failing rule has precedence, then an approval, then a permission, then the default. */
export function createJudge(options: {
  readonly rulesFor: (tool: Tool) => ToolRules;
  /** The rule that refuses if no rule permits; undefined if such calls are allowed. */
  readonly denyByDefault: string | undefined;
  readonly now: () => number;
}) {
  const { rulesFor, denyByDefault, now } = options;

  return {
    sees(tool: Tool, principal: Principal, { toolset }: PolicyView): boolean {
      const { broken, hiding, reaching, view } = rulesFor(tool);
      if (broken !== undefined || brokenPrincipal(principal) !== undefined) return false;
      const caller: Caller = { principal, toolset };
      const facts = createFacts(view, principal, {}, now);
      // A failing condition hides the tool like a matching condition.
      if (hiding.some((rule) => isFor(rule, caller) && rule.when?.evaluate(facts) !== false)) return false;
      if (denyByDefault === undefined) return true;
      return reaching.some(({ aboutCaller }) =>
        aboutCaller.every((condition) => !isAboutReach(condition) || condition.holds(caller)),
      );
    },

    /** Refuses a tool before there is a call. A condition on arguments or the time may still hold, so it neither refuses nor fails here. */
    refuses(tool: Tool, principal: Principal, { toolset }: PolicyView): Refusal | undefined {
      const { matching, view, broken } = rulesFor(tool);
      const attribute = broken ?? brokenPrincipal(principal);
      if (attribute !== undefined) return notJudged(attribute);
      const caller: Caller = { principal, toolset };
      const facts = createFacts(view, principal, {}, now);
      let mayBeGranted = denyByDefault === undefined;
      for (const rule of matching) {
        if (!isFor(rule, caller)) continue;
        const { when, grants } = rule;
        const isCertain = !looksAtCall(when);
        const holds = isCertain ? (when?.evaluate(facts) ?? true) : true;
        if (typeof holds === "object") return { rule: rule.id, reason: failed(rule, holds.failed) };
        if (holds && isCertain && rule.effect === "deny")
          return {
            rule: rule.id,
            reason: rule.reason ?? denies(rule, tool, principal),
            ...(!rule.hides && { listed: true }),
          };
        mayBeGranted ||= holds && grants;
      }
      if (mayBeGranted || denyByDefault === undefined) return undefined;
      return { rule: denyByDefault, reason: nothingAllows(tool, caller, matching) };
    },

    decide({ tool, principal, arguments: args, toolset }: PolicyRequest): PolicyDecision {
      const { matching, asked, named, view, broken } = rulesFor(tool);
      const attribute = broken ?? brokenPrincipal(principal);
      if (attribute !== undefined) return { effect: "deny", ...notJudged(attribute) };
      const caller: Caller = { principal, toolset };
      const facts = createFacts(view, principal, args, now);
      const matched: Rule[] = [];
      for (const rule of matching) {
        if (!isFor(rule, caller)) continue;
        const holds = rule.when?.evaluate(facts) ?? true;
        if (typeof holds === "object") return { effect: "deny", rule: rule.id, reason: failed(rule, holds.failed) };
        if (!holds) continue;
        if (rule.effect === "deny")
          return { effect: "deny", rule: rule.id, reason: rule.reason ?? denies(rule, tool, principal) };
        matched.push(rule);
      }
      const granted = matched.find(({ grants }) => grants);
      if (granted === undefined && denyByDefault !== undefined)
        return { effect: "deny", rule: denyByDefault, reason: nothingAllows(tool, caller, matching) };
      const owing = obligationsOf(matched, principal);
      const approval = matched.find(({ effect }) => effect === "require_approval");
      if (approval !== undefined) {
        const reason = approval.reason ?? `A person must approve ${tool.id}: rule "${approval.id}" requires it.`;
        return { effect: "confirm", rule: approval.id, reason, ...owing };
      }
      const confirmation = asked ?? (granted === undefined ? named : undefined);
      if (confirmation !== undefined) return { ...confirmation, ...owing };
      return { effect: "allow", ...(granted !== undefined && { rule: granted.id }), ...owing };
    },
  };
}

function notJudged(attribute: string): Refusal {
  const reason = `${attribute} is missing or has the wrong type, so the rules cannot be evaluated. Fix its source.`;
  return { rule: "policy-attributes", reason };
}

function isFor({ aboutCaller }: Rule, caller: Caller): boolean {
  return aboutCaller.every(({ holds }) => holds(caller));
}

/** Returns the caller's attribute that rules cannot compare; undefined if all are valid. */
function brokenPrincipal(principal: Principal): string | undefined {
  const { id, tenant = "" } = principal;
  if (typeof id !== "string") return "principal.id";
  if (typeof tenant !== "string") return "principal.tenant";
  const list = (["roles", "capabilities", "scopes"] as const).find((key) => !isTexts(principal[key]));
  return list && `principal.${list}`;
}

export function createFacts(
  tool: Facts["tool"],
  { id, tenant, roles, capabilities, scopes, local }: Principal,
  args: Facts["arguments"],
  now: () => number,
): Facts {
  return { tool, principal: { id, tenant, roles, capabilities, scopes, local }, arguments: args, now };
}

function denies({ id, when }: Rule, tool: Tool, principal: Principal): string {
  const where = when === undefined ? "" : ` where ${when.text}`;
  return `Rule "${id}" denies ${tool.id} to "${principal.id}"${where}.`;
}

function failed({ id, when }: Rule, problem: string): string {
  return `Rule "${id}" could not be decided, so the call is refused: ${problem}, in ${when?.text ?? "its condition"}. Pass the values that it uses, or fix the rule.`;
}

/** Names the caller's missing grants if nothing else prevents a permission. Does not reveal which other callers a rule allows. */
function nothingAllows(tool: Tool, caller: Caller, matching: readonly Rule[]): string {
  const near = matching.flatMap((rule) => {
    const unmet = rule.grants ? rule.aboutCaller.filter(({ holds }) => !holds(caller)) : [];
    if (!rule.grants || unmet.some(({ field }) => field !== "roles")) return [];
    const [roles] = unmet;
    return roles === undefined
      ? [`rule "${rule.id}" does where ${rule.when?.text}`]
      : [`rule "${rule.id}" does for the role ${roles.wants.join(" or ")}`];
  });
  const hint = near.length > 0 ? `: ${near.slice(0, 3).join("; ")}` : "";
  return `No rule allows ${tool.id} to "${caller.principal.id}"${hint}. Add an allow rule to the policy, or use another tool.`;
}

/** Combines the obligations of all matching rules: every rate, every redaction, the common domains, the smallest size. */
function obligationsOf(rules: readonly Rule[], { id, tenant = "" }: Principal): { readonly obligations?: Obligations } {
  const owed = rules.flatMap((rule) => (rule.obligations ? [{ rule: rule.id, ...rule.obligations }] : []));
  if (owed.length === 0) return {};
  const rates = owed.flatMap(({ rule, rate }) =>
    rate ? [{ key: JSON.stringify([rule, tenant, id]), ...rate, rule }] : [],
  );
  const redact = owed.flatMap((each) => each.redact ?? []);
  const domains = owed.flatMap(({ egress }) => (egress ? [egress] : []));
  const sizes = owed.flatMap(({ maxResultBytes }) => maxResultBytes ?? []);
  return {
    obligations: {
      ...(rates.length > 0 && { rates }),
      ...(redact.length > 0 && { redact }),
      ...(domains.length > 0 && { egress: domains.reduce(commonDomains) }),
      ...(sizes.length > 0 && { maxResultBytes: Math.min(...sizes) }),
    },
  };
}

function commonDomains(some: readonly string[], others: readonly string[]): readonly string[] {
  const common = some.flatMap((domain) =>
    others.flatMap((other) => (covers(other, domain) ? [domain] : covers(domain, other) ? [other] : [])),
  );
  return [...new Set(common)];
}

function covers(wide: string, narrow: string): boolean {
  return wide === narrow || (wide.startsWith("*.") && narrow.endsWith(wide.slice(1)));
}
