import { fixable } from "../errors/arsenal-error.ts";
import { showValue } from "../errors/show-value.ts";
import { checkOf, isPrincipal, throwFor } from "../tool/shape/check.ts";
import { choice, entry, type Filled, flag, hinted, type InputOf, list, text } from "../tool/shape/shape.ts";
import { CAPABILITIES, type Capability, type Tool } from "../tool/tool.ts";

export const PRINCIPAL = hinted(
  entry(
    "The caller. Roles, scopes and capabilities default to none.",
    {
      id: text("The caller's id."),
      tenant: text("The caller's tenant."),
      roles: list("The caller's roles.", text("A role."), []),
      capabilities: list("The caller's capabilities.", choice("A capability.", CAPABILITIES), []),
      scopes: list("The caller's scopes. * means all scopes.", text("A scope."), []),
      local: hinted(flag("True for the local operator, who runs the arsenal.", false), { onlyInCode: true }),
    },
    ["id"],
  ),
  { fix: 'Pass { id: "support-bot" }.' },
);

/** The caller. */
export interface Principal extends Filled<typeof PRINCIPAL> {}

const checkPrincipal = checkOf(PRINCIPAL);

const refuse = throwFor("principal", "INPUT_INVALID");

/**
 * Returns a caller that has only the roles, capabilities and scopes you grant; without grants, every tool that needs a capability or a scope refuses it.
 *
 * @example
 * const bot = createPrincipal({ id: "support-bot", capabilities: ["read_data"], scopes: ["orders:read"] });
 * await arsenal.execute({ toolName: "shop.find_order", arguments: { order: "1042" }, principal: bot });
 */
export function createPrincipal(granted: InputOf<typeof PRINCIPAL>): Principal {
  checkPrincipal(granted, "", refuse);
  const { id, tenant, roles = [], capabilities = [], scopes = [], local = false } = granted;
  return { id, ...(tenant !== undefined && { tenant }), roles, capabilities, scopes, local };
}

/** The local operator. It may do everything and is the default caller. */
export function localOperator(overrides: Partial<Principal> = {}): Principal {
  return {
    id: "local",
    roles: ["operator", "approver"],
    capabilities: CAPABILITIES,
    scopes: ["*"],
    local: true,
    ...overrides,
  };
}

/** Returns the given principal, or the operator if it is undefined. Throws for null and invalid values, which must not become the operator. */
export function principalOr(operator: Principal, given: Principal | undefined): Principal {
  if (given === undefined) return operator;
  if (isPrincipal(given)) return given;
  const fix = "Give { id, roles, capabilities, scopes, local }, or leave it out.";
  const problem = `principal is invalid: ${showValue(given)}.`;
  throw fixable("QUERY_INVALID", problem, fix, { field: "principal", value: showValue(given) });
}

/** Returns whether a tool's tenant lets a principal see it. A tenant's tool is visible to its callers, and to operators without a tenant. */
export function mayKnow(
  { metadata: { tenant } }: Pick<Tool, "metadata">,
  principal: Principal,
  operatorRole = "operator",
): boolean {
  return tenant === undefined || tenant === principal.tenant || knowsTenants(principal, operatorRole);
}

/** Returns whether a principal may see every tenant's tools. */
export function knowsTenants({ tenant, local, roles }: Principal, operatorRole = "operator"): boolean {
  return tenant === undefined && (local || roles.includes(operatorRole));
}

/** The capabilities that a tool declares and the principal lacks, in the tool's order. */
export function missingCapabilities(
  tool: Pick<Tool, "capabilities">,
  principal: Pick<Principal, "capabilities">,
): readonly Capability[] {
  return tool.capabilities.filter((capability) => !principal.capabilities.includes(capability));
}

/** The scopes that a tool requires and the principal lacks, in the tool's order. The scope `*` includes all others. */
export function missingScopes(
  tool: Pick<Tool, "requiredScopes">,
  principal: Pick<Principal, "scopes">,
): readonly string[] {
  if (principal.scopes.includes("*")) return [];
  return tool.requiredScopes.filter((scope) => !principal.scopes.includes(scope));
}
