import * as fc from "fast-check";
import { expect, it } from "vitest";
import type { PolicyDecision } from "../../../guard/policy.port.ts";
import { localOperator, type Principal } from "../../../guard/principal.ts";
import { createManualClock } from "../../../testing/manual-clock.ts";
import { defineTool } from "../../../tool/define-tool.ts";
import { CAPABILITIES, RISK_LEVELS, type Tool, TOOL_SOURCES } from "../../../tool/tool.ts";
import { EFFECTS, type PolicyDocument, type RuleDocument } from "./document/document.ts";
import { rulesPolicy } from "./rules.ts";

/** A second, plain reading of the language: no index, no compiling, no caching, no CEL. Documents, tools, callers and arguments are generated. */

interface Call {
  readonly tool: Tool;
  readonly principal: Principal;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly toolset?: string;
}
type Truth = boolean | "error";
interface Expression {
  readonly text: string;
  readonly looksAtCall: boolean;
  readonly truth: (call: Call) => Truth;
}
type WrittenRule = Omit<RuleDocument, "when"> & { readonly expression?: Expression };

const NOON = Date.UTC(2026, 4, 4, 12);

/* ---- the oracle ---- */

const glob = (pattern: string, flags = ""): RegExp =>
  new RegExp(`^${pattern.replace(/[.]/g, "\\.").replaceAll("*", ".*").replaceAll("?", ".")}$`, `s${flags}`);
const list = (value: string | readonly string[] | undefined): readonly string[] | undefined =>
  typeof value === "string" ? [value] : value;
const some = (wanted: string | readonly string[] | undefined, has: readonly string[], flags = ""): boolean =>
  wanted === undefined || list(wanted)?.some((each) => has.some((name) => glob(each, flags).test(name))) === true;

function reaches(rule: WrittenRule, { tool, principal, toolset }: Call, denies: boolean): boolean {
  const isPermission = rule.effect === "allow" || (rule.effect === "require_approval" && denies);
  const named =
    rule.tools === undefined ||
    list(rule.tools)?.some((pattern) => {
      const compared =
        isPermission && pattern.includes(".") ? [tool.name, tool.id] : [tool.name, tool.id, tool.sourceName];
      return some(pattern, compared, "i");
    }) === true;
  return (
    named &&
    some(rule.namespaces, [tool.namespace], "i") &&
    some(rule.sources, [tool.source]) &&
    some(rule.toolsets, toolset === undefined ? [] : [toolset]) &&
    some(rule.tenants, principal.tenant === undefined ? [] : [principal.tenant]) &&
    some(rule.principals, [principal.id])
  );
}

const applies = (rule: WrittenRule, call: Call, denies: boolean): boolean =>
  reaches(rule, call, denies) &&
  some(rule.capabilities, call.tool.capabilities) &&
  some(rule.risk, [call.tool.riskLevel]) &&
  some(rule.tags, call.tool.tags, "i") &&
  some(rule.roles, call.principal.roles);

interface Document {
  readonly mode: "standard" | "strict";
  readonly authorize: boolean;
  readonly highRisk: boolean;
  readonly rules: readonly WrittenRule[];
}

function decideNaively(document: Document, call: Call): PolicyDecision & { readonly matched?: readonly WrittenRule[] } {
  const { mode, authorize, highRisk } = document;
  const denies = mode === "strict" || authorize;
  const matched: WrittenRule[] = [];
  for (const rule of document.rules) {
    if (!applies(rule, call, denies)) continue;
    const truth = rule.expression?.truth(call) ?? true;
    if (truth === false) continue;
    if (truth === "error" || rule.effect === "deny") return { effect: "deny", rule: rule.id, reason: "" };
    matched.push(rule);
  }
  const { tool } = call;
  if (denies && matched.length === 0) {
    const rule = mode === "strict" ? "mode: strict" : "preset:requireAuthorizationForAll";
    return { effect: "deny", rule, reason: "" };
  }
  const confirm = (rule: string): ReturnType<typeof decideNaively> => ({
    effect: "confirm",
    rule,
    reason: "",
    matched,
  });
  if (highRisk && (tool.riskLevel === "high" || tool.riskLevel === "critical"))
    return confirm("preset:blockHighRiskWithoutApproval");
  const approval = matched.find(({ effect }) => effect === "require_approval");
  if (approval !== undefined) return confirm(approval.id);
  if (tool.requiresConfirmation) return confirm("tool.requires_confirmation");
  if (tool.riskLevel === "critical") return confirm("tool.risk_level");
  const [allowed] = matched;
  if (allowed !== undefined) return { effect: "allow", rule: allowed.id, matched };
  if (/^(?:delete|payment|drop|refund)_/i.test(tool.name)) return confirm("security.require_confirmation");
  return { effect: "allow", matched };
}

