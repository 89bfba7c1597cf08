import { describe, expect, it } from "vitest";
import { dialectContract, type DialectSamples, type SampleCall } from "../../testing/dialect.contract.ts";
import { normaliseTool } from "../../tool/normalise/normalise-tool.ts";
import { ANSWERED, PARAMETERS, refundUser } from "../../../test/golden/dialects/answered-calls.ts";
import { mcpDialect } from "./mcp.ts";

const samples: DialectSamples = {
  sendsText: false,
  answer: (calls) => calls.map(toRequest),
  stream: (calls) => [{ jsonrpc: "2.0", method: "notifications/initialized" }, ...calls.map(toRequest)],
};

function toRequest({ id, name, arguments: text }: SampleCall): unknown {
  return { jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: JSON.parse(text) as unknown } };
}

describe("mcp", () => {
  for (const { name, run } of dialectContract(() => ({ adapter: mcpDialect() }), samples)) it(name, run);

  it("writes a definition as the API takes it", () => {
    expect(mcpDialect().fromCanonical(refundUser())).toEqual({
      name: "billing-refund_user",
      description: "Refunds a payment of a user.",
      inputSchema: PARAMETERS,
    });
  });

  it("writes results, data, images and errors in the API's own way", () => {
    expect(mcpDialect().writeResults(ANSWERED)).toEqual([
      { content: [{ type: "text", text: "refunded Dana" }] },
      { content: [{ type: "text", text: '{"refunded":12.5}' }], structuredContent: { refunded: 12.5 } },
      {
        content: [
          { type: "text", text: "The receipt." },
          { type: "image", mimeType: "image/png", data: "AAAA" },
        ],
      },
      {
        content: [{ type: "text", text: expect.stringContaining("Error: The card was refused.") as string }],
        isError: true,
      },
    ]);
  });

  it("keeps title, hints, output schema, icons and _meta of a server's tool [003-adapter-mcp]", () => {
    const definition = {
      name: "read-file",
      title: "Read a file",
      description: "Reads one file of the project.",
      inputSchema: PARAMETERS,
      outputSchema: { type: "object", properties: { text: { type: "string" } } },
      annotations: { title: "Read", readOnlyHint: true, openWorldHint: false },
      icons: [{ src: "https://example.com/i.png" }],
      _meta: { "example.com/x": 1 },
    };
    const tool = normaliseTool(mcpDialect().toCanonical(definition), { source: "mcp", namespace: "files" });
    expect(tool.annotations).toEqual({ confirmed: false, readOnly: true, openWorld: false });
    expect(mcpDialect().convert(tool)).toEqual({
      definition: { ...definition, name: "files-read_file" },
      strict: false,
      losses: [],
    });
  });
});
