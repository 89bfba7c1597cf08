import type { ToolSource } from "../tool/tool.ts";
import type { ToolFilter } from "../tool/tool-filter.ts";

/** A curated view over the catalog: its tools and its access policy. Plain JSON data. */
export interface Toolset {
  /** `^[a-z0-9][a-z0-9_-]{0,63}$`: it is part of an address, `/mcp/toolsets/NAME`. */
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
  /** The owner: the id of a caller, who may always use it, or any other name. */
  readonly owner?: string;
  /** The tools of the toolset. */
  readonly filter: ToolFilter;
  /** `live`: a tool that matches later appears. `frozen`: the tools that matched when it was built, so `filter` lists their ids. */
  readonly view: "live" | "frozen";
  readonly policy: AccessPolicy;
  /** When this process first had a toolset with this name, in milliseconds since the epoch. */
  readonly createdAt: number;
  /** When it was last replaced. */
  readonly updatedAt: number;
}

/** A toolset as defined, without timestamps. */
export type ToolsetDefinition = Omit<Toolset, "createdAt" | "updatedAt">;

/** The tools of a toolset. Several values of one kind mean any of them; different kinds must all hold; `exclude` always wins. */
export interface Selection {
  readonly namespaces?: readonly string[];
  readonly tags?: readonly string[];
  /** Ids: `namespace.name`. */
  readonly tools?: readonly string[];
  readonly categories?: readonly string[];
  readonly sources?: readonly ToolSource[];
  readonly where?: ToolFilter;
  /** Ids. */
  readonly exclude?: readonly string[];
}

/** The access policy of a toolset. For callers who may not use it, the toolset does not exist. */
export interface AccessPolicy {
  /** Defaults to every tenant. */
  readonly allowedTenants?: readonly string[];
  /** One of these roles is enough. Defaults to every role. */
  readonly allowedRoles?: readonly string[];
  readonly rateLimit?: { readonly requestsPerMinute: number };
  /** Records every call in the audit log, and refuses calls that cannot be recorded. Defaults to false: the arsenal's own setting applies. */
  readonly auditLog?: boolean;
}
