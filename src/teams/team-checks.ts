import { type ArsenalError, fixable } from "../errors/arsenal-error.ts";
import type { Principal } from "../guard/principal.ts";
import type { Grant, TenantSettings } from "./tenant.ts";

/** Rejects settings that have the right shape but cannot be used, and rights that the operator lacks. */
export function checkSettings(
  { quotas = [], budgets = [], groups = [], webhook }: TenantSettings,
  by: Principal,
): void {
  for (const [at, { unit, period, soft, hard }] of quotas.entries()) {
    if (soft === undefined && hard === undefined)
      throw wrong(`quotas.${at}`, undefined, "has neither a soft nor a hard limit", "Set soft, hard, or both.");
    if (soft !== undefined && hard !== undefined && soft > hard)
      throw wrong(`quotas.${at}.soft`, soft, "is above the hard limit", "Set it to the hard limit or less.");
    const first = quotas.findIndex((quota) => quota.unit === unit && quota.period === period);
    if (first !== at)
      throw wrong(`quotas.${at}`, unit, `is the second quota of ${unit} in a ${period}`, "Remove one of them.");
    const whole = [soft, hard].find((limit) => unit !== "cost" && limit !== undefined && !Number.isInteger(limit));
    if (whole !== undefined)
      throw wrong(`quotas.${at}`, whole, "is not a whole number", `Use a whole number of ${unit}.`);
  }
  for (const [at, { period }] of budgets.entries())
    if (budgets.findIndex((budget) => budget.period === period) !== at)
      throw wrong(`budgets.${at}`, period, `is the second budget of a ${period}`, "Remove one of them.");
  for (const [at, group] of groups.entries()) checkGrant(group, by, `groups.${at}.`);
  if (webhook !== undefined && webhook !== "" && !/^https?:$/.test(URL.parse(webhook)?.protocol ?? ""))
    throw wrong("webhook", webhook, "is not a valid address of a webhook", "Write it as https://host/path.");
}

/** Throws if the operator gives a right that the operator lacks. The local operator has all rights. */
export function checkGrant({ roles = [], capabilities = [], scopes = [] }: Grant, by: Principal, at: string): void {
  if (by.local) return;
  const has = (own: readonly string[]) => (right: string) => !own.includes(right) && !own.includes("*");
  const lacking = {
    roles: roles.find(has(by.roles)),
    capabilities: capabilities.find(has(by.capabilities)),
    scopes: scopes.find(has(by.scopes)),
  };
  // An operator of the whole gateway may give roles that the operator lacks. A tenant's operator may not, because a policy may rely on roles.
  if (by.tenant === undefined) lacking.roles = undefined;
  for (const [field, right] of Object.entries(lacking)) {
    if (right === undefined) continue;
    const problem = `"${by.id}" lacks "${right}" (${at}${field}), and cannot give it to others.`;
    const fix = "Leave it out, or ask an operator who has it.";
    throw fixable("PERMISSION_DENIED", problem, fix, { field: at + field, value: right });
  }
}

function wrong(field: string, value: unknown, why: string, fix: string): ArsenalError {
  const details = value === undefined ? { field } : { field, value };
  return fixable("INPUT_INVALID", `${field} ${why}.`, fix, details);
}
