import { describe, expect, it } from "vitest";
import { ajv } from "../adapters/validators/ajv.ts";
import { sampleTools } from "../testing/sample-tools.ts";
import type { Tool } from "../tool/tool.ts";
import { createArgumentChecks, type ArgumentChecks } from "./check-arguments.ts";

function setUp(maxChecks?: number): { readonly checks: ArgumentChecks; readonly tool: Tool; compiled(): number } {
  const [tool] = sampleTools();
  if (tool === undefined) throw new Error("no sample tool");
  const validator = ajv();
  let compiled = 0;
  const compile: typeof validator.compile = (schema) => {
    compiled++;
    return validator.compile(schema);
  };
  return { checks: createArgumentChecks({ compile }, maxChecks), tool, compiled: () => compiled };
}

describe("argument checks", () => {
  it("are compiled again only when the tool's content changes", () => {
    const { checks, tool, compiled } = setUp();
    expect(checks.check(tool, { sql: "select 1" }).valid).toBe(true);
    expect(checks.check({ ...tool }, { sql: "select 1" }).valid).toBe(true);
    expect(compiled()).toBe(1);
    const changed: Tool = { ...tool, contentHash: "other", parameters: { type: "object", required: ["table"] } };
    expect(checks.check(changed, { sql: "select 1" }).valid).toBe(false);
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

  it("name the first problems in the message and say how many more there are", () => {
    const { checks, tool } = setUp();
    const list: Tool = { ...tool, parameters: { properties: { list: { type: "array", items: { type: "string" } } } } };
    const checked = checks.check(list, { list: Array.from({ length: 60 }, (_, index) => index) });
    if (checked.valid) throw new Error("accepted");
    expect(checked.error.message).toContain("list.4: expected string, received number 4; and 55 more.");
    expect(checked.error.issues).toHaveLength(50);
    expect(checked.error.issues?.[0]).toEqual({
      field: "list.0",
      message: "list.0 must be string, but is number 0.",
      fix: "Give string.",
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
});
