import { DIALECT_NAMES } from "../../../adapters/dialects/built-in.ts";
import { fixable } from "../../../errors/arsenal-error.ts";
import { localOperator, type Principal } from "../../../guard/principal.ts";
import { programIdentity } from "../../../system/program-identity.ts";
import type { MarkedToolset, Toolset } from "../../../toolset/toolset.ts";
import { notAdmitted } from "../../../toolset/toolset-policy.ts";
import { hasRole } from "../../administration.ts";
import { refusalOf } from "../access.ts";
import { answer, isOffered, type Operation, operationsOf, type RestContext } from "../operation.ts";
import { REFUSAL } from "../schemas/tool.ts";
import { TOOLSET } from "../../../toolset/toolset.ts";
import { entry, list, number, refined, string, strings, whole } from "../../../tool/shape/shape.ts";

const ofToolsets = operationsOf({ tag: "Toolsets" });
const operation = operationsOf({ tag: "Gateway" });

const INFO = entry(
  "The gateway and the caller.",
  {
    version: string("The version of the gateway."),
    toolCount: whole(
      "The number of tools that you may call. For operators who belong to no tenant: the number of all tools.",
    ),
    scoreThreshold: number("The semantic score below which a search leaves out a tool."),
    dialects: strings("The formats that tools can be exported in."),
    caller: entry(
      "The authenticated caller.",
      {
        id: string("Your id."),
        roles: strings("Your roles."),
        tenant: string("Your tenant."),
        operations: strings("The ids of the operations of this API that you may use."),
      },
      ["id", "roles", "operations"],
    ),
  },
  ["version", "toolCount", "scoreThreshold", "dialects", "caller"],
);

const SHOWN_TOOLSET = entry("A curated view over the catalog.", { ...TOOLSET.properties, refused: REFUSAL }, [
  ...(["name", "description", "tags", "filter", "view", "policy", "createdAt", "updatedAt"] as const),
]);

export const gatewayOperations = (all: () => readonly Operation[]): readonly Operation[] => [
  ofToolsets("listToolsets", "GET /toolsets", {
    summary: "List the toolsets that you may use",
    description:
      "An operator who belongs to no tenant gets every toolset. A toolset that the operator may not use has `refused`.",
    answers: {
      200: answer("The toolsets, ordered by name.", { toolsets: list("Ordered by name.", SHOWN_TOOLSET) }, [
        "toolsets",
      ]),
    },
    async run({ principal }, context) {
      const toolsets = toolsetsFor(principal, context);
      return { body: { toolsets: await Promise.all(toolsets.map((each) => shownTo(principal, each, context))) } };
    },
  }),
  ofToolsets("getToolset", "GET /toolsets/{name}", {
    summary: "Get one toolset",
    description: "Its tools are at `/api/v1/tools?toolset=NAME`.",
    params: entry("", { name: refined(string("The toolset's name."), { examples: ["support"] }) }, ["name"]),
    answers: { 200: { description: "The toolset.", schema: SHOWN_TOOLSET } },
    problems: ["TOOLSET_NOT_FOUND"],
    async run({ params: { name }, principal }, context) {
      const toolset = toolsetsFor(principal, context).find((each) => each.name === name);
      if (toolset !== undefined) return { body: await shownTo(principal, toolset, context) };
      const fix = "List the toolsets with GET /api/v1/toolsets.";
      const details = { field: "name", value: name };
      throw fixable("TOOLSET_NOT_FOUND", `There is no toolset "${name.slice(0, 200)}".`, fix, details);
    },
  }),
  operation("getInfo", "GET /info", {
    summary: "Describe the gateway and the caller",
    answers: { 200: { description: "The gateway and the caller.", schema: INFO } },
    problems: ["TOOLSET_NOT_FOUND"],
    async run({ principal }, context) {
      const { arsenal, toolset, dialects, administration } = context;
      const { id, roles, tenant } = principal;
      const seesAll = toolset === undefined && operatesAll(principal, context);
      const toolCount = seesAll ? arsenal.toolCount : (await arsenal.listTools({ principal })).length;
      return {
        body: {
          version: programIdentity().version,
          toolCount,
          scoreThreshold: arsenal.scoreThreshold,
          dialects: [...new Set([...DIALECT_NAMES, ...(dialects?.keys() ?? [])])],
          caller: {
            id,
            roles,
            tenant,
            operations: all()
              .filter((each) => isOffered(each, context) && refusalOf(each, principal, administration) === undefined)
              .filter(({ feature }) => feature === undefined || administration?.[feature] !== undefined)
              .map((each) => each.id),
          },
        },
      };
    },
  }),
  operation("checkHealth", "GET /health", {
    summary: "Show which parts of the gateway work",
    answers: {
      200: {
        description: "For each part: true if it works.",
        schema: { type: "object", additionalProperties: { type: "boolean" }, description: "Parts by name." },
      },
    },
    run: async (_asked, { arsenal }) => ({ body: await arsenal.healthCheck() }),
  }),
  operation("sync", "POST /sync", {
    summary: "Index pending registrations",
    role: "operator",
    tenants: "none",
    answers: {
      200: answer(
        "The number of new or changed tools.",
        {
          synced: whole("The number of new or changed tools."),
        },
        ["synced"],
      ),
    },
    problems: ["STORE_FAILED"],
    targets: () => [],
    run: async ({ signal }, { arsenal }) => ({ body: { synced: await arsenal.sync({ signal }) } }),
  }),
];

function operatesAll(principal: Principal, { administration }: RestContext): boolean {
  return principal.tenant === undefined && hasRole(principal, "operator", administration);
}

function toolsetsFor(principal: Principal, context: RestContext): readonly Toolset[] {
  return context.arsenal.toolsets.list(operatesAll(principal, context) ? localOperator() : principal);
}

/**
 * Returns a toolset as a caller may see it. Only operators of the whole gateway see its definition, which can name other tenants and hidden tools.
 * Other callers see its roles and, of its tenants, only their own.
 */
async function shownTo(principal: Principal, toolset: Toolset, context: RestContext): Promise<MarkedToolset> {
  const { name } = toolset;
  if (operatesAll(principal, context)) {
    const isAdmitted = context.arsenal.toolsets.find(name, principal) !== undefined;
    return isAdmitted ? toolset : { ...toolset, refused: notAdmitted(name, principal) };
  }
  const { owner: _owner, policy, ...shown } = toolset;
  const { allowedTenants = [], ...open } = policy;
  const own = allowedTenants.filter((tenant) => tenant === principal.tenant);
  const tools = await context.arsenal.listTools({ principal, toolset: name });
  return {
    ...shown,
    filter: { ids: tools.map(({ id }) => id) },
    policy: { ...open, ...(own.length > 0 && { allowedTenants: own }) },
  };
}