function seesNaively({ mode, authorize, rules: written }: Document, call: Call): boolean {
  const denies = mode === "strict" || authorize;
  const hidden = written.some(
    (rule) =>
      rule.effect === "deny" &&
      (rule.hide ?? rule.expression?.looksAtCall !== true) &&
      applies(rule, call, denies) &&
      rule.expression?.truth(call) !== false,
  );
  return !hidden && (!denies || written.some((rule) => rule.effect !== "deny" && reaches(rule, call, denies)));
}

/* ---- what is generated ---- */

const NAMESPACES = ["crm", "billing", "hr.payroll"];
const NAMES = ["find_customer", "delete_customer", "refund_order", "run"];
const ROLES = ["support", "finance", "admin"];
const TENANTS = ["acme", "globex"];
const TAGS = ["pii", "beta"];
const PEOPLE = ["ada", "bob", "svc-mail"];
const TOOLSETS = ["desk", "office"];
const PROBES = ["example.com", "api.example.com", "a.b.example.com", "example.org", "b.example.com"];

const listOf = (values: readonly string[]): fc.Arbitrary<string | readonly string[]> =>
  fc.oneof(fc.constantFrom(...values), fc.uniqueArray(fc.constantFrom(...values), { minLength: 1, maxLength: 2 }));
const sometimes = <T>(value: fc.Arbitrary<T>, odds: number): fc.Arbitrary<T | undefined> =>
  fc.oneof({ weight: Math.round(odds * 20), arbitrary: value }, { weight: 20, arbitrary: fc.constant(undefined) });

const about = (text: string, looksAtCall: boolean, truth: (call: Call) => Truth): fc.Arbitrary<Expression> =>
  fc.constant({ text, looksAtCall, truth });

const atom: fc.Arbitrary<Expression> = fc.oneof(
  fc.integer({ min: -3, max: 3 }).map((bound) => ({
    text: `args.amount < ${bound}`,
    looksAtCall: true,
    truth: ({ arguments: { amount } }: Call): Truth => (typeof amount === "number" ? amount < bound : "error"),
  })),
  fc.constantFrom("a1", "b").map((name) => ({
    text: `args.name == '${name}'`,
    looksAtCall: true,
    truth: ({ arguments: args }: Call): Truth => ("name" in args ? args["name"] === name : "error"),
  })),
  about("has(args.name)", true, ({ arguments: args }) => "name" in args),
  about("args.name.startsWith('a')", true, ({ arguments: { name } }) =>
    typeof name === "string" ? name.startsWith("a") : "error",
  ),
  about("args.name.matches('^[a-z][0-9]$')", true, ({ arguments: { name } }) =>
    typeof name === "string" ? /^[a-z][0-9]$/.test(name) : "error",
  ),
  about("args.list.exists(each, each == 'vip')", true, ({ arguments: args }) =>
    Array.isArray(args["list"]) ? args["list"].includes("vip") : "error",
  ),
  about("size(args.list) > 1", true, ({ arguments: { list: values } }) =>
    Array.isArray(values) || typeof values === "string" ? values.length > 1 : "error",
  ),
  // Neither true nor false for the most part.
  about("args.amount", true, ({ arguments: { amount } }) => amount === true || "error"),
  about("'finance' in principal.roles", false, ({ principal }) => principal.roles.includes("finance")),
  about("principal.tenant == 'acme'", false, ({ principal: { tenant } }) =>
    tenant === undefined ? "error" : tenant === "acme",
  ),
  about("tool.risk == 'high'", false, ({ tool }) => tool.riskLevel === "high"),
  about("'pii_access' in tool.capabilities", false, ({ tool }) => tool.capabilities.includes("pii_access")),
  about("now.getHours() < 13", true, () => true),
  about("now < timestamp('2026-01-01T00:00:00Z')", true, () => false),
);

