import { describe, expect, it } from "vitest";
import { dialectContract, type DialectSamples, type SampleCall } from "../../../testing/dialect.contract.ts";
import { defineTool } from "../../../tool/define-tool.ts";
import { ANSWERED, PARAMETERS, refundUser } from "../../../../test/golden/dialects/answered-calls.ts";
import { geminiDialect } from "./gemini.ts";

const samples: DialectSamples = {
  sendsText: false,
  answer: (calls) => ({ candidates: [{ content: { role: "model", parts: calls.map(toPart) }, finishReason: "STOP" }] }),
  stream: (calls) => [
    { candidates: [{ content: { role: "model", parts: [{ text: "Looking." }] } }] },
    ...calls.map((call) => ({ candidates: [{ content: { role: "model", parts: [toPart(call)] } }] })),
  ],
};

describe("gemini", () => {
  for (const { name, run } of dialectContract(() => ({ adapter: geminiDialect() }), samples)) it(name, run);

  it("writes a definition as the API takes it", () => {
    expect(geminiDialect().fromCanonical(refundUser())).toEqual({
      name: "billing-refund_user",
      description: "Refunds a payment of a user.",
      parametersJsonSchema: PARAMETERS,
    });
  });

  it("writes results, data, images and errors in the API's own way", () => {
    expect(geminiDialect().writeResults(ANSWERED)).toEqual([
      {
        role: "user",
        parts: [
          { functionResponse: { id: "call_1", name: "refund", response: { output: "refunded Dana" } } },
          { functionResponse: { id: "call_2", name: "refund", response: { output: { refunded: 12.5 } } } },
          {
            functionResponse: {
              id: "call_3",
              name: "receipt",
              response: { output: "The receipt." },
              parts: [{ inlineData: { mimeType: "image/png", data: "AAAA" } }],
            },
          },
          {
            functionResponse: {
              id: "call_4",
              name: "refund",
              response: { error: expect.stringContaining("Error: The card was refused.") as string },
            },
          },
        ],
      },
    ]);
  });

  for (const { name, run } of dialectContract(() => ({ adapter: geminiDialect({ schema: "parameters" }) }), samples))
    it(`as parameters: ${name}`, run);

  it("writes the closed subset where that is asked for [000-4.1-gemini-subset]", () => {
    const dialect = geminiDialect({ schema: "parameters" });
    expect(dialect.fromCanonical(refundUser())).toEqual({
      name: "billing-refund_user",
      description: "Refunds a payment of a user.",
      parameters: { type: "OBJECT", properties: { user: { type: "STRING" } }, required: ["user"] },
    });
    const nothing = defineTool({ name: "ping", description: "Says that it is there.", parameters: { type: "object" } });
    expect(dialect.fromCanonical(nothing)).toEqual({ name: "ping", description: "Says that it is there." });
  });

  it.each([null, undefined])("reads a declaration with %s as parameters as one without", (parameters) => {
    expect(geminiDialect().toCanonical({ name: "x", parameters }).parameters).toEqual({ type: "object" });
  });

  it("reads the closed subset as JSON Schema", () => {
    const parameters = {
      type: "OBJECT",
      properties: {
        user: { type: "STRING", nullable: true, example: "Dana", maxLength: "40" },
        unit: { type: "STRING", nullable: true, enum: ["day"] },
        days: { type: "ARRAY", items: { anyOf: [{ type: "INTEGER" }, { type: "TYPE_UNSPECIFIED" }] } },
      },
      propertyOrdering: ["user", "days"],
    };
    expect(geminiDialect().toCanonical({ name: "x", parameters }).parameters).toEqual({
      type: "object",
      properties: {
        user: { type: ["string", "null"], examples: ["Dana"], maxLength: 40 },
        unit: { type: ["string", "null"], enum: ["day", null] },
        days: { type: "array", items: { anyOf: [{ type: "integer" }, {}] } },
      },
    });
  });

  it("makes up ids where there are none, and keeps them to itself", () => {
    const parts = ["a", "b"].map((name) => ({ functionCall: { name, args: { n: 1 } } }));
    const read = geminiDialect().readCalls({ candidates: [{ content: { parts } }] });
    expect(read.map(({ id, idMadeUp }) => [id, idMadeUp])).toEqual([
      ["call_1", true],
      ["call_2", true],
    ]);
    const [first] = read;
    const [answer] = ANSWERED;
    if (first === undefined || answer === undefined) throw new Error("unreachable");
    expect(geminiDialect().writeResults([{ ...answer, read: first }])).toEqual([
      { role: "user", parts: [{ functionResponse: { name: "a", response: { output: "refunded Dana" } } }] },
    ]);
  });

  it("puts streamed arguments together by their paths", () => {
    const part = (functionCall: object): object => ({ candidates: [{ content: { parts: [{ functionCall }] } }] });
    const stream = geminiDialect().readStream?.();
    const events = [
      part({ name: "book", id: "g1", willContinue: true }),
      part({ partialArgs: [{ jsonPath: "$.place.city", stringValue: "Par" }], willContinue: true }),
      part({ partialArgs: [{ jsonPath: "$.place.city", stringValue: "is" }], willContinue: true }),
      part({
        partialArgs: [
          { jsonPath: "$.days[0]", numberValue: 3 },
          { jsonPath: "$.now", boolValue: false },
        ],
        willContinue: true,
      }),
      part({}),
    ];
    expect(events.flatMap((event) => stream?.push(event) ?? [])).toEqual([
      { id: "g1", call: { toolName: "book", arguments: { place: { city: "Paris" }, days: [3], now: false } } },
    ]);
    stream?.push(part({ name: "cut", id: "g2", willContinue: true }));
    expect(stream?.end()).toMatchObject([
      { id: "g2", problem: expect.stringContaining("ended in the middle") as string },
    ]);
  });
});

function toPart({ id, name, arguments: text }: SampleCall): object {
  return { functionCall: { id, name, args: JSON.parse(text) as unknown } };
}
