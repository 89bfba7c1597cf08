import { describe, expect, it } from "vitest";
import type { AnsweredCall } from "../../../transcode/dialect.port.ts";
import { anthropicDialect } from "../anthropic.ts";
import { bedrockDialect } from "../bedrock.ts";
import { mcpDialect } from "../mcp.ts";
import { ollamaDialect } from "../ollama.ts";
import { openaiResponsesDialect } from "../openai/openai-responses.ts";
import { openapiDialect } from "../openapi.ts";
import { contentOf, textOf } from "./result-content.ts";

function returned(result: unknown): AnsweredCall {
  const times = { queuedAt: 0, completedAt: 5, latencyMs: 5, attempts: 1, traceId: "t", spanId: "s" };
  return {
    read: { id: "a", call: { toolName: "x", arguments: {} } },
    result: { toolName: "x", status: "success", result, ...times },
  };
}

const text = (content: string): object => ({ type: "text", text: content });

describe("contentOf", () => {
  it.each([
    [undefined, "(nothing)"],
    ["", "(nothing)"],
    [null, "null"],
    [7, "7"],
    [["a"], '["a"]'],
    [{ content: "plain" }, '{"content":"plain"}'],
    [{ content: [] }, "(nothing)"],
    [{ content: [text("")] }, "(nothing)"],
    [{ content: [text("a"), text("b")] }, "a\n\nb"],
    [{ content: [{ type: "resource", resource: { uri: "file:///a", text: "in" } }] }, "file:///a\nin"],
    [{ content: [{ type: "resource_link", uri: "https://example.com", name: "e" }] }, "e: https://example.com"],
    [{ content: [{ type: "resource_link", uri: "https://example.com" }] }, "https://example.com"],
    [{ content: [{ type: "novel", value: 1 }] }, '{"type":"novel","value":1}'],
    [{ content: [{ type: "audio", data: "AAAA" }] }, "[application/octet-stream, 3 bytes, cannot be shown here]"],
    [
      {
        content: [{ type: "resource", resource: { uri: "file:///a.zip", mimeType: "application/zip", blob: "AAAA" } }],
      },
      "[file:///a.zip: application/zip, 3 bytes, cannot be shown here]",
    ],
  ])("tells %j as %j", (result, told) => {
    expect(textOf(contentOf(returned(result)))).toBe(told);
  });

  it("writes data that JSON cannot express as plain data", () => {
    const cyclic: Record<string, unknown> = { rows: 10n };
    cyclic["self"] = cyclic;
    expect(textOf(contentOf(returned(10n)))).toBe("10");
    expect(textOf(contentOf(returned(cyclic)))).toBe('{"rows":"10","self":null}');
    expect(contentOf(returned(cyclic)).structured).toEqual({ rows: "10", self: null });
  });

  it("tells data once: not again where its JSON is there, and where only a summary is", () => {
    const structuredContent = { b: 1, a: [2] };
    const same = { content: [text('{ "a": [2], "b": 1 }')], structuredContent };
    const summary = { content: [text("One of each.")], structuredContent };
    expect(textOf(contentOf(returned(same)))).toBe('{ "a": [2], "b": 1 }');
    expect(textOf(contentOf(returned(summary)))).toBe('One of each.\n\n{"b":1,"a":[2]}');
    expect(contentOf(returned({ content: [], structuredContent })).structured).toBe(structuredContent);
  });

  it("takes a result that calls itself an error for one", () => {
    const failed = returned({ content: [text("No such file.")], isError: true });
    expect(contentOf(failed)).toMatchObject({ isError: true });
    expect(anthropicDialect().writeResults([failed])).toMatchObject([
      { content: [{ is_error: true, content: "No such file." }] },
    ]);
  });

  it("survives what JSON cannot say", () => {
    const cycle: Record<string, unknown> = {};
    cycle["self"] = cycle;
    expect(textOf(contentOf(returned(cycle)))).toBe('{"self":null}');
    expect(textOf(contentOf(returned(12n)))).toBe("12");
  });
});

describe("files in results", () => {
  const pdf = returned({
    content: [
      { type: "resource", resource: { uri: "file:///bills/may.pdf", mimeType: "application/pdf", blob: "AAAA" } },
    ],
  });

  it("are shown where the provider takes PDF", () => {
    expect(anthropicDialect().writeResults([pdf])).toMatchObject([
      { content: [{ content: [{ type: "document", source: { media_type: "application/pdf", data: "AAAA" } }] }] },
    ]);
    expect(openaiResponsesDialect().writeResults([pdf])).toMatchObject([
      { output: [{ type: "input_file", filename: "may.pdf", file_data: "data:application/pdf;base64,AAAA" }] },
    ]);
    expect(bedrockDialect().writeResults([pdf])).toMatchObject([
      { content: [{ toolResult: { content: [{ document: { format: "pdf", name: "result" } }] } }] },
    ]);
    expect(openapiDialect().writeResults([pdf])).toMatchObject([{ contentType: "application/pdf", body: "AAAA" }]);
  });

  it("are named where an image alone cannot be a message's text", () => {
    const image = returned({ content: [{ type: "image", mimeType: "image/png", data: "AAAA" }] });
    expect(ollamaDialect().writeResults([image])).toMatchObject([{ content: "(see the image)", images: ["AAAA"] }]);
  });

  it("go out of an MCP server's result as they came", () => {
    const content = [{ type: "resource_link", uri: "https://example.com", name: "e", annotations: { priority: 1 } }];
    expect(mcpDialect().writeResults([returned({ content })])).toEqual([{ content }]);
  });

  it("leave lists as text where an API takes objects only", () => {
    expect(bedrockDialect().writeResults([returned([1, 2])])).toMatchObject([
      { content: [{ toolResult: { content: [{ text: "[1,2]" }] } }] },
    ]);
  });
});
