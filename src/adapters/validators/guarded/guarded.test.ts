import { monitorEventLoopDelay } from "node:perf_hooks";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { isArsenalError } from "../../../errors/arsenal-error.ts";
import type { Checked, Validator } from "../../../execute/validator.port.ts";
import { validatorContract } from "../../../testing/validator.contract.ts";
import type { JsonSchema } from "../../../tool/json-schema.ts";
import { guarded } from "./guarded.ts";

const made: Validator[] = [];
function make(): Validator {
  const validator = guarded();
  made.push(validator);
  return validator;
}
afterEach(async () => {
  for (const validator of made.splice(0)) await validator.close?.();
});

/** About three values a property. */
function wide(properties: number): JsonSchema {
  const names = Array.from({ length: properties }, (_, index) => `p${index}`);
  return {
    type: "object",
    properties: Object.fromEntries(names.map((name) => [name, { type: "string" }])),
    additionalProperties: false,
  };
}

describe("guarded", () => {
  for (const { name, run } of validatorContract(() => ({ adapter: make() }))) it(name, run);

  it("checks small schemas at once, its own and those from outside", () => {
    const schema: JsonSchema = { type: "object", required: ["a"] };
    for (const trusted of [true, false]) {
      const check = make().compile(schema, { trusted });
      expect(check).not.toBeInstanceOf(Promise);
      if (check instanceof Promise) continue;
      expect(check({ a: 1 })).toEqual({ valid: true, value: { a: 1 } });
      expect(check({})).toMatchObject({ valid: false });
    }
  });

  it("makes no program of a schema from outside, nor of a large one", () => {
    // Ajv knows this keyword and refuses it without a type; to the interpreter it means nothing then.
    const schema: JsonSchema = { nullable: true };
    expect(() => make().compile(schema, { trusted: true })).toThrow("nullable");
    expect(() => make().compile(schema)).not.toThrow();
    expect(() =>
      make().compile({ properties: wide(400).properties ?? {}, ...schema }, { trusted: true }),
    ).not.toThrow();
  });

  it("compiles and checks a large schema elsewhere, without a delay here", async () => {
    const validator = make();
    const schema: JsonSchema = { ...wide(5_000), required: ["p1"] };
    const delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    while (delay.count < 2) await nextTurn();
    const check = validator.compile(schema);
    expect(check).toBeInstanceOf(Promise);
    const compiled = await check;
    expect(await compiled({ p1: "x" })).toEqual({ valid: true, value: { p1: "x" } });
    expect(await compiled({ p1: 5, q: 1 })).toMatchObject({
      valid: false,
      problems: [{ field: "p1", expected: "string" }, { field: "q" }],
    });
    delay.disable();
    process.stderr.write(`longest delay with a schema of 5,000 properties: ${(delay.max / 1e6).toFixed(0)} ms\n`);
  });

  it("fills in defaults elsewhere too", async () => {
    const schema = wide(3_000);
    const compiled = await make().compile({ ...schema, properties: { ...schema.properties, d: { default: [1] } } });
    expect(await compiled({ p1: "x" })).toEqual({ valid: true, value: { p1: "x", d: [1] } });
  });

  it("tells of a large schema that is broken", async () => {
    const schema = wide(3_000);
    const broken = { ...schema, properties: { ...schema.properties, b: { type: "strin" } } };
    await expect((async () => make().compile(broken))()).rejects.toMatchObject({
      code: "TOOL_INVALID",
      message: expect.stringContaining("parameters.properties.b.type"),
    });
  });

  it("hands a check that takes long over, and gets the same answer", async () => {
    const check = await make().compile({ type: "array", items: { type: "object", required: ["a"] } });
    const items = Array.from({ length: 60_000 }, () => ({ a: 1 }));
    const checked = check(items);
    expect(checked).toBeInstanceOf(Promise);
    expect((await checked).valid).toBe(true);
    expect((await check([...items, {}])).valid).toBe(false);
    expect(check(items.slice(0, 10))).not.toBeInstanceOf(Promise);
  });

  it("gives up on a check without end, and goes on with others", async () => {
    const validator = make();
    const $ref = "#";
    const check = await validator.compile({
      allOf: [{ properties: { a: { $ref } } }, { properties: { a: { $ref } } }],
    });
    let value: object = {};
    for (let level = 0; level < 100; level++) value = { a: value };
    const [endless, other] = await Promise.all([
      check(value),
      (async (): Promise<Checked> => (await validator.compile(wide(3_000)))({}))(),
    ]);
    expect(endless).toMatchObject({ valid: false, problems: [{ expected: "arguments that can be checked in time" }] });
    expect(other.valid).toBe(true);
  });

  it("refuses what is past the limits at once", () => {
    let message = "";
    try {
      make().compile({ anyOf: Array.from({ length: 30_000 }, () => ({})) });
    } catch (error) {
      message = isArsenalError(error) && error.code === "TOOL_INVALID" ? error.message : String(error);
    }
    expect(message).toContain("more than 20,000 values");
  });
});
