import type { ApiKey, NewKey } from "../teams/keys.ts";
import type { QuotaStatus } from "../teams/team-administration.ts";
import type { Grant, Member, Tenant, TenantSettings } from "../teams/tenant.ts";
import type { UsagePart, UsageRow } from "../teams/usage-csv.ts";

/** A key to create. You can give only rights that you have. */
export interface RemoteKeyRequest extends Grant {
  readonly name: string;
  /** Defaults to your own tenant. */
  readonly tenant?: string;
  /** `2026-12-31T00:00:00Z`. Defaults to never. */
  readonly expiresAt?: string;
}

/** Which usage is added up, and how it is grouped. */
export interface RemoteUsageQuery {
  /** The first day: `2026-05-01`. Defaults to 30 days back. */
  readonly from?: string;
  /** The last day. Defaults to today. */
  readonly to?: string;
  readonly tenant?: string;
  readonly by?: readonly UsagePart[];
}

/** Tenants, members, keys and usage. An operator who belongs to a tenant sees and changes only that tenant's. */
export interface RemoteTeams {
  readonly tenants: {
    list(): Promise<readonly Tenant[]>;
    get(id: string): Promise<Tenant>;
    create(tenant: TenantSettings & { readonly id: string }): Promise<Tenant>;
    /** Omitted settings stay as they are. */
    change(id: string, settings: TenantSettings): Promise<Tenant>;
    remove(id: string): Promise<void>;
    /** How much of its quotas and budgets is used. */
    quotas(id: string): Promise<readonly QuotaStatus[]>;
    members(id: string): Promise<readonly Member[]>;
    setMember(id: string, person: string, grant: Grant): Promise<Member>;
    removeMember(id: string, person: string): Promise<void>;
  };
  readonly keys: {
    list(options?: { readonly tenant?: string }): Promise<readonly ApiKey[]>;
    /** Returns the key and its text. The text is shown only this once. */
    create(key: RemoteKeyRequest): Promise<NewKey>;
    /** Replaces the secret. The old one is accepted for `overlapHours`, by default 24. */
    rotate(name: string, options?: { readonly overlapHours?: number; readonly expiresAt?: string }): Promise<NewKey>;
    revoke(name: string): Promise<void>;
  };
  usage(query?: RemoteUsageQuery): Promise<readonly UsageRow[]>;
}
