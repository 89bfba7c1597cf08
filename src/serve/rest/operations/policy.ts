import type { Principal } from "../../../guard/principal.ts";
import { CAPABILITIES } from "../../../tool/tool.ts";
import { type Operation, operationsOf } from "../operation.ts";
import { anyObject, flag, list, object, openObject, text, texts } from "../schemas/write.ts";
import { administrationOf } from "./administered.ts";

const operation = operationsOf({ tag: "Policy", role: "operator" });

const STEP = openObject("", ["rule", "matched"], {
  rule: { type: "string" },
  matched: { type: "boolean" },
  why: text("What did not hold, or what it matched."),
});

const RULE = openObject("", ["rule", "effect", "conditions"], {
  rule: { type: "string" },
  effect: { enum: ["allow", "deny", "confirm"] },
  conditions: texts("What a call must meet. Empty for a rule about every call."),
  tenants: texts("The tenants whose calls it is about. Absent if it is about every tenant's."),
  obligations: texts("What then holds for the call."),
  reason: text("The reason that a caller reads."),
});

const CASE = object("", ["tool", "expect"], {
  name: text("What the case is about."),
  tool: { description: "A tool's id, or { id, risk, … }.", type: ["string", "object"] },
  principal: { description: "A caller's id, or { id, roles, … }.", type: ["string", "object"] },
  args: anyObject("The arguments."),
  toolset: text("The toolset that the caller looks through."),
  now: text("When the call is made: 2026-05-04T12:00:00Z."),
  expect: { enum: ["allow", "deny", "require_approval", "hidden"], description: "What must come of it." },
  rule: text("The rule that must decide."),
});

const TESTED = openObject("", ["ok", "name", "expected", "actual", "reason"], {
  ok: { type: "boolean" },
  name: { type: "string" },
  expected: { type: "string" },
  actual: { type: "string" },
  rule: { type: "string" },
  reason: { type: "string" },
});

const EXPLAINED = openObject("", ["toolId", "visible", "effect", "explains"], {
  toolId: { type: "string" },
  visible: flag("Whether the caller may know of the tool."),
  effect: { enum: ["allow", "deny", "confirm"], description: "`confirm`: a person must approve it." },
  rule: text("The rule that decides."),
  reason: { type: "string" },
  steps: list(STEP, "Every rule, in order."),
  explains: flag("Whether the policy can tell how each of its rules stands."),
});

/** Lists, explains, tests and reloads the policy. Nothing is run or counted, and no approval is requested. */
export const policyOperations: readonly Operation[] = [
  operation("listPolicyRules", "GET /policy/rules", {
    summary: "List the rules in force, in the order they are looked at",
    answers: {
      200: {
        description:
          "The rules, without those about other tenants than the operator's own. Absent if the policy cannot list them.",
        schema: openObject("", [], { rules: list(RULE, "") }),
      },
    },
    run: async ({ principal }, context) => ({
      body: { rules: await administrationOf(context).policy.rules(principal) },
    }),
  }),
  operation("explainPolicy", "POST /policy/explain", {
    summary: "Say whether a call would be allowed, and why, without making it",
    body: object("", ["toolName", "principal"], {
      toolName: { ...text("The tool's id or name."), minLength: 1, maxLength: 512 },
      arguments: anyObject("The arguments of the call. Default none."),
      toolset: text("The toolset that the caller looks through."),
      principal: object("Who would call. It has no roles, scopes or capabilities unless they are named.", ["id"], {
        id: { ...text("The caller's id."), minLength: 1 },
        tenant: text("The caller's tenant. Defaults to yours, if you have one."),
        roles: texts("The caller's roles."),
        scopes: texts("The caller's scopes; * stands for all."),
        capabilities: list({ enum: CAPABILITIES }, "The caller's capabilities."),
      }),
    }),
    examples: {
      invoice: {
        toolName: "billing.get_invoice",
        arguments: { invoiceId: "INV-1042" },
        principal: { id: "ada", roles: ["support"], scopes: ["*"] },
      },
    },
    answers: { 200: { description: "What would become of the call.", schema: EXPLAINED } },
    problems: ["TOOL_NOT_FOUND"],
    async run({ body: { toolName, arguments: args = {}, toolset, principal: asked }, principal: by }, context) {
      const principal = { roles: [], scopes: [], capabilities: [], ...asked, local: false } as Principal;
      const request = { toolName, arguments: args, principal, ...(toolset !== undefined && { toolset }) };
      return { body: await administrationOf(context).policy.explain(request, by) };
    },
  }),
  operation("testPolicy", "POST /policy/test", {
    summary: "Check the policy in force, or a draft, against a table of cases",
    description:
      "An operator who belongs to a tenant asks about that tenant's callers, and, of the policy in force, about tools that it may see.",
    body: object("", ["cases"], {
      cases: {
        ...list(CASE, "As `toolarsenal policy test` takes them: { tool, principal, args, expect, … }."),
        minItems: 1,
        maxItems: 1_000,
      },
      policy: text(
        "A document of rules, as YAML or JSON, that is judged within 30 seconds. Default: the policy in force.",
      ),
    }),
    examples: { one: { cases: [{ tool: "billing.refund_user", principal: "ada", expect: "require_approval" }] } },
    answers: {
      200: {
        description: "How each case came out.",
        schema: openObject("", ["failed", "cases"], { failed: { type: "integer" }, cases: list(TESTED, "") }),
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
    answers: { 204: { description: "Calls follow the file from now on." } },
    problems: ["CONFIG_INVALID"],
    targets: () => [],
    async run(_asked, context) {
      administrationOf(context).policy.reload();
      return { status: 204 };
    },
  }),
];
