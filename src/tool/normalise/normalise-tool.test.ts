import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { NAME_PATTERN } from "../limits.ts";
import { checkDraft } from "../draft.ts";
import { isFittingDescription } from "./complete-description.ts";
import type { SourceDraft } from "../draft.ts";
import { fromMcpAnnotations } from "./normalise-fields.ts";
import { type DraftOrigin, normaliseTool, originalOf } from "./normalise-tool.ts";
import type { Tool } from "../tool.ts";
import { repeats } from "../../../test/kit/effort.ts";

const from: DraftOrigin = { source: "mcp", namespace: "files", createdAt: 5 };
const draft: SourceDraft = {
  name: "read_file",
  description: "Reads a file and returns its text.",
  parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
};

function normalise(change: Record<string, unknown>, origin: Partial<DraftOrigin> = {}): Tool {
  return normaliseTool({ ...draft, ...change }, { ...from, ...origin });
}

/** What is wrong with a tool by the rules for what people write, but for suspicious text, which a source may send. */
function problems({ id: _id, contentHash: _contentHash, ...tool }: Tool): string[] {
  const unfit = [
    ...(NAME_PATTERN.test(tool.name) ? [] : ["name does not fit"]),
    ...(isFittingDescription(tool.description) ? [] : ["description does not fit"]),
  ];
  const told = checkDraft(tool).filter(({ message }) => !message.startsWith("contains"));
  return [...unfit, ...told.map(({ field, message }) => `${field} ${message}`)];
}

/** Drafts that look like tools, with anything at all in their fields. */
const anyDraft = fc.oneof(
  fc.jsonValue(),
  fc.record(
    Object.fromEntries(
      [
        "name", "description", "parameters", "namespace", "version", "title", "extendedDescription", "examples", "tags",
        "category", "returns", "source", "sourceUri", "sourceName", "sourceMeta", "ensemble", "capabilities", "riskLevel",
        "requiredScopes", "requiresConfirmation", "annotations", "dependencies", "cost", "timeoutMs", "metadata",
        "createdAt", "deprecated", "deprecationMessage", "supersededBy", "id", "contentHash", "extra", "__proto__",
      ].map((key) => [key, fc.oneof(fc.jsonValue(), fc.string({ unit: "grapheme", maxLength: 3000, size: "max" }))]), // prettier-ignore
    ),
    { requiredKeys: [] },
  ),
);

