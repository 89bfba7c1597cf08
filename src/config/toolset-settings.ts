import { choice, entry, flag, list, refined, schema, type Shape, text, whole } from "../tool/shape/shape.ts";
import { TOOL_SOURCES } from "../tool/tool.ts";
import type { ToolFilter } from "../tool/tool-filter.ts";

/** A list with at least one entry: an empty list would mean every tool, or no caller. */
const some = (description: string, item: string): Shape<readonly string[], readonly string[], false> =>
  refined(list(description, text(item)), { minItems: 1 });

/** One toolset. Its tools are listed under `include`, so that a misplaced key cannot open the toolset to every tool. */
export const TOOLSET = entry(
  "One toolset.",
  {
    name: text("Its name, in lowercase: part of its address, /mcp/toolsets/NAME."),
    description: text("What it is for."),
    tags: list("Labels of the toolset itself.", text("A label.")),
    owner: text("Who it belongs to. The caller of this id may always use it."),
    include: entry(
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
      [],
    ),
    exclude: some("Ids of tools that it never has.", "An id: namespace.name."),
    view: choice("live: tools that match later appear. frozen: only the ids under include.tools. Defaults to live.", [
      "live",
      "frozen",
    ]),
    policy: entry(
      "Who may use it, and how much. For everyone else it does not exist.",
      {
        allowedTenants: some("Tenants that may use it. Defaults to all.", "A tenant."),
        allowedRoles: some("Roles that may use it; one is enough. Defaults to all.", "A role."),
        rateLimit: entry(
          "How often its tools may be called, over all callers and processes.",
          { requestsPerMinute: whole("Calls a minute.", 1, 1_000_000) },
          ["requestsPerMinute"],
        ),
        auditLog: flag("Whether calls are refused that the audit log cannot record. It needs an audit log."),
      },
      [],
    ),
  },
  ["name", "include"],
);
