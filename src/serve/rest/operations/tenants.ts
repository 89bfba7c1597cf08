import { fixable } from "../../../errors/arsenal-error.ts";
import type { TeamAdministration } from "../../../teams/team-administration.ts";
import { GRANT, MEMBER, QUOTA_PERIODS, QUOTA_UNITS, TENANT, TENANT_SETTINGS } from "../../../teams/tenant.ts";
import { choice, entry, list, number, refined, text, time } from "../../../tool/shape/shape.ts";
import { answer, type Operation, operationsOf, type RestContext } from "../operation.ts";
import { administrationOf } from "./administered.ts";

const operation = operationsOf({ tag: "Tenants", role: "operator", feature: "teams" });

const tenant = refined(text("The tenant's id."), { maxLength: 63, examples: ["acme"] });
const params = entry("", { tenant }, ["tenant"]);
const memberParams = entry(
  "",
  { tenant, id: refined(text("The id of the person."), { maxLength: 256, examples: ["ada"] }) },
  ["tenant", "id"],
);

/** If teams are off, their operations answer 404. */
export const NO_TEAMS = { problems: ["CONFIG_INVALID"], statusOf: { CONFIG_INVALID: 404 } } as const;

const STATUS = entry(
  "The used amount of a quota or budget.",
  {
    unit: choice("The counted unit.", QUOTA_UNITS),
    period: choice("The period.", QUOTA_PERIODS),
    used: number("The amount used in this period."),
    soft: number("The soft limit."),
    hard: number("The hard limit."),
    budget: number("The amount of the budget."),
    endsAt: time("When the counter resets."),
  },
  ["unit", "period", "used", "endsAt"],
);

/** Returns the actions on tenants, members and keys. Throws CONFIG_INVALID if teams are off. */
export function teamsOf(context: Pick<RestContext, "administration">): TeamAdministration {
  const { teams } = administrationOf(context);
  if (teams !== undefined) return teams;
  const problem = "This gateway has no tenants and no keys in the shared state.";
  const fix = "Set server.auth.api_keys.state or teams.enabled to true.";
  throw fixable("CONFIG_INVALID", problem, fix, { field: "teams.enabled" });
}

const problems = [...NO_TEAMS.problems, "TENANT_NOT_FOUND"] as const;
const { statusOf } = NO_TEAMS;

export const tenantOperations: readonly Operation[] = [
  operation("listTenants", "GET /tenants", {
    summary: "List the tenants",
    description: "An operator who belongs to a tenant sees only that tenant.",
    answers: { 200: answer("The tenants, ordered by id.", { tenants: list("Ordered by id.", TENANT) }, ["tenants"]) },
    ...NO_TEAMS,
    run: async ({ principal }, context) => ({ body: { tenants: await teamsOf(context).tenants(principal) } }),
  }),
  operation("createTenant", "POST /tenants", {
    summary: "Create a tenant",
    tenants: "none",
    body: entry("", { id: TENANT.properties.id, ...TENANT_SETTINGS.properties }, ["id"]),
    examples: {
      "A thousand calls a day": {
        id: "acme",
        name: "Acme Corp.",
        quotas: [{ unit: "calls", period: "day", soft: 800, hard: 1_000 }],
      },
    },
    answers: { 201: { description: "The tenant.", schema: TENANT } },
    problems: [...NO_TEAMS.problems, "NAME_TAKEN"],
    statusOf,
    targets: ({ body }) => [body.id],
    run: async ({ body, principal }, context) => ({
      status: 201,
      body: await teamsOf(context).createTenant(body, principal),
    }),
  }),
  operation("getTenant", "GET /tenants/{tenant}", {
    summary: "Show a tenant",
    params,
    answers: { 200: { description: "The tenant.", schema: TENANT } },
    problems,
    statusOf,
    run: async ({ params: asked, principal }, context) => ({
      body: await teamsOf(context).tenant(asked.tenant, principal),
    }),
  }),
  operation("changeTenant", "PUT /tenants/{tenant}", {
    summary: "Change a tenant: its quotas, budgets, toolsets and groups, or suspend it",
    description:
      "The change takes effect in every process on the same state within a second. Suspending a tenant ends the open streams of its callers.",
    tenants: "none",
    params,
    body: TENANT_SETTINGS,
    answers: { 200: { description: "The tenant.", schema: TENANT } },
    problems,
    statusOf,
    targets: ({ params: asked }) => [asked.tenant],
    run: async ({ params: asked, body, principal }, context) => ({
      body: await teamsOf(context).changeTenant(asked.tenant, body, principal),
    }),
  }),
  operation("getQuotas", "GET /tenants/{tenant}/quotas", {
    summary: "Show how much of a tenant's quotas and budgets is used",
    params,
    answers: {
      200: answer("The quotas and budgets.", { quotas: list("Ordered by period and unit.", STATUS) }, ["quotas"]),
    },
    problems,
    statusOf,
    run: async ({ params: asked, principal }, context) => ({
      body: { quotas: await teamsOf(context).quotas(asked.tenant, principal) },
    }),
  }),
  operation("listMembers", "GET /tenants/{tenant}/members", {
    summary: "List the members of a tenant",
    params,
    answers: { 200: answer("The members, ordered by id.", { members: list("Ordered by id.", MEMBER) }, ["members"]) },
    problems,
    statusOf,
    run: async ({ params: asked, principal }, context) => ({
      body: { members: await teamsOf(context).members(asked.tenant, principal) },
    }),
  }),
  operation("setMember", "PUT /tenants/{tenant}/members/{id}", {
    summary: "Add a person to a tenant, or replace the person's rights",
    description: "You can grant only rights that you have.",
    params: memberParams,
    body: GRANT,
    answers: { 200: { description: "The member.", schema: MEMBER } },
    problems: [...problems, "NAME_TAKEN"],
    statusOf,
    targets: ({ params: asked }) => [asked.tenant, asked.id],
    run: async ({ params: asked, body, principal }, context) => ({
      body: await teamsOf(context).setMember(asked.tenant, asked.id, body, principal),
    }),
  }),
  operation("removeMember", "DELETE /tenants/{tenant}/members/{id}", {
    summary: "Remove a person from a tenant",
    params: memberParams,
    answers: { 204: { description: "The person no longer belongs to the tenant." } },
    problems,
    statusOf,
    targets: ({ params: asked }) => [asked.tenant, asked.id],
    async run({ params: asked, principal }, context) {
      await teamsOf(context).removeMember(asked.tenant, asked.id, principal);
      return { status: 204 };
    },
  }),
  operation("removeTenant", "DELETE /tenants/{tenant}", {
    summary: "Remove a tenant with its members and keys",
    description: "The tenant's callers are refused from then on. Its usage can still be read.",
    tenants: "none",
    params,
    answers: { 204: { description: "The tenant is removed." } },
    problems,
    statusOf,
    targets: ({ params: asked }) => [asked.tenant],
    async run({ params: asked, principal }, context) {
      await teamsOf(context).removeTenant(asked.tenant, principal);
      return { status: 204 };
    },
  }),
];