/** CEL's `&&` and `||` take what decides from either side, whatever the other does. */
const both = (a: Truth, b: Truth, decides: boolean): Truth =>
  a === decides || b === decides ? decides : a === "error" || b === "error" ? "error" : !decides;

const { expression } = fc.letrec<{ expression: Expression }>((tie) => ({
  expression: fc.oneof(
    { maxDepth: 3, depthIdentifier: "expression" },
    { weight: 3, arbitrary: atom },
    {
      weight: 1,
      arbitrary: fc.tuple(tie("expression"), fc.boolean(), tie("expression")).map(([left, and, right]) => ({
        text: `(${left.text} ${and ? "&&" : "||"} ${right.text})`,
        looksAtCall: left.looksAtCall || right.looksAtCall,
        truth: (call: Call) => both(left.truth(call), right.truth(call), !and),
      })),
    },
    {
      weight: 1,
      arbitrary: tie("expression").map((inner) => ({
        text: `!(${inner.text})`,
        looksAtCall: inner.looksAtCall,
        truth: (call: Call): Truth => (inner.truth(call) === "error" ? "error" : inner.truth(call) !== true),
      })),
    },
  ),
}));

const TOOL_PATTERNS = [
  "crm.*",
  "*",
  "delete_*",
  "CRM.find_*",
  "billing.refund_order",
  "?un",
  "*_customer",
  "run",
  "hr.*",
];

const rule: fc.Arbitrary<WrittenRule> = fc
  .record({
    effect: fc.constantFrom(...EFFECTS),
    tools: sometimes(listOf(TOOL_PATTERNS), 1),
    namespaces: sometimes(listOf([...NAMESPACES, "hr.*", "CRM"]), 0.3),
    sources: sometimes(listOf(TOOL_SOURCES), 0.1),
    capabilities: sometimes(listOf(CAPABILITIES.slice(6)), 0.15),
    risk: sometimes(listOf(RISK_LEVELS), 0.15),
    tags: sometimes(listOf([...TAGS, "P*"]), 0.1),
    toolsets: sometimes(listOf([...TOOLSETS, "d*k"]), 0.15),
    tenants: sometimes(listOf([...TENANTS, "*"]), 0.2),
    principals: sometimes(listOf([...PEOPLE, "svc-*"]), 0.15),
    roles: sometimes(listOf([...ROLES, "*n*"]), 0.4),
    hide: sometimes(fc.boolean(), 0.3),
    expression: sometimes(expression, 0.7),
    rate: sometimes(fc.constantFrom("5/minute", "2/hour"), 0.3),
    egress: sometimes(listOf(["example.com", "*.example.com", "*.b.example.com", "example.org"]), 0.4),
    bytes: sometimes(fc.integer({ min: 1, max: 9 }), 0.3),
  })
  .map(({ rate, egress, bytes, hide, ...rest }) => {
    const obligations = { rate, egress, max_result_bytes: bytes };
    const canHide = rest.effect === "deny" && !(hide === true && rest.expression?.looksAtCall === true);
    return {
      ...present(rest),
      ...(canHide && hide !== undefined && { hide }),
      ...(rest.effect !== "deny" && { obligations: present(obligations) }),
    } as WrittenRule;
  });

const document: fc.Arbitrary<Document> = fc.record({
  mode: fc.constantFrom("standard", "standard", "strict"),
  authorize: fc.integer({ min: 0, max: 4 }).map((value) => value === 0),
  highRisk: fc.boolean(),
  rules: fc
    .array(rule, { maxLength: 8 })
    .map((written) => written.map((each, index) => ({ ...each, id: `rule-${index}` }))),
});

