import { describe, expect, it } from "vitest";
import { defineTool } from "../tool/define-tool.ts";
import { toolFields, toolText } from "./tool-text.ts";

const tool = defineTool({
  name: "create_issue",
  namespace: "github_mcp_server",
  title: "New issue",
  description: "Opens an issue in a repository.",
  extendedDescription: "Labels are optional.",
  tags: ["tracker"],
  category: "development",
  examples: ["file a bug"],
  parameters: { type: "object", properties: { repo: { type: "string", description: "owner/name" }, labels: true } },
});

describe("tool text", () => {
  it("sorts a tool into the fields it is searched by [000-2.1-fields]", () => {
    expect(toolFields(tool)).toEqual({
      name: "create_issue",
      description: "New issue\nOpens an issue in a repository.\nLabels are optional.",
      tags: "tracker development",
      examples: "file a bug",
      parameterNames: "repo labels",
      parameterDescriptions: "owner/name\n",
      namespace: "github",
    });
  });

  it("names a tool in plain words before its description", () => {
    expect(toolText(tool)).toBe("github create issue: Opens an issue in a repository.");
  });

  it("leaves the owner and the default namespace out", () => {
    expect(toolText({ ...tool, namespace: "@owner/slack-mcp" })).toBe(
      "slack create issue: Opens an issue in a repository.",
    );
    expect(toolText({ ...tool, namespace: "default" })).toBe("create issue: Opens an issue in a repository.");
  });
});
