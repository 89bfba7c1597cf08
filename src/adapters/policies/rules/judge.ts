import type {
  Obligations,
  PolicyDecision,
  PolicyRequest,
  PolicyView,
  RateObligation,
  Redaction,
} from "../../../guard/policy.port.ts";
import type { Principal } from "../../../guard/principal.ts";
import type { Tool } from "../../../tool/tool.ts";
import { type Caller, type Facts, isAboutReach } from "./conditions/conditions.ts";
import type { Rule } from "./rule.ts";
import type { ToolRules } from "./tool-rules.ts";

/** The rule that is named where a policy denies what nothing allows. */
export const DEFAULT_DENY = { strict: "mode: strict", preset: "preset:requireAuthorizationForAll" } as const;

/** Decides by the rules: a deny, or a rule that fails, refuses; then an approval; then a permission; then what holds by default. */
export function createJudge(options: {
  readonly rulesFor: (tool: Tool) => ToolRules;
  /** What refuses where no rule permits; undefined where such calls run. */
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
      // A condition that fails hides as one that holds.
      if (hiding.some((rule) => isFor(rule, caller) && rule.when?.evaluate(facts) !== false)) return false;
      if (denyByDefault === undefined) return true;
      return reaching.some(({ aboutCaller }) =>
        aboutCaller.every((condition) => !isAboutReach(condition) || condition.holds(caller)),
      );
    },

    decide({ tool, principal, arguments: args, toolset }: PolicyRequest): PolicyDecision {
      const { matching, asked, named, view, broken } = rulesFor(tool);
      const attribute =
        broken === undefined ? prefixed("principal", brokenPrincipal(principal)) : prefixed("tool", broken);
      if (attribute !== undefined) {
        const reason = `${attribute} is missing or of another type, so no rule can be trusted to match. Fix what made it.`;
        return { effect: "deny", rule: "policy-attributes", reason };
      }
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
      const obligations = obligationsOf(matched, principal);
      const owing = obligations === undefined ? {} : { obligations };
      const approval = matched.find(({ effect }) => effect === "require_approval");
      if (approval !== undefined) {
        const reason = approval.reason ?? `A person must approve ${tool.id}: rule "${approval.id}" asks for it.`;
        return { effect: "confirm", rule: approval.id, reason, ...owing };
      }
      const confirmation = asked ?? (granted === undefined ? named : undefined);
      if (confirmation !== undefined) return { ...confirmation, ...owing };
      return { effect: "allow", ...(granted !== undefined && { rule: granted.id }), ...owing };
    },
  };
}

function isFor({ aboutCaller }: Rule, caller: Caller): boolean {
  for (const condition of aboutCaller) if (!condition.holds(caller)) return false;
  return true;
}

/** The attribute of a caller that rules could not be compared with. */
function brokenPrincipal({ id, tenant, roles, capabilities, scopes }: Principal): string | undefined {
  if (typeof id !== "string") return "id";
  if (tenant !== undefined && typeof tenant !== "string") return "tenant";
  if (!isTexts(roles)) return "roles";
  if (!isTexts(capabilities)) return "capabilities";
  return isTexts(scopes) ? undefined : "scopes";
}

function isTexts(list: unknown): boolean {
  return Array.isArray(list) && list.every((entry) => typeof entry === "string");
}

function prefixed(owner: string, attribute: string | undefined): string | undefined {
  return attribute === undefined ? undefined : `${owner}.${attribute}`;
}

/** What conditions look at in a call. */
export function createFacts(
  tool: Facts["tool"],
  principal: Principal,
  args: Facts["arguments"],
  now: () => number,
): Facts {
  return {
    tool,
    get principal() {
      const { id, tenant, roles, capabilities, scopes, local } = principal;
      return { id, tenant, roles, capabilities, scopes, local };
    },
    arguments: args,
    now,
  };
}

function denies({ id, when }: Rule, tool: Tool, principal: Principal): string {
  const where = when === undefined ? "" : ` where ${when.text}`;
  return `Rule "${id}" denies ${tool.id} to "${principal.id}"${where}.`;
}

function failed({ id, when }: Rule, problem: string): string {
  return `Rule "${id}" could not be decided, so the call is refused: ${problem}, in ${when?.text ?? "its condition"}. Give what it looks at, or fix the rule.`;
}

/** Says what the caller lacks where one permission would hold but for that. Whom else a rule is for stays untold. */
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

/** What must hold for a call under all the rules it matches: every rate, every redaction, the common domains, the least size. */
function obligationsOf(rules: readonly Rule[], principal: Principal): Obligations | undefined {
  if (!rules.some(({ obligations }) => obligations !== undefined)) return undefined;
  const rates: RateObligation[] = [];
  const redact: Redaction[] = [];
  let egress: readonly string[] | undefined;
  let maxResultBytes: number | undefined;
  for (const { id, obligations = {} } of rules) {
    if (obligations.rate !== undefined) {
      const key = JSON.stringify([id, principal.tenant ?? "", principal.id]);
      rates.push({ key, ...obligations.rate, rule: id });
    }
    redact.push(...(obligations.redact ?? []));
    if (obligations.egress !== undefined)
      egress = egress === undefined ? obligations.egress : commonDomains(egress, obligations.egress);
    if (obligations.maxResultBytes !== undefined)
      maxResultBytes = Math.min(maxResultBytes ?? Number.POSITIVE_INFINITY, obligations.maxResultBytes);
  }
  return {
    ...(rates.length > 0 && { rates }),
    ...(redact.length > 0 && { redact }),
    ...(egress !== undefined && { egress }),
    ...(maxResultBytes !== undefined && { maxResultBytes }),
  };
}

/** The domains that both lists reach. */
function commonDomains(some: readonly string[], others: readonly string[]): readonly string[] {
  const common = some.flatMap((domain) =>
    others.flatMap((other) => (covers(other, domain) ? [domain] : covers(domain, other) ? [other] : [])),
  );
  return [...new Set(common)];
}

function covers(wide: string, narrow: string): boolean {
  return wide === narrow || (wide.startsWith("*.") && narrow.endsWith(wide.slice(1)));
}
