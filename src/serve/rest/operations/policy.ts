import { ArsenalError } from "../../../errors/arsenal-error.ts";
import type { PolicyRule } from "../../../guard/policy.port.ts";
import type { Principal } from "../../../guard/principal.ts";
import { CAPABILITIES } from "../../../tool/tool.ts";
import { type Operation, operationsOf } from "../operation.ts";
import { administrationOf } from "./administered.ts";

const operation = operationsOf({ tag: "Policy", role: "operator" });

const names = (description: string) => ({ type: "array", description, items: { type: "string" } }) as const;

const STEP = {
  type: "object",
  properties: {
    rule: { type: "string" },
    matched: { type: "boolean" },
    why: { type: "string", description: "What did not hold, or what it matched." },
  },
  required: ["rule", "matched"],
} as const;

const texts = { type: "array", items: { type: "string" } } as const;

const RULE = {
  type: "object",
  properties: {
    rule: { type: "string" },
    effect: { enum: ["allow", "deny", "confirm"] },
    conditions: { ...texts, description: "What a call must meet. Empty for a rule about every call." },
    tenants: { ...texts, description: "The tenants whose calls it is about. Absent if it is about every tenant's." },
    obligations: { ...texts, description: "What then holds for the call." },
    reason: { type: "string", description: "The reason that a caller reads." },
  },
  required: ["rule", "effect", "conditions"],
} as const;

/** Listing, asking, testing and reloading the policy. Nothing is run or counted, and nobody is asked for an approval. */
export const policyOperations: readonly Operation[] = [
  operation("listPolicyRules", "GET /policy/rules", {
    summary: "List the rules in force, in the order they are looked at",
    answers: {
      200: {
        description:
          "The rules, without those about other tenants than the operator's own. Absent if the policy cannot list them.",
        schema: { type: "object", properties: { rules: { type: "array", items: RULE } } },
      },
    },
    async run({ principal: { tenant } }, context) {
      const rules = await administrationOf(context).policy.rules();
      const isShown = ({ tenants }: PolicyRule): boolean =>
        tenant === undefined || tenants === undefined || tenants.includes(tenant);
      return { body: { rules: rules?.filter(isShown) } };
    },
  }),
  operation("explainPolicy", "POST /policy/explain", {
    summary: "Say whether a call would be allowed, and why, without making it",
    body: {
      type: "object",
      properties: {
        toolName: { type: "string", description: "The tool's id or name.", minLength: 1, maxLength: 512 },
        arguments: { type: "object", description: "The arguments of the call. Default none." },
        toolset: { type: "string", description: "The toolset that the caller looks through." },
        principal: {
          type: "object",
          description: "Who would call. It has no roles, scopes or capabilities unless they are named.",
          properties: {
            id: { type: "string", description: "The caller's id.", minLength: 1 },
            tenant: { type: "string", description: "The caller's tenant." },
            roles: names("The caller's roles."),
            scopes: names("The caller's scopes; * stands for all."),
            capabilities: {
              type: "array",
              description: "The caller's capabilities.",
              items: { enum: CAPABILITIES },
            },
          },
          required: ["id"],
          additionalProperties: false,
        },
      },
      required: ["toolName", "principal"],
      additionalProperties: false,
    },
    examples: {
      invoice: {
        toolName: "billing.get_invoice",
        arguments: { invoiceId: "INV-1042" },
        principal: { id: "ada", roles: ["support"], scopes: ["*"] },
      },
    },
    answers: {
      200: {
        description: "What would become of the call.",
        schema: {
          type: "object",
          properties: {
            toolId: { type: "string" },
            visible: { type: "boolean", description: "Whether the caller may know of the tool." },
            effect: { enum: ["allow", "deny", "confirm"], description: "`confirm`: a person must approve it." },
            rule: { type: "string", description: "The rule that decides." },
            reason: { type: "string" },
            steps: { type: "array", description: "Every rule, in order.", items: STEP },
            explains: { type: "boolean", description: "Whether the policy can tell how each of its rules stands." },
          },
          required: ["toolId", "visible", "effect", "explains"],
        },
      },
    },
    problems: ["TOOL_NOT_FOUND"],
    async run({ body: { toolName, arguments: args = {}, toolset, principal: asked }, principal: by }, context) {
      const principal = { roles: [], scopes: [], capabilities: [], ...asked, local: false } as Principal;
      refuseTenant(principal, by);
      const request = { toolName, arguments: args, principal, ...(toolset !== undefined && { toolset }) };
      return { body: await administrationOf(context).policy.explain(request) };
    },
  }),
  operation("testPolicy", "POST /policy/test", {
    summary: "Check the policy in force, or a draft, against a table of cases",
    body: {
      type: "object",
      properties: {
        cases: {
          type: "array",
          description: "As `toolarsenal policy test` takes them: { tool, principal, args, expect, … }.",
          minItems: 1,
          maxItems: 10_000,
          items: {
            type: "object",
            properties: {
              name: { type: "string", description: "What the case is about." },
              tool: { description: "A tool's id, or { id, risk, … }.", type: ["string", "object"] },
              principal: { description: "A caller's id, or { id, roles, … }.", type: ["string", "object"] },
              args: { type: "object", description: "The arguments." },
              toolset: { type: "string", description: "The toolset that the caller looks through." },
              now: { type: "string", description: "When the call is made: 2026-05-04T12:00:00Z." },
              expect: { enum: ["allow", "deny", "require_approval", "hidden"], description: "What must come of it." },
              rule: { type: "string", description: "The rule that must decide." },
            },
            required: ["tool", "expect"],
            additionalProperties: false,
          },
        },
        policy: { type: "string", description: "A document of rules, as YAML or JSON. Default: the policy in force." },
      },
      required: ["cases"],
      additionalProperties: false,
    },
    examples: { one: { cases: [{ tool: "billing.refund_user", principal: "ada", expect: "require_approval" }] } },
    answers: {
      200: {
        description: "How each case came out.",
        schema: {
          type: "object",
          properties: {
            failed: { type: "integer" },
            cases: {
              type: "array",
              items: {
                type: "object",
                properties: {
                  ok: { type: "boolean" },
                  name: { type: "string" },
                  expected: { type: "string" },
                  actual: { type: "string" },
                  rule: { type: "string" },
                  reason: { type: "string" },
                },
                required: ["ok", "name", "expected", "actual", "reason"],
              },
            },
          },
          required: ["failed", "cases"],
        },
      },
    },
    async run({ body: { cases, policy } }, context) {
      return { body: await administrationOf(context).policy.test(cases, { policy }) };
    },
  }),
  operation("reloadPolicy", "POST /policy/reload", {
    summary: "Read the policy file again, in every process on the same state",
    answers: { 204: { description: "Calls follow the file from now on." } },
    problems: ["CONFIG_INVALID"],
    targets: () => [],
    async run(_asked, context) {
      administrationOf(context).policy.reload();
      return { status: 204 };
    },
  }),
];

/** An operator who belongs to a tenant asks about that tenant's callers. */
function refuseTenant({ tenant }: Principal, by: Principal): void {
  if (by.tenant === undefined || tenant === undefined || tenant === by.tenant) return;
  const fix = `Ask about callers of the tenant "${by.tenant}".`;
  throw new ArsenalError("PERMISSION_DENIED", `"${by.id}" belongs to another tenant than the caller. ${fix}`, { fix });
}
