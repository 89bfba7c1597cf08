import { describe, expect, it } from "vitest";
import { isArsenalError } from "../../errors/arsenal-error.ts";
import type { Problem } from "../../execute/validator.port.ts";
import { validatorContract } from "../../testing/validator.contract.ts";
import type { JsonSchema } from "../../tool/json-schema.ts";
import { ajv } from "./ajv.ts";

function problemsOf(schema: JsonSchema, value: unknown): readonly Problem[] {
  const checked = ajv().compile(schema)(value);
  return checked.valid ? [] : checked.problems;
}

function messageOf(compile: () => unknown): string {
  try {
    compile();
  } catch (error) {
    if (isArsenalError(error) && error.code === "TOOL_INVALID") return error.message;
    throw error;
  }
  return "compiled";
}

describe("ajv [002-validator-required] [002-validator-type] [002-validator-enum]", () => {
  for (const { name, run } of validatorContract(() => ({ adapter: ajv() }))) it(name, run);

  it("gives back the value itself where the schema has no defaults", () => {
    const value = { a: 1 };
    const checked = ajv().compile({ type: "object", properties: { a: { type: "number" } } })(value);
    expect(checked.valid && checked.value).toBe(value);
  });

  it("takes a parameter called default for a parameter", () => {
    const value = { default: 1 };
    const checked = ajv().compile({ type: "object", properties: { default: { type: "number" } } })(value);
    expect(checked.valid && checked.value).toBe(value);
  });

  it("fills in nested defaults, through a reference, without touching the value", () => {
    const schema: JsonSchema = {
      type: "object",
      properties: { page: { $ref: "#/definitions/page" } },
      definitions: { page: { type: "object", properties: { size: { type: "integer", default: 20 } } } },
    };
    const value = { page: {} };
    expect(ajv().compile(schema)(value)).toEqual({ valid: true, value: { page: { size: 20 } } });
    expect(value).toEqual({ page: {} });
  });

  it("does not share a default object between calls", () => {
    const check = ajv().compile({ type: "object", properties: { list: { type: "array", default: [] } } });
    const [first, second] = [check({}), check({})];
    if (!first.valid || !second.valid) throw new Error("refused");
    (first.value as { list: number[] }).list.push(1);
    expect(second.value).toEqual({ list: [] });
  });

  it("keeps a __proto__ member from becoming a prototype where there are defaults", () => {
    const check = ajv().compile({ type: "object", properties: { limit: { default: 5 } } });
    const checked = check(JSON.parse('{"__proto__":{"admin":true}}'));
    if (!checked.valid) throw new Error("refused");
    expect(Object.getPrototypeOf(checked.value)).toBe(Object.prototype);
    expect((checked.value as { admin?: boolean }).admin).toBeUndefined();
  });

  it("does not take what objects inherit for a required parameter [002-validator-own]", () => {
    expect(problemsOf({ type: "object", required: ["constructor", "toString"] }, {}).map(({ field }) => field)).toEqual(
      ["constructor", "toString"],
    );
  });

  it("says of each problem where it is, what is wanted and what was there [002-errors-validation]", () => {
    const schema: JsonSchema = {
      type: "object",
      properties: {
        address: { type: "object", properties: { zip: { type: "string" } }, required: ["street"] },
        items: { type: "array", items: { type: ["integer", "null"] } },
        mail: { type: "string", format: "email" },
        count: { type: "integer", minimum: 1 },
        "a/b": { const: "x" },
      },
      additionalProperties: false,
    };
    const value = { address: { zip: 5 }, items: [1, "2"], mail: "nobody", count: 0, "a/b": "y", other: true };
    expect(problemsOf(schema, value).map(({ field, expected, received }) => [field, expected, received])).toEqual([
      ["other", "nothing (known here: address, items, mail, count, a/b)", "boolean true"],
      ["address.street", "a value", "nothing"],
      ["address.zip", "string", "number 5"],
      ["items.1", "integer or null", 'string "2"'],
      ["mail", "a valid email", 'string "nobody"'],
      ["count", ">= 1", "number 0"],
      ["a/b", '"x"', 'string "y"'],
    ]);
  });

  it("reads prefixItems as draft 2020-12 and an items array as draft-07", () => {
    const modern: JsonSchema = { type: "array", prefixItems: [{ type: "string" }], items: false };
    expect(problemsOf(modern, ["a"])).toEqual([]);
    expect(problemsOf(modern, ["a", "b"])).toHaveLength(1);
    const older: JsonSchema = { type: "array", items: [{ type: "string" }], additionalItems: false };
    expect(problemsOf(older, ["a"])).toEqual([]);
    expect(problemsOf(older, ["a", "b"])).toHaveLength(1);
  });

  it("goes by $schema where there is one", () => {
    const keyword = { dependentRequired: { a: ["b"] } };
    expect(problemsOf({ $schema: "https://json-schema.org/draft/2020-12/schema", ...keyword }, { a: 1 })).toHaveLength(
      1,
    );
    expect(problemsOf({ $schema: "http://json-schema.org/draft-07/schema#", ...keyword }, { a: 1 })).toEqual([]);
    expect(problemsOf({ $schema: "http://json-schema.org/draft-04/schema#", type: "string" }, 1)).toHaveLength(1);
    expect(problemsOf({ $schema: "https://example.com/mine", type: "string" }, 1)).toHaveLength(1);
  });

  it("names the keyword of a broken schema", () => {
    const broken: JsonSchema = { type: "object", properties: { a: { type: "strin" } } };
    expect(messageOf(() => ajv().compile(broken))).toBe(
      'The schema of the parameters is broken: parameters.properties.a.type must be equal to one of the allowed values, but is "strin". Fix the schema in the tool\'s source.',
    );
    expect(messageOf(() => ajv().compile({ required: true } as unknown as JsonSchema))).toContain(
      "parameters.required",
    );
    expect(messageOf(() => ajv().compile({ $ref: "#/definitions/none" }))).toContain("#/definitions/none");
    expect(messageOf(() => ajv().compile({ type: "string", pattern: "(" }))).toContain('the keyword pattern has "("');
  });

  it("still compiles good schemas after a broken one", () => {
    const validator = ajv();
    messageOf(() => validator.compile({ $id: "https://example.com/x", type: "nothing" }));
    expect(validator.compile({ $id: "https://example.com/x", type: "string" })("a").valid).toBe(true);
  });

  it("keeps nested $ids of two tools apart, and out of each other's reach", () => {
    const validator = ajv();
    const withInner = (type: string): JsonSchema => ({
      properties: { a: { $ref: "https://example.com/inner" } },
      definitions: { inner: { $id: "https://example.com/inner", type } },
    });
    const text = validator.compile(withInner("string"));
    const count = validator.compile(withInner("number"));
    expect([text({ a: "x" }).valid, text({ a: 1 }).valid]).toEqual([true, false]);
    expect([count({ a: "x" }).valid, count({ a: 1 }).valid]).toEqual([false, true]);
    expect(messageOf(() => validator.compile({ $ref: "https://example.com/inner" }))).toContain("example.com/inner");
  });

  it("is not harmed by a tool that takes the meta-schema's $id", () => {
    const validator = ajv();
    messageOf(() => validator.compile({ $id: "http://json-schema.org/draft-07/schema#", type: "string" }));
    expect(messageOf(() => validator.compile({ type: "nothing" }))).toContain("parameters.type");
    expect(validator.compile({ type: "string" })(1).valid).toBe(false);
  });

  it("cannot be switched off by a schema that calls itself asynchronous", () => {
    expect(problemsOf({ $async: true, type: "string" }, 5)).toHaveLength(1);
  });

  it("reads over the id of draft 4", () => {
    expect(
      problemsOf({ id: "https://example.com/old", properties: { a: { id: "#a", type: "string" } } }, { a: 1 }),
    ).toHaveLength(1);
  });

  it("tells the patterns of one schema apart", () => {
    const schema: JsonSchema = { properties: { a: { pattern: "^a" }, b: { pattern: "^b" } } };
    expect(problemsOf(schema, { a: "a", b: "b" })).toEqual([]);
    expect(problemsOf(schema, { a: "b", b: "a" }).map(({ field }) => field)).toEqual(["a", "b"]);
  });

  it("runs a pattern that RE2 cannot say as it is written", () => {
    expect(problemsOf({ pattern: "^(?=.*x)(\\w+)-\\1$" }, "ax-ax")).toEqual([]);
    expect(problemsOf({ pattern: "^(?=.*x)(\\w+)-\\1$" }, "ax-bx")).toHaveLength(1);
  });

  it("accepts patterns that are legal only without the u flag, and formats nobody knows", () => {
    expect(problemsOf({ type: "string", pattern: "^[\\w-.]+$" }, "a-b.c")).toEqual([]);
    expect(problemsOf({ type: "string", pattern: "^[\\w-.]+$" }, "a b")).toHaveLength(1);
    expect(problemsOf({ type: "string", format: "made-up" }, "x")).toEqual([]);
  });
});
