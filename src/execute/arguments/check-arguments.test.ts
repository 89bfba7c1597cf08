import { describe, expect, it } from "vitest";
import { jsonSchemaValidator } from "../../adapters/validators/json-schema/json-schema.ts";
import { sampleTools } from "../../testing/sample-tools.ts";
import { refusedParameters } from "../../tool/schema/schema-limits.ts";
import type { Tool } from "../../tool/tool.ts";
import { createArgumentChecks, type ArgumentChecks } from "./check-arguments.ts";
import type { Checked } from "../validator.port.ts";

function setUp(maxChecks?: number): { readonly checks: ArgumentChecks; readonly tool: Tool; compiled(): number } {
  const [tool] = sampleTools();
  if (tool === undefined) throw new Error("no sample tool");
  const validator = jsonSchemaValidator();
  let compiled = 0;
  const compile: typeof validator.compile = (schema) => {
    compiled++;
    return validator.compile(schema);
  };
  return { checks: createArgumentChecks({ compile }, maxChecks), tool, compiled: () => compiled };
}

describe("argument checks", () => {
  it("are compiled again only when the tool's content changes", async () => {
    const { checks, tool, compiled } = setUp();
    expect((await checks.check(tool, { sql: "select 1" })).valid).toBe(true);
    expect((await checks.check({ ...tool }, { sql: "select 1" })).valid).toBe(true);
    expect(compiled()).toBe(1);
    const changed: Tool = { ...tool, contentHash: "other", parameters: { type: "object", required: ["table"] } };
    expect((await checks.check(changed, { sql: "select 1" })).valid).toBe(false);
    expect(compiled()).toBe(2);
  });

  it("are kept for the tools used last", () => {
    const { checks, tool, compiled } = setUp(2);
    const [a, b, c] = ["a", "b", "c"].map((id) => ({ ...tool, id }));
    if (a === undefined || b === undefined || c === undefined) throw new Error("three tools");
    for (const used of [a, b, a, c]) checks.check(used, {});
    expect(compiled()).toBe(3);
    checks.check(a, {});
    expect(compiled()).toBe(3);
    checks.check(b, {});
    expect(compiled()).toBe(4);
  });

  it("are dropped with their tool", () => {
    const { checks, tool, compiled } = setUp();
    checks.check(tool, {});
    checks.forget(tool.id);
    checks.check(tool, {});
    expect(compiled()).toBe(2);
  });

  it("name the first problems in the message and say how many more there are", async () => {
    const { checks, tool } = setUp();
    const list: Tool = { ...tool, parameters: { properties: { list: { type: "array", items: { type: "string" } } } } };
    const checked = await checks.check(list, { list: Array.from({ length: 60 }, (_, index) => index) });
    if (checked.valid) throw new Error("accepted");
    expect(checked.error.message).toContain("list.4: expected string, received number 4; and 55 more.");
    expect(checked.error.issues).toHaveLength(50);
    expect(checked.error.issues?.[0]).toEqual({
      field: "list.0",
      message: "list.0 must be string, but is number 0.",
      fix: "Change it to string.",
    });
  });

  it("say how to fix each problem", async () => {
    const { checks, tool } = setUp();
    const properties = { name: { type: "string" }, size: { enum: ["small", "large"] } };
    const parameters = { type: "object", properties, required: ["name"], additionalProperties: false } as const;
    const checked = await checks.check({ ...tool, parameters }, { nme: "dana", size: "lage", zzzzzzzz: 1 });
    if (checked.valid) throw new Error("accepted");
    expect(Object.fromEntries((checked.error.issues ?? []).map(({ field, fix }) => [field, fix]))).toEqual({
      name: "Add name.",
      nme: "Did you mean name?",
      size: 'Did you mean "large"?',
      zzzzzzzz: "Leave it out.",
    });
  });

  it("fail with TOOL_INVALID where a validator throws something else", () => {
    const { tool } = setUp();
    const checks = createArgumentChecks({
      compile: () => {
        throw new RangeError("stack");
      },
    });
    expect(checks.check(tool, {})).toMatchObject({ valid: false, error: { code: "TOOL_INVALID" } });
  });

  it("tell the validator which tools the program registered itself", () => {
    const { tool } = setUp();
    const trusted: (boolean | undefined)[] = [];
    const checks = createArgumentChecks({
      compile: (_schema, options) => {
        trusted.push(options?.trusted);
        return (value) => ({ valid: true, value });
      },
    });
    for (const source of ["function", "builtin", "mcp", "openapi", "a2a", "descriptor"] as const) {
      checks.check({ ...tool, id: source, source }, {});
    }
    expect(trusted).toEqual([true, true, false, false, false, false]);
  });

  it("wait for a schema that is compiled elsewhere, once", async () => {
    const { tool } = setUp();
    const { promise, resolve } = Promise.withResolvers<(value: unknown) => Promise<Checked>>();
    let compiled = 0;
    const checks = createArgumentChecks({ compile: () => (compiled++, promise) });
    const [first, second] = [checks.check(tool, { a: 1 }), checks.check(tool, { a: 2 })];
    resolve(async (value) => ({ valid: true, value }));
    expect(await first).toEqual({ valid: true, arguments: { a: 1 } });
    expect(await second).toEqual({ valid: true, arguments: { a: 2 } });
    expect(compiled).toBe(1);
  });

  it("fail with TOOL_INVALID where compiling or checking elsewhere fails", async () => {
    const { tool } = setUp();
    const fails = async (): Promise<never> => {
      throw new RangeError("stack");
    };
    const invalid = { valid: false, error: { code: "TOOL_INVALID" } };
    expect(await createArgumentChecks({ compile: fails }).check(tool, {})).toMatchObject(invalid);
    expect(await createArgumentChecks({ compile: () => fails }).check(tool, {})).toMatchObject(invalid);
    const throws = (): never => {
      throw new RangeError("stack");
    };
    expect(await createArgumentChecks({ compile: () => throws }).check(tool, {})).toMatchObject(invalid);
  });

  it("say why parameters were not taken in", async () => {
    const { checks, tool } = setUp();
    const refused: Tool = { ...tool, parameters: refusedParameters("is nested more than 100 levels deep") };
    expect(await checks.check(refused, {})).toMatchObject({
      valid: false,
      error: { code: "TOOL_INVALID", message: expect.stringContaining("is nested more than 100 levels deep") },
    });
  });
});