describe("normaliseTool", () => {
  it("leaves a canonical draft as it is", () => {
    expect(normaliseTool({ ...draft, version: "2.0.0", tags: ["io"] }, from)).toMatchObject({
      ...draft,
      id: "files.read_file",
      namespace: "files",
      version: "2.0.0",
      tags: ["io"],
      source: "mcp",
      sourceName: "read_file",
      sourceMeta: {},
      annotations: { confirmed: false },
      createdAt: 5,
    });
  });

  it("slugs the name and keeps the source's own [000-4.1-normalise-name]", () => {
    const tool = normalise({ name: "Read-File" });
    expect([tool.id, tool.name, tool.sourceName]).toEqual(["files.read_file", "read_file", "Read-File"]);
    expect(tool.sourceMeta).toEqual({});
  });

  it("prefixes a reserved name [000-4.1-normalise-reserved]", () => {
    expect(normalise({ name: "list" }).id).toBe("files.tool_list");
  });

  it("gives a clashing name a hash tail, another one to each further tool of that name [000-4.1-normalise-clash]", () => {
    const ids = new Set<string>();
    for (const name of ["readFile", "read-file", "read-file", "read-file", "read_file"]) {
      ids.add(normalise({ name }, { taken: (id) => ids.has(id) }).id);
    }
    const [first, ...others] = ids;
    expect(first).toBe("files.read_file");
    expect(others).toHaveLength(4);
    for (const id of others) expect(id).toMatch(/^files\.read_file_[0-9a-f]{8}$/);
  });

  it("finds names for ten thousand tools of one name without trying them all for each", () => {
    const ids = new Set<string>();
    let asked = 0;
    for (let count = 0; count < 10_000; count++) {
      ids.add(normalise({}, { taken: (id) => (asked++, ids.has(id)) }).id);
    }
    expect(ids.size).toBe(10_000);
    expect(asked).toBeLessThan(10_000 * 40);
  });

  it("keeps no more of a description than a definition may have characters", () => {
    const tool = normalise({
      description: "many words ".repeat(1_000_000),
      extendedDescription: "x".repeat(1_000_000),
    });
    expect(JSON.stringify(tool).length).toBeLessThan(3 * 262_144);
    expect(tool.sourceMeta["description"]).toHaveLength(262_144);
  });

  it("ends where every id is said to be taken", () => {
    expect(normalise({}, { taken: () => true }).name).toMatch(/^read_file_[0-9a-f]{8}$/);
  });

  it("prefers the draft's namespace and keeps how it was spelled", () => {
    const tool = normalise({ namespace: "@owner/Some-Server" });
    expect([tool.namespace, tool.sourceMeta]).toEqual(["owner.some-server", { namespace: "@owner/Some-Server" }]);
    expect(normalise({ namespace: null }, { namespace: "My Files" }).id).toBe("my-files.read_file");
    expect(normalise({}, { namespace: "" }).namespace).toBe("default");
  });

  it.each([
    [undefined, "Read file (parameters: path)", null],
    [null, "Read file (parameters: path)", null],
    ["", "Read file (parameters: path)", ""],
    ["   \n         ", "Read file (parameters: path)", "   \n         "],
    ["Reads", "Reads: read file (parameters: path)", "Reads"],
    ["Read file", "Read file (parameters: path)", "Read file"],
    [42, "Read file (parameters: path)", 42],
  ])(
    "completes the description %j from name and parameters [000-4.1-normalise-description]",
    (description, completed, original) => {
      const tool = normalise({ name: "readFile", description });
      expect([tool.description, tool.sourceMeta["description"]]).toEqual([completed, original]);
    },
  );

  it("says in a completed description whether parameters are none or unknown", () => {
    const of = (parameters: unknown): string => normalise({ description: "", parameters }).description;
    expect(of({ type: "object" })).toBe("Read file (no parameters)");
    expect(of(null)).toBe("Read file (parameters not described)");
  });

  it("continues a long description in extendedDescription, cut at the end of a sentence [000-4.1-normalise-long]", () => {
    const description = "One more sentence here. ".repeat(200);
    const tool = normalise({ description, extendedDescription: "And this." });
    expect(tool.description.length).toBeLessThanOrEqual(2000);
    expect(tool.description).toMatch(/^One .*here\.$/);
    expect(tool.extendedDescription).toMatch(/^One .*here\.\s+And this\.$/);
    expect(`${tool.description} ${tool.extendedDescription}`).toBe(`${description.trim()}\n\nAnd this.`);
    expect(tool.sourceMeta).toEqual({ description, extendedDescription: "And this." });
  });

  it("loses nothing of a description above all limits", () => {
    const description = `x${"😀".repeat(20_000)}`; // the limit falls into the middle of one
    const tool = normalise({ description });
    expect(tool.extendedDescription?.length).toBeLessThanOrEqual(10_000);
    expect(tool.description.isWellFormed()).toBe(true);
    expect(originalOf(tool).description).toBe(description);
  });

  it("keeps ten examples, and all of them in sourceMeta", () => {
    const examples = Array.from({ length: 12 }, (_, index) => `example ${index}`);
    const tool = normalise({ examples });
    expect(tool.examples).toEqual(examples.slice(0, 10));
    expect(tool.sourceMeta["examples"]).toEqual(examples);
  });

  it.each<[unknown, unknown]>([
    [null, { type: "object", properties: {} }],
    ["nonsense", { type: "object", properties: {} }],
    [true, { type: "object", properties: {} }],
    [{ type: "string" }, { type: "object", properties: {} }],
    [{ properties: { a: {} } }, { type: "object", properties: { a: {} } }],
    [
      { type: "dict", properties: { a: {} } },
      { type: "object", properties: { a: {} } },
    ],
    [
      { type: ["object", "null"], minProperties: 1 },
      { type: "object", minProperties: 1 },
    ],
    [{ anyOf: [{ required: ["a"] }] }, { type: "object", anyOf: [{ required: ["a"] }] }],
    [
      { type: "object", required: true, properties: null },
      { type: "object", required: [], properties: {} },
    ],
    [
      { type: "object", properties: { a: "text", b: true } },
      { type: "object", properties: { b: true } },
    ],
  ])("makes an object schema of %j and keeps the original", (parameters, schema) => {
    const tool = normalise({ parameters });
    expect(tool.parameters).toEqual(schema);
    expect(tool.sourceMeta["parameters"]).toEqual(parameters);
  });

  it("leaves a proper schema untouched, whatever is inside [003-canonical-superset]", () => {
    const parameters = { $schema: "x", type: "object", properties: { a: { type: "float", foo: 1 } }, $defs: {} };
    const tool = normalise({ parameters });
    expect(tool.parameters).toEqual(parameters);
    expect(tool.sourceMeta).toEqual({});
  });

  it("reads MCP's hints and its old place for the title, and confirms nothing", () => {
    const annotations = { title: "Read", readOnlyHint: true, destructiveHint: false, confirmed: true };
    const tool = normalise({ annotations });
    expect(tool.annotations).toEqual({ readOnly: true, destructive: false, confirmed: false });
    expect(tool.title).toBe("Read");
    expect(tool.sourceMeta).toEqual({ annotations });
  });

  it.each([
    ["1.2", "1.2.0"],
    ["v3", "3.0.0"],
    ["1.2.3-beta.1", "1.2.3"],
    ["latest", "1.0.0"],
    [2, "1.0.0"],
  ])("makes version %j %s and keeps the original", (version, made) => {
    const tool = normalise({ version });
    expect([tool.version, tool.sourceMeta["version"]]).toEqual([made, version]);
  });

  it("keeps what it does not know, and never over what it kept itself [000-4.1-keep-original]", () => {
    const tool = normalise({ description: "Hi", icons: [1], sourceMeta: { description: "theirs", a: 1 }, id: "7" });
    expect(tool.sourceMeta).toEqual({ description: "Hi", description_2: "theirs", a: 1, icons: [1], id: "7" });
  });

  it("drops what breaks a rule and keeps the original", () => {
    const given = {
      capabilities: ["read_data", "fly"],
      tags: ["a", "", 3],
      riskLevel: "extreme",
      cost: { monetaryCost: -1, rateLimit: 60 },
      timeoutMs: 1,
      dependencies: [
        { tool: "read_file", type: "requires" },
        { tool: "x", type: "suggests" },
      ],
      deprecated: "yes",
      supersededBy: "files.read_file",
    };
    const tool = normalise(given);
    expect(tool).toMatchObject({
      capabilities: ["read_data"],
      tags: ["a"],
      riskLevel: "low",
      cost: { rateLimit: 60 },
      timeoutMs: 100,
      dependencies: [{ tool: "x", type: "suggests" }],
      deprecated: false,
    });
    expect(tool.supersededBy).toBeUndefined();
    expect(tool.sourceMeta).toEqual(given);
  });

  it("names a nameless tool after its title, or by a hash of what it is", () => {
    expect(normalise({ name: undefined, title: "Read a File" }).name).toBe("read_a_file");
    expect(normalise({ name: 7 })).toMatchObject({ name: "tool_7", sourceName: "tool_7", sourceMeta: { name: 7 } });
    const nameless = normalise({ name: null });
    expect(nameless.name).toMatch(/^tool_[0-9a-f]{8}$/);
    expect(normalise({ name: null }).name).toBe(nameless.name);
    expect(normalise({ name: null, description: "Another text" }).name).not.toBe(nameless.name);
  });

  it("survives cycles, functions and properties that throw", () => {
    const cyclic: Record<string, unknown> = { type: "object" };
    cyclic["properties"] = { self: cyclic };
    const hostile = {
      name: "x",
      parameters: cyclic,
      run: () => 1,
      get description(): string {
        throw new Error("no");
      },
    };
    expect(problems(normaliseTool(hostile, from))).toEqual([]);
    expect(problems(normaliseTool(undefined as unknown as SourceDraft, from))).toEqual([]);
  });

  it("shares nothing that can change with the draft", () => {
    const parameters = { type: "object", properties: { path: { type: "string" } } };
    const tool = normalise({ parameters });
    parameters.properties.path.type = "number";
    expect(tool.parameters.properties?.["path"]).toEqual({ type: "string" });
    expect(() => Object.assign(tool.sourceMeta, { a: 1 })).toThrow(TypeError);
  });

  it("makes a valid tool of any JSON value, the same each time, and changes it no further", () => {
    fc.assert(
      fc.property(anyDraft, (given) => {
        const tool = normaliseTool(given as SourceDraft, from);
        expect(problems(tool)).toEqual([]);
        expect(normaliseTool(given as SourceDraft, from)).toEqual(tool);
        expect(normaliseTool(tool, from)).toEqual(tool);
      }),
      { numRuns: repeats(150) },
    );
  });

  it("gives back any name, namespace and description exactly [000-4.1-keep-original]", () => {
    const text = fc.string({ unit: "grapheme", maxLength: 3000, size: "max" });
    fc.assert(
      fc.property(text, text, text, (name, namespace, description) => {
        const original = originalOf(normalise({ name, namespace, description }));
        expect([original.name, original.description]).toEqual([name, description]);
        if (namespace.trim() !== "") expect(original.namespace).toBe(namespace);
      }),
    );
  });
});

describe("fromMcpAnnotations", () => {
  it("maps the four hints and leaves out what is malformed", () => {
    expect(fromMcpAnnotations({ readOnlyHint: false, idempotentHint: true, openWorldHint: "yes", other: 1 })).toEqual({
      readOnly: false,
      idempotent: true,
      confirmed: false,
    });
    expect(fromMcpAnnotations(null)).toEqual({ confirmed: false });
  });
});
