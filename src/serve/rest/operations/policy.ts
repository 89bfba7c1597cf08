import { PRINCIPAL } from "../../../guard/principal.ts";
import { type Operation, operationsOf } from "../operation.ts";
import {
  anything,
  bodyOf,
  entry,
  flag,
  list,
  openEntry,
  refined,
  string,
  strings,
  text,
} from "../../../tool/shape/shape.ts";
import { administrationOf } from "./administered.ts";

const operation = operationsOf({ tag: "Policy", role: "operator" });

const STEP = openEntry(
  "",
  {
    rule: { type: "string" },
    matched: { type: "boolean" },
    why: string("The condition that failed, or that matched."),
  },
  ["rule", "matched"],
);

const RULE = openEntry(
  "",
  {
    rule: { type: "string" },
    effect: { enum: ["allow", "deny", "confirm"] },
    conditions: strings("The conditions on a call. Empty for a rule about every call."),
    tenants: strings("The tenants whose calls the rule applies to. Omitted if it applies to all tenants."),
    obligations: strings("The obligations of the call."),
    reason: string("The reason that is shown to the caller."),
  },
  ["rule", "effect", "conditions"],
);

const CASE = entry(
  "",
  {
    name: string("The name of the case."),
    tool: { description: "A tool's id, or { id, risk, … }.", type: ["string", "object"] },
    principal: { description: "A caller's id, or { id, roles, … }.", type: ["string", "object"] },
    args: anything("The arguments."),
    toolset: string("The toolset that the caller uses."),
    now: string("When the call is made: 2026-05-04T12:00:00Z."),
    expect: { enum: ["allow", "deny", "require_approval", "hidden"], description: "The expected decision." },
    rule: string("The rule that must decide."),
  },
  ["tool", "expect"],
);

const TESTED = openEntry(
  "",
  {
    ok: { type: "boolean" },
    name: { type: "string" },
    expected: { type: "string" },
    actual: { type: "string" },
    rule: { type: "string" },
    reason: { type: "string" },
  },
  ["ok", "name", "expected", "actual", "reason"],
);

const EXPLAINED = openEntry(
  "",
  {
    toolId: { type: "string" },
    visible: flag("Whether the caller may see the tool."),
    effect: { enum: ["allow", "deny", "confirm"], description: "`confirm`: a person must approve it." },
    rule: string("The rule that decides."),
    reason: { type: "string" },
    steps: list("Every rule, in order.", STEP),
    explains: flag("Whether the policy can explain each of its rules."),
  },
  ["toolId", "visible", "effect", "explains"],
);

/** Operations on the policy. They run and count nothing, and request no approval. */
export const policyOperations: readonly Operation[] = [
  operation("listPolicyRules", "GET /policy/rules", {
    summary: "List the rules in force, in the order in which they are evaluated",
    answers: {
      200: {
        description:
          "The rules. Rules about other tenants than the operator's are left out. `rules` is omitted if the policy cannot list its rules.",
        schema: openEntry("", { rules: list("", RULE) }),
      },
    },
    run: async ({ principal }, context) => ({
      body: { rules: await administrationOf(context).policy.rules(principal) },
    }),
  }),
  operation("explainPolicy", "POST /policy/explain", {
    summary: "Explain whether a call would be allowed, without making it",
    body: entry(
      "",
      {
        toolName: refined(text("The tool's id or name."), { maxLength: 512 }),
        arguments: anything("The arguments of the call. Defaults to none."),
        toolset: string("The toolset that the caller uses."),
        principal: refined(bodyOf(PRINCIPAL), {
          description:
            "The caller. Roles, scopes and capabilities default to none. The tenant defaults to your tenant, if you have one.",
        }),
      },
      ["toolName", "principal"],
    ),
    examples: {
      invoice: {
        toolName: "billing.get_invoice",
        arguments: { invoiceId: "INV-1042" },
        principal: { id: "ada", roles: ["support"], scopes: ["*"] },
      },
    },
    answers: { 200: { description: "The decision on the call.", schema: EXPLAINED } },
    problems: ["TOOL_NOT_FOUND"],
    async run({ body: { toolName, arguments: args = {}, toolset, principal: asked }, principal: by }, context) {
      const principal = { roles: [], scopes: [], capabilities: [], ...asked, local: false };
      const request = { toolName, arguments: args, principal, ...(toolset !== undefined && { toolset }) };
      return { body: await administrationOf(context).policy.explain(request, by) };
    },
  }),
  operation("testPolicy", "POST /policy/test", {
    summary: "Check the policy in force, or a draft, against a table of cases",
    description:
      "An operator who belongs to a tenant may test only that tenant's callers. Against the policy in force, the cases may use only tools that the operator may see.",
    body: entry(
      "",
      {
        cases: refined(
          list("The cases, in the format of `toolarsenal policy test`: { tool, principal, args, expect, … }.", CASE),
          {
            minItems: 1,
            maxItems: 1_000,
          },
        ),
        policy: string(
          "The policy to test, as a document of rules in YAML or JSON. The test may take up to 30 seconds. Defaults to the policy in force.",
        ),
      },
      ["cases"],
    ),
    examples: { one: { cases: [{ tool: "billing.refund_user", principal: "ada", expect: "require_approval" }] } },
    answers: {
      200: {
        description: "The result of each case.",
        schema: openEntry("", { failed: { type: "integer" }, cases: list("", TESTED) }, ["failed", "cases"]),
      },
    },
    problems: ["TOOL_NOT_FOUND"],
    async run({ body: { cases, policy }, principal }, context) {
      return { body: await administrationOf(context).policy.test(cases, principal, { policy }) };
    },
  }),
  operation("reloadPolicy", "POST /policy/reload", {
    summary: "Read the policy file again, in every process on the same state",
    tenants: "none",
    answers: { 204: { description: "New calls use the policy in the file." } },
    problems: ["CONFIG_INVALID"],
    targets: () => [],
    async run(_asked, context) {
      administrationOf(context).policy.reload();
      return { status: 204 };
    },
  }),
];
