import { describe, expect, it } from "vitest";
import { dialectContract } from "../../testing/dialect.contract.ts";
import { defineTool } from "../../tool/define-tool.ts";
import { gemini } from "./gemini.ts";

describe("gemini", () => {
  for (const { name, run } of dialectContract(() => ({ adapter: gemini() }))) it(name, run);

  it("writes a definition as the API takes it", () => {
    const parameters = { type: "object", properties: { user: { type: "string" } }, required: ["user"] };
    const tool = defineTool({
      name: "refund_user",
      namespace: "billing",
      description: "Refunds a payment of a user.",
      parameters,
    });
    expect(gemini().fromCanonical(tool)).toEqual({
      name: "billing-refund_user",
      description: "Refunds a payment of a user.",
      parametersJsonSchema: parameters,
    });
  });
});
