import { type ArsenalError, fixable } from "../errors/arsenal-error.ts";
import { nearest, showValue } from "../errors/show-value.ts";
import type { Principal } from "../guard/principal.ts";
import type { Clock } from "../observe/clock.ts";
import type { Limits } from "../state/limits.port.ts";
import type { SharedState } from "../state/shared-state.ts";
import { type ApiKey, createKeys, type KeyRequest, type NewKey } from "./keys.ts";
import { periodOf } from "./period.ts";
import { countersOf } from "./quotas.ts";
import { checkGrant, checkSettings } from "./team-checks.ts";
import type { StoredTenant, TeamRecords } from "./team-records.ts";
import { EVERY_TOOLSET, type Grant, type Member, type Tenant, TENANT_ID, type TenantSettings } from "./tenant.ts";
import type { UsagePart, UsageRow } from "./usage-csv.ts";
import { readUsage, sumUsage } from "./usage.ts";
import { COST_UNITS } from "../guard/limits/quotas.ts";

/** The used amount of a quota or budget. */
export interface QuotaStatus {
  readonly unit: "calls" | "tokens" | "cost";
  readonly period: "day" | "month";
  readonly used: number;
  readonly soft?: number;
  readonly hard?: number;
  readonly budget?: number;
  /** The time at which the counter resets, in milliseconds since the epoch. */
  readonly endsAt: number;
}

export interface UsageQuery {
  /** Days, both included: `2026-05-04`. Defaults to the last 30 days. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly tenant?: string | undefined;
  /** Defaults to all. */
  readonly by?: readonly UsagePart[] | undefined;
}

/**
 * The actions of operators on tenants, members and keys. An operator who belongs to a tenant (`by`) sees and changes only that tenant, its members
 * and keys: other tenants behave as if they did not exist. An operator can only give rights that the operator has.
 */
export type TeamAdministration = ReturnType<typeof createTeamAdministration>;

const DAY_MS = 86_400_000;

