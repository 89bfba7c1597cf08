import { execFileSync } from "node:child_process";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { isArsenalError } from "../../../errors/arsenal-error.ts";
import type { Checked, Validator } from "../../../execute/validator.port.ts";
import { validatorContract } from "../../../testing/validator.contract.ts";
import { createManualClock } from "../../../testing/manual-clock.ts";
import type { JsonSchema } from "../../../tool/json-schema.ts";
import { jsonSchemaValidator } from "./json-schema.ts";

const made: Validator[] = [];
function make(): Validator {
  const validator = jsonSchemaValidator();
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

describe("jsonSchemaValidator", () => {
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

  it("generates no code, whoever wrote the schema", () => {
    const program = `
      import { jsonSchemaValidator } from ${JSON.stringify(new URL("./json-schema.ts", import.meta.url).href)};
      const schema = { type: "object", properties: { a: { pattern: "^a", format: "date" } }, required: ["a"] };
      for (const trusted of [true, false]) process.stdout.write(String(jsonSchemaValidator().compile(schema, { trusted })({}).valid));
    `;
    const flags = ["--disallow-code-generation-from-strings", "--input-type=module", "--eval"];
    expect(execFileSync(process.execPath, [...flags, program], { encoding: "utf8" })).toBe("falsefalse");
  });

  it("runs a pattern that RE2 cannot run at once if its author runs the program, elsewhere otherwise", async () => {
    const schema: JsonSchema = { properties: { a: { pattern: "^(?=.*\\d)(?=.*[a-z]).{4,}$" } } };
    const own = await make().compile(schema, { trusted: true });
    expect([own({ a: "abc1" }), own({ a: "abcd" })]).toMatchObject([{ valid: true }, { valid: false }]);
    const foreign = await make().compile(schema);
    const checked = [foreign({ a: "abc1" }), foreign({ a: "abcd" })];
    expect(checked[0]).toBeInstanceOf(Promise);
    expect(await Promise.all(checked)).toMatchObject([{ valid: true }, { valid: false }]);
  });

  it("gives up on a pattern that takes for ever, and answers others meanwhile", async () => {
    const clock = createManualClock();
    const validator = jsonSchemaValidator({ clock });
    made.push(validator);
    const evil = await validator.compile({ pattern: "^(?=a)(a+)+$" });
    const other = await validator.compile({ pattern: "^a+$" });
    expect(await evil("aaa")).toMatchObject({ valid: true });
    const stuck = (async () => evil(`${"a".repeat(50)}!`))();
    const refused = expect(stuck).rejects.toMatchObject({
      code: "TOOL_INVALID",
      message: expect.stringContaining("more than 2000 ms"),
    });
    expect(other("aaa")).toEqual({ valid: true, value: "aaa" });
    await clock.advance(2_000);
    await refused;
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

  it("reports a large schema that is invalid", async () => {
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
