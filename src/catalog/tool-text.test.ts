import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { defineTool } from "../tool/define-tool.ts";
import type { SourceDraft } from "../tool/draft.ts";
import { normaliseTool } from "../tool/normalise/normalise-tool.ts";
import { exampleTexts, toolFields, toolTexts } from "./tool-text.ts";

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

/** Texts that models/texts.py wrote. */
const GOLDEN = JSON.parse(readFileSync(new URL("./tool-texts.golden.json", import.meta.url), "utf8")) as readonly {
  readonly tool: SourceDraft & { readonly name: string };
  readonly short: string;
  readonly long: string;
}[];

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

  it("names a tool in plain words before its description, and once more with its parameters", () => {
    expect(toolTexts(tool)).toEqual([
      "github create issue: Opens an issue in a repository.",
      "github create issue: Opens an issue in a repository. parameters: repo (owner/name), labels",
    ]);
  });

  it("is one text where there are no parameters", () => {
    expect(toolTexts({ ...tool, parameters: { type: "object" } })).toHaveLength(1);
  });

  it("leaves the owner and the default namespace out", () => {
    expect(toolTexts({ ...tool, namespace: "@owner/slack-mcp" })[0]).toBe(
      "slack create issue: Opens an issue in a repository.",
    );
    expect(toolTexts({ ...tool, namespace: "default" })[0]).toBe("create issue: Opens an issue in a repository.");
  });

  it.each(GOLDEN)("writes $tool.name as the models' training does", ({ tool: draft, short, long }) => {
    const texts = toolTexts(normaliseTool(draft, { source: "mcp", namespace: "default" }));
    expect(texts).toEqual(short === long ? [short] : [short, long]);
  });

  it("gives each example that says something a text of its own", () => {
    expect(exampleTexts({ ...tool, examples: ["file a bug", " ", "report a crash"] })).toEqual([
      "file a bug",
      "report a crash",
    ]);
    expect(exampleTexts({ ...tool, examples: Array.from({ length: 30 }, (_, at) => `request ${at}`) })).toHaveLength(
      10,
    );
  });

  it("reads only the beginning of what is endless", () => {
    const properties = Object.fromEntries(
      Array.from({ length: 10_000 }, (_, at) => [`parameter_${at}`, { description: "many words ".repeat(10) }]),
    );
    const long = "many words ".repeat(100_000);
    const fields = toolFields({ ...tool, title: long, tags: [long], parameters: { type: "object", properties } });
    for (const text of Object.values(fields)) expect(text.length).toBeLessThanOrEqual(30_000);
    expect(toolTexts({ ...tool, sourceName: long })[0]?.length).toBeLessThan(300);
  });
});
