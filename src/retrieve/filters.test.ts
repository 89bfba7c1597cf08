import { describe, expect, it } from "vitest";
import { defineTool } from "../tool/define-tool.ts";
import type { ToolDraft } from "../tool/draft.ts";
import { toPredicate } from "../tool/tool-filter.ts";
import type { Tool } from "../tool/tool.ts";
import { queryFilter } from "./filters.ts";
import type { ConversationContext, ToolQuery } from "./query.ts";
import { validateQuery } from "./understand/validate-query.ts";

function tool(draft: Partial<ToolDraft>): Tool {
  return defineTool({ name: "t", description: "Does one thing.", parameters: { type: "object" }, ...draft });
}

function accepts(
  entry: Tool,
  query: Omit<ToolQuery, "context"> & { readonly context?: Partial<ConversationContext> },
): boolean {
  const checked = validateQuery(
    { ...query, context: { query: "x", ...query.context } },
    { scoreThreshold: 0.5, refuse: "confident" },
  );
  return toPredicate(queryFilter(checked))(entry);
}

describe("the filter of a query", () => {
  it("accepts every sound tool where the query sets no bounds", () => {
    expect(accepts(tool({ capabilities: ["financial"] }), {})).toBe(true);
  });

  it("keeps to the namespaces named [000-4.2-namespaces]", () => {
    expect(accepts(tool({ namespace: "mail" }), { namespaces: ["mail", "web"] })).toBe(true);
    expect(accepts(tool({ namespace: "crm" }), { namespaces: ["mail", "web"] })).toBe(false);
    expect(accepts(tool({ namespace: "crm" }), { namespaces: [] })).toBe(false);
  });

  it("keeps to the sources named [000-4.2-sources]", () => {
    expect(accepts(tool({ source: "mcp" }), { sources: ["mcp"] })).toBe(true);
    expect(accepts(tool({ source: "openapi" }), { sources: ["mcp"] })).toBe(false);
  });

  it("wants one of the tags", () => {
    expect(accepts(tool({ tags: ["a", "b"] }), { tags: ["b", "c"] })).toBe(true);
    expect(accepts(tool({ tags: ["a"] }), { tags: ["b", "c"] })).toBe(false);
  });

  it("wants all of the required capabilities [000-4.2-required-capabilities]", () => {
    const requiredCapabilities = ["read_data", "network_access"] as const;
    expect(accepts(tool({ capabilities: ["network_access", "read_data"] }), { requiredCapabilities })).toBe(true);
    expect(accepts(tool({ capabilities: ["read_data"] }), { requiredCapabilities })).toBe(false);
  });

  it("wants none of the excluded capabilities [000-4.2-excluded-capabilities]", () => {
    const excludedCapabilities = ["financial", "delete_data"] as const;
    expect(accepts(tool({ capabilities: ["read_data"] }), { excludedCapabilities })).toBe(true);
    expect(accepts(tool({ capabilities: ["read_data", "financial"] }), { excludedCapabilities })).toBe(false);
  });

  it("leaves out what needs more than the user has [000-4.2-user-capabilities]", () => {
    const context = { userCapabilities: ["read_data"] } as const;
    expect(accepts(tool({ capabilities: ["read_data"] }), { context })).toBe(true);
    expect(accepts(tool({ capabilities: ["read_data", "write_data"] }), { context })).toBe(false);
    expect(accepts(tool({ capabilities: ["read_data"] }), { context: { userCapabilities: [] } })).toBe(false);
    expect(accepts(tool({}), { context: { userCapabilities: [] } })).toBe(true);
  });

  it("leaves out deprecated tools unless they are asked for [000-4.2-deprecated]", () => {
    expect(accepts(tool({ deprecated: true }), {})).toBe(false);
    expect(accepts(tool({ deprecated: true }), { excludeDeprecated: false })).toBe(true);
  });
});