export function createTeamAdministration(parts: {
  readonly records: TeamRecords;
  readonly state: Pick<SharedState, "documents" | "changes">;
  readonly limits: Pick<Limits, "admit">;
  readonly clock: Pick<Clock, "now">;
  /** Resolves once the usage that this process counted is written. */
  readonly flushUsage: () => Promise<void>;
}) {
  const { records, state, limits, clock } = parts;
  const keys = createKeys({ state, clock });
  const now = (): number => Math.round(clock.now());

  /** Returns the tenant, if it exists and the operator may see it. */
  async function tenantOf(id: string, by: Principal): Promise<Tenant> {
    const found = by.tenant === undefined || by.tenant === id ? await records.tenants.get(id) : undefined;
    if (found !== undefined && found.state !== "removed") return found;
    throw by.tenant === undefined ? unknownTenant(id, await listTenants(by)) : notFound("tenant", id);
  }

  async function listTenants(by: Principal): Promise<readonly Tenant[]> {
    const all = await records.tenants.list();
    return all.filter((tenant): tenant is Tenant => tenant.state !== "removed" && isWithin(tenant, by));
  }

  async function keyOf(name: string, by: Principal): Promise<ApiKey> {
    const found = await keys.find(name);
    if (found === undefined || (by.tenant !== undefined && found.tenant !== by.tenant)) throw notFound("key", name);
    return found;
  }

  async function change(id: string, settings: TenantSettings, by: Principal): Promise<Tenant> {
    checkSettings(settings, by);
    const changed = await records.tenants.update(id, (before) =>
      before === undefined || before.state === "removed" ? undefined : { ...before, ...settings, changedAt: now() },
    );
    if (changed === undefined || changed.state === "removed") throw notFound("tenant", id);
    return changed;
  }

  return {
    tenants: listTenants,
    tenant: tenantOf,
    async createTenant({ id, ...settings }: TenantSettings & { readonly id: string }, by: Principal): Promise<Tenant> {
      checkSettings(settings, by);
      const fresh: Tenant = {
        id,
        state: "active",
        toolsets: [EVERY_TOOLSET],
        quotas: [],
        budgets: [],
        groups: [],
        ...settings,
        createdAt: now(),
        changedAt: now(),
      };
      const created = await records.tenants.update(id, (before) =>
        before === undefined || before.state === "removed" ? fresh : undefined,
      );
      if (created === undefined) throw taken("tenant", id);
      return fresh;
    },
    changeTenant: change,
    /** Removes a tenant with its members and keys. Its callers stay refused, and its usage can still be read. */
    async removeTenant(id: string, by: Principal): Promise<void> {
      await tenantOf(id, by);
      await records.tenants.update(id, () => ({ id, state: "removed" }) satisfies StoredTenant);
      for (const key of await keys.list()) if (key.tenant === id) await keys.revoke(key.name);
      for (const member of await records.members.list())
        if (member.tenant === id) await records.members.remove(member.id);
    },

    async members(tenant: string, by: Principal): Promise<readonly Member[]> {
      await tenantOf(tenant, by);
      return (await records.members.list()).filter((member) => member.tenant === tenant);
    },
    /** Adds a person to a tenant, or replaces that person's rights. */
    async setMember(tenant: string, id: string, grant: Grant, by: Principal): Promise<Member> {
      await tenantOf(tenant, by);
      checkGrant(grant, by, "");
      const { roles = [], capabilities = [], scopes = [] } = grant;
      const set = await records.members.update(id, (before) => {
        if (before !== undefined && before.tenant !== tenant) return undefined;
        return { id, tenant, roles, capabilities, scopes, createdAt: before?.createdAt ?? now() };
      });
      if (set === undefined) throw taken("member", id);
      return set;
    },
    async removeMember(tenant: string, id: string, by: Principal): Promise<void> {
      await tenantOf(tenant, by);
      const member = await records.members.get(id);
      if (member?.tenant !== tenant || !(await records.members.remove(id))) throw notFound("member", id);
    },

    async keys(asked: { readonly tenant?: string | undefined }, by: Principal): Promise<readonly ApiKey[]> {
      const { tenant = by.tenant } = asked;
      if (tenant !== undefined) await knownTenant(tenant, by);
      return (await keys.list()).filter((key) => tenant === undefined || key.tenant === tenant);
    },
    async createKey(asked: KeyRequest, by: Principal): Promise<NewKey> {
      const { tenant = by.tenant } = asked;
      if (tenant !== undefined) await tenantOf(tenant, by);
      checkGrant(asked, by, "");
      const created = await keys.create({ ...asked, tenant });
      if (created === undefined) throw taken("key", asked.name);
      return created;
    },
    async rotateKey(
      name: string,
      options: { readonly overlapMs: number; readonly expiresAt?: number | undefined },
      by: Principal,
    ): Promise<NewKey> {
      checkGrant(await keyOf(name, by), by, "");
      const rotated = await keys.rotate(name, options);
      if (rotated === undefined) throw notFound("key", name);
      return rotated;
    },
    async revokeKey(name: string, by: Principal): Promise<void> {
      await keyOf(name, by);
      if (!(await keys.revoke(name))) throw notFound("key", name);
    },

    async quotas(id: string, by: Principal): Promise<readonly QuotaStatus[]> {
      const tenant = await tenantOf(id, by);
      const counters = countersOf(tenant, clock.now());
      if (counters.length === 0) return [];
      const uses = counters.map(({ key, keepMs }) => ({ key, amount: 0, keepMs }));
      const read = await limits.admit({ quotas: uses, holdMs: 0 });
      const used = read.admitted ? (read.used ?? []) : [];
      return counters.map(({ unit, period, endsAt }, at) => {
        const quota = tenant.quotas.find((each) => each.unit === unit && each.period === period);
        const budget = unit === "cost" ? tenant.budgets.find((each) => each.period === period) : undefined;
        return {
          unit,
          period,
          used: (used[at] ?? 0) / (unit === "cost" ? COST_UNITS : 1),
          ...(quota?.soft !== undefined && { soft: quota.soft }),
          ...(quota?.hard !== undefined && { hard: quota.hard }),
          ...(budget !== undefined && { budget: budget.amount }),
          endsAt,
        };
      });
    },
    async usage({ from, to, tenant, by: groups }: UsageQuery, by: Principal): Promise<readonly UsageRow[]> {
      if (tenant !== undefined && by.tenant !== undefined && tenant !== by.tenant) throw notFound("tenant", tenant);
      await parts.flushUsage();
      const last = to ?? periodOf("day", clock.now()).name;
      const first = from ?? periodOf("day", Date.parse(last) - 29 * DAY_MS).name;
      if (first > last || Date.parse(last) - Date.parse(first) > 400 * DAY_MS) throw wrongDays(first, last);
      const rows = await readUsage(state.documents, { from: first, to: last, tenant: by.tenant ?? tenant });
      return sumUsage(rows, groups ?? ["day", "tenant", "key", "tool"]);
    },
  };

  /** Throws if the operator may not see the tenant. Keys may belong to a tenant without a record. */
  async function knownTenant(id: string, by: Principal): Promise<void> {
    if (by.tenant !== undefined && by.tenant !== id) throw notFound("tenant", id);
  }
}

function isWithin({ id }: StoredTenant, { tenant }: Principal): boolean {
  return tenant === undefined || tenant === id;
}

type Kind = "tenant" | "member" | "key";

function notFound(kind: Kind, id: string): ArsenalError {
  const problem = `There is no ${kind} ${showValue(id)}.`;
  return fixable("TENANT_NOT_FOUND", problem, `Check the id in the list of ${kind}s.`, { field: kind, value: id });
}

/** Returns the error for an operator who sees every tenant. It lists the existing tenants and explains how to create one. */
function unknownTenant(id: string, tenants: readonly Tenant[]): ArsenalError {
  const ids = tenants.map((tenant) => tenant.id);
  const near = nearest(id, ids);
  const known =
    near !== undefined
      ? `Did you mean "${near}"?`
      : ids.length === 0
        ? "There are no tenants yet."
        : `The tenants are ${ids.slice(0, MAX_NAMED).join(", ")}${ids.length > MAX_NAMED ? ", …" : ""}.`;
  const fix = `${known} Create a tenant with: toolarsenal tenants create ${TENANT.test(id) ? id : "TENANT"}`;
  return fixable("TENANT_NOT_FOUND", `There is no tenant ${showValue(id)}.`, fix, { field: "tenant", value: id });
}

const MAX_NAMED = 10;
const TENANT = new RegExp(TENANT_ID);

function taken(kind: Kind, id: string): ArsenalError {
  const fix = "Use another name, or change or remove that one first.";
  return fixable("NAME_TAKEN", `The ${kind} ${showValue(id)} already exists.`, fix, { field: kind, value: id });
}

function wrongDays(from: string, to: string): ArsenalError {
  const problem = `The days from ${from} to ${to} cannot be read.`;
  const fix = "Give two days in order, at most 400 days apart: from=2026-05-01, to=2026-05-31.";
  return fixable("INPUT_INVALID", problem, fix, { field: "from", value: from });
}
