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

export const ACCESS_POLICY = entry("Who may use the toolset, and how often. Other callers cannot see it.", {
  allowedTenants: some("Tenants that may use the toolset. Defaults to all.", "A tenant."),
  allowedRoles: some("Roles that may use the toolset. A caller needs one of them. Defaults to all.", "A role."),
  rateLimit: entry(
    "Rate limit of the toolset's tools, across all callers and processes.",
    { requestsPerMinute: whole("Maximum calls per minute.", 1, MOST_CALLS) },
    ["requestsPerMinute"],
  ),
  /** Also refuses calls that cannot be recorded. By default, the arsenal's own setting applies. */
  auditLog: flag("Whether a call is refused if the audit log cannot record it. Needs an audit log."),
});

/** The access policy of a toolset. For callers who may not use it, the toolset does not exist. */
export interface AccessPolicy extends InputOf<typeof ACCESS_POLICY> {}

const INCLUDE = entry(
  "Selects the toolset's tools. A tool must match one value of every key given. {} selects every tool.",
  {
    namespaces: some("Namespaces.", "A namespace."),
    tags: some("Tags of tools.", "A tag."),
    tools: some("Ids of tools.", "An id: namespace.name."),
    categories: some("Categories of tools.", "A category."),
    sources: refined(list("Sources.", choice("A source.", TOOL_SOURCES)), { minItems: 1 }),
    where: schema<ToolFilter>({
      description: "Any other condition, as a tool filter: { not: { risks: [high] } }.",
      type: "object",
    }),
  },
);

const exclude = some("Ids of tools that are never in the toolset.", "An id: namespace.name.");

/** Selects the tools of a toolset. Several values of one kind mean any of them; different kinds must all hold; `exclude` always wins. */
export interface Selection extends InputOf<typeof INCLUDE> {
  /** Ids of tools. */
  readonly exclude?: InputOf<typeof exclude>;
}

/** The members of every toolset, in the configuration and in the program. */
const members = {
  /** `^[a-z0-9][a-z0-9_-]{0,63}$`, because the name is part of an address, `/mcp/toolsets/NAME`. */
  name: text("Name of the toolset, in lower case. It is part of the toolset's URL, /mcp/toolsets/NAME."),
  description: string("The purpose of the toolset."),
  tags: list("Labels of the toolset itself.", text("A label.")),
  owner: text("Id of the caller who owns the toolset. The owner may always use it."),
  mode: choice("Which tools MCP clients of the toolset see. Defaults to mcp.mcp_mode.", [
    "dynamic",
    "static",
    "hybrid",
    "code",
  ]),
};

/** One toolset of the configuration. Its tools are listed under `include`, so that a misplaced key cannot open the toolset to every tool. */
export const CONFIGURED_TOOLSET = entry(
  "One toolset.",
  {
    ...members,
    description: refined(members.description, { minLength: 1 }),
    include: INCLUDE,
    exclude,
    view: choice(
      "live: tools that match later are added. frozen: the toolset has only the ids in include.tools. Defaults to live.",
      ["live", "frozen"],
    ),
    policy: ACCESS_POLICY,
  },
  ["name", "include"],
);

export const TOOLSET = entry(
  "A curated view over the catalog.",
  {
    ...members,
    filter: schema<ToolFilter>({
      description:
        "Selects the toolset's tools. Callers without the role operator get only the ids of tools that they may call.",
      type: "object",
    }),
    view: choice("Whether tools that match later are added: live adds them, frozen does not.", ["live", "frozen"]),
    policy: ACCESS_POLICY,
    /** The time when this process first had a toolset with this name, in milliseconds since the epoch. */
    createdAt: time("When the toolset was first configured."),
    updatedAt: time("When the toolset was last changed."),
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
