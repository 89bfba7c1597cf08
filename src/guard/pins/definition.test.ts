import { describe, expect, it } from "vitest";
import { listed, READ } from "../../../test/guard/test-pins.ts";
import type { SourceDraft } from "../../tool/draft.ts";
import { normaliseTool } from "../../tool/normalise/normalise-tool.ts";
import type { Tool } from "../../tool/tool.ts";
import { definitionOf, hashOfTool, saysNothingElse } from "./definition.ts";

const same = (one: Tool, other: Tool): boolean => hashOfTool(one) === hashOfTool(other);

/** A tool of an API, as its document has it. */
function operation(change: SourceDraft = {}, ensemble: string | undefined = "shop"): Tool {
  const draft: SourceDraft = {
    name: "list_pets",
    description: "Lists the pets.",
    tags: ["pets", "lists"],
    parameters: { type: "object", required: ["a", "b"] },
    sourceMeta: { openapi: { method: "GET", path: "/pets" } },
    ...change,
  };
  const from = { source: "openapi", namespace: "shop", createdAt: 0, ...(ensemble && { ensemble }) } as const;
  return normaliseTool(draft, from);
}

describe("the definition of an API's tool", () => {
  it("is all that the document says of it, by field, and who brings it", () => {
    expect(definitionOf(operation({ annotations: { readOnly: true, confirmed: true } }))).toEqual({
      name: "list_pets",
      description: "Lists the pets.",
      examples: [],
      tags: ["lists", "pets"],
      parameters: { type: "object", required: ["a", "b"] },
      annotations: { readOnly: true },
      deprecated: false,
      server: "shop",
      other: expect.objectContaining({ openapi: { method: "GET", path: "/pets" } }),
    });
    expect(definitionOf(operation({}, ""))["server"]).toBe("");
  });

  it.each([
    ["tags", { tags: ["lists", "pets"] }],
    ["required names", { parameters: { type: "object", required: ["b", "a"] } }],
  ])("is the same in another order of its %s", (_what, change) => {
    expect(same(operation(), operation(change))).toBe(true);
  });

  it.each<[string, SourceDraft]>([
    ["path", { sourceMeta: { openapi: { method: "GET", path: "/owners" } } }],
    ["order of examples", { examples: ["b", "a"] }],
    ["schema of the answer", { returns: { type: "object" } }],
    ["end of a long description", { extendedDescription: "Then sends them to me." }],
  ])("is another with another %s", (_what, change) => {
    expect(same(operation({ examples: ["a", "b"] }), operation({ examples: ["a", "b"], ...change }))).toBe(false);
  });

  it("is not what its document claims an MCP server had listed", () => {
    const mcp = { name: "list_pets" };
    expect(definitionOf(operation({ sourceMeta: { mcp } }))).toMatchObject({ description: "Lists the pets." });
  });
});

describe("the definition of an MCP server's tool", () => {
  it("has what nobody knows apart from what every tool has", () => {
    expect(definitionOf(listed({ server: "mine", taken: 1, _meta: { at: 5 } }))).toEqual({
      ...READ,
      inputSchema: {
        type: "object",
        properties: { path: { type: "string" }, mode: { enum: ["bytes", "text"] } },
        required: ["mode", "path"],
      },
      server: "files",
      other: { server: "mine", taken: 1 },
    });
  });

  it("is another for each value of a member called like one of ours", () => {
    expect(same(listed({ server: "a" }), listed({ server: "b" }))).toBe(false);
  });

  it("has no part that a server leaves out, but the schema that stands in for one", () => {
    expect(definitionOf(ofServer({ name: "a", description: "Does a thing." }))).toEqual({
      name: "a",
      description: "Does a thing.",
      server: "",
      taken: { inputSchema: { type: "object", properties: {} } },
    });
  });

  it("has the older kind of title only once", () => {
    const raw = {
      name: "a",
      description: "Does a thing.",
      inputSchema: { type: "object" },
      annotations: { title: "A" },
    };
    expect(definitionOf(ofServer(raw, { title: "A" }))).toEqual({ ...raw, server: "" });
    expect(definitionOf(ofServer(raw, { title: "B" }))).toEqual({ ...raw, server: "", taken: { title: "B" } });
  });

  function ofServer(raw: Readonly<Record<string, unknown>>, more: SourceDraft = {}): Tool {
    const { inputSchema, ...fields } = raw;
    const draft = { ...fields, ...(inputSchema !== undefined && { parameters: inputSchema }), ...more };
    const from = { source: "mcp", namespace: "files", createdAt: 0 } as const;
    return normaliseTool({ ...draft, sourceMeta: { mcp: raw } } as SourceDraft, from);
  }
});

describe("a definition so large that its end is cut off", () => {
  /** Comes before what matters, and leaves no room for it. */
  const padding = { padding: Array.from({ length: 60_000 }, () => 0) };

  it.each<[string, (text: string) => Tool]>([
    ["description", (text) => listed({ description: text + "x".repeat(1_999_990) })],
    ["input schema", (text) => listed({ ...padding, inputSchema: { type: "object", title: text } })],
    ["output schema", (text) => listed({ ...padding, outputSchema: { type: "object", title: text } })],
    ["hints", (text) => listed({ ...padding, annotations: { readOnlyHint: text === "Reads." } })],
    ["name", (text) => listed({ ...padding, name: text })],
  ])("still has the %s that models read", (_what, make) => {
    expect(same(make("Reads."), make("Reads."))).toBe(true);
    expect(same(make("Reads."), make("Sends."))).toBe(false);
  });

  it("has what models read, in whatever order its sets are, as taken in", () => {
    const { taken } = definitionOf(listed({ ...padding, inputSchema: { type: "object", required: ["b", "a"] } }));
    expect(taken).toEqual({
      name: "read_file",
      description: "Reads a file and returns its text.",
      inputSchema: { type: "object", required: ["a", "b"] },
      outputSchema: { type: "object" },
      annotations: { readOnly: true },
    });
  });
});

describe("an entry in a server's list", () => {
  const tool = listed({ hint: "A", more: "B" });
  const entry = { ...READ, hint: "A", more: "B" };

  it.each([
    ["the same", entry],
    ["the same for models, and more for programs", { ...entry, _meta: { at: 5 } }],
    ["less", { name: "read_file", inputSchema: READ.inputSchema, more: "B" }],
    ["no member that nobody knows", READ],
  ])("says nothing else where it says %s", (_what, said) => {
    expect(saysNothingElse(said, tool)).toBe(true);
  });

  it.each([
    ["another text", { ...entry, description: "Sends." }],
    ["a member more", { ...entry, third: "C" }],
    ["a member more that every object has", { ...entry, constructor: null }],
    ["another value of a member that nobody knows", { ...entry, hint: "Z" }],
    ["less, and of that something else", { name: "read_file", title: "Other" }],
    ["less of a schema", { ...entry, inputSchema: { type: "object" } }],
  ])("says something else where it says %s", (_what, said) => {
    expect(saysNothingElse(said, tool)).toBe(false);
  });

  it("says something else where all that it says is new", () => {
    expect(saysNothingElse({ hint: "A" }, listed())).toBe(false);
  });
});
