import { type ArsenalError, fixable } from "../../errors/arsenal-error.ts";
import type { Principal } from "../../guard/principal.ts";
import { type Administration, hasRole } from "../administration.ts";

/**
 * The callers that may use an operation. Every operation declares them, the surface checks them before the operation runs, and `/openapi.json` shows
 * them as `x-access`.
 */
export interface Access {
  /** The role that a caller needs. If omitted, any caller of the gateway may use the operation, under policy. */
  readonly role?: "operator" | "approver" | "operator or approver";
  /**
   * The rights of a caller with the role who belongs to a tenant. `own` (default): only that tenant's part. `all`: the same as other callers. `none`:
   * refused, for operations that change what tenants share.
   */
  readonly tenants?: "own" | "all" | "none";
}

/** Returns the reason why a caller may not use an operation; undefined if it may. */
export function refusalOf(
  { role, tenants }: Access,
  principal: Principal,
  administration?: Pick<Administration, "operatorRole">,
): ArsenalError | undefined {
  if (role === undefined) return undefined;
  const roles = role.split(" or ") as readonly ("operator" | "approver")[];
  if (!roles.some((each) => hasRole(principal, each, administration))) {
    const named = roles.map((each) => (each === "operator" ? (administration?.operatorRole ?? each) : each));
    const shown = named.map((each) => `"${each}"`).join(" or ");
    const fix = `Give the caller the role ${shown}, with its API key or in its token.`;
    return fixable("PERMISSION_DENIED", `"${principal.id}" lacks the role ${shown}.`, fix);
  }
  if (tenants !== "none" || principal.tenant === undefined) return undefined;
  const problem = `"${principal.id}" belongs to the tenant "${principal.tenant}" and cannot do this: it affects what all tenants share.`;
  return fixable("PERMISSION_DENIED", problem, `Ask an ${roles.join(" or an ")} who belongs to no tenant.`);
}
