import type { ApiKey, NewKey } from "../teams/keys.ts";
import type { QuotaStatus } from "../teams/team-administration.ts";
import type { Grant, Member, Tenant, TenantSettings } from "../teams/tenant.ts";
import type { UsagePart, UsageRow } from "../teams/usage-csv.ts";

/** A key to create. You can only grant rights that you have yourself. */
export interface RemoteKeyRequest extends Grant {
  readonly name: string;
  /** Defaults to your own tenant. */
  readonly tenant?: string;
  /** A time such as `2026-12-31T00:00:00Z`. Defaults to never. */
  readonly expiresAt?: string;
}

/** Selects the usage that is added up, and how it is grouped. */
export interface RemoteUsageQuery {
  /** The first day: `2026-05-01`. Defaults to 30 days back. */
  readonly from?: string;
  /** The last day. Defaults to today. */
  readonly to?: string;
  readonly tenant?: string;
  readonly by?: readonly UsagePart[];
}

/** Tenants, members, keys and usage. An operator who belongs to a tenant sees and changes only that tenant. */
export interface RemoteTeams {
  readonly tenants: {
    list(): Promise<readonly Tenant[]>;
    get(id: string): Promise<Tenant>;
    create(tenant: TenantSettings & { readonly id: string }): Promise<Tenant>;
    /** Omitted settings are not changed. */
    change(id: string, settings: TenantSettings): Promise<Tenant>;
    remove(id: string): Promise<void>;
    /** Returns the used amount of each quota and budget. */
    quotas(id: string): Promise<readonly QuotaStatus[]>;
    members(id: string): Promise<readonly Member[]>;
    setMember(id: string, person: string, grant: Grant): Promise<Member>;
    removeMember(id: string, person: string): Promise<void>;
  };
  readonly keys: {
    list(options?: { readonly tenant?: string }): Promise<readonly ApiKey[]>;
    /** Returns the new key with its text. The text is shown only once. */
    create(key: RemoteKeyRequest): Promise<NewKey>;
    /** Replaces the secret of a key. The old secret is accepted for another `overlapHours`, by default 24. */
    rotate(name: string, options?: { readonly overlapHours?: number; readonly expiresAt?: string }): Promise<NewKey>;
    revoke(name: string): Promise<void>;
  };
  usage(query?: RemoteUsageQuery): Promise<readonly UsageRow[]>;
}
