import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nearest, showValue } from "./show-value.ts";

describe("showValue", () => {
  const circle: Record<string, unknown> = {};
  circle["self"] = circle;

  it.each([
    ["text", '"text"'],
    ["two\nlines", '"two\\nlines"'],
    [5, "5"],
    [Number.NaN, "NaN"],
    [-Infinity, "-Infinity"],
    [null, "null"],
    [undefined, "undefined"],
    [true, "true"],
    [12n, "12"],
    [Symbol("s"), "Symbol(s)"],
    [{ a: [1] }, '{"a":[1]}'],
    [circle, "[object Object]"],
    [function add() {}, "function add"],
    [() => {}, "function (anonymous)"],
  ])("shows %s on one line", (value, shown) => {
    expect(showValue(value)).toBe(shown);
  });

  it("cuts what is long", () => {
    expect(showValue("x".repeat(100))).toBe(`"${"x".repeat(58)}…`);
    expect(showValue("x".repeat(100), 10)).toHaveLength(10);
  });

  it("shows the beginning of the value's JSON, whatever it is", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), fc.integer({ min: 2, max: 80 }), (value, max) => {
        const whole = JSON.stringify(value);
        expect(showValue(value, max)).toBe(whole.length <= max ? whole : `${whole.slice(0, max - 1)}…`);
      }),
    );
  });

  it("does not write out a value of megabytes", () => {
    const large = { text: "a".repeat(10_000_000), list: Array.from({ length: 1_000_000 }, () => ({})) };
    const before = process.threadCpuUsage();
    for (let round = 0; round < 100; round++) showValue([large, large.list]);
    expect(process.threadCpuUsage(before).user / 1_000).toBeLessThan(500);
  });
});

describe("nearest", () => {
  const known = ["max_retries", "max_concurrent", "on_failure"];

  it.each([
    ["max_retrys", "max_retries"],
    ["MAX_RETRIES", "max_retries"],
    ["onfailure", "on_failure"],
    ["sandbox", undefined],
    ["", undefined],
  ])("of %j is %j", (word, expected) => {
    expect(nearest(word, known)).toBe(expected);
  });

  it.each([
    ["foo", undefined],
    ["abc", undefined],
    ["x", undefined],
    ["lst", "list"],
    ["tpo", "top"],
    ["ad", "add"],
    ["conf", "config"],
    ["serach", "search"],
    ["exprot", "export"],
  ])("of the short word %j is %j", (word, expected) => {
    expect(nearest(word, ["add", "top", "list", "a", "config", "search", "export"])).toBe(expected);
  });

  it("takes the first of equally near ones", () => {
    expect(nearest("cat", ["bat", "rat"])).toBe("bat");
  });
});
