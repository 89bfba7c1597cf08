import type { ToolFilter } from "../tool/tool-filter.ts";

/** A curated view over the catalog: which tools it has and who may use it. Plain JSON data. */
export interface Toolset {
  /** `^[a-z0-9][a-z0-9_-]{0,63}$`: it is part of an address, `/mcp/toolsets/NAME`. */
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
  /** Who it belongs to. */
  readonly owner?: string;
  /** Which tools of the catalog it has. */
  readonly filter: ToolFilter;
  /** `live`: a tool that matches later appears. `frozen`: the tools that matched when it was built, so `filter` lists their ids. */
  readonly view: "live" | "frozen";
  readonly policy: AccessPolicy;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** Who may use a toolset, and how much. Callers who may not use it get the same answers as if it did not exist. */
export interface AccessPolicy {
  /** Defaults to every tenant. */
  readonly allowedTenants?: readonly string[];
  /** One of these roles is enough. Defaults to every role. */
  readonly allowedRoles?: readonly string[];
  readonly rateLimit?: { readonly requestsPerMinute: number };
  /** Records every call in the audit log, and refuses calls that cannot be recorded. Defaults to what the arsenal does. */
  readonly auditLog?: boolean;
}
