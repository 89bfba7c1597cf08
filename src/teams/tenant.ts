import {
  choice,
  entry,
  type Filled,
  type InputOf,
  list,
  number,
  refined,
  string,
  text,
  time,
  whole,
} from "../tool/shape/shape.ts";
import { CAPABILITIES } from "../tool/tool.ts";

export const TENANT_ID = "^[a-z0-9][a-z0-9_-]{0,62}$";

/** Matches every toolset and every tool. */
export const EVERY_TOOLSET = "*";

export const QUOTA_UNITS = ["calls", "tokens", "cost"] as const;
export const QUOTA_PERIODS = ["day", "month"] as const;

const RIGHTS = {
  roles: refined(list("Roles: `operator`, `approver`, or those of your policy.", text("A role.")), { maxItems: 32 }),
  capabilities: list("Capabilities.", choice("A capability.", CAPABILITIES)),
  scopes: refined(list("Scopes; `*` stands for all.", text("A scope.")), { maxItems: 256 }),
};

export const GRANT = entry("What a caller may do.", RIGHTS);

/** The rights of a member or a key. */
export interface Grant extends InputOf<typeof GRANT> {}

export const QUOTA = entry(
  "The most calls, tokens or cost of a tenant in a day or month, by UTC.",
  {
    unit: choice(
      "What is counted: calls, the estimated tokens of arguments and results, or the cost that tools declare.",
      QUOTA_UNITS,
    ),
    period: choice("When counting begins anew.", QUOTA_PERIODS),
    soft: refined(number("Sends an alert once it is reached."), { exclusiveMinimum: 0, maximum: 1e9 }),
    hard: refined(number("Sends an alert once it is reached, and refuses calls that exceed it."), {
      exclusiveMinimum: 0,
      maximum: 1e9,
    }),
  },
  ["unit", "period"],
);

/** A limit on the calls, tokens or cost of a tenant in a day or month. */
export interface Quota extends InputOf<typeof QUOTA> {}

export const BUDGET = entry(
  "An amount that a tenant means to spend. It refuses nothing; a quota does.",
  {
    period: choice("The period of the budget.", QUOTA_PERIODS),
    amount: refined(number("In the currency that tools declare their cost in."), { exclusiveMinimum: 0, maximum: 1e9 }),
    alertAt: refined(
      list("Sends an alert at these percentages. Default 50, 80 and 100.", whole("Percent.", 1, 1_000)),
      {
        maxItems: 10,
      },
    ),
  },
  ["period", "amount"],
);

/** The planned spending of a tenant in a period. Exceeding it sends alerts, but refuses nothing. */
export interface Budget extends InputOf<typeof BUDGET> {}

export const GROUP = entry(
  "People of a group, as their tokens name it, belong to the tenant and have these rights.",
  { group: refined(text("The group."), { maxLength: 256 }), ...RIGHTS },
  ["group"],
);

/** Maps an issuer's group to a tenant and its rights. */
export interface Group extends InputOf<typeof GROUP> {}

export const TENANT_SETTINGS = entry("Settings of a tenant. Omitted ones stay as they are.", {
  name: refined(text("A name for people to read."), { maxLength: 200 }),
  state: choice("A suspended tenant's callers are refused, and their open streams end.", ["active", "suspended"]),
  toolsets: refined(
    list(
      "The toolsets whose tools its callers see. `*` stands for every tool, and is the default.",
      text("A toolset."),
    ),
    { maxItems: 256 },
  ),
  quotas: refined(list("The quotas; each unit and period once.", QUOTA), { maxItems: 6 }),
  budgets: refined(list("The budgets; each period once.", BUDGET), { maxItems: 2 }),
  groups: refined(list("Groups of an OpenID Connect issuer that belong to it.", GROUP), { maxItems: 256 }),
  webhook: refined(string("The address that its alerts are also sent to. Empty: none."), { maxLength: 2_048 }),
});

/** The settings of a tenant that an operator may change. */
export interface TenantSettings extends InputOf<typeof TENANT_SETTINGS> {}

export const TENANT = entry(
  "A tenant.",
  {
    id: refined(text("The tenant's id, as callers carry it."), { pattern: TENANT_ID }),
    ...TENANT_SETTINGS.properties,
    createdAt: time("When it was created."),
    changedAt: time("When it was last changed."),
  },
  ["id", "state", "toolsets", "quotas", "budgets", "groups", "createdAt", "changedAt"],
);

/** A tenant as shown in responses. */
export interface Tenant extends Filled<typeof TENANT> {}

export const MEMBER = entry(
  "A person who signs in at an issuer and belongs to a tenant.",
  {
    id: refined(text("The person's id: the claim that `server.auth.jwt.claims.id` names, by default `sub`."), {
      maxLength: 256,
    }),
    tenant: text("The tenant."),
    ...RIGHTS,
    createdAt: time("When the person was added."),
  },
  ["id", "tenant", "roles", "capabilities", "scopes", "createdAt"],
);

/** A person who belongs to a tenant. */
export interface Member extends Filled<typeof MEMBER> {}