const call: fc.Arbitrary<Call> = fc
  .record({
    name: fc.constantFrom(...NAMES),
    namespace: fc.constantFrom(...NAMESPACES),
    source: fc.constantFrom(...TOOL_SOURCES),
    sourceName: sometimes(fc.constantFrom("crm.find_customer", "Billing.refund_order", "run"), 0.4),
    capabilities: fc.subarray(CAPABILITIES.slice(6)),
    riskLevel: fc.constantFrom(...RISK_LEVELS),
    tags: fc.subarray(TAGS),
    requiresConfirmation: fc.integer({ max: 9, min: 0 }).map((value) => value === 0),
    id: fc.constantFrom(...PEOPLE),
    tenant: sometimes(fc.constantFrom(...TENANTS), 3),
    roles: fc.subarray(ROLES),
    toolset: sometimes(fc.constantFrom(...TOOLSETS), 1),
    amount: sometimes(fc.oneof(fc.integer({ min: -4, max: 4 }), fc.constantFrom("3", null, true)), 3),
    given: sometimes(fc.constantFrom("a1", "b", 7, null, ["a1"]), 3),
    list: sometimes(fc.constantFrom(["vip"], ["x", "vip"], [], "vip", 3), 3),
  })
  .map(({ source, id, tenant, roles, toolset, amount, given, list: values, sourceName, ...tool }) => {
    const defined = defineTool({
      ...tool,
      ...(sourceName !== undefined && { sourceName }),
      description: "Does what it is asked to do.",
      parameters: { type: "object", properties: {} },
    });
    return {
      tool: { ...defined, source },
      principal: localOperator({ id, roles, ...(tenant !== undefined && { tenant }) }),
      arguments: present({ amount, name: given, list: values }),
      ...(toolset !== undefined && { toolset }),
    };
  });

function present<T extends Record<string, unknown>>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as T;
}

function toDocument({ mode, authorize, highRisk, rules: written }: Document): PolicyDocument {
  return {
    version: 1,
    mode,
    presets: [{ requireAuthorizationForAll: authorize }, ...(highRisk ? ["blockHighRiskWithoutApproval"] : [])],
    rules: written.map(({ expression: when, ...rest }) => ({
      ...rest,
      ...(when !== undefined && { when: when.text }),
    })),
  };
}

const reachesDomain = (domains: readonly string[], probe: string): boolean =>
  domains.some((domain) => (domain.startsWith("*.") ? probe.endsWith(domain.slice(1)) : probe === domain));

it("decides generated requests as a plain reading of the language does", () => {
  const seen = { allow: 0, deny: 0, confirm: 0, hidden: 0, requests: 0 };
  fc.assert(
    fc.property(document, fc.array(call, { minLength: 10, maxLength: 10 }), (written, calls) => {
      const policy = rulesPolicy(JSON.stringify(toDocument(written)), { clock: createManualClock(NOON) });
      for (const request of calls) {
        const { matched = [], ...expected } = decideNaively(written, request);
        const decision = policy.decide(request);
        const { effect, rule: by } = decision;
        expect({ effect, rule: by }).toEqual({ effect: expected.effect, rule: expected.rule });
        const visible = policy.sees(request.tool, request.principal, request);
        expect(visible).toBe(seesNaively(written, request));
        expect(visible || effect === "deny").toBe(true);
        const explained = policy.explain(request);
        expect([explained.decision, explained.visible]).toEqual([decision, visible]);

        const owed = decision.effect === "deny" ? undefined : decision.obligations;
        const wanted = matched.map(({ obligations }) => obligations ?? {});
        expect(owed?.rates?.length ?? 0).toBe(wanted.filter(({ rate }) => rate !== undefined).length);
        const sizes = wanted.flatMap(({ max_result_bytes: bytes }) => bytes ?? []);
        expect(owed?.maxResultBytes).toBe(sizes.length === 0 ? undefined : Math.min(...sizes));
        const domains = wanted.flatMap(({ egress }) => (egress === undefined ? [] : [list(egress) ?? []]));
        expect(owed?.egress === undefined).toBe(domains.length === 0);
        for (const probe of PROBES)
          expect(owed?.egress === undefined || reachesDomain(owed.egress, probe)).toBe(
            domains.every((each) => reachesDomain(each, probe)),
          );

        seen.requests++;
        seen[effect]++;
        if (!visible) seen.hidden++;
      }
    }),
  );
  // The generator is worth something only where every outcome is common.
  for (const outcome of ["allow", "deny", "confirm", "hidden"] as const)
    expect(seen[outcome] / seen.requests).toBeGreaterThan(0.05);
});
