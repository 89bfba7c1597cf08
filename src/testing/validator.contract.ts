import assert from "node:assert/strict";
import { isArsenalError } from "../errors/arsenal-error.ts";
import type { Problem, Validator } from "../execute/validator.port.ts";
import type { JsonSchema } from "../tool/json-schema.ts";
import { contract, type ContractCase, type Make } from "./contract.ts";

/** What every validator must do. */
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
  const problems = (validator: Validator, value: unknown, against: JsonSchema = schema): readonly Problem[] => {
    const checked = validator.compile(against)(value);
    assert.equal(checked.valid, false);
    return checked.valid ? [] : checked.problems;
  };
  return contract(make, {
    "accepts what fits and fills in defaults": async (validator) => {
      assert.deepEqual(validator.compile(schema)({ city: "Oslo" }), { valid: true, value: { city: "Oslo", days: 3 } });
    },
    "leaves the value it was given alone": async (validator) => {
      const given = { city: "Oslo" };
      validator.compile(schema)(given);
      assert.deepEqual(given, { city: "Oslo" });
    },
    "names the field, what it wants and what was there": async (validator) => {
      const [problem] = problems(validator, { city: 5 });
      assert.equal(problem?.field, "city");
      assert.match(problem?.expected ?? "", /string/);
      assert.match(problem?.received ?? "", /number|5/);
    },
    "names a missing field": async (validator) => {
      assert.ok(problems(validator, {}).some(({ field }) => field === "city"));
    },
    "names an unknown field": async (validator) => {
      assert.ok(problems(validator, { city: "Oslo", town: "Oslo" }).some(({ field }) => field === "town"));
    },
    "lists the allowed values": async (validator) => {
      const [problem] = problems(validator, { city: "Oslo", unit: "k" });
      assert.match(problem?.expected ?? "", /c.*f/);
    },
    "reports every problem": async (validator) => {
      assert.ok(problems(validator, { city: 1, days: 0, unit: "k" }).length >= 3);
    },
    "does not turn one type into another": async (validator) => {
      problems(validator, { city: "Oslo", days: "3" });
    },
    "looks at own properties only": async (validator) => {
      problems(validator, Object.create({ city: "Oslo" }));
    },
    "refuses a __proto__ member where none is allowed": async (validator) => {
      problems(validator, JSON.parse('{"city":"Oslo","__proto__":{"admin":true}}'));
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
      const check = validator.compile(recursive);
      assert.equal(check({ node: { value: 1, next: { value: 2 } } }).valid, true);
      assert.equal(check({ node: { value: 1, next: {} } }).valid, false);
    },
    "keeps two schemas of the same $id apart": async (validator) => {
      const first = validator.compile({ $id: "https://example.com/same", type: "object", required: ["a"] });
      const second = validator.compile({ $id: "https://example.com/same", type: "object", required: ["b"] });
      assert.equal(first({ a: 1 }).valid, true);
      assert.equal(second({ a: 1 }).valid, false);
      assert.equal(second({ b: 1 }).valid, true);
    },
    "refuses a broken schema with TOOL_INVALID": async (validator) => {
      assert.throws(
        () => validator.compile({ type: "no such type" }),
        (error) => isArsenalError(error) && error.code === "TOOL_INVALID",
      );
    },
  });
}
