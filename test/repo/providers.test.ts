import { describe, expect, it } from "vitest";
import { files, read } from "./project.ts";

const STAGES = ["catalog", "retrieve", "transcode", "guard", "execute"];

/** Model providers and the libraries that talk to them. MCP and OpenAPI are standards. */
const PROVIDER =
  /open-?ai|anthropic|claude|gemini|vertex ?ai|bedrock|mistral|ollama|lang-?chain|\bai[- ]?sdk|cohere(?![a-z])/i;

/** What attackers write, and what keys of providers look like, is data about the world that the guard looks for. */
const DATA = /^src\/guard\/(?:scan|redaction)\//;

function named(path: string, text: string): readonly string[] {
  return text
    .split("\n")
    .flatMap((line, index) => (PROVIDER.test(line) ? [`${path}:${index + 1}: ${line.trim()}`] : []));
}

describe("providers", () => {
  it("are named by their dialect, and by no stage", () => {
    const modules = STAGES.flatMap((stage) => files(`src/${stage}/**/*.ts`)).filter(
      (path) => !path.endsWith(".test.ts") && !DATA.test(path),
    );
    expect(modules.length).toBeGreaterThan(100);
    expect(modules.flatMap((path) => named(path, read(path)))).toEqual([]);
  });

  it.each(["const openAiTarget = 1", "// Anthropic's limit", 'case "ai-sdk":', "cohere()", "toLangChain"])(
    "are found in %s",
    (line) => expect(named("x", line)).toHaveLength(1),
  );

  it.each(["incoherent", "openapi", "const trained = 1", "vertical"])("are not found in %s", (line) =>
    expect(named("x", line)).toEqual([]),
  );
});
