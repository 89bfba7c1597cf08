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
  roles: refined(list("Roles: `operator`, `approver`, or roles that your policy uses.", text("A role.")), {
    maxItems: 32,
  }),
  capabilities: list("Capabilities.", choice("A capability.", CAPABILITIES)),
  scopes: refined(list("Scopes. `*` means all scopes.", text("A scope.")), { maxItems: 256 }),
};

export const GRANT = entry("The rights of a caller.", RIGHTS);

/** The rights of a member or a key. */
export interface Grant extends InputOf<typeof GRANT> {}

export const QUOTA = entry(
  "A limit on the calls, tokens or cost of a tenant in a day or month (UTC).",
  {
    unit: choice(
      "The counted unit: calls, the estimated tokens of arguments and results, or the cost that tools declare.",
      QUOTA_UNITS,
    ),
    period: choice("The period after which the counter resets.", QUOTA_PERIODS),
    soft: refined(number("Soft limit. Sends an alert when it is reached."), { exclusiveMinimum: 0, maximum: 1e9 }),
    hard: refined(number("Hard limit. Sends an alert when it is reached, and refuses calls that exceed it."), {
      exclusiveMinimum: 0,
      maximum: 1e9,
    }),
  },
  ["unit", "period"],
);

/** A limit on the calls, tokens or cost of a tenant in a day or month. */
export interface Quota extends InputOf<typeof QUOTA> {}

export const BUDGET = entry(
  "The planned spending of a tenant. A budget sends alerts but refuses no calls; use a quota to refuse calls.",
  {
    period: choice("The period of the budget.", QUOTA_PERIODS),
    amount: refined(number("The amount, in the currency in which tools declare their cost."), {
      exclusiveMinimum: 0,
      maximum: 1e9,
    }),
    alertAt: refined(
      list(
        "Percentages of the amount at which an alert is sent. Defaults to 50, 80 and 100.",
        whole("Percent.", 1, 1_000),
      ),
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
  "Maps a group of the issuer to the tenant: callers whose token names the group belong to the tenant and have these rights.",
  { group: refined(text("The name of the group in the token."), { maxLength: 256 }), ...RIGHTS },
  ["group"],
);

/** Maps an issuer's group to a tenant and its rights. */
export interface Group extends InputOf<typeof GROUP> {}

export const TENANT_SETTINGS = entry("Settings of a tenant. Omitted settings stay unchanged.", {
  name: refined(text("A display name."), { maxLength: 200 }),
  state: choice("The state of the tenant. Callers of a suspended tenant are refused, and their open streams end.", [
    "active",
    "suspended",
  ]),
  toolsets: refined(
    list(
      "The toolsets whose tools the tenant's callers see. `*` means every tool. Defaults to `*`.",
      text("A toolset."),
    ),
    { maxItems: 256 },
  ),
  quotas: refined(list("The quotas, at most one for each unit and period.", QUOTA), { maxItems: 6 }),
  budgets: refined(list("The budgets, at most one for each period.", BUDGET), { maxItems: 2 }),
  groups: refined(list("Groups of an OpenID Connect issuer that belong to the tenant.", GROUP), { maxItems: 256 }),
  webhook: refined(
    string("URL of a webhook that also receives the tenant's alerts. An empty string removes the webhook."),
    { maxLength: 2_048 },
  ),
});

/** The settings of a tenant that an operator may change. */
export interface TenantSettings extends InputOf<typeof TENANT_SETTINGS> {}

export const TENANT = entry(
  "A tenant.",
  {
    id: refined(text("The tenant's id, as in keys and tokens."), { pattern: TENANT_ID }),
    ...TENANT_SETTINGS.properties,
    createdAt: time("When the tenant was created."),
    changedAt: time("When the tenant was last changed."),
  },
  ["id", "state", "toolsets", "quotas", "budgets", "groups", "createdAt", "changedAt"],
);

/** A tenant as shown in responses. */
export interface Tenant extends Filled<typeof TENANT> {}

export const MEMBER = entry(
  "A person who signs in at an issuer and belongs to a tenant.",
  {
    id: refined(text("The person's id: the value of the claim in `server.auth.jwt.claims.id`, by default `sub`."), {
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
