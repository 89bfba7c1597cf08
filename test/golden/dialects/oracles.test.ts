import { fromJson, type JsonValue } from "@bufbuild/protobuf";
import { ToolSchema } from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, it } from "vitest";
import { geminiDialect } from "../../../src/adapters/dialects/gemini/gemini.ts";
import { mcpDialect } from "../../../src/adapters/dialects/mcp.ts";
import { defineTool } from "../../../src/tool/define-tool.ts";
import { sampleTools } from "../../../src/testing/sample-tools.ts";
import type { Tool } from "../../../src/tool/tool.ts";
import { PEERS_ABSENT, peersInstalled } from "../../peers/peers.ts";
import { functionDeclaration } from "./gemini-proto.ts";
import { SCHEMAS } from "./schemas.ts";

const TOOLS: readonly (readonly [name: string, tool: Tool])[] = [
  ...sampleTools().map((tool) => [tool.name, tool] as const),
  ...Object.entries(SCHEMAS).map(
    ([name, parameters]) =>
      [name, defineTool({ name: "try_it", description: "A tool to try a schema with.", parameters })] as const,
  ),
];

describe("mcp, by the SDK's own schema", () => {
  it.each(TOOLS)("%s is a tool", (_name, tool) => {
    const definition = mcpDialect().fromCanonical(tool);
    expect(ToolSchema.parse(definition)).toEqual(definition);
  });

  it("would not be, written in another dialect", () => {
    for (const [, tool] of TOOLS) expect(ToolSchema.safeParse(geminiDialect().fromCanonical(tool)).success).toBe(false);
  });
});

const hasPeers = peersInstalled();
if (!hasPeers) process.stderr.write(`not run: Google's protocol. ${PEERS_ABSENT}\n`);

// because Google's .proto files are installed with test/peers
describe.skipIf(!hasPeers)("gemini parameters, by Google's protocol", () => {
  it.each(TOOLS)("%s is a function declaration", async (_name, tool) => {
    const message = await declaration();
    const definition = geminiDialect({ schema: "parameters" }).fromCanonical(tool);
    expect(() => fromJson(message, definition as JsonValue)).not.toThrow();
  });

  it.each([
    ["a keyword of JSON Schema that it lacks", { type: "OBJECT", oneOf: [] }],
    ["a type in small letters", { type: "object" }],
    ["a list of types", { type: ["STRING", "NULL"] }],
    ["a number in an enum", { type: "INTEGER", enum: [1] }],
  ])("%s would not be one", async (_what, parameters) => {
    const message = await declaration();
    expect(() => fromJson(message, { name: "x", parameters })).toThrow(/cannot decode/);
  });
});

let loaded: ReturnType<typeof functionDeclaration> | undefined;

function declaration(): ReturnType<typeof functionDeclaration> {
  return (loaded ??= functionDeclaration());
}
