import { describe, expect, it } from "vitest";
import { isArsenalError, type ArsenalError } from "../../errors/arsenal-error.ts";
import type { ToolQuery } from "../query.ts";
import { validateQuery } from "./validate-query.ts";

const defaults = { scoreThreshold: 0.5, refuse: "confident" } as const;
const context = { query: "send an email" };

/** What the query is refused with. */
function refusal(query: unknown): ArsenalError {
  try {
    validateQuery(query as ToolQuery, defaults);
  } catch (error) {
    if (isArsenalError(error)) return error;
    throw error;
  }
  throw new Error("The query was accepted.");
}

describe("validateQuery", () => {
  it("fills in the defaults [000-4.2-limit]", () => {
    expect(validateQuery({ context }, defaults)).toEqual({
      context,
      limit: 5,
      scoreThreshold: 0.5,
      refuse: "confident",
      excludeDeprecated: true,
      excludeUnhealthy: true,
      enableReranking: false,
      includeDependencies: true,
      explain: false,
    });
  });

  it("asks for words when the query is empty, which it must not leave out", () => {
    expect(refusal({ context: { query: " " } }).message).toBe(
      'The query\'s context.query must be a nonempty string (it is " "). Write at least one character that is not a space.',
    );
  });

  it.each(["refund an order", undefined, { context: "refund an order" }])(
    "shows how to write a query given %j",
    (query) => {
      expect(refusal(query).message).toContain('Pass { context: { query: "what the user asks for" } }.');
    },
  );

  it("names the three values of refuse when it gets another", () => {
    expect(refusal({ context, refuse: false }).message).toContain("one of never, confident, eager");
  });

  it("keeps what is given, also 0 and false", () => {
    const given = { context, limit: 50, scoreThreshold: 0, excludeDeprecated: false, includeDependencies: false };
    expect(validateQuery(given, defaults)).toMatchObject(given);
  });

  it.each([
    ["limit", 0],
    ["limit", 51],
    ["limit", 2.5],
    ["limit", "5"],
    ["limit", Number.NaN],
    ["scoreThreshold", -0.1],
    ["scoreThreshold", 1.1],
    ["scoreThreshold", Number.NaN],
    ["diversityFactor", 2],
    ["diversityFactor", null],
    ["refuse", true],
    ["refuse", false],
    ["refuse", "always"],
    ["namespaces", "mail"],
    ["tags", "email"],
    ["sources", "mcp"],
    ["excludeDeprecated", "no"],
    ["excludeUnhealthy", 0],
    ["enableReranking", 1],
    ["includeDependencies", null],
    ["explain", "yes"],
    ["principal", "me"],
    ["principal", { id: "me" }],
    ["traceId", ""],
    ["signal", {}],
  ])("refuses %s = %j [000-4.2-limit] [000-4.2-query-invalid]", (field, value) => {
    const error = refusal({ context, [field]: value });
    expect(error.code).toBe("QUERY_INVALID");
    expect(error.details).toMatchObject({ field, value });
    expect(error.details.fix).toMatch(/\w/);
    expect(error.message).toContain(field);
  });

  it.each([
    ["query", ""],
    ["query", " \n\t"],
    ["query", 7],
    ["conversationSummary", 7],
    ["recentMessages", "hello"],
    ["inferredIntent", "cooking"],
    ["toolsFailed", "send_email"],
    ["toolsAlreadyUsed", {}],
    ["requireConfirmationFor", "financial"],
  ])("refuses context.%s = %j", (field, value) => {
    expect(refusal({ context: { ...context, [field]: value } }).details).toMatchObject({
      field: `context.${field}`,
      value,
    });
  });

  it("names the offending entry of a list", () => {
    expect(refusal({ context, namespaces: ["mail", 3] }).details).toMatchObject({ field: "namespaces.1", value: 3 });
    const recentMessages = [
      { role: "user", content: "hi" },
      { role: "user", content: 3 },
    ];
    expect(refusal({ context: { ...context, recentMessages } }).details.field).toBe("context.recentMessages.1.content");
  });

  it("takes messages as a model's API has them: parts, and nothing where it only called a tool", () => {
    const recentMessages = [
      { role: "user", content: [{ type: "text", text: "hi" }] },
      { role: "assistant" },
      { role: "assistant", content: null },
    ];
    expect(validateQuery({ context: { ...context, recentMessages } }, defaults).limit).toBe(5);
  });

  it("takes ten recent messages and no more [000-4.2-recent-messages]", () => {
    const messages = (count: number) =>
      Array.from({ length: count }, () => ({ role: "user", content: "hi", name: "Al" }));
    expect(validateQuery({ context: { ...context, recentMessages: messages(10) } }, defaults).limit).toBe(5);
    expect(refusal({ context: { ...context, recentMessages: messages(11) } }).message).toContain("has 11 messages");
  });

  it.each([
    ["context.query", { context: { query: "a".repeat(16_385) } }, "has 16385 characters, and may have 16384"],
    [
      "context.conversationSummary",
      { context: { ...context, conversationSummary: "a".repeat(65_537) } },
      "has 65537 characters, and may have 65536",
    ],
    [
      "namespaces",
      { context, namespaces: Array.from({ length: 1_001 }, () => "a") },
      "has 1001 entries, more than 1000",
    ],
    ["tags.0", { context, tags: ["a".repeat(1_001)] }, "has 1001 characters, and may have 1000"],
    [
      "context.toolsFailed",
      { context: { ...context, toolsFailed: Array.from({ length: 1_001 }, () => "a") } },
      "has 1001 entries, more than 1000",
    ],
  ])("refuses more than %s may hold, with the limit", (field, query, problem) => {
    const error = refusal(query);
    expect(error.details.field).toBe(field);
    expect(error.message).toContain(problem);
    expect(error.message.length).toBeLessThan(400);
  });

  it("suggests the nearest capability and source", () => {
    expect(refusal({ context, requiredCapabilities: ["read_dta"] }).message).toContain('Did you mean "read_data"?');
    expect(refusal({ context, excludedCapabilities: ["finance"] }).details.field).toBe("excludedCapabilities.0");
    expect(refusal({ context: { ...context, userCapabilities: ["root"] } }).message).toContain("one of read_data, ");
    expect(refusal({ context, sources: ["mpc"] }).message).toContain('Did you mean "mcp"?');
  });

  it("names an unknown field with the nearest one", () => {
    expect(refusal({ context, limits: 3 }).message).toBe(
      "The query's limits is not a known field (it is 3). Did you mean limit?",
    );
    expect(refusal({ context: { ...context, tools_failed: [] } }).details.fix).toBe("Did you mean toolsFailed?");
    expect(refusal({ context, toString: 1 }).details.field).toBe("toString");
  });

  it.each([undefined, null, "send an email", []])("refuses %j for a whole query", (query) => {
    expect(refusal(query).message).toMatch(/^The query must be an object/);
  });

  it("says what is missing", () => {
    expect(refusal({}).details.field).toBe("context");
    expect(refusal({ context: {} }).details.field).toBe("context.query");
    expect(refusal({ context: "send an email" }).details.field).toBe("context");
  });

  it("treats an undefined field as absent", () => {
    expect(validateQuery({ context, limit: undefined } as unknown as ToolQuery, defaults).limit).toBe(5);
  });
});
