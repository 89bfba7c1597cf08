import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createRedaction } from "../../adapters/policies/rules/redaction.ts";
import { redactLarge, redactResult } from "./redact-result.ts";

const redacted = (value: unknown, ...texts: readonly string[]): unknown =>
  redactResult(value, texts.map(createRedaction));

describe("redactResult", () => {
  it("applies every redaction, in order", () => {
    const value = { a: { secret: "s" }, text: "call 555-1234" };
    expect(redacted(value, "a.secret", "/[0-9]{3}-[0-9]{4}/")).toEqual({
      a: { secret: "[redacted]" },
      text: "call [redacted]",
    });
    expect(redacted(value)).toBe(value);
  });

  it("gives the same value where there is nothing to take out, also where it holds JSON", () => {
    const value = { content: [{ type: "text", text: ' {"a": [1, {"b": 2}]} ' }], structuredContent: { a: 1 } };
    expect(redacted(value, "**.secret", "/xyz/")).toBe(value);
  });

  it("follows a path from the top of every text that is JSON", () => {
    expect(redacted('{"user":{"ssn":"1"}}', "user.ssn")).toBe('{"user":{"ssn":"[redacted]"}}');
    expect(redacted({ body: '[{"ssn":"1"}]' }, "*.ssn")).toEqual({ body: '[{"ssn":"[redacted]"}]' });
    expect(redacted({ body: JSON.stringify({ inner: '{"ssn":"1"}' }) }, "ssn")).toEqual({
      body: JSON.stringify({ inner: '{"ssn":"[redacted]"}' }),
    });
  });

  it("finds a pattern that JSON hides behind an escape", () => {
    expect(redacted(String.raw`{"card":"\u0034\u0031\u0031\u0031"}`, "/4111/")).toBe('{"card":"[redacted]"}');
  });

  it("leaves a text that only looks like JSON to the patterns", () => {
    expect(redacted("{not json} 4111", "/4111/", "card")).toBe("{not json} [redacted]");
  });

  it("takes nothing out of a deeper layer than anybody sends", () => {
    let text = '{"ssn":"1"}';
    for (let layer = 0; layer < 3; layer++) text = JSON.stringify([text]);
    expect(redacted(text, "ssn")).not.toBe(text);
    for (let layer = 0; layer < 3; layer++) text = JSON.stringify([text]);
    expect(redacted(text, "ssn")).toBe(text);
  });

  it("makes plain what is not, so that something can be taken out of it", () => {
    class User {
      readonly ssn = "1";
    }
    expect(redacted({ user: new User() }, "**.ssn")).toEqual({ user: { ssn: "[redacted]" } });
    expect(redacted({ toJSON: () => ({ ssn: "1" }) }, "ssn")).toEqual({ ssn: "[redacted]" });
    expect(redacted({ seen: new Map([["ssn", "1"]]) }, "**.ssn")).toEqual({ seen: {} });
    expect(redacted(() => {}, "**.ssn")).toBeTypeOf("function");
  });

  it("throws where a value cannot be made plain", () => {
    const circle: unknown[] = [];
    circle.push(circle);
    expect(() => redacted(circle, "**.ssn")).toThrow();
  });
});

describe("redactLarge", () => {
  const redactions = ["**.ssn", "a.*.ssn", "structuredContent", "/[0-9]{4}/", "/x+y/"].map(createRedaction);

  it("takes out exactly what redactResult does", async () => {
    const key = fc.constantFrom("ssn", "a", "b", "structuredContent", "content");
    const text = fc.oneof(
      fc.constantFrom('{"ssn":"1"}', '[{"ssn":[1234]}]', "call 1234", "xxy", "plain", "{no"),
      fc.string(),
    );
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof({ maxDepth: 4 }, text, fc.integer(), fc.array(tie("value")), fc.dictionary(key, tie("value"))),
    }));
    await fc.assert(
      fc.asyncProperty(value, fc.constantFrom(...redactions), async (given, redaction) => {
        const expected = redactResult(given, [redaction]);
        const large = await redactLarge(given, redaction);
        expect(large).toEqual(expected);
        expect(large === given).toBe(expected === given);
      }),
    );
  });

  it("looks for patterns in a long text in a thread, with the same outcome", async () => {
    const long = { text: `${"a".repeat(100_000)} 4111 ${"b".repeat(100_000)}`, other: "no digits here".repeat(2_000) };
    const redaction = createRedaction("/[0-9]{4}/");
    expect(await redactLarge(long, redaction)).toEqual(redactResult(long, [redaction]));
  });

  it("withholds what would take long to look through", async () => {
    const many = Array.from({ length: 500_001 }, () => 0);
    await expect(redactLarge(many, createRedaction("**.ssn"))).rejects.toThrow(
      "it has more than 500000 members and elements",
    );
    const text = `[${"0,".repeat(200_001)}0]`;
    await expect(redactLarge({ text }, createRedaction("**.ssn"))).rejects.toThrow(
      "a text in it is JSON with more than 200000 elements or 50000 members",
    );
  });
});
