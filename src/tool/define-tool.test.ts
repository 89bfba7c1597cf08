import { describe, expect, it } from "vitest";
import { z } from "zod";
import { ArsenalError } from "../errors/arsenal-error.ts";
import { defineTool } from "./define-tool.ts";
import type { ToolDraft } from "./draft.ts";

const draft: ToolDraft = {
  name: "get_weather",
  description: "Gets the weather of a city.",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  createdAt: 7,
};

function refusal(given: unknown): ArsenalError {
  try {
    defineTool(given as ToolDraft);
  } catch (error) {
    if (error instanceof ArsenalError) return error;
    throw error;
  }
  throw new Error("the draft was accepted");
}

function refusedFields(change: Record<string, unknown>): string[] {
  return refusal({ ...draft, ...change }).details.issues?.map(({ field }) => field) ?? [];
}

describe("defineTool", () => {
  it("completes a minimal draft with defaults [000-4.1-defaults] [000-4.1-namespace] [000-4.1-version]", () => {
    expect(defineTool(draft)).toEqual({
      id: "default.get_weather",
      name: "get_weather",
      namespace: "default",
      version: "1.0.0",
      description: "Gets the weather of a city.",
      examples: [],
      tags: [],
      parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
      source: "function",
      sourceName: "get_weather",
      sourceMeta: {},
      capabilities: [],
      riskLevel: "low",
      requiredScopes: [],
      requiresConfirmation: false,
      annotations: { confirmed: true },
      dependencies: [],
      cost: {},
      metadata: {},
      createdAt: 7,
      deprecated: false,
      contentHash: expect.stringMatching(/^[0-9a-f]{16}$/) as string,
    });
  });

  it("keeps every field it is given [000-4.1-cost] [000-4.1-deprecation] [000-4.1-dependencies] [002-types-category] [003-canonical-output]", () => {
    const given: ToolDraft = {
      ...draft,
      namespace: "mcp.weather",
      version: "2.10.3",
      title: "Weather",
      extendedDescription: "Today and the next days.",
      examples: ["Will it rain?"],
      tags: ["weather"],
      category: "outdoors",
      returns: { type: "string" },
      source: "descriptor",
      sourceUri: "https://example.com",
      sourceName: "getWeather",
      sourceMeta: { raw: 1 },
      ensemble: "sky",
      capabilities: ["network_access"],
      riskLevel: "critical",
      requiredScopes: ["weather:read"],
      requiresConfirmation: true,
      annotations: { readOnly: true, confirmed: false },
      dependencies: [{ tool: "find_city", type: "requires", reason: "needs the city" }],
      cost: { monetaryCost: 0.5, rateLimit: 0 },
      timeoutMs: 100,
      metadata: { team: "sky" },
      deprecated: true,
      deprecationMessage: "Use the new one.",
      supersededBy: "mcp.weather.forecast",
    };
    expect(defineTool(given)).toMatchObject(given);
  });

  it("treats a schema without a type as an object's", () => {
    expect(defineTool({ ...draft, parameters: { properties: {} } }).parameters).toEqual({
      type: "object",
      properties: {},
    });
  });

  it.each<[Partial<ToolDraft>, string]>([
    [{}, "low"],
    [{ capabilities: ["read_data"] }, "low"],
    [{ capabilities: ["network_access"] }, "medium"],
    [{ capabilities: ["write_data"] }, "medium"],
    [{ capabilities: ["execute_code"] }, "medium"],
    [{ capabilities: ["write_data", "financial"] }, "high"],
    [{ capabilities: ["delete_data"] }, "high"],
    [{ annotations: { destructive: true } }, "high"],
  ])("derives the risk of %j [002-types-risk]", (change, risk) => {
    expect(defineTool({ ...draft, ...change }).riskLevel).toBe(risk);
  });

  it("cannot be changed, neither itself nor through the draft [000-4.1-plain-data]", () => {
    const parameters = { type: "object", properties: { city: { type: "string" } } };
    const tool = defineTool({ ...draft, parameters });
    parameters.properties.city.type = "number";
    expect(tool.parameters.properties?.["city"]).toEqual({ type: "string" });
    expect(() => Object.assign(tool, { name: "x" })).toThrow(TypeError);
    expect(() => Object.assign(tool.parameters.properties?.["city"] as object, { type: "x" })).toThrow(TypeError);
    expect(() => (tool.tags as string[]).push("x")).toThrow(TypeError);
  });

  it.each<[string, Record<string, unknown>]>([
    ["name", { name: "" }],
    ["name", { name: 5 }],
    ["name", { name: "list" }],
    ["name", { name: undefined }],
    ["namespace", { namespace: "Upper" }],
    ["namespace", { namespace: "a..b" }],
    ["namespace", { namespace: "a:b" }],
    ["namespace", { namespace: "a".repeat(129) }],
    ["version", { version: "1.0" }],
    ["version", { version: "1.0.0-beta" }],
    ["description", { description: "Fills in {{ secret }} somewhere" }],
    ["extendedDescription", { extendedDescription: "x".repeat(10_001) }],
    ["examples", { examples: Array.from({ length: 11 }, () => "x") }],
    ["examples.1", { examples: ["x", ""] }],
    ["tags.0", { tags: [5] }],
    ["parameters", { parameters: [] }],
    ["parameters.type", { parameters: { type: "string" } }],
    ["parameters.properties", { parameters: { type: "object", properties: [] } }],
    ["parameters.properties.a", { parameters: { type: "object", properties: { a: "string" } } }],
    ["parameters.required", { parameters: { type: "object", required: true } }],
    ["parameters.default", { parameters: { type: "object", default: Number.NaN } }],
    ["returns", { returns: "string" }],
    ["source", { source: "python" }],
    ["capabilities.0", { capabilities: ["read-data"] }],
    ["riskLevel", { riskLevel: "extreme" }],
    ["requiredScopes", { requiredScopes: "admin" }],
    ["requiresConfirmation", { requiresConfirmation: "yes" }],
    ["annotations.readOnly", { annotations: { readOnly: 1 } }],
    ["annotations.readOnlyHint", { annotations: { readOnlyHint: true } }],
    ["dependencies.0.type", { dependencies: [{ tool: "x", type: "needs" }] }],
    ["dependencies.0.tool", { dependencies: [{ tool: "get_weather", type: "requires" }] }],
    ["dependencies.0.tool", { dependencies: [{ tool: "default.get_weather", type: "requires" }] }],
    ["cost.monetaryCost", { cost: { monetaryCost: -1 } }],
    ["cost.rateLimit", { cost: { rateLimit: Number.NaN } }],
    ["cost.price", { cost: { price: 1 } }],
    ["timeoutMs", { timeoutMs: 99 }],
    ["timeoutMs", { timeoutMs: 300_001 }],
    ["supersededBy", { supersededBy: "default.get_weather" }],
    ["metadata.run", { metadata: { run: () => 1 } }],
    ["descripton", { descripton: "x" }],
  ])(
    "refuses a bad %s in %j [000-4.1-name] [000-4.1-reserved] [000-4.1-version] [000-4.1-description] [000-4.1-extended-description] [000-4.1-examples] [000-4.1-parameters] [000-4.1-capabilities] [000-6.2-suspicious]",
    (field, change) => {
      expect(refusedFields(change)).toEqual([field]);
    },
  );

  it.each<Record<string, unknown>>([
    { description: "😀".repeat(2000) },
    { description: "x".repeat(2000) },
    { description: "Ten chars." },
    { name: "a".repeat(128) },
    { timeoutMs: 300_000 },
    { examples: Array.from({ length: 10 }, () => "x") },
    { title: undefined },
  ])("accepts what is just within the limits: %j", (change) => {
    expect(defineTool({ ...draft, ...change } as ToolDraft).id).toBe(
      `default.${String(change["name"] ?? "get_weather")}`,
    );
  });

  it.each([
    ["getWeather", "get_weather"],
    ["get-weather", "get_weather"],
    ["a".repeat(129), expect.stringMatching(/^a{119}_[0-9a-f]{8}$/)],
    ["wetter_für_heute", "wetter_fur_heute"],
  ])("writes the name %s as it must be and keeps it as the source's own [000-4.1-name]", (given, name) => {
    expect(defineTool({ ...draft, name: given })).toMatchObject({ name, sourceName: given });
  });

  it.each([
    ["Too short", "Too short: get weather (parameters: city)"],
    ["          x          ", "x: get weather (parameters: city)"],
    ["😀".repeat(9), `${"😀".repeat(9)}: get weather (parameters: city)`],
    [undefined, "Get weather (parameters: city)"],
  ])("completes the description %j [000-4.1-description]", (given, description) => {
    const tool = defineTool({ ...draft, description: given });
    expect(tool.description).toBe(description);
    expect(tool.sourceMeta).toEqual(given === undefined ? {} : { description: given });
  });

  it("continues a description of more than 2,000 characters in the extended one [000-4.1-description]", () => {
    const tool = defineTool({ ...draft, description: `${"x".repeat(1999)} and more`, extendedDescription: "End." });
    expect(tool).toMatchObject({ description: "x".repeat(1999), extendedDescription: "and more\n\nEnd." });
  });

  it("takes a draft without parameters", () => {
    const { parameters: _parameters, ...rest } = draft;
    expect(defineTool(rest).parameters).toEqual({ type: "object", properties: {} });
  });

  it("lists every problem at once, tells the first in full and names the others [000-4.1-every-problem]", () => {
    const error = refusal({ ...draft, name: "list", version: "1", timeoutMs: 5 });
    expect(error.code).toBe("TOOL_INVALID");
    expect(error.message).toBe(
      'Tool "list" is refused: name is reserved for the arsenal\'s own operations (it is "list"). ' +
        'Say what it works on: "list_items". 2 more: version, timeoutMs.',
    );
    expect(error.details).toMatchObject({ field: "name", value: "list" });
    expect(error.details.issues?.[1]).toEqual({
      field: "version",
      message: "must be three numbers joined by dots",
      value: "1",
      fix: 'Use a version such as "1.0.0".',
    });
  });

  it.each([
    ["extended_description", "Did you mean extendedDescription?"],
    ["tag", "Did you mean tags?"],
    ["inputSchema", "Call it parameters."],
    ["id", "Leave id out: it is made from namespace and name."],
    ["handler", "Pass the handler next to the definition, not in it."],
  ])("says what to do about the unknown field %s", (key, fix) => {
    expect(refusal({ ...draft, [key]: () => "x" }).details.fix).toBe(fix);
  });

  it("says what to do with a library's schema", () => {
    const error = refusal({ ...draft, parameters: z.object({}) });
    expect(error.message).toContain('parameters is a schema of the library "zod", not JSON Schema');
  });

  it("accepts JSON Schema that a library made", () => {
    const parameters = z.toJSONSchema(z.object({ city: z.string() })) as ToolDraft["parameters"];
    expect(defineTool({ ...draft, parameters }).parameters).toMatchObject({ properties: { city: { type: "string" } } });
  });

  it("names a cycle in a schema instead of failing on it", () => {
    const parameters: Record<string, unknown> = { type: "object" };
    parameters["properties"] = { self: parameters };
    expect(refusedFields({ parameters })).toContain("parameters.properties.self");
  });

  it.each([null, undefined, "tool", [draft]])("refuses %j as a whole", (given) => {
    expect(refusal(given).message).toContain("must be an object");
  });
});
