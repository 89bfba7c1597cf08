import { describe, expect, it } from "vitest";
import { dialectContract, type DialectSamples, type SampleCall } from "../../testing/dialect.contract.ts";
import { defineTool } from "../../tool/define-tool.ts";
import { ANSWERED, PARAMETERS, refundUser } from "../../../test/golden/dialects/answered-calls.ts";
import { openapiDialect } from "./openapi.ts";

const samples: DialectSamples = {
  sendsText: false,
  answer: (calls) => ({ workflowId: "trip", steps: calls.map(toStep) }),
  stream: (calls) => calls.map(toStep),
};

function toStep({ id, name, arguments: text }: SampleCall): unknown {
  const requestBody = { contentType: "application/json", payload: JSON.parse(text) as unknown };
  return { stepId: id, operationId: name, requestBody };
}

describe("openapi", () => {
  for (const { name, run } of dialectContract(() => ({ adapter: openapiDialect() }), samples)) it(name, run);

  it("writes a definition as the API takes it", () => {
    expect(openapiDialect().fromCanonical(refundUser())).toEqual({
      operationId: "billing-refund_user",
      description: "Refunds a payment of a user.",
      requestBody: { required: true, content: { "application/json": { schema: PARAMETERS } } },
      responses: {
        "200": { description: "What the tool returned." },
        default: { description: "Why the call failed." },
      },
    });
  });

  it("writes results, data, images and errors in the API's own way", () => {
    expect(openapiDialect().writeResults(ANSWERED)).toEqual([
      { operationId: "refund", status: 200, contentType: "text/plain", body: "refunded Dana" },
      { operationId: "refund", status: 200, contentType: "application/json", body: { refunded: 12.5 } },
      {
        operationId: "receipt",
        status: 200,
        contentType: "text/plain",
        body: "The receipt.\n\n[image/png, 3 bytes, cannot be shown here]",
      },
      {
        operationId: "refund",
        status: 502,
        contentType: "text/plain",
        body: expect.stringContaining("Error: The card was refused.") as string,
      },
    ]);
  });

  it("gives a schema with references an address of its own: # would mean the whole document", () => {
    const parameters = { type: "object", properties: { a: { $ref: "#/$defs/a" } }, $defs: { a: { type: "string" } } };
    const tool = defineTool({ name: "walk", description: "Walks along references.", parameters });
    expect(openapiDialect().fromCanonical(tool).requestBody.content["application/json"].schema).toEqual({
      $id: "urn:tool:walk",
      ...parameters,
    });
  });

  it("reads an operation's parameters and body as one object [003-adapter-openapi]", () => {
    const operation = {
      operationId: "updateUser",
      summary: "Update a user",
      parameters: [
        { name: "id", in: "path", required: true, schema: { type: "string" }, description: "Whose." },
        { name: "dry", in: "query", schema: { type: "boolean" } },
      ],
      requestBody: { required: true, content: { "application/json": { schema: { type: "object", properties: {} } } } },
      responses: { "200": { content: { "application/json": { schema: { type: "string" } } } } },
    };
    expect(openapiDialect().toCanonical(operation)).toMatchObject({
      name: "updateUser",
      title: "Update a user",
      description: "Update a user",
      parameters: {
        type: "object",
        properties: {
          id: { type: "string", description: "Whose." },
          dry: { type: "boolean" },
          body: { type: "object", properties: {} },
        },
        required: ["id", "body"],
      },
      returns: { type: "string" },
    });
  });
});
