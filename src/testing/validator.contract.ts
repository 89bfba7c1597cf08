import assert from "node:assert/strict";
import type { Checked, Problem, Validator } from "../execute/validator.port.ts";
import type { JsonSchema } from "../tool/json-schema.ts";
import { contract, type ContractCase, type Make } from "./contract.ts";

/** The contract of every validator. */
export function validatorContract(make: Make<Validator>): readonly ContractCase[] {
  const schema: JsonSchema = {
    type: "object",
    properties: {
      city: { type: "string" },
      days: { type: "integer", minimum: 1, default: 3 },
      unit: { enum: ["c", "f"] },
    },
    required: ["city"],
    additionalProperties: false,
  };
  const check = async (validator: Validator, value: unknown, against: JsonSchema = schema): Promise<Checked> => {
    const compiled = await validator.compile(against);
    return compiled(value);
  };
  const problems = async (validator: Validator, value: unknown): Promise<readonly Problem[]> => {
    const checked = await check(validator, value);
    assert.ok(!checked.valid);
    return checked.problems;
  };
  return contract(make, {
    "accepts what fits and fills in defaults": async (validator) => {
      assert.deepEqual(await check(validator, { city: "Oslo" }), { valid: true, value: { city: "Oslo", days: 3 } });
    },
    "leaves the value it was given alone": async (validator) => {
      const given = { city: "Oslo" };
      await check(validator, given);
      assert.deepEqual(given, { city: "Oslo" });
    },
    "names the field, what it wants and what was there": async (validator) => {
      const [problem] = await problems(validator, { city: 5 });
      assert.equal(problem?.field, "city");
      assert.match(problem?.expected ?? "", /string/);
      assert.match(problem?.received ?? "", /number|5/);
    },
    "names a missing field": async (validator) => {
      assert.ok((await problems(validator, {})).some(({ field }) => field === "city"));
    },
    "names an unknown field": async (validator) => {
      assert.ok((await problems(validator, { city: "Oslo", town: "Oslo" })).some(({ field }) => field === "town"));
    },
    "lists the allowed values": async (validator) => {
      const [problem] = await problems(validator, { city: "Oslo", unit: "k" });
      assert.match(problem?.expected ?? "", /c.*f/);
    },
    "reports every problem": async (validator) => {
      assert.ok((await problems(validator, { city: 1, days: 0, unit: "k" })).length >= 3);
    },
    "does not turn one type into another": async (validator) => {
      await problems(validator, { city: "Oslo", days: "3" });
    },
    "looks at own properties only": async (validator) => {
      await problems(validator, Object.create({ city: "Oslo" }));
    },
    "refuses a __proto__ member where none is allowed": async (validator) => {
      await problems(validator, JSON.parse('{"city":"Oslo","__proto__":{"admin":true}}'));
    },
    "follows references inside the schema": async (validator) => {
      const recursive: JsonSchema = {
        type: "object",
        properties: { node: { $ref: "#/$defs/node" } },
        $defs: {
          node: {
            type: "object",
            properties: { value: { type: "number" }, next: { $ref: "#/$defs/node" } },
            required: ["value"],
          },
        },
      };
      assert.equal((await check(validator, { node: { value: 1, next: { value: 2 } } }, recursive)).valid, true);
      assert.equal((await check(validator, { node: { value: 1, next: {} } }, recursive)).valid, false);
    },
    "keeps two schemas of the same $id apart": async (validator) => {
      const first = await validator.compile({ $id: "https://example.com/same", type: "object", required: ["a"] });
      const second = await validator.compile({ $id: "https://example.com/same", type: "object", required: ["b"] });
      assert.equal((await first({ a: 1 })).valid, true);
      assert.equal((await second({ a: 1 })).valid, false);
      assert.equal((await second({ b: 1 })).valid, true);
    },
    "refuses a broken schema with TOOL_INVALID": async (validator) => {
      await assert.rejects(check(validator, {}, { type: "no such type" }), { code: "TOOL_INVALID" });
    },
    "fetches nothing that a schema refers to": async (validator) => {
      for (const $ref of ["http://127.0.0.1:1/schema.json", "file:///etc/passwd", "other.json"]) {
        await assert.rejects(check(validator, {}, { $ref }), { code: "TOOL_INVALID" });
      }
    },
    "decides a pattern in time that grows with the text and no faster": async (validator) => {
      const evil: JsonSchema = { type: "string", pattern: "^(a+)+$" };
      assert.equal((await check(validator, "a".repeat(50), evil)).valid, true);
      assert.equal((await check(validator, `${"a".repeat(50)}!`, evil)).valid, false);
    },
    "finds equal items without comparing each with each": async (validator) => {
      const items = Array.from({ length: 20_000 }, (_, index) => ({ index }));
      assert.equal((await check(validator, items, { uniqueItems: true })).valid, true);
      assert.equal((await check(validator, [...items, { index: 5 }], { uniqueItems: true })).valid, false);
    },
  });
}
