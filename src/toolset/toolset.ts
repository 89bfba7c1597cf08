import type { Refusal } from "../guard/policy.port.ts";
import {
  choice,
  entry,
  flag,
  type InputOf,
  list,
  refined,
  schema,
  type Shape,
  string,
  text,
  time,
  whole,
} from "../tool/shape/shape.ts";
import { TOOL_SOURCES } from "../tool/tool.ts";
import type { ToolFilter } from "../tool/tool-filter.ts";

/** Maximum calls per minute that a toolset can allow. */
export const MOST_CALLS = 1_000_000;

/** A list with at least one entry. An empty list would mean every tool, or no caller. */
const some = (description: string, item: string): Shape<readonly string[], readonly string[], false> =>
  refined(list(description, text(item)), { minItems: 1 });

export const ACCESS_POLICY = entry("Who may use it, and how much. For everyone else it does not exist.", {
  allowedTenants: some("Tenants that may use it. Defaults to all.", "A tenant."),
  allowedRoles: some("Roles that may use it; one is enough. Defaults to all.", "A role."),
  rateLimit: entry(
    "How often its tools may be called, over all callers and processes.",
    { requestsPerMinute: whole("Calls a minute.", 1, MOST_CALLS) },
    ["requestsPerMinute"],
  ),
  /** Also refuses calls that cannot be recorded. By default, the arsenal's own setting applies. */
  auditLog: flag("Whether calls are refused that the audit log cannot record. It needs an audit log."),
});

/** The access policy of a toolset. For callers who may not use it, the toolset does not exist. */
export interface AccessPolicy extends InputOf<typeof ACCESS_POLICY> {}

const INCLUDE = entry(
  "Which tools it has. Several values of one key mean any of them; different keys must all hold. {} means every tool.",
  {
    namespaces: some("Namespaces.", "A namespace."),
    tags: some("Tags of tools.", "A tag."),
    tools: some("Ids of tools.", "An id: namespace.name."),
    categories: some("Categories of tools.", "A category."),
    sources: refined(list("Sources.", choice("A source.", TOOL_SOURCES)), { minItems: 1 }),
    where: schema<ToolFilter>({
      description: "Any other condition, as a filter: { not: { risks: [high] } }.",
      type: "object",
    }),
  },
);

const exclude = some("Ids of tools that it never has.", "An id: namespace.name.");

/** Selects the tools of a toolset. Several values of one kind mean any of them; different kinds must all hold; `exclude` always wins. */
export interface Selection extends InputOf<typeof INCLUDE> {
  /** Ids of tools. */
  readonly exclude?: InputOf<typeof exclude>;
}

/** The members of every toolset, in the configuration and in the program. */
const members = {
  /** `^[a-z0-9][a-z0-9_-]{0,63}$`, because the name is part of an address, `/mcp/toolsets/NAME`. */
  name: text("Its name, in lowercase: part of its address, /mcp/toolsets/NAME."),
  description: string("What it is for."),
  tags: list("Labels of the toolset itself.", text("A label.")),
  owner: text("Who it belongs to. The caller of this id may always use it."),
  mode: choice("What MCP clients of it are shown. Defaults to mcp.mcp_mode.", ["dynamic", "static", "hybrid", "code"]),
};

/** One toolset of the configuration. Its tools are listed under `include`, so that a misplaced key cannot open the toolset to every tool. */
export const CONFIGURED_TOOLSET = entry(
  "One toolset.",
  {
    ...members,
    description: refined(members.description, { minLength: 1 }),
    include: INCLUDE,
    exclude,
    view: choice("live: tools that match later appear. frozen: only the ids under include.tools. Defaults to live.", [
      "live",
      "frozen",
    ]),
    policy: ACCESS_POLICY,
  },
  ["name", "include"],
);

export const TOOLSET = entry(
  "A curated view over the catalog.",
  {
    ...members,
    filter: schema<ToolFilter>({
      description: "Which tools it has. Callers without the role operator get the ids of those that they may call.",
      type: "object",
    }),
    view: choice("Whether tools that match later appear.", ["live", "frozen"]),
    policy: ACCESS_POLICY,
    /** The time when this process first had a toolset with this name, in milliseconds since the epoch. */
    createdAt: time("When the gateway first had it."),
    updatedAt: time("When it was last replaced."),
  },
  ["name", "description", "tags", "filter", "view", "policy", "createdAt", "updatedAt"],
);

/** A curated view over the catalog: tools and an access policy. Plain JSON data. */
export interface Toolset extends InputOf<typeof TOOLSET> {}

/** A toolset as a gateway shows it. */
export interface MarkedToolset extends Toolset {
  /** Present if the caller is an operator that the toolset does not admit. */
  readonly refused?: Refusal;
}

/** A toolset as defined, without timestamps. */
export type ToolsetDefinition = Omit<Toolset, "createdAt" | "updatedAt">;
