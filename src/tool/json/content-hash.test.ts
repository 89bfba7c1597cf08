import { describe, expect, it } from "vitest";
import { contentHash } from "./canonical-json.ts";
import { defineTool } from "../define-tool.ts";
import type { ToolDraft } from "../draft.ts";

const draft: ToolDraft = {
  name: "add",
  description: "Adds two numbers.",
  parameters: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } } },
  createdAt: 1,
};

describe("contentHash", () => {
  it("is sixteen hex digits, the same for the same content in any order and at any time [000-4.1-content-hash]", () => {
    const { createdAt: _time, ...rest } = draft;
    const reordered = Object.fromEntries(Object.entries(rest).toReversed()) as unknown as ToolDraft;
    const hash = defineTool(draft).contentHash;
    expect(hash).toMatch(/^[0-9a-f]{16}$/);
    expect(defineTool({ ...reordered, createdAt: 99 }).contentHash).toBe(hash);
  });

  it.each<[string, Partial<ToolDraft>]>([
    ["name", { name: "plus" }],
    ["namespace", { namespace: "math" }],
    ["description", { description: "Adds two numbers!" }],
    ["a nested schema", { parameters: { type: "object", properties: { a: { type: "integer" } } } }],
    ["tags", { tags: ["sum"] }],
    ["cost", { cost: { monetaryCost: 1 } }],
    ["metadata", { metadata: { team: "a" } }],
    ["deprecated", { deprecated: true }],
  ])("changes with %s [000-4.1-content-hash]", (_field, change) => {
    expect(defineTool({ ...draft, ...change }).contentHash).not.toBe(defineTool(draft).contentHash);
  });

  it("covers neither the hash itself nor the id", () => {
    const tool = defineTool(draft);
    expect(contentHash({ ...tool, id: "other", contentHash: "other" } as typeof tool)).toBe(tool.contentHash);
  });
});
